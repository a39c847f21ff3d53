"""``simwright registry``: list, show, validate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from simwright.app.cli.main import run
from simwright.usd.plugins import SCHEMAS, list_plugin_folders
from simwright.usd.registry import list_extensions


def test_list(capsys):
    assert run(["registry", "list"]) == 0
    assert "RosControlDiffDriveAPI" in capsys.readouterr().out
    assert run(["registry", "list", "--format", "json"]) == 0
    extensions = json.loads(capsys.readouterr().out)["extensions"]
    assert [extension["name"] for extension in extensions] == [found.name for found in list_extensions()]
    assert extensions[0]["name"] == "ros"


def test_show_a_class(capsys):
    assert run(["registry", "show", "RosTopicAPI", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    properties = {p["name"]: p for p in shown["classes"][0]["properties"]}
    assert properties["ros:topic:role"]["allowed_tokens"] == ["publisher", "subscription"]
    assert properties["ros:topic:qos:depth"]["default"] == 10
    assert [c["name"] for c in shown["classes"]] == ["RosTopicAPI"]


def test_show_unknown_suggests(capsys):
    assert run(["registry", "show", "RosTopicApi"]) == 2
    assert "RosTopicAPI" in capsys.readouterr().err


def copy(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(SCHEMAS / name, tmp_path / name))


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, old
    file.write_text(text.replace(old, new, 1))


def list_findings(folder: Path, capsys) -> tuple[int, list[dict]]:
    code = run(["registry", "validate", str(folder), "--format", "json"])
    return code, json.loads(capsys.readouterr().out)["assets"][0]["findings"]


@pytest.mark.parametrize("folder", list_plugin_folders(), ids=lambda folder: folder.name)
def test_our_own_extensions_validate(folder, capsys):
    assert list_findings(folder, capsys) == (0, [])


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("    metersPerUnit = 1\n", "", "units-meters"),
        ("physics:mass = 0.05", "physics:mass = 0", "mass-no-zero-static"),
        ("body1 = </gripper/palm/left_finger>", "body1 = </gripper/nobody>", "isol-physics-spec"),
    ],
)
def test_broken_example_names_the_rule(tmp_path, capsys, old, new, rule):
    folder = copy("extended_physics_mimic", tmp_path)
    replace(folder / "example.usda", old, new)
    assert run(["registry", "validate", str(folder)]) == 1
    assert f"error[{rule}]" in capsys.readouterr().out


def test_file_is_named_as_given(tmp_path, capsys, monkeypatch):
    folder = copy("extended_physics_mimic", tmp_path)
    replace(folder / "example.usda", "    metersPerUnit = 1\n", "")
    monkeypatch.chdir(folder)
    _, found = list_findings(Path(), capsys)
    assert {row["rule"] for row in found} == {"units-meters", "submission-example-metadata"}
    assert {row["layer"] for row in found} == {"example.usda"}


def test_example_warnings_are_shown_and_do_not_fail(tmp_path, capsys):
    folder = copy("ros_control_external", tmp_path)
    replace(folder / "example.usda", "rel collection:joints:includes", "rel my_lab:joints")
    replace(folder / "example.usda", ', "CollectionAPI:joints"', "")
    assert list_findings(folder, capsys) == (0, [])
    replace(folder / "example.usda", "rel my_lab:joints = </arm/base_link/shoulder>", "")
    code, found = list_findings(folder, capsys)
    assert code == 0
    assert [(row["rule"], row["level"]) for row in found] == [("ctrl-targets-rel", "warning")]


def rename_diff_drive(tmp_path: Path) -> Path:
    """A submission whose names no registry has."""
    folder = copy("ros_control_diff_drive", tmp_path)
    for file in folder.iterdir():
        text = file.read_text().replace("ControlDiffDrive", "ControlTankDrive")
        file.write_text(text.replace("ros:diff_drive", "ros:tank_drive"))
    # our converters and rules know nothing of it
    (folder / "conversion.toml").write_text('none = "no other format has such a drive"\n')
    replace(folder / "rules.toml", 'rules = ["ctrl-integrated-iface"]', "")
    replace(folder / "rules.toml", ", 'ctrl-integrated-iface']", "]")
    return folder


def test_names_of_the_submission_are_not_held_against_the_registry(tmp_path, capsys):
    folder = rename_diff_drive(tmp_path)
    assert list_findings(folder, capsys) == (0, [])
    replace(folder / "example.usda", 'ros:topic:name = "odom"', 'ros:topic:nam = "odom"')
    code, found = list_findings(folder, capsys)
    assert code == 1
    assert ("schema-core", "ros:topic:nam") in {(row["rule"], row["property"]) for row in found}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(\n    subLayers = [@../other.usda@]\n", "submission-example-path"),
        ("((\n", "submission-unreadable"),
    ],
)
def test_example_that_cannot_be_opened_is_reported_once(tmp_path, capsys, text, code):
    (tmp_path / "other.usda").write_text("#usda 1.0\n")
    folder = copy("ros", tmp_path)
    replace(folder / "example.usda", "(\n", text)
    assert [row["rule"] for row in list_findings(folder, capsys)[1]] == [code]


def test_help_says_what_is_not_asked_of_an_example(capsys):
    assert run(["registry", "validate", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "section 1.2.1: entry-*, layer-*, proprietary-*" in text
    assert "isolation by layer (section 1.4)" in text


@pytest.mark.parametrize("output_format", ["text", "json", "sarif", "junit", "github", "md", "html"])
def test_broken_submission_is_reported_in_every_format(tmp_path, capsys, output_format):
    folder = tmp_path / "mine"
    shutil.copytree(SCHEMAS / "extended_physics_mimic", folder)
    (folder / "README.md").unlink()
    assert run(["registry", "validate", str(folder), "--format", output_format]) == 1
    assert "submission-" in capsys.readouterr().out
