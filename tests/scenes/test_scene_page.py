# SPDX-License-Identifier: Apache-2.0
"""The page about scenes is true: its examples are valid, and it names every key, or the page of operations does."""

import json
import re
from pathlib import Path

import pytest

from simwright.scenes.control import read_control
from simwright.scenes.document import SceneDocument, build_schema, parse_scene
from simwright.scenes.ops.arrays import ARRAYS
from simwright.scenes.ops.registry import load_operations

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "scenes.md").read_text()
OPERATIONS = (DOCS / "operations.md").read_text()
NOT_FOR_USERS = {
    "split_bimanual_root_articulation",
    "collapse_fixed_joints",
    "register_mujoco_custom_attributes",
    "loop",
}


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_examples_are_valid(text):
    assert parse_scene(text, name="docs/scenes.md").scene


def test_the_control_example(tmp_path):
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "c.json"
    file.write_text(text)
    assert json.loads(text)["joint_target_pos"]["dt"] == 0.02
    assert read_control(file).sample(0.03).tolist() == pytest.approx([0.1, 0.4])


def test_it_names_every_key():
    words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", PAGE + OPERATIONS))
    keys = {*SceneDocument.model_fields, *load_operations(), *ARRAYS}
    for definition in build_schema()["$defs"].values():
        for part in (definition, *definition.get("anyOf", ())):
            keys.update(part.get("properties", {}))
    unused = {"kd", "kf", "ka", "shape_kd", "shape_kf", "shape_ka", "contact_ka", "shape_material_ka"}
    assert sorted(keys - words - NOT_FOR_USERS - unused) == []
