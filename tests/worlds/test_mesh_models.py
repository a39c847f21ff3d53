# SPDX-License-Identifier: Apache-2.0
"""Mesh footprints whose folder has a model.sdf: where the mesh is, how large, and what it weighs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simwright.app.world_build import make_scene
from simwright.app.worlds import load_world
from simwright.core.diag import Reporter
from simwright.worlds.entities import WorldObject
from simwright.worlds.world import World

WORLD = """
metadata: {locations: [places.yaml], objects: [things.yaml]}
rooms: [{name: kitchen, footprint: {type: box, dims: [6, 6]}}]
locations: [{name: table, category: table, parent: kitchen, pose: [0, 0, 0]}]
objects: [{name: brick, category: brick, parent: table, pose: [0.1, 0.2, 0]}]
"""
PLACES = """
table:
  footprint: {type: box, dims: [2, 2], height: 0.5}
  locations: [{name: top, footprint: {type: parent}}]
"""
THINGS = "brick: {footprint: {type: mesh, model_path: brick, mesh_path: brick.obj OFFSET}}\n"
BRICK = """
v 0 0 1\nv 0.2 0 1\nv 0.2 0.1 1\nv 0 0.1 1\nv 0 0 1.3\nv 0.2 0 1.3\nv 0.2 0.1 1.3\nv 0 0.1 1.3
f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8
"""
MODEL = """<sdf version="1.6"><model name="brick"><link name="link">
<inertial><pose>0 0 0.16 0 0 0</pose><mass>2.5</mass>
<inertia><ixx>IXX</ixx><iyy>0.03</iyy><izz>0.01</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>
<visual name="seen"><geometry><mesh><uri>brick.obj</uri></mesh></geometry></visual>
<collision name="felt"><pose>-0.2 -0.1 -1.99 0 0 0</pose>
<geometry><mesh><uri>brick.obj</uri><scale>2 2 2</scale></mesh></geometry></collision>
</link></model></sdf>"""


def load(
    folder: Path, reporter: Reporter, model: str | None = MODEL, offset: str = "", **options: bool
) -> World:
    (folder / "brick").mkdir(exist_ok=True)
    (folder / "world.yaml").write_text(WORLD)
    (folder / "places.yaml").write_text(PLACES)
    (folder / "things.yaml").write_text(THINGS.replace(" OFFSET", offset))
    (folder / "brick" / "brick.obj").write_text(BRICK)
    if model is not None:
        (folder / "brick" / "model.sdf").write_text(model.replace("IXX", "0.03"))
    return load_world(folder / "world.yaml", reporter=reporter, **options)


def find_brick(world: World) -> WorldObject:
    (brick,) = world.objects
    return brick


def list_codes(reporter: Reporter) -> set[str]:
    return {found.kind for found in reporter}


def test_the_model_places_the_mesh_and_weighs_it(tmp_path: Path) -> None:
    reporter = Reporter()
    world = load(tmp_path, reporter)
    brick = find_brick(world)
    assert brick.raw_polygon.bounds == pytest.approx((-0.2, -0.1, 0.2, 0.1))
    assert brick.height == pytest.approx(0.6)
    assert brick.inertial is not None
    np.testing.assert_allclose(
        brick.inertial.com, (0.0, 0.0, 0.15), atol=1e-12, err_msg="from the bottom at 0.01"
    )
    assert "world-model-unread" not in list_codes(reporter)
    placed = next(one for one in make_scene(world).placements if one.name == "brick")
    body = placed.asset.bodies[0]
    assert body.inertial is not None
    assert body.inertial.mass == 2.5
    np.testing.assert_allclose(np.diag(body.inertial.inertia), (0.03, 0.03, 0.01))
    np.testing.assert_allclose(
        (placed.pose @ body.pose).apply(body.inertial.com), (0.1, 0.2, 0.65), atol=1e-9
    )


def test_an_offset_moves_what_it_weighs(tmp_path: Path) -> None:
    brick = find_brick(load(tmp_path, Reporter(), offset=", offset: [0.3, 0, 0, 1.5707963267948966]"))
    assert brick.raw_polygon.bounds == pytest.approx((0.2, -0.2, 0.4, 0.2))
    assert brick.inertial is not None
    np.testing.assert_allclose(brick.inertial.com, (0.3, 0.0, 0.15), atol=1e-12)


def test_without_a_model_the_mesh_is_as_it_is(tmp_path: Path) -> None:
    brick = find_brick(load(tmp_path, Reporter(), model=None))
    assert brick.raw_polygon.bounds == pytest.approx((0.0, 0.0, 0.2, 0.1))
    assert brick.height == pytest.approx(0.3)
    assert brick.inertial is None


def test_reference_mode_reads_no_model(tmp_path: Path) -> None:
    brick = find_brick(load(tmp_path, Reporter(), reference=True))
    assert brick.raw_polygon.bounds == pytest.approx((0.0, 0.0, 0.2, 0.1))
    assert brick.height == pytest.approx(1.3)
    assert brick.inertial is None


def test_a_broken_model_is_told_and_left_out(tmp_path: Path) -> None:
    reporter = Reporter()
    brick = find_brick(load(tmp_path, reporter, model="<sdf"))
    assert brick.height == pytest.approx(0.3)
    assert "world-model-unread" in list_codes(reporter)


def test_an_impossible_mass_is_told_and_left_out(tmp_path: Path) -> None:
    reporter = Reporter()
    brick = find_brick(load(tmp_path, reporter, model=MODEL.replace("IXX", "9")))
    assert brick.inertial is None
    assert brick.height == pytest.approx(0.6), "where the mesh is counts all the same"
    assert "world-model-mass" in list_codes(reporter)


def test_a_model_that_says_no_mass_gives_none(tmp_path: Path) -> None:
    start, end = MODEL.index("<inertial>"), MODEL.index("<visual")
    brick = find_brick(load(tmp_path, Reporter(), model=MODEL[:start] + MODEL[end:]))
    assert brick.inertial is None
    assert brick.height == pytest.approx(0.6)


@pytest.mark.realworld
def test_a_can_is_as_high_and_heavy_as_its_model_says(shared_assets: Path, tmp_path: Path) -> None:
    data = shared_assets / "worlds" / "data"
    can = "can: {footprint: {type: mesh, model_path: $DATA/sample_models/coke_can, mesh_path: meshes/coke_can.dae}}"
    (tmp_path / "world.yaml").write_text(WORLD.replace("category: brick", "category: can"))
    (tmp_path / "places.yaml").write_text(PLACES)
    (tmp_path / "things.yaml").write_text(can)
    brick = find_brick(load_world(tmp_path / "world.yaml", data_folder=data))
    assert brick.height == pytest.approx(0.124, abs=1e-3)
    assert brick.inertial is not None
    assert brick.inertial.mass == 0.39
    low_x, low_y, high_x, high_y = brick.raw_polygon.bounds
    assert (low_x + high_x) / 2.0 == pytest.approx(0.0, abs=1e-3), "the model centres it"
    assert (low_y + high_y) / 2.0 == pytest.approx(0.0, abs=1e-3)
