# SPDX-License-Identifier: Apache-2.0
"""Worlds in pictures: nothing burnt out, the building framed, furniture of parts that stay inside of their solids."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from simwright.app.world_build import build_world, make_scene
from simwright.app.worlds import generate_worlds, load_world
from simwright.worlds.space.looks import _choose_maker, _FurniturePiece
from simwright.worlds.space.solids import find_bounds

SCRIPT = """
import sys
import mujoco, numpy
model = mujoco.MjModel.from_xml_path(sys.argv[2])
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
renderer = mujoco.Renderer(model, 300, 480)
renderer.update_scene(data, "overview")
shown = renderer.render().copy()
renderer.enable_segmentation_rendering()
renderer.update_scene(data, "overview")
numpy.savez(sys.argv[1], picture=shown, geoms=renderer.render()[:, :, 0],
            ground=[model.geom(n).name == "building::ground" for n in range(model.ngeom)])
"""


def draw(file: Path, folder: Path) -> Any:
    """Drawn by a process of its own: MuJoCo chooses its graphics when it is imported."""
    result = folder / "picture.npz"
    for graphics in ("egl", "osmesa"):
        command = [sys.executable, "-c", SCRIPT, str(result), str(file)]
        environment = {**os.environ, "MUJOCO_GL": graphics}
        subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False, timeout=120)
        if result.exists():
            return np.load(result)
    pytest.skip("MuJoCo finds neither EGL nor OSMesa to draw with")


@pytest.mark.parametrize(("style", "rooms"), [("home", 5), ("warehouse", 4)])
def test_pictures_are_neither_burnt_out_nor_black(tmp_path: Path, style: str, rooms: int) -> None:
    world = load_world(generate_worlds(tmp_path / "world", style, rooms, 4)[0])
    found = draw(build_world(world, tmp_path / "out", ("mjcf",)).entries["mjcf"], tmp_path)
    picture, geoms = found["picture"].astype(int), found["geoms"]
    assert (picture.min(axis=2) >= 250).mean() < 0.01
    assert (picture.max(axis=2) <= 12).mean() < 0.01
    # the building, without sky and ground: whole in the picture, and large in it
    inside = (geoms >= 0) & ~np.append(found["ground"], False)[geoms]
    rows, columns = np.nonzero(inside)
    assert min(rows.min(), columns.min()) > 0
    assert rows.max() < 299
    assert columns.max() < 479
    assert inside.mean() > 0.25
    assert max(np.ptp(rows) / 300, np.ptp(columns) / 480) > 0.85


def test_furniture_has_parts_inside_of_its_solid(tmp_path: Path) -> None:
    world = load_world(generate_worlds(tmp_path / "world", "office", 8, 2)[0])
    scene = make_scene(world)
    assets = {item.asset.name: item.asset for item in scene.placements if item.group == "furniture"}
    names = {shape.name.partition("_")[0] for asset in assets.values() for shape in asset.shapes}
    assert names >= {"leg", "top", "front", "handle", "shelf", "side"}
    for asset in assets.values():
        touched = [shape for shape in asset.shapes if shape.collision]
        seen = [shape for shape in asset.shapes if shape.visual]
        assert touched, asset.name
        assert seen, asset.name
        low, high = find_bounds(touched)
        least, most = find_bounds(seen)
        assert (least >= low - 1e-6).all(), asset.name
        assert (most <= high + 1e-6).all(), asset.name
        # what things stand on is at the very top
        assert most[2] == pytest.approx(high[2])


def test_cushions_of_a_sofa_lie_between_its_arms() -> None:
    piece = _FurniturePiece(2.0, 0.9, 0.8, (0.5, 0.5, 0.5))
    make = _choose_maker("sofa", piece)
    assert make is not None
    parts = list(make(piece))
    arms = sorted(part.middle[0] for part in parts if part.name == "arm")
    wide = next(part.size[0] for part in parts if part.name == "arm")
    cushions = [part for part in parts if part.name == "cushion"]
    assert len(arms) == 2
    assert len(cushions) >= 4, "to sit on, and to lean on"
    for part in cushions:
        assert arms[0] + wide / 2 < part.middle[0] - part.size[0] / 2
        assert part.middle[0] + part.size[0] / 2 < arms[1] - wide / 2
    for part in parts:
        assert abs(part.middle[1]) + part.size[1] / 2 <= piece.depth / 2 + 1e-9


def test_windows_are_in_outer_walls_only(tmp_path: Path) -> None:
    world = load_world(generate_worlds(tmp_path / "world", "office", 8, 2)[0])
    (shell,) = [item for item in make_scene(world).placements if item.name == "building"]
    panes = [shape for shape in shell.asset.shapes if shape.name.startswith("pane")]
    assert len(panes) > 8
    for pane in panes:
        at = shapely.Point((shell.pose @ pane.pose).p[:2])
        rooms = [room for room in world.rooms if room.outer.contains_properly(at)]
        assert len(rooms) == 1
        assert not rooms[0].polygon.contains(at)


def test_things_on_a_set_stand_on_its_table(tmp_path: Path) -> None:
    world = load_world(generate_worlds(tmp_path / "world", "office", 8, 2)[0])
    sets = [location for location in world.locations if location.category.name.endswith("_set")]
    assert sets
    shown = {item.name: item for item in make_scene(world).placements if item.group == "furniture"}
    for location in sets:
        placed = shown[location.name]
        (top,) = [shape for shape in placed.asset.shapes if shape.name == "top"]
        assert any(shape.name.startswith("seat") for shape in placed.asset.shapes)
        half = (np.abs((placed.pose @ top.pose).rotation) @ top.geometry.size)[:2] / 2.0
        middle = (placed.pose @ top.pose).p[:2]
        board = shapely.box(*(middle - half), *(middle + half))
        assert all(board.buffer(1e-6).covers(spawn.polygon) for spawn in location.spawns), location.name
