"""Scenes behind ROS: each asset in a namespace of its own, moved by its controllers, its arrays in line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from memory import MemoryGoal, MemoryTransport, make_trajectory

import simwright
from simwright.app.bridging import BridgedSource
from simwright.app.cli.main import run as run_cli
from simwright.app.run_sources import SceneSource, find_source
from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.engines.protocol import Settings
from simwright.ros.bridge import BridgeOptions, RosBridge
from stages import make_arm, write_stage

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "simwright_samples"
SCENE = """
schema_version: 1
name: cell
simulation: {{dt: 0.002}}
ground: {{enabled: true}}
assets:
  - {{id: left, type: usd, source: arm.usda, xform: {{p: [0.0, 1.0, 0.0]}}}}
  - {{id: right, type: usd, source: arm.usda, xform: {{p: [0.5, -1.0, 0.0]}}}}
  - {{id: rover, type: sdf, source: {rover}, xform: {{p: [2.0, 0.0, 0.0]}}}}
bodies:
  - id: crate
    transform: {{p: [5.0, 0.0, 1.0]}}
    shapes: [{{type: box, hx: 0.25, hy: 2.0, hz: 1.0, cfg: {{density: 5.0}}}}]
joints:
  - {{id: crate_free, type: free, parent: world, child: crate}}
"""


def write_scene(folder: Path) -> Path:
    file = folder / "cell.yaml"
    write_stage(folder, make_arm())
    file.write_text(SCENE.format(rover=SAMPLES / "rover" / "model.sdf"))
    return file


@contextlib.contextmanager
def serve(file: Path) -> Iterator[tuple[RosBridge, MemoryTransport, SceneSource]]:
    reporter, transport, settings = Reporter(), MemoryTransport(), Settings()
    found = find_source(file, allow_outside=[SAMPLES.parent], reporter=reporter)
    bridged = BridgedSource(found, "mujoco", settings, reporter)
    source = bridged.source
    assert isinstance(source, SceneSource)
    with source.open("mujoco", settings, reporter) as simulation:
        source.start(simulation, None)
        options = BridgeOptions(added=bridged.added)
        with RosBridge(bridged.graph, simulation, [transport], reporter, options) as bridge:
            yield bridge, transport, source
            source.finish(simulation)


def find_place(transport: MemoryTransport, space: str, frame: str) -> tuple[str, Pose]:
    """The root of a robot's frames, and where a frame is in it."""
    parents = {}
    for topic in (f"/{space}/tf", f"/{space}/tf_static"):
        for one in transport.last(topic)["transforms"]:
            p, q = one["transform"]["translation"], one["transform"]["rotation"]
            pose = Pose.of((p["x"], p["y"], p["z"]), (q["w"], q["x"], q["y"], q["z"]))
            assert one["child_frame_id"] not in parents
            parents[one["child_frame_id"]] = (one["header"]["frame_id"], pose)
    pose = Pose.identity()
    while frame in parents:
        frame, step = parents[frame]
        pose = step @ pose
    return frame, pose


def test_two_robots_of_one_asset_and_a_rover_in_one_scene(tmp_path: Path) -> None:
    with serve(write_scene(tmp_path)) as (bridge, transport, source):
        for name, q in (("left", 0.4), ("right", -0.3)):
            goal = make_trajectory(["elbow"], (0.5, [q]))
            action = transport.actions[f"/{name}/arm/follow"]
            assert action.refuse(goal) == ""
            action.begin(MemoryGoal(goal))
        turned = {"x": 0.0, "y": 0.0, "z": 0.0}
        transport.receivers["/rover/cmd_vel"]({"linear": {"x": 0.5, "y": 0.0, "z": 0.0}, "angular": turned})
        bridge.run(500)
        asset = simwright.load(tmp_path / "arm.usda")
        for name, q, base in (("left", 0.4, (0.0, 1.0, 0.0)), ("right", -0.3, (0.5, -1.0, 0.0))):
            state = transport.last(f"/{name}/arm/joint_states")
            assert (state["name"], state["position"][0]) == (["elbow"], pytest.approx(q, abs=0.02))
            truth = asset.forward_kinematics({asset.joints[1].name: state["position"][0]})
            for body in asset.bodies:
                root, pose = find_place(transport, name, body.name)
                assert root == "world"
                assert pose.is_close(Pose.of(base) @ truth[body.name], 1e-6), body.name
        # 0.5 m/s for 1 s, less the ramp of 1.5 m/s^2
        place = transport.last("/rover/odom")["pose"]["pose"]["position"]["x"]
        assert place == pytest.approx(0.5 - 0.5**2 / 1.5 / 2, rel=0.05)
        assert find_place(transport, "rover", "base_link")[1].p[0] == pytest.approx(2.0 + place, rel=0.03)
        # the rover's lidar sees the crate, which only the scene has
        scan = np.asarray(transport.last("/rover/scan")["ranges"])
        assert scan[np.isfinite(scan)].min() < 2.5
    # the arrays of the scene have moved along
    labels = list(source.loaded.model.body_label)
    row = next(i for i, label in enumerate(labels) if label.endswith("base_link") and "rover" in label)
    assert source.loaded.state.body_q[row][0] == pytest.approx(2.0 + place, rel=0.03)


def test_contexts_of_an_asset_stay_within_that_of_the_scene(tmp_path: Path) -> None:
    write_stage(tmp_path, make_arm())
    file = tmp_path / "one.yaml"
    file.write_text("schema_version: 1\nassets:\n  - {id: first, type: usd, source: arm.usda}\n")
    with serve(file) as (bridge, transport, _):
        bridge.run(100)
        assert {"/first/arm/joint_states", "/first/arm/camera/imu", "/first/tf"} <= set(transport.sent)
        assert "/first/arm/follow" in transport.actions
        assert transport.last("/first/arm/camera/imu")["header"]["frame_id"] == "camera_optical"


def test_many_worlds_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_stage(tmp_path, make_arm())
    file = tmp_path / "one.yaml"
    file.write_text("schema_version: 1\nassets:\n  - {id: first, type: usd, source: arm.usda}\n")
    asked = ["run", str(file), "--num-worlds", "4", "--bag", str(tmp_path / "a.mcap")]
    assert run_cli(asked) == 2
    assert "4 worlds" in capsys.readouterr().err
    assert not (tmp_path / "a.mcap").exists()
