# SPDX-License-Identifier: Apache-2.0
"""The page about robots is true: its example is a manifest, and it names every key, word and place."""

from __future__ import annotations

import re
from pathlib import Path

from simwright.core.documents.read import parse_document
from simwright.core.documents.validate import validate_document
from simwright.tasks.catalog import list_robots
from simwright.tasks.manifest import (
    ActuatorEntry,
    CameraEntry,
    ControlMode,
    ControlSettings,
    Gripper,
    JointEntry,
    RobotKind,
    RobotManifest,
    SimBlock,
)

PAGE = (Path(__file__).parents[2] / "docs" / "robots.md").read_text()


def test_the_example_uses_every_key_and_is_valid():
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    manifest = validate_document(RobotManifest, parse_document(text, name="docs/robots.md"))
    assert set(RobotManifest.model_fields) == manifest.model_fields_set
    assert manifest.joints[0].model_fields_set == set(JointEntry.model_fields)
    assert manifest.cameras[0].model_fields_set == set(CameraEntry.model_fields)
    assert manifest.sim.actuators["shoulder"].model_fields_set == set(ActuatorEntry.model_fields)


def test_it_names_every_key_and_word():
    words = set(re.findall(r"`([A-Za-z_]+)`", PAGE))
    models = (RobotManifest, SimBlock, JointEntry, CameraEntry, Gripper, ActuatorEntry, ControlSettings)
    keys = {key for model in models for key in model.model_fields}
    assert keys - words == set()
    assert {str(word) for enum in (RobotKind, ControlMode) for word in enum} - words == set()


def test_it_names_the_robots_that_come_with_simwright():
    built_in = [name for name, entry in list_robots().items() if entry.origin == "built in"]
    assert [name for name in built_in if f"`{name}`" not in PAGE] == []
