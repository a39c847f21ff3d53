"""``simwright convert`` on folders, patterns and several files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from simwright.app.cli.main import run
from simwright.app.converting import plan_tasks

GOOD = '<robot name="{}"><link name="l"><inertial><mass value="1"/>{}</inertial></link></robot>'
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


@pytest.fixture
def robots(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "robots"
    (folder / "sub").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for place, name in (("a.urdf", "a"), ("sub/b.urdf", "b"), (".hidden/c.urdf", "c")):
        (folder / place).write_text(GOOD.format(name, INERTIA))
    (folder / "bad.urdf").write_text("<robot")
    (folder / "notes.xml").write_text("<notes/>")
    (folder / "part.xml").write_text("<mujocoinclude/>")
    (folder / "m.xml").write_text(
        '<mujoco model="m"><worldbody><body><geom size="1"/></body></worldbody></mujoco>'
    )
    return folder


def read_tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_one_bad_file_does_not_stop_the_others(robots, capsys):
    assert run(["convert", "robots", "out"]) == 1
    out = capsys.readouterr().out
    assert "3 written, 1 failed" in out
    assert "parse-error" in out
    assert sorted(os.listdir("out")) == ["a", "m", "sub"]
    assert Path("out/sub/b/b.usda").exists()


def test_processes_give_the_same_bytes(robots, tmp_path, capsys):
    assert run(["convert", "robots", "one", "--no-check", "--report", "json"]) == 1
    one = json.loads(capsys.readouterr().out)
    assert run(["convert", "robots", "two", "--jobs", "2", "--no-check", "--report", "json"]) == 1
    two = json.loads(capsys.readouterr().out)
    assert read_tree(tmp_path / "one") == read_tree(tmp_path / "two")
    assert [c["source"] for c in one["conversions"]] == [c["source"] for c in two["conversions"]]
    assert [c["status"] for c in one["conversions"]] == ["written", "failed", "written", "written"]
    assert one["summary"] == two["summary"]
    assert run(["convert", "robots", "one", "--no-check"]) == 1
    assert read_tree(tmp_path / "one") == read_tree(tmp_path / "two")


def test_patterns_and_several_files(robots, capsys):
    assert run(["convert", "robots/**/*.urdf", "out", "--no-check"]) == 1
    assert sorted(os.listdir("out")) == ["a", "sub"]
    assert run(["convert", "robots/a.urdf", "robots/sub/b.urdf", "two", "--no-check"]) == 0
    assert sorted(os.listdir("two")) == ["a", "b"]


def test_exit_codes(robots):
    assert run(["convert", "robots/a.urdf", "robots/m.xml", "out", "--no-check"]) == 0
    assert run(["convert", "robots/bad.urdf", "robots/notes.xml", "out"]) == 2
    assert run(["convert", "robots/bad.urdf", "robots/a.urdf", "out", "--no-check"]) == 1


def test_results_are_not_sources(robots):
    assert run(["convert", "robots", "robots/out", "--no-check"]) == 1
    first = read_tree(robots / "out")
    assert run(["convert", "robots", "robots/out", "--no-check"]) == 1
    assert read_tree(robots / "out") == first


def test_no_result_lies_in_another(robots):
    (robots / "a").mkdir()
    (robots / "a/x.urdf").write_text(GOOD.format("x", INERTIA))
    (robots / "b.urdf").write_text(GOOD.format("b", INERTIA))
    (robots / "b.sdf").write_text('<sdf version="1.9"><model name="b"><link name="l"/></model></sdf>')
    names = [os.path.relpath(task.target, "out") for task in plan_tasks(["robots"], "out", None)]
    assert names == ["a_urdf", "b_sdf", "b_urdf", "bad", "m", "a/x", "sub/b"]


def test_a_worker_that_dies_costs_one_file(robots, monkeypatch, tmp_path, capsys):
    killer = tmp_path / "site"
    killer.mkdir()
    (killer / "sitecustomize.py").write_text(
        "import simwright.formats.urdf.read as r, os\n"
        "read = r.read\n"
        "def stop(path, *rest):\n"
        "    if path.name == 'a.urdf': os._exit(9)\n"
        "    return read(path, *rest)\n"
        "r.read = stop\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(killer), prepend=os.pathsep)
    assert run(["convert", "robots", "out", "--jobs", "2", "--no-check", "--report", "json"]) == 1
    found = {c["source"]: c for c in json.loads(capsys.readouterr().out)["conversions"]}
    assert found["robots/a.urdf"]["findings"][0]["rule"] == "convert-process-died"
    assert found["robots/sub/b.urdf"]["status"] == "written"


def test_a_file_that_takes_too_long_is_given_up(robots, monkeypatch, tmp_path, capsys):
    slow = tmp_path / "site"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text(
        "import simwright.formats.urdf.read as r, time\n"
        "read = r.read\n"
        "def wait(path, *rest):\n"
        "    if path.name == 'a.urdf': time.sleep(600)\n"
        "    return read(path, *rest)\n"
        "r.read = wait\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(slow), prepend=os.pathsep)
    assert (
        run(["convert", "robots", "out", "--timeout", "10", "--jobs", "2", "--no-check", "--report", "json"])
        == 1
    )
    found = {c["source"]: c for c in json.loads(capsys.readouterr().out)["conversions"]}
    assert [finding["rule"] for finding in found["robots/a.urdf"]["findings"]] == ["asset-timeout"]
    assert found["robots/sub/b.urdf"]["status"] == "written"
