"""Everything Newton 1.7.0 computes for eleven stages in four resolver orders, against what we read.

A value agrees to 1e-5 of its size (rotations: the angle between them), or the difference is a row of the table
in ``docs/newton-differences.md``; the table holds the differences that occur, value by value, and no others.
Where nobody says anything our model is silent; Newton's importer defaults stand in for that silence here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle_mechanism import compare_articulations, compare_bodies, compare_filters, compare_joints
from oracle_shapes import compare_shapes
from oracle_stage import compare_attributes, compare_custom, compare_mujoco, compare_resolved, compare_scene
from oracle_values import ORDERS, Difference, agree_pose

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read
from simwright.model.asset import Asset

NAMES = (
    "ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder",
    "four_link_chain_articulation", "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation",
    "simple_articulation_with_mesh",
)  # fmt: skip
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "newton-differences.md"
COLUMNS = ["stage", "orders", "element", "field", "ours", "Newton", "why"]


def load(assets: Path, name: str, order: str) -> tuple[Asset, dict[str, Any]]:
    options = ReadOptions(schema_resolvers=ORDERS[order])
    asset = read(assets / "usd" / f"{name}.usda", options, Reporter())
    oracle = assets.parent / "oracles" / "newton" / f"{name}.{order}.json"
    return asset, json.loads(oracle.read_text())


def compare(asset: Asset, oracle: dict[str, Any], order: str) -> Iterator[Difference]:
    yield from compare_bodies(asset, oracle)
    yield from compare_joints(asset, oracle)
    yield from compare_shapes(asset, oracle)
    yield from compare_articulations(asset, oracle)
    yield from compare_filters(asset, oracle)
    yield from compare_scene(asset, oracle)
    yield from compare_attributes(asset, oracle, order)
    yield from compare_custom(asset, oracle)
    yield from compare_mujoco(asset, oracle)
    yield from compare_resolved(asset, oracle, order)


def list_documented() -> list[dict[str, str]]:
    """The rows of the page's first table."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines if line[:1] == "|"
    ]
    start = rows.index(COLUMNS)
    # another table of the page, that of Newton's own tests, begins with their names
    end = next((number for number, row in enumerate(rows) if row[0] == "test"), len(rows))
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows[start + 2 : end]]


def describe(difference: Difference) -> tuple[str, str, str, str]:
    ours, theirs = (json.dumps(value, default=str) for value in (difference.ours, difference.theirs))
    return difference.element, difference.field, ours, theirs


@pytest.mark.realworld
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", NAMES)
def test_what_newton_computes(shared_assets, name, order):
    expected = {
        (row["element"], row["field"], row["ours"], row["Newton"])
        for row in list_documented()
        if row["stage"] == name and order in row["orders"].split()
    }
    assert {describe(d) for d in compare(*load(shared_assets, name, order), order)} == expected


def test_every_documented_difference_is_explained():
    headings = set(re.findall("^## (.*)$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE))
    rows = list_documented()
    assert rows
    for row in rows:
        assert row["stage"] in NAMES
        assert set(row["orders"].split()) <= set(ORDERS)
        assert row["why"] in headings


@pytest.mark.parametrize(("angle", "agrees"), [(0.9e-5, True), (1.1e-5, False), (1e-3, False)])
def test_rotations_are_held_to_the_angle_between_them(angle, agrees):
    turn = quat_from_axis_angle((1.0, 2.0, 3.0), 0.7 + angle)
    theirs = quat_from_axis_angle((1.0, 2.0, 3.0), 0.7)
    for sign in (1.0, -1.0):
        row = [0.0, 0.0, 0.0, *(sign * theirs[[1, 2, 3, 0]])]
        assert agree_pose(Pose.of((0, 0, 0), turn), row) is agrees
