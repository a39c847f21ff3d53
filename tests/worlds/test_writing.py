# SPDX-License-Identifier: Apache-2.0
"""Worlds drawn at random are sound; worlds that were saved are the same when they are read again."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import shapely

from simwright.app.world_build import save_world
from simwright.app.worlds import check_world, generate_worlds, load_world
from simwright.core.diag import Level, Reporter
from simwright.core.errors import OutputError
from simwright.worlds.acting.action import Action
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.world import World
from simwright.worlds.writing import _PIECES, STYLES, encode_files, generate_world

from ..conftest import SAMPLES
from .flat import make_flat


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("rooms", "seed"), [(1, 0), (2, 1), (9, 7), (18, 3)])
def test_everything_in_a_drawn_world_can_be_reached(
    tmp_path: Path, style: str, rooms: int, seed: int
) -> None:
    (file,) = generate_worlds(tmp_path / "world", style, rooms, seed)
    reporter = Reporter()
    world = check_world(file, reporter=reporter)
    assert [item.message for item in reporter if item.level is not Level.INFO] == []
    assert sum(not room.name.startswith(("corridor", "lobby")) for room in world.rooms) == rooms
    assert len(shapely.get_parts(world.free_space)) == 1
    floors = [room.polygon for room in world.rooms]
    assert shapely.unary_union(floors).area == pytest.approx(sum(floor.area for floor in floors))
    assert world.locations
    simulation = WorldSimulation(world, seed=0)
    for location in world.locations[:: max(1, len(world.locations) // 3)]:
        assert simulation.plan_path("porter", location.name).found, location.name


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_rooms_of_several_wings_stand_apart(style: str, seed: int) -> None:
    rows = generate_world(style, 40, seed)["world"]["rooms"]
    boxes = []
    for row in rows:
        if row["footprint"]["type"] != "box":
            continue
        (x, y), (width, depth) = (row["pose"]["position"][key] for key in "xy"), row["footprint"]["dims"]
        boxes.append(shapely.box(x - width / 2, y - depth / 2, x + width / 2, y + depth / 2))
    for number, box in enumerate(boxes):
        assert all(box.distance(other) > 0.1 for other in boxes[:number]), rows[number]["name"]


def test_furniture_with_chairs_is_reached_from_its_short_ends() -> None:
    for piece in _PIECES.values():
        if len(piece["nav_poses"]) != 2:
            continue
        width = piece["footprint"]["dims"][0]
        for x, y, z, yaw in ([*pose, 0.0, 0.0][:4] for pose in piece["nav_poses"]):
            assert (abs(x), y, z) == (pytest.approx(width / 2 + 0.45), 0.0, 0.0)
            assert math.cos(yaw) == pytest.approx(-math.copysign(1.0, x))  # it is looked at


def test_a_batch_has_a_folder_for_each_world(tmp_path: Path) -> None:
    files = generate_worlds(tmp_path / "many", "home", 3, seed=5, count=3)
    assert [file.parent.name for file in files] == ["home_3_5", "home_3_6", "home_3_7"]
    assert len({file.read_bytes() for file in files}) == 3
    assert encode_files(generate_world("home", 3, 6))["world.yaml"] == files[1].read_bytes()


def compare(first: World, second: World) -> None:
    assert [e.name for e in first.entities] == [e.name for e in second.entities]
    assert set(first.names) == set(second.names)
    for mine, other in zip(first.floors, second.floors, strict=True):
        assert mine.polygon.symmetric_difference(other.polygon).area < 1e-9
        assert mine.outer.symmetric_difference(other.outer).area < 1e-9
    for mine, other in zip(
        (*first.hallways, *first.locations), (*second.hallways, *second.locations), strict=True
    ):
        assert (mine.is_open, mine.is_locked) == (other.is_open, other.is_locked)
    for mine, other in zip(
        (*first.locations, *first.objects), (*second.locations, *second.objects), strict=True
    ):
        assert mine.pose.is_near(other.pose)
        assert mine.color == pytest.approx(other.color)
    for mine, other in zip(first.objects, second.objects, strict=True):
        assert mine.spawn is None or mine.spawn.name == other.spawn.name
    for mine, other in zip(first.robots, second.robots, strict=True):
        assert mine.pose.is_near(other.pose)
        assert mine.battery_level == other.battery_level
        assert mine.limits == other.limits
        assert mine.actions == other.actions
        for key in ("path_planner", "path_executor", "grasping"):
            mine_options, other_options = getattr(mine, key), getattr(other, key)
            assert (mine_options is None) == (other_options is None)
            assert mine_options is None or mine_options.values == other_options.values
    assert first.free_space.symmetric_difference(second.free_space).area < 1e-6


def test_a_saved_world_is_the_same_world(tmp_path: Path) -> None:
    lab = load_world(SAMPLES / "lab" / "lab.yaml", seed=3)
    file = save_world(lab, tmp_path / "saved")
    assert "!!python" not in file.read_text()
    compare(lab, load_world(file))


def test_states_are_saved(tmp_path: Path) -> None:
    world = make_flat(tmp_path)
    simulation = WorldSimulation(world, seed=1)
    for action in (
        Action("navigate", "table"),
        Action("pick", object="can0"),
        Action("navigate", "desk"),
        Action("place"),
        Action("navigate", "hall_left_attic"),
        Action("close"),
    ):
        assert simulation.execute("one", action).ok, action
    again = load_world(save_world(world, tmp_path / "saved"))
    compare(world, again)
    assert again.find("can0").spawn.name == "desk_top"  # type: ignore[union-attr]
    assert not again.find("hall_left_attic").is_open  # type: ignore[union-attr]


def test_what_a_robot_holds_is_told(tmp_path: Path) -> None:
    world = make_flat(tmp_path)
    simulation = WorldSimulation(world, seed=1)
    simulation.execute("one", Action("navigate", "table"))
    assert simulation.execute("one", Action("pick", object="can0")).ok
    reporter = Reporter()
    save_world(world, tmp_path / "saved", reporter=reporter)
    assert [item.kind.name if hasattr(item.kind, "name") else item.kind for item in reporter] == [
        "world-held-left"
    ]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"mine\.txt"):
        generate_worlds(tmp_path, "home", 2)
