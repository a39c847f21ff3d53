# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a manifest is said with its place and with what was meant."""

from __future__ import annotations

import json

import jsonschema
import pytest
import yaml

from simwright.core.documents.validate import InvalidDocumentError
from simwright.core.errors import NotFoundError, ParseError, SimwrightError
from simwright.tasks.catalog import open_manifest
from simwright.tasks.manifest import SCHEMA_FILE, build_schema, read_manifest, render_schema
from simwright.tasks.robot import open_robot

from .manifests import write_arm

WRONG = {
    "unknown key": ("knd: arm\n", "2:1", "unknown key 'knd'", "did you mean 'kind'?"),
    "unknown word": ("kind: amr\n", "2:7", "'amr' is not one of", "did you mean 'arm'?"),
    "not a number": ("reach: 1 + x\n", "2:8", "is not a number", ""),
    "joint": ("joints: [{name: tunr}]\n", "2:17", "no joint 'tunr'", "did you mean 'turn'?"),
    "home outside": ("joints: [{name: bend, home: 3}]\n", "2:29", "'bend' cannot start at 3", ""),
    "limits crossed": (
        "joints: [{name: bend, lower: 1, upper: -1}]\n",
        "2:10",
        "is not below the upper limit",
        "",
    ),
    "limits alike": (
        "joints: [{name: bend, upper: -150 * pi / 180}]\n",
        "2:10",
        "the limits of 'bend' would be",
        "",
    ),
    "endless": ("reach: .inf\n", "2:8", "less than or equal to", ""),
    "no turn": ("end_effector: {frame: wrist, rotation: [0, 0, 0, 0]}\n", "2:15", "is zero", ""),
    "listed twice": ("joints: [{name: bend}, {name: bend}]\n", "1:1", "listed twice", ""),
    "tool": ("end_effector: {frame: wirst}\n", "2:23", "no body or site 'wirst'", "did you mean 'wrist'?"),
    "base": ("base_frame: bas\n", "2:13", "no body or site 'bas'", "did you mean 'base'?"),
    "moving base": ("base_frame: wrist\n", "2:13", "'wrist' moves on the robot", ""),
    "camera": (
        "cameras: [{name: c, frame: flang}]\n",
        "2:28",
        "no body or site 'flang'",
        "did you mean 'flange'?",
    ),
    "gripper": (
        "gripper: {actuators: [gripp], open: 0, closed: 1}\n",
        "2:23",
        "no actuator 'gripp'",
        "did you mean 'grip'?",
    ),
    "keyframe": (
        "sim: {mjcf_uri: arm.xml, keyframe: hom}\n",
        "2:36",
        "no keyframe 'hom'",
        "did you mean 'home'?",
    ),
    "actuator": (
        "sim: {mjcf_uri: arm.xml, actuators: {lfit: {kp: 1}}}\n",
        "2:38",
        "no joint 'lfit'",
        "did you mean 'lift'?",
    ),
    "format": ("sim: {urdf_uri: arm.xml}\n", "2:7", "another format", "did you mean 'mjcf_uri'?"),
    "two files": ("sim: {urdf_uri: arm.xml, mjcf_uri: arm.xml}\n", "2:6", "exactly one of", ""),
}


@pytest.mark.parametrize("case", WRONG, ids=list(WRONG))
def test_a_problem_names_its_line_and_what_was_meant(tmp_path, case):
    lines, place, message, hint = WRONG[case]
    file = write_arm(tmp_path, lines)
    with pytest.raises(InvalidDocumentError) as caught:
        open_robot(file)
    (problem,) = caught.value.problems
    assert str(problem.where) == f"{file}:{place}"
    assert message in problem.message
    assert problem.hint == hint


def test_every_problem_is_told_at_once(tmp_path):
    file = write_arm(
        tmp_path,
        """
        base_frame: bse
        end_effector: {frame: writs}
        joints:
          - {name: turn, home: 9}
          - {name: bent}
        """,
    )
    with pytest.raises(InvalidDocumentError, match="has 4 problems") as caught:
        open_robot(file)
    assert [problem.where.line for problem in caught.value.problems] == [2, 3, 5, 6]


def test_a_missing_file_names_the_line_that_wants_it(tmp_path):
    file = write_arm(tmp_path, "sim:\n  mjcf_uri: amr.xml\n")
    with pytest.raises(NotFoundError, match=r"'amr\.xml' is not there") as caught:
        open_robot(file)
    assert str(caught.value.where) == f"{file}:3:13"


def test_a_manifest_of_nothing_is_refused(tmp_path):
    for text, error in (("", SimwrightError), ("- a\n", InvalidDocumentError), ("id: [\n", ParseError)):
        (tmp_path / "robot.yaml").write_text(text)
        with pytest.raises(error):
            read_manifest(tmp_path / "robot.yaml")


@pytest.fixture(scope="module")
def validator():
    return jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))


def test_the_published_schema_is_fresh():
    assert SCHEMA_FILE.read_text() == render_schema(), "run `make docs`"


def test_the_schema_takes_what_the_reader_takes(validator, samples, tmp_path):
    jsonschema.Draft202012Validator.check_schema(build_schema())
    for file in samples.glob("*/robot.yaml"):
        assert open_manifest(file).manifest.licence == "Apache-2.0"
        validator.validate(yaml.safe_load(file.read_text()))
    for lines in ("knd: arm\n", "kind: amr\n", "joints: [{nam: a}]\n", "gripper: {open: 1}\n"):
        data = yaml.safe_load(write_arm(tmp_path, lines).read_text())
        assert not validator.is_valid(data), lines
