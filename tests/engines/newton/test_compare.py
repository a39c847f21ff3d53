# SPDX-License-Identifier: Apache-2.0
"""Whole builders and motions beside those of Newton's importer, by ``scripts/compare_newton.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.judge("newton"), pytest.mark.realworld]

NAMES = (
    "ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder",
    "four_link_chain_articulation", "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation",
    "simple_articulation_with_mesh",
)  # fmt: skip


@pytest.fixture(scope="module")
def script():
    file = Path(__file__).resolve().parents[3] / "scripts" / "compare_newton.py"
    spec = importlib.util.spec_from_file_location("compare_newton", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_every_list_and_every_entry_is_newtons_or_a_row_of_the_page(newton, script, shared_assets, name):
    orders = ("n", "mnp", "n bare")
    entries = [script.compare_fields(shared_assets / "usd" / f"{name}.usda", order) for order in orders]
    assert not any(entry["refused"] for entry in entries)
    assert script.print_fields(entries) == 0


def test_a_difference_without_a_row_is_found(newton, script, shared_assets):
    path = shared_assets / "usd" / "ant.usda"
    (ours, answer), theirs = script.fill(path, "n", ours=True), script.fill(path, "n", ours=False)
    ours.joint_armature[-1] += 0.1
    ours.shape_scale[0], answer["path_body_map"] = (1.0, 2.0, 3.0), {}
    found = {
        row[0] for row in script.list_differences(script.describe(ours, answer), script.describe(*theirs))
    }
    assert found == {"joint_armature", "shape_scale", "result path_body_map -"}
    assert (
        script.print_fields([{"stage": "a/b", "order": "n", "refused": "", "differences": [["x", "", 1, 2]]}])
        == 1
    )


@pytest.mark.parametrize("name", ["ant", "cartpole"])
def test_they_move_as_after_newtons_import(newton, script, shared_assets, name):
    moved = script.compare_motion(shared_assets / "usd" / f"{name}.usda", "n", 200)
    assert moved.apart < script.MOST
    # a cell of an engine that refused the model is a text, not how far apart they are
    assert all(float(cell) < script.MOST for cell in moved.cells)
