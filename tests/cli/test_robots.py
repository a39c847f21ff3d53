# SPDX-License-Identifier: Apache-2.0
"""``simwright robots``: what is printed, written and returned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from simwright.app.cli.main import run
from simwright.tasks.robot import open_robot

ARM = """<mujoco><worldbody><body name="base"><geom size="0.05"/>
  <body name="a" pos="0 0 0.1"><joint name="one" axis="0 0 1" range="-90 90"/><geom size="0.03"/>
  <body name="b" pos="0 0 0.3"><joint name="two" axis="0 1 0" range="-90 90"/><geom size="0.03"/>
  <body name="c" pos="0 0 0.3"><joint name="three" axis="0 1 0" range="-90 90"/><geom size="0.03"/>
  <body name="d" pos="0 0 0.1"><joint name="four" axis="1 0 0" range="-90 90"/><geom size="0.03"/>
  <site name="tcp"/></body></body></body></body></body></worldbody>
  <actuator><motor joint="one"/><motor joint="two"/><motor joint="three"/><motor joint="four"/></actuator></mujoco>"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A project of its own, with nobody's robots around."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    (folder / "arm.xml").write_text(ARM)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("SIMWRIGHT_ROBOTS", raising=False)
    return folder


def test_list(capsys):
    assert run(["robots", "list"]) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line.startswith("sample_arm"))
    assert line.split()[:5] == ["sample_arm", "arm", "fixed", "8", "yes"]
    assert "built in" in line
    assert run(["robots", "list", "--quick", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    rover = next(row for row in told["robots"] if row["id"] == "sample_rover")
    assert (rover["kind"], rover["dofs"], rover["source"]) == ("mobile", None, "built in")


def test_list_goes_on_past_robots_that_are_broken(capsys, project):
    (project / "robots").mkdir()
    (project / "robots" / "a.robot.yaml").write_text("id: a\nsim: {mjcf_uri: gone.xml}\n")
    (project / "robots" / "b.robot.yaml").write_text("id: b\nsym: {}\n")
    assert run(["robots", "list", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in told["robots"]] == [
        "a", "sample_arm", "sample_quadruped", "sample_rover", "so101_follower",
    ]  # fmt: skip
    codes = [found["code"] for found in told["findings"]]
    # the file of so101_follower is in Menagerie, which may be on this machine
    assert [code for code in codes if code != "robot-file-not-installed"] == [
        "robot-manifest-broken",
        "robot-broken",
    ]


def test_show_has_the_manifest_and_what_is_known(capsys):
    assert run(["robots", "show", "sample_arm", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["manifest"]["sim"]["urdf_uri"] == "urdf/arm.urdf"
    assert told["facts"]["gripper"] == ["left_finger_joint"]
    assert told["facts"]["cameras"] == ["wrist_camera", "wrist"]
    assert told["facts"]["home"]["from"] == "manifest"
    assert run(["robots", "show", "arm.xml"]) == 0
    told = yaml.safe_load(capsys.readouterr().out)
    assert (told["actuators"], told["tool"]["frame"]) == ("4 motor", "tcp")


def test_an_unknown_robot_lists_the_known_ones(capsys):
    assert run(["robots", "show", "sample_amr"]) == 2
    err = capsys.readouterr().err
    assert "unknown robot 'sample_amr'" in err
    assert "known: sample_arm, sample_quadruped, sample_rover" in err


def test_inspect_prints_a_manifest_that_can_be_used(capsys, project):
    assert run(["robots", "inspect", "arm.xml", "--id", "mine"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# yaml-language-server: $schema=robot.schema.json\n")
    assert "a controller turns positions into it" in text
    (project / "robots").mkdir()
    (project / "mine.yaml").write_text(text)
    robot = open_robot("./mine.yaml")
    assert (robot.id, robot.facts.kind, robot.tool.frame) == ("mine", "arm", "tcp")
    assert run(["robots", "inspect", "arm.xml", "-o", "robots/other.robot.yaml"]) == 0
    assert (
        yaml.safe_load((project / "robots" / "other.robot.yaml").read_text())["sim"]["mjcf_uri"]
        == "../arm.xml"
    )
    assert run(["robots", "check", "robots/other.robot.yaml"]) == 0


@pytest.mark.parametrize(
    "name", ["arm/urdf/arm.urdf", "rover/model.sdf", "fourbar/fourbar.usda", "quadruped/quadruped.xml"]
)
def test_inspect_takes_every_format(capsys, samples, name, monkeypatch):
    monkeypatch.chdir((samples / name).parent)
    assert run(["robots", "inspect", Path(name).name]) == 0
    told = yaml.safe_load(capsys.readouterr().out)
    assert told["kind"] in ("arm", "mobile", "other", "quadruped")
    assert Path(name).name in told["sim"].values()


def test_check_shows_the_line_and_what_was_meant(capsys, project):
    (project / "robot.yaml").write_text("id: a\njoints: [{name: twoo}]\nsim: {mjcf_uri: arm.xml}\n")
    assert run(["robots", "check", "robot.yaml"]) == 1
    out = capsys.readouterr().out
    assert "robot.yaml:2:17" in out
    assert "did you mean 'two'?" in out
    assert run(["robots", "check", "nowhere.yaml"]) == 2
    assert run(["robots", "check", "sample_arm", "--format", "json"]) == 0
    assert run(["robots", "check", "arm.xml"]) == 0


def test_add_writes_a_manifest_that_is_found(capsys, project, tmp_path):
    assert run(["robots", "add", "arm.xml", "--id", "mine"]) == 0
    written = Path(capsys.readouterr().out.strip())
    assert written == tmp_path / "config" / "simwright" / "robots" / "mine.robot.yaml"
    assert open_robot("mine").file == project / "arm.xml"
    assert run(["robots", "add", "arm.xml", "--id", "mine"]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert run(["robots", "add", "arm.xml", "--id", "mine", "--force"]) == 0
    assert run(["robots", "add", str(written), "--id", "ours", "--to", "project"]) == 0
    assert (
        yaml.safe_load((project / "robots" / "ours.robot.yaml").read_text())["sim"]["mjcf_uri"]
        == "../arm.xml"
    )
    assert open_robot("ours").id == "ours"
    assert run(["robots", "add", "arm.xml", "--id", "../evil"]) == 2
    assert run(["robots", "inspect", "arm.xml", "--id", "a b"]) == 2
    assert "cannot be the id of a robot" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*evil*"))


def test_add_keeps_a_project_to_itself(capsys, tmp_path):
    (tmp_path / "far.xml").write_text(ARM)
    assert run(["robots", "add", str(tmp_path / "far.xml"), "--to", "project"]) == 2
    assert "outside of the project" in capsys.readouterr().err


def test_schema(capsys):
    assert run(["robots", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"].startswith("Simwright robot manifest")
