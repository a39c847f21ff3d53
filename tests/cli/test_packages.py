"""``simwright packages``: what is found, and a variable that really works."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from simwright.app.cli.main import run


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    for name in ("my_robot", "my_world"):
        folder = tmp_path / "src" / name
        (folder / "usd").mkdir(parents=True)
        (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    (tmp_path / "src/my_robot/usd/robot.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "robot"\n)\ndef Xform "robot" {\n    def Xform "arm" {\n    }\n}\n'
    )
    (tmp_path / "src/my_world/usd/world.usda").write_text(
        '#usda 1.0\ndef Xform "w" (references = @package://my_robot/usd/robot.usda@) {}\n'
    )
    for name in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "PXR_AR_DEFAULT_SEARCH_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_lists_packages_near_a_file(workspace, capsys):
    assert run(["packages", "--near", str(workspace / "src/my_world/usd/world.usda")]) == 0
    out = capsys.readouterr().out
    assert "my_robot" in out
    assert "package.xml" in out
    assert "export PXR_AR_DEFAULT_SEARCH_PATH=" in out


def test_explicit_package_wins(workspace, capsys):
    near = str(workspace / "src/my_world")
    other = workspace / "elsewhere"
    other.mkdir()
    assert run(["packages", "--near", near, "--package", f"my_robot={other}", "--format", "json"]) == 0
    rows = {p["name"]: p for p in json.loads(capsys.readouterr().out)["packages"]}
    assert rows["my_robot"] == {"name": "my_robot", "path": str(other), "origin": "--package"}


def test_nothing_found_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    assert run(["packages", "--near", str(tmp_path)]) == 0
    assert "--package NAME=DIR" in capsys.readouterr().out


@pytest.mark.parametrize("bad", ["nonsense", "a=/no/such/folder", "../x=."])
def test_wrong_assignment_is_a_usage_error(bad, capsys):
    assert run(["packages", "--package", bad]) == 2
    assert "--package" in capsys.readouterr().err


def test_the_variable_gives_plain_openusd_the_scheme(workspace, capsys):
    assert run(["packages", "--near", str(workspace / "src/my_world"), "--format", "json"]) == 0
    variables = json.loads(capsys.readouterr().out)["environment"]
    code = (
        "from pxr import Usd\n"
        f"stage = Usd.Stage.Open({str(workspace / 'src/my_world/usd/world.usda')!r})\n"
        "assert stage.GetPrimAtPath('/w/arm'), 'not composed'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **variables})


def test_inspect_composes_package_references(workspace, capsys):
    assert run(["inspect", str(workspace / "src/my_world/usd/world.usda"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [row for row in found if row["level"] == "error"] == []


def test_unknown_package_is_a_finding_with_advice(workspace, capsys):
    file = workspace / "lonely.usda"
    file.write_text('#usda 1.0\ndef Xform "w" (references = @package://no_such/x.usda@) {}\n')
    assert run(["inspect", str(file)]) == 1
    out = capsys.readouterr().out
    assert "--package no_such=DIR" in out


@pytest.mark.parametrize("uri", ["package://../../etc/passwd", "package://my_robot/../../etc/passwd"])
def test_hostile_address_is_refused(workspace, capsys, uri):
    file = workspace / "src/my_world/usd/hostile.usda"
    file.write_text(f'#usda 1.0\ndef Xform "w" (\n    references = @{uri}@\n) {{}}\n')
    assert run(["inspect", str(file)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "refused" in err
    assert "hostile.usda" in err
