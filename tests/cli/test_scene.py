# SPDX-License-Identifier: Apache-2.0
"""``simwright scene``, and the other commands on scene files."""

import json

import pytest
from click.testing import CliRunner

import simwright.app.api  # noqa: F401 - scenes are a format from this floor on
from simwright.app.cli.main import cli
from simwright.formats.table import detect_format
from simwright.scenes.document import FILE

GOOD = (
    "schema_version: 1\nname: drop\nbodies: [{id: cube, shapes: [{hx: 0.1}]}]\n"
    "joints: [{id: j, type: free, child: cube}]\n"
)


@pytest.fixture
def scene(tmp_path):
    file = tmp_path / "drop.yaml"
    file.write_text(GOOD)
    return file


def run(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)


def test_a_clean_scene(scene):
    result = run("scene", "check", scene)
    assert (result.return_value, result.exception) == (0, None)
    assert "no findings" in result.output


def test_a_wrong_scene_is_listed_line_by_line(scene):
    scene.write_text(GOOD + "grund: true\npost_build: [{op: set_joint_q, jiont: j, value: 1}]\n")
    result = run("scene", "check", scene, "--format", "json")
    assert result.return_value == 1
    found = [
        (finding["line"], finding["hint"])
        for asset in json.loads(result.output)["assets"]
        for finding in asset["findings"]
    ]
    assert found == [(5, "did you mean 'ground'?"), (6, "did you mean 'joint'?")]


def test_what_building_finds(scene):
    scene.write_text(GOOD + "post_build: [{op: set_joint_q, joint: k, value: 1}]\n")
    assert run("scene", "check", scene).return_value in {1, 2}
    assert run("scene", "check", scene, "--document-only").return_value == 0
    scene.write_text(GOOD + "post_build: [{op: set_joint_targets, match: nobody}]\n")
    result = run("scene", "check", scene)
    assert result.return_value == 0
    assert "scene-selector-empty" in result.output
    assert run("scene", "check", scene, "--compat", "sap").return_value == 0


def test_check_takes_scenes_too(scene, tmp_path):
    result = run("check", scene, "--no-cache")
    assert (result.return_value, result.exception) == (0, None)
    scene.write_text("schema_version: 3\n")
    result = run("check", scene, "--no-cache")
    assert result.return_value == 1
    assert "schema version 3 is not known" in result.output


def test_other_documents_are_no_scenes(tmp_path):
    file = tmp_path / "world.yaml"
    file.write_text("rooms: []\n")
    result = run("check", file, "--no-cache")
    assert result.return_value == 2
    assert "rooms" not in result.output


def test_a_scene_that_is_not_there(tmp_path):
    assert run("scene", "check", tmp_path / "none.yaml").return_value == 2


def test_schema_and_operations():
    assert run("scene", "schema").output == FILE.read_text()
    assert "set_joint_targets" in run("scene", "operations").output
    listed = json.loads(run("scene", "operations", "--format", "json").output)["operations"]
    keys = {entry["name"]: entry["keys"] for entry in listed}
    assert {"value", "joint", "range", "op"} <= set(keys["set_joint_armature"])
    assert {"radius", "hx", "path", "body"} <= set(keys["add_shape"])


def test_inspect_and_convert(scene, tmp_path):
    result = run("inspect", scene)
    assert "1 body" in result.output
    for ending in ("usda", "xml", "sdf", "glb"):
        result = run("convert", scene, tmp_path / f"out_{ending}" / f"drop.{ending}", "--no-check")
        assert (result.return_value, result.exception) == (0, None), result.output
        assert (tmp_path / f"out_{ending}" / f"drop.{ending}").is_file()


def test_scenes_are_told_by_their_keys(tmp_path):
    for name, text in (
        ("a.yaml", "# hello\nbodies:\n  - id: a\n"),
        ("b.json", '{"name": "x", "bodies": []}'),
        ("c.yml", "simulation: {dt: 1}\n"),
        ("d.scene.yaml", "name: x\n"),
    ):
        (tmp_path / name).write_text(text)
        assert detect_format(tmp_path / name).name == "scene"
    (tmp_path / "e.yaml").write_text("rooms: []\n  bodies: 3\n")
    result = run("inspect", tmp_path / "e.yaml")
    assert "e.yaml:2:3: not valid YAML" in str(result.exception), "read as the world that it begins as"
    (tmp_path / "f.yaml").write_text("colour: blue\n")
    result = run("inspect", tmp_path / "f.yaml")
    assert "cannot tell the format" in str(result.exception)
