# SPDX-License-Identifier: Apache-2.0
"""Space and plane agree in the stock worlds and in generated ones; things stay where they are put."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from simwright.app.api import check
from simwright.app.world_build import build_world
from simwright.app.worlds import load_world
from simwright.core.diag import Level

from .space_model import SpaceModel, list_cells

STOCK = ("test_world", "test_world_multirobot", "pddlstream_simple_world", "roscon_2024_workshop_world")
CELLS_ACROSS = 100

pytestmark = pytest.mark.realworld


@pytest.mark.parametrize("name", STOCK)
def test_a_stock_world_is_the_same_in_space_and_stays_so(
    shared_assets: Path, tmp_path: Path, name: str
) -> None:
    world = load_world(shared_assets / "worlds" / "data" / f"{name}.yaml")
    model = SpaceModel(world, tmp_path)
    points, occupied = list_cells(world, 0.05)
    np.testing.assert_array_equal(model.find_occupied(points), occupied)
    moved = model.settle(2.0)
    assert set(moved) >= {item.name for item in world.objects}
    assert max(moved.values()) < 1e-3


@pytest.mark.parametrize("number", range(0, 80, 8))
def test_a_generated_world_is_the_same_in_space(shared_assets: Path, tmp_path: Path, number: int) -> None:
    world = load_world(shared_assets.parent / "oracles" / "worlds" / f"w{number:03d}.yaml")
    model = SpaceModel(world, tmp_path)
    low_x, low_y, high_x, high_y = world.bounds
    points, occupied = list_cells(world, max(high_x - low_x, high_y - low_y, 1.0) / CELLS_ACROSS)
    np.testing.assert_array_equal(model.find_occupied(points), occupied)
    standing = {
        item.name
        for item in world.objects
        if item.spawn is not None and abs(item.pose.z - item.spawn.elevation) < 1e-9
    }
    moved = model.settle(2.0)
    assert max((moved[name] for name in standing if name in moved), default=0.0) < 1e-3
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("name", STOCK)
def test_the_assembly_of_a_stock_world_follows_every_rule(
    shared_assets: Path, tmp_path: Path, name: str
) -> None:
    world = load_world(shared_assets / "worlds" / "data" / f"{name}.yaml")
    entry = build_world(world, tmp_path, ["usd"]).entries["usd"]
    assert [found.message for _, found in check(entry) if found.level is not Level.INFO] == []


@pytest.mark.parser
@pytest.mark.parametrize("name", STOCK)
def test_libsdformat_takes_a_stock_world(shared_assets: Path, tmp_path: Path, name: str, accept_sdf) -> None:
    world = load_world(shared_assets / "worlds" / "data" / f"{name}.yaml")
    accept_sdf(build_world(world, tmp_path, ["sdf"]).entries["sdf"])
