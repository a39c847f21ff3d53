# SPDX-License-Identifier: Apache-2.0
"""Several floors: read, checked, planned and driven across, built one above the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml

from simwright.app.cli.main import run
from simwright.app.world_build import build_world, import_plan, save_world
from simwright.app.worlds import find_path, load_world, open_world
from simwright.core.diag import Reporter
from simwright.worlds.acting.action import Action
from simwright.worlds.read import check_quality

ROBOT = {
    "radius": 0.2,
    "height": 0.5,
    "max_linear_velocity": 1.0,
    "path_planner": {"type": "astar", "grid_resolution": 0.05, "grid_inflation_radius": 0.22},
    "path_executor": {"type": "constant_velocity", "linear_velocity": 1.0, "dt": 0.1},
}


def make_house(**changes: Any) -> dict[str, Any]:
    """Two floors of a room and a cabin each; the upper one is 20 m to the right in the plane."""
    rooms, hallways = [], []
    for floor, x in (("ground", 0.0), ("first", 20.0)):
        rooms += [
            {
                "name": f"hall_{floor}",
                "footprint": {"type": "box", "dims": [6, 4]},
                "pose": [x, 0.0],
                "wall_width": 0.1,
            },
            {
                "name": f"lift_{floor}",
                "footprint": {"type": "box", "dims": [2, 2]},
                "pose": [x + 4.3, 0.0],
                "wall_width": 0.1,
            },
        ]
        hallways.append(
            {"room_start": f"hall_{floor}", "room_end": f"lift_{floor}", "width": 1.2, "wall_width": 0.1}
        )
    block = {
        "floors": {
            "ground": {"elevation": 0.0, "rooms": ["hall_ground", "lift_ground"]},
            "first": {"elevation": 3.0, "offset": [20.0, 0.0], "rooms": ["hall_first", "lift_first"]},
        },
        "lifts": {
            "lift": {
                "stops": {"ground": "lift_ground", "first": "lift_first"},
                "speed": 0.5,
                "door_time": 2.0,
            }
        },
        "places": {"reading corner": [18.0, 1.0, 0.0]},
    }
    robots = [
        {"name": "ada", "location": "hall_ground", "pose": [-2.0, 0.0], **ROBOT},
        {"name": "bob", "location": "hall_ground", "pose": [-2.0, 1.2], **ROBOT},
    ]
    data = {
        "params": {"name": "house", "wall_height": 2.5},
        "rooms": rooms,
        "hallways": hallways,
        "robots": robots,
    }
    return data | {"simwright": block | changes}


def write(folder: Path, data: Any) -> Path:
    file = folder / "house.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


def test_a_path_rides_the_lift(tmp_path: Path) -> None:
    world = load_world(write(tmp_path, make_house()), strict=True)
    answer = find_path(world, world.robots[0], "hall_first")
    assert answer.path is not None
    (ride,) = answer.path.rides
    # 3 m at 0.5 m/s, and doors of 2 s at both stops
    assert (ride.link, ride.floor, ride.seconds) == ("lift", "first", pytest.approx(10.0))
    assert answer.path.poses[ride.index].xy == pytest.approx((4.3, 0.0))
    assert answer.path.poses[ride.index + 1].xy == pytest.approx((24.3, 0.0))
    legs = answer.path.list_legs()
    assert (
        answer.path.length
        == pytest.approx(sum(leg.length for leg in legs))
        == pytest.approx(6.3 + 4.3, abs=0.2)
    )
    there = find_path(world, world.robots[0], "reading corner")
    assert there.path is not None
    assert there.path.poses[-1].xy == (18.0, 1.0)


def test_rooms_that_a_lift_leads_to_can_be_reached(tmp_path: Path) -> None:
    reporter = Reporter()
    world = load_world(write(tmp_path, make_house()), reporter=reporter)
    check_quality(world, reporter)
    assert [item.message for item in reporter if item.kind == "world-room-unreachable"] == []
    reporter = Reporter()
    world = load_world(write(tmp_path, make_house(lifts={})), reporter=reporter)
    check_quality(world, reporter)
    assert [item.message for item in reporter if item.kind == "world-room-unreachable"]


def test_robots_ride_one_after_the_other(tmp_path: Path) -> None:
    world = load_world(write(tmp_path, make_house()))
    simulation = open_world(world)
    answers = simulation.run(
        {name: [Action("navigate", (x, 0.0))] for name, x in (("ada", 19.0), ("bob", 21.0))}
    )
    assert all(answer.ok for answer in answers.values())
    rides = sorted((event.time, event.robot) for event in simulation.events if event.kind == "ride")
    # the second waits for the cabin: up with the first, down again
    assert rides[1][0] - rides[0][0] >= 10.0 + 8.0 - 1e-6
    assert [world.floor_table.locate(world, robot.pose).name for robot in world.robots] == ["first", "first"]


def test_stairs_are_for_those_who_climb(tmp_path: Path) -> None:
    stairs = {"steps": {"stops": {"ground": "hall_ground", "first": "hall_first"}, "robots": ["bob"]}}
    world = load_world(write(tmp_path, make_house(lifts={}, stairs=stairs)), strict=True)
    ada, bob = world.robots
    assert "no lift or stairs that 'ada' may use" in find_path(world, ada, "hall_first").reason
    answer = find_path(world, bob, "hall_first")
    assert answer.path is not None
    assert answer.path.rides[0].seconds == pytest.approx(10.0)  # 3 m at 0.3 m/s


GROUND, FIRST = ["hall_ground", "lift_ground"], ["hall_first", "lift_first"]
LOW = {"lifts": {}, "floors": {"g": {"rooms": GROUND}, "f": {"elevation": 1.0, "rooms": FIRST}}}
SPLIT = {"lifts": {}, "floors": {"g": {"rooms": GROUND[:1]}, "f": {"elevation": 3.0, "rooms": GROUND[1:]}}}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"floors": {"ground": {"rooms": ["attic"]}}}, "attic"),
        ({"floors": [1]}, "has to be a mapping"),
        ({"lifts": {"lift": {"stops": {"ground": "lift_ground"}}}}, "fewer than two floors"),
        ({"lifts": {"lift": {"stops": {"ground": "lift_first", "first": "lift_first"}}}}, "lift_first"),
        ({"lifts": {"lift": {"stops": {"ground": "lift_ground", "first": "lift_first"}, "speed": -1}}}, "positive"),
        ({"places": {"x": ["a", 2]}}, "has to be a number"),
        (LOW, "walls of 'g' end at 2.5 m"),
        (SPLIT, "a hallway cannot lead"),
    ],
)  # fmt: skip
def test_floors_that_cannot_be_are_told_with_their_line(tmp_path: Path, changes: Any, text: str) -> None:
    reporter = Reporter()
    load_world(write(tmp_path, make_house(**changes)), reporter=reporter)
    found = [item for item in reporter if text in item.message]
    assert found, [item.message for item in reporter]
    assert found[0].where.line > 1


def test_floors_are_built_above_each_other(tmp_path: Path) -> None:
    world = load_world(write(tmp_path, make_house()))
    built = build_world(world, tmp_path / "out", ("mjcf", "usd", "sdf", "nav2"))
    model = mujoco.MjModel.from_xml_path(str(built.entries["mjcf"]))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    # a ray from above meets the upper floor where the lower one is, and nothing beside the house
    group = np.zeros(1, dtype=np.int32)
    for x, expected in ((0.0, 7.0), (20.0, -1.0)):
        # no robot is in the middle of a hall
        found = mujoco.mj_ray(
            model, data, np.array((x, 1.0, 10.0)), np.array((0.0, 0.0, -1.0)), None, 1, -1, group
        )
        assert found == pytest.approx(expected, abs=1e-3)
    below = mujoco.mj_ray(
        model, data, np.array((0.0, 1.0, 1.0)), np.array((0.0, 0.0, -1.0)), None, 1, -1, group
    )
    assert below == pytest.approx(1.0, abs=1e-3)
    rows = {row["name"]: row for row in json.loads(built.facts.read_text())["placements"]}  # type: ignore[union-attr]
    assert rows["building_first"]["floor"] == "first"


def test_saved_floors_come_back(tmp_path: Path) -> None:
    world = load_world(write(tmp_path, make_house()))
    again = load_world(save_world(world, tmp_path / "saved"), strict=True)
    assert again.floor_table.floors.keys() == world.floor_table.floors.keys()
    assert again.floor_table.links["lift"].stops == world.floor_table.links["lift"].stops
    assert again.floor_table.places["reading corner"].xy == (18.0, 1.0)


def test_lifts_of_rmf_connect_its_levels(tmp_path: Path) -> None:
    def make_level(elevation: float) -> dict[str, Any]:
        points = [(0, 0), (500, 0), (500, 300), (0, 300), (600, 0), (600, 300), (500, 120), (500, 180)]
        return {
            "vertices": [[x, y, 0, "", {}] for x, y in points],
            "walls": [[a, b, {}] for a, b in ((0, 1), (1, 6), (7, 2), (2, 3), (3, 0))],
            "floors": [{"vertices": [0, 1, 2, 3]}],
            "measurements": [[0, 1, {"distance": [3, 10.0]}]],
            "fiducials": [[0, 0, "a"], [500, 300, "b"]],
            "elevation": elevation,
        }

    lift = {
        "x": 552, "y": 150, "yaw": 0, "width": 2.0, "depth": 2.0, "reference_floor_name": "L1",
        "doors": {"d": {"door_type": 2, "motion_axis_orientation": 1.57, "width": 1.0, "x": -1.0, "y": 0}},
        "level_doors": {"L1": ["d"], "L2": ["d"]},
    }  # fmt: skip
    data = {"name": "tower", "levels": {"L1": make_level(0), "L2": make_level(4.0)}, "lifts": {"Lift1": lift}}
    file = tmp_path / "tower.building.yaml"
    file.write_text(yaml.safe_dump(data))
    written, world = import_plan(file, tmp_path / "tower")
    assert set(world.floor_table.floors) == {"L1", "L2"}
    assert world.floor_table.links["Lift1"].stops == {"L1": "Lift1_L1", "L2": "Lift1_L2"}
    text = yaml.safe_load(written.read_text())
    text["robots"] = [{"name": "ada", "location": "L1_room", **ROBOT}]
    written.write_text(yaml.safe_dump(text))
    world = load_world(written)
    answer = find_path(world, world.robots[0], "L2_room")
    assert answer.path is not None
    assert [ride.link for ride in answer.path.rides] == ["Lift1"]


def test_plan_prints_the_ride(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, make_house())
    assert (
        run(
            [
                "world",
                "plan",
                str(file),
                "--robot",
                "ada",
                "--to",
                "hall_first",
                "--picture",
                str(tmp_path / "way.png"),
            ]
        )
        == 0
    )
    assert "lift to first, 10.0 s" in capsys.readouterr().out
    assert run(["world", "plan", str(file), "--robot", "ada", "--to", "hall_first", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rides"][0]["link"] == "lift"


def test_every_floor_has_its_map_where_it_is(tmp_path: Path) -> None:
    world = load_world(write(tmp_path, make_house()))
    build_world(world, tmp_path / "out", ("nav2", "rmf"))
    folder = tmp_path / "out" / "nav2"
    maps = [yaml.safe_load((folder / name).read_text()) for name in ("house.yaml", "house_first.yaml")]
    assert maps[0]["origin"] == pytest.approx(maps[1]["origin"])
    graphs = [
        json.loads((folder / name).read_text())
        for name in ("route_graph.geojson", "route_graph_first.geojson")
    ]
    points = [
        [row["geometry"]["coordinates"] for row in graph["features"] if row["geometry"]["type"] == "Point"]
        for graph in graphs
    ]
    assert np.allclose(points[0], points[1])
    _, again = import_plan(tmp_path / "out" / "rmf" / "house.building.yaml", tmp_path / "again")
    assert set(again.floor_table.floors) == {"ground", "first"}
    assert again.floor_table.links["lift"].stops.keys() == {"ground", "first"}
    answer = find_path(again, again.robots[0], "hall_first")
    assert answer.path is not None
    assert [ride.link for ride in answer.path.rides] == ["lift"]
