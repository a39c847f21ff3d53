"""A world in the plane behind ROS: what its robots tell, and what they are told to do."""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory import MemoryGoal, MemoryTransport

import simwright
from simwright.app.bridging import RosOptions
from simwright.app.cli.main import run as run_cli
from simwright.app.worlds import open_world, serve_world
from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.ros.worlds import WorldBridge
from simwright.worlds.acting.action import Action

LAB = Path(__file__).resolve().parents[2] / "samples" / "simwright_samples" / "lab"
POSE = {"position": {"x": 0.0, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}


@contextlib.contextmanager
def serve(seed: int = 3) -> Iterator[tuple[WorldBridge, MemoryTransport]]:
    simulation, transport = open_world(simwright.load_world(LAB / "lab.yaml", seed=seed)), MemoryTransport()
    with WorldBridge(simulation, [transport], Reporter()) as bridge:
        yield bridge, transport


def make_action(kind: str, robot: str = "tender", **more: Any) -> dict[str, Any]:
    said = {
        "robot": robot,
        "type": kind,
        "object": "",
        "room": "",
        "source_location": "",
        "target_location": "",
    }
    path = {"poses": [], "length": 0.0}
    return {**said, "cost": 0.0, "has_pose": False, "pose": POSE, "path": path, **more}


def do(
    bridge: WorldBridge, transport: MemoryTransport, kind: str, robot: str = "tender", **more: Any
) -> MemoryGoal:
    goal = MemoryGoal({"action": make_action(kind, robot, **more), "realtime_factor": 1.0})
    action = transport.actions["/execute_action"]
    assert action.refuse(goal.goal) == ""
    action.begin(goal)
    bridge.run(60.0, lambda: bool(goal.state))
    return goal


def test_robots_tell_where_they_are_and_what_they_see() -> None:
    with serve() as (bridge, transport):
        bridge.run(1.0)
        assert len(transport.sent["/tender/odom"]) == 51
        assert len(transport.sent["/tender/scan"]) == 11
        assert len(transport.sent["/tender/battery_state"]) == 2
        assert len(transport.sent["/clock"]) == 101
        assert transport.last("/tender/battery_state")["percentage"] == pytest.approx(0.8)
        odometry = transport.last("/tender/odom")
        assert (odometry["header"]["frame_id"], odometry["child_frame_id"]) == ("odom", "base_link")
        # counted from where it started; the map tells where that is
        assert odometry["pose"]["pose"]["position"] == {"x": 0.0, "y": 0.0, "z": 0.0}
        start = transport.last("/tender/tf_static")["transforms"][0]
        assert (start["header"]["frame_id"], start["child_frame_id"]) == ("map", "odom")
        assert start["transform"]["translation"]["x"] == pytest.approx(-1.6)
        scan = transport.last("/tender/scan")
        truth = bridge.simulation.sense("tender", "lidar")
        met = truth.ranges < truth.max_range
        assert np.asarray(scan["ranges"])[met] == pytest.approx(truth.ranges[met], rel=1e-6)
        assert np.isinf(np.asarray(scan["ranges"])[~met]).all()
        assert scan["angle_min"] + scan["angle_increment"] * (len(truth.angles) - 1) == pytest.approx(
            scan["angle_max"]
        )
        assert {"/courier/odom", "/courier/robot_state"} <= set(transport.sent)


def test_a_lidar_of_one_beam_turns_by_nothing_between_beams(tmp_path: Path) -> None:
    folder = shutil.copytree(LAB, tmp_path / "lab")
    file = folder / "lab.yaml"
    file.write_text(file.read_text().replace("angular_resolution: 2.0", "angular_resolution: 300.0"))
    simulation, transport = open_world(simwright.load_world(file, seed=3)), MemoryTransport()
    with WorldBridge(simulation, [transport], Reporter()) as bridge:
        bridge.run(0.1)
        scan = transport.last("/tender/scan")
    assert len(scan["ranges"]) == 1
    assert scan["angle_min"] == scan["angle_max"] == pytest.approx(-2 * np.pi / 3)
    assert (scan["angle_increment"], scan["range_min"], scan["range_max"]) == (0.0, 0.0, 6.0)


def test_the_map_is_kept_and_follows_doors() -> None:
    with serve() as (bridge, transport):
        assert transport.opened["/map"].qos.durability == "transient_local"
        (_, grid), info = transport.sent["/map"][0], transport.sent["/map"][0][1]["info"]
        cells = np.asarray(grid["data"]).reshape(info["height"], info["width"])
        world = bridge.simulation.world

        def look(x: float, y: float) -> int:
            column = math.floor((x - info["origin"]["position"]["x"]) / info["resolution"])
            row = math.floor((y - info["origin"]["position"]["y"]) / info["resolution"])
            return int(cells[row, column])

        # the middle of a room, and beyond all walls
        assert look(*world.find("workshop").nav_poses[0].xy) == 0
        assert look(world.bounds[0] - 0.1, world.bounds[1] - 0.1) == 100
        bridge.run(0.5)
        assert len(transport.sent["/map"]) == 1
        answer = transport.answers["/set_location_state"](
            {"location_name": "hall_server_room_storage", "open": True, "lock": False}
        )
        assert answer["result"]["status"] == 0
        bridge.run(0.1)
        free = [np.count_nonzero(np.asarray(m["data"]) == 0) for _, m in transport.sent["/map"]]
        assert len(free) == 2
        assert free[1] > free[0]


def test_robots_navigate_pick_place_and_open_as_they_are_told() -> None:
    with serve() as (bridge, transport):
        world = bridge.simulation.world
        assert do(bridge, transport, "navigate", target_location="bench").state == "succeeded"
        moved = transport.last("/tender/robot_state")
        assert moved["battery_level"] < 80.0
        # what can fail by chance says so, and may be tried again
        picked = do(bridge, transport, "pick", object="gear")
        while picked.state != "succeeded":
            assert picked.result["execution_result"]["status"] == 3
            picked = do(bridge, transport, "pick", object="gear")
        bridge.run(0.2)
        assert transport.last("/tender/robot_state")["manipulated_object"].startswith("gear")
        assert do(bridge, transport, "navigate", target_location="desk0").state == "succeeded"
        assert do(bridge, transport, "place").state == "succeeded"
        door = "hall_server_room_storage"
        assert do(bridge, transport, "navigate", target_location=door).state == "succeeded"
        assert do(bridge, transport, "open").state == "succeeded"
        assert world.find(door).is_open
        assert do(bridge, transport, "close").state == "succeeded"
        failed = do(bridge, transport, "place")
        assert (failed.state, failed.result["execution_result"]["status"]) == ("aborted", 1)
        assert "holds nothing" in failed.result["execution_result"]["message"]
        state = transport.answers["/request_world_state"]({"robot": ""})["state"]
        gears = [item["parent"] for item in state["objects"] if item["category"] == "gear"]
        assert sum(parent.startswith("desk0") for parent in gears) == 1
        assert {robot["name"] for robot in state["robots"]} == {"tender", "courier"}
        assert "workbench" in transport.answers["/request_world_info"]({})["info"]["location_categories"]


def test_goals_that_make_no_sense_are_refused() -> None:
    with serve() as (bridge, transport):
        action = transport.actions["/execute_action"]
        assert "nobody" in action.refuse({"action": make_action("navigate", "nobody")})
        assert "dance" in action.refuse({"action": make_action("dance")})
        goal = MemoryGoal({"action": make_action("navigate", target_location="bench")})
        action.begin(goal)
        bridge.run(0.5)
        assert "busy" in action.refuse(goal.goal)


def test_two_goals_at_once_and_poses_without_numbers_break_nothing() -> None:
    with serve() as (bridge, transport):
        action = transport.actions["/execute_action"]
        first, second = (MemoryGoal({"action": make_action("place")}) for _ in range(2))
        # both are accepted before either has begun
        assert action.refuse(first.goal) == action.refuse(second.goal) == ""
        action.begin(first)
        action.begin(second)
        bridge.run(0.05)
        assert (first.state, second.state) == ("aborted", "aborted")
        assert "busy" in second.result["execution_result"]["message"]
        lost = {**POSE, "position": {"x": math.nan, "y": 0.0, "z": 0.0}}
        far = make_action("navigate", has_pose=True, pose=lost)
        assert "not numbers" in action.refuse({"action": far})
        assert "not numbers" in transport.actions["/tender/plan_path"].refuse(
            {"target_location": "", "target_pose": lost}
        )
        assert "not numbers" in transport.actions["/tender/follow_path"].refuse({"path": {"poses": [lost]}})
        plan = {"plan": {"robot": "tender", "actions": [far], "cost": 0.0}, "delay": math.nan}
        assert "not numbers" in transport.actions["/execute_task_plan"].refuse(plan)


def test_a_goal_is_cancelled_on_the_way_and_the_world_reset() -> None:
    with serve() as (bridge, transport):
        start = bridge.simulation.find_robot("tender").pose
        goal = MemoryGoal({"action": make_action("navigate", target_location="desk0")})
        transport.actions["/execute_action"].begin(goal)
        bridge.run(2.0)
        speeds = [m["twist"]["twist"]["linear"]["x"] for _, m in transport.sent["/tender/odom"]]
        assert max(speeds) == pytest.approx(0.8, rel=0.01)
        goal.wants_end = True
        bridge.run(0.1)
        assert (goal.state, goal.result["execution_result"]["status"]) == ("canceled", 6)
        before = bridge.time
        again = MemoryGoal({"action": make_action("navigate", target_location="desk0")})
        transport.actions["/execute_action"].begin(again)
        bridge.run(0.5)
        assert transport.answers["/reset_world"]({"deterministic": True, "seed": -1}) == {"success": True}
        assert again.state == "canceled"
        bridge.run(0.1)
        # robots are back, time goes on
        assert bridge.simulation.find_robot("tender").pose == start
        assert bridge.time > before


def test_plans_paths_and_detections() -> None:
    with serve() as (bridge, transport):
        plan = MemoryGoal(
            {
                "plan": {
                    "robot": "courier",
                    "actions": [
                        make_action("navigate", "courier", target_location="desk1"),
                        make_action("navigate", "courier", target_location="office"),
                    ],
                    "cost": 0.0,
                },
                "delay": 0.0,
                "realtime_factor": 1.0,
            }
        )
        assert transport.actions["/execute_task_plan"].refuse(plan.goal) == ""
        transport.actions["/execute_task_plan"].begin(plan)
        asked = MemoryGoal({"target_location": "bench", "target_pose": POSE})
        transport.actions["/tender/plan_path"].begin(asked)
        assert asked.state == "succeeded"
        follow = MemoryGoal({"path": asked.result["path"]})
        assert transport.actions["/tender/follow_path"].refuse(follow.goal) == ""
        transport.actions["/tender/follow_path"].begin(follow)
        bridge.run(60.0, lambda: bool(plan.state and follow.state))
        assert plan.state == "succeeded"
        assert (plan.result["num_completed"], plan.result["num_total"]) == (2, 2)
        assert follow.state == "succeeded"
        seen = MemoryGoal({"target_object": ""})
        transport.actions["/tender/detect_objects"].begin(seen)
        bridge.run(1.0, lambda: bool(seen.state))
        assert {item["category"] for item in seen.result["detected_objects"]} == {"gear", "wrench"}
        nowhere = MemoryGoal({"target_location": "moon", "target_pose": POSE})
        transport.actions["/tender/plan_path"].begin(nowhere)
        assert nowhere.state == "aborted"
        assert transport.answers["/tender/reset_path_planner"]({})["success"]


def test_velocity_commands_drive_and_time_out() -> None:
    with serve() as (bridge, transport):
        command = {"linear": {"x": 0.4, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": 0.0}}
        for _ in range(10):
            transport.receivers["/tender/cmd_vel"](command)
            bridge.run(0.1)
        place = transport.last("/tender/odom")["pose"]["pose"]["position"]
        assert (place["x"], place["y"]) == pytest.approx((0.4, 0.0), abs=0.02)
        bridge.run(2.0)
        # half a second after the last command it stands
        assert transport.last("/tender/odom")["pose"]["pose"]["position"]["x"] < 0.4 + 0.4 * 0.5 + 0.02
        assert transport.last("/tender/odom")["twist"]["twist"]["linear"]["x"] == 0.0
        command["linear"]["x"] = math.nan
        transport.receivers["/tender/cmd_vel"](command)
        bridge.run(0.1)
        assert math.isfinite(transport.last("/tender/odom")["pose"]["pose"]["position"]["x"])


@pytest.mark.judge("ros")
def test_a_bag_of_a_plan_is_complete_when_the_plan_is(tmp_path: Path) -> None:
    from rosbags.highlevel import AnyReader

    bag = tmp_path / "lab.mcap"
    simulation = open_world(simwright.load_world(LAB / "lab.yaml"))
    answers, interrupted = serve_world(
        simulation, RosOptions(bag=str(bag)), plans={"tender": [Action("navigate", "bench")]}
    )
    assert answers["tender"].ok
    assert not interrupted
    with AnyReader([bag]) as reader:
        counts = {c.topic: c.msgcount for c in reader.connections}
    assert counts["/map"] == 1
    assert counts["/tender/odom"] == math.floor(simulation.time * 50 + 1e-6) + 1
    with pytest.raises(UsageError, match="complete"):
        serve_world(simulation, RosOptions(bag=str(tmp_path / "b.mcap")))


def test_the_command_needs_something_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["world", "run", str(LAB / "lab.yaml")]) == 2
    assert run_cli(["world", "run", str(LAB / "lab.yaml"), "--bag", str(tmp_path / "a.mcap")]) == 2
    assert "complete" in capsys.readouterr().err
