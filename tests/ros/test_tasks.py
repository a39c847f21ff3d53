"""Tasks behind ROS: the scene owns the physics, peers see it and aim the robot's servos."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from memory import MemoryGoal, MemoryTransport, make_trajectory

import simwright
from simwright.app import tasking
from simwright.app.bridging import RosOptions
from simwright.app.cli.main import run as run_cli
from simwright.app.tasking import BridgedTask, RunRequest, prepare_run
from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.tasks.rollout import SimRollout

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "simwright_samples"
JOINTS = [f"joint_{number}" for number in range(1, 7)]


@contextlib.contextmanager
def serve(
    monkeypatch: pytest.MonkeyPatch, task: str, robot: Path
) -> Iterator[tuple[SimRollout, BridgedTask, MemoryTransport]]:
    transport, reporter = MemoryTransport(), Reporter()
    monkeypatch.setattr(tasking, "open_transports", lambda options, stack: [transport])
    rollout = prepare_run(RunRequest(task, str(robot), max_steps=200)).rollout
    with contextlib.ExitStack() as stack:
        bridged = BridgedTask(rollout, RosOptions(bag="unused"), reporter, stack)
        yield rollout, bridged, transport
    assert rollout.watch is None
    assert not [found for found in reporter if found.level.value == "error"]


def hold(rollout: SimRollout) -> np.ndarray:
    """The action that changes nothing in the mode of positions."""
    return np.array(rollout.worlds.view("ctrl")[0][: rollout.action_size])


@pytest.fixture(scope="module")
def arm() -> Path:
    return SAMPLES / "arm" / "robot.yaml"


def test_peers_move_the_robot_of_a_task(monkeypatch: pytest.MonkeyPatch, arm: Path) -> None:
    with serve(monkeypatch, "tabletop_push", arm) as (rollout, _, transport):
        rollout.reset(seed=3)
        action = hold(rollout)
        start = dict(zip(JOINTS, transport.last("/joint_states")["position"], strict=False))
        goal = MemoryGoal(make_trajectory(JOINTS, (0.8, [start[name] + 0.2 for name in JOINTS])))
        # servos of a task carry no weight beside their targets: they come to rest below
        goal.goal["goal_tolerance"] = [{"name": name, "position": 0.05} for name in JOINTS]
        follow = transport.actions["/arm_controller/follow_joint_trajectory"]
        assert follow.refuse(goal.goal) == ""
        follow.begin(goal)
        for _ in range(75):
            rollout.step(action)
        assert goal.state == "succeeded", goal.result
        state = transport.last("/joint_states")
        now = dict(zip(state["name"], state["position"], strict=True))
        assert [now[name] - start[name] for name in JOINTS] == pytest.approx([0.2] * 6, abs=0.05)
        # 75 actions of 0.02 s
        assert state["header"]["stamp"] == {"sec": 1, "nanosec": 500_000_000}
        assert len(transport.sent["/joint_states"]) == 76
        # the robot stands where the scene puts it, and the cube is a frame beside it
        parents = {
            one["child_frame_id"]: one
            for topic in ("/tf", "/tf_static")
            for one in transport.last(topic)["transforms"]
        }
        pose, frame = Pose.identity(), "tool0"
        while frame in parents:
            step = parents[frame]["transform"]
            p, q = step["translation"], step["rotation"]
            pose = Pose.of((p["x"], p["y"], p["z"]), (q["w"], q["x"], q["y"], q["z"])) @ pose
            frame = parents[frame]["header"]["frame_id"]
        truth = simwright.load(SAMPLES / "arm" / "urdf" / "arm.urdf").forward_kinematics(now)["tool0"]
        assert frame == "world"
        assert pose.is_close(rollout.base @ truth, 1e-6)
        cube = parents["cube"]["transform"]["translation"]
        assert (cube["x"], cube["y"]) == pytest.approx(rollout.observe()["cube"][:2], abs=1e-9)
        assert transport.last("/task/success") == {"data": False}
        assert transport.last("/task/instruction")["data"] == rollout.scene.instruction


def test_looking_changes_nothing(monkeypatch: pytest.MonkeyPatch, arm: Path) -> None:
    plain = prepare_run(RunRequest("tabletop_push", str(arm), max_steps=200)).rollout
    moves = np.random.default_rng(0).uniform(-0.01, 0.01, (25, plain.action_size))

    def run(rollout: SimRollout) -> np.ndarray:
        rollout.reset(seed=5)
        action = hold(rollout)
        for move in moves:
            action = action + move
            rollout.step(action)
        return np.concatenate([rollout.qpos, rollout.qvel])

    with serve(monkeypatch, "tabletop_push", arm) as (rollout, _, transport):
        served = run(rollout)
        assert len(transport.sent["/tf"]) == 26
    assert np.array_equal(served, run(plain))


def test_a_robot_that_says_nothing_for_ros_can_be_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = SAMPLES / "quadruped" / "robot.yaml"
    with serve(monkeypatch, "locomotion_flat", robot) as (rollout, bridged, transport):
        rollout.reset(seed=0)
        names = transport.last("/joint_states")["name"]
        assert "FL_thigh" in names
        follow = transport.actions["/follow_joint_trajectory"]
        place = dict(zip(names, transport.last("/joint_states")["position"], strict=True))
        goal = MemoryGoal(make_trajectory(["FL_thigh"], (0.2, [place["FL_thigh"] + 0.1])))
        assert "missing" in follow.refuse(goal.goal)
        whole = make_trajectory(
            list(names), (0.2, [place[name] + 0.1 * (name == "FL_thigh") for name in names])
        )
        assert follow.refuse(whole) == ""
        again = MemoryGoal(whole)
        follow.begin(again)
        rollout.step(hold(rollout))
        # a new episode ends what is worked on
        rollout.reset(seed=1)
        assert again.state == "aborted"
        assert not bridged.bridge.targets.is_used


def test_many_worlds_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["task", "run", "reach", "--robot", str(SAMPLES / "arm" / "robot.yaml"), "--num-worlds", "2"]
    assert run_cli([*asked, "--bag", str(tmp_path / "a.mcap")]) == 2
    assert "2 worlds" in capsys.readouterr().err
