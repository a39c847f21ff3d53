"""The same measurements and path lengths as PyRoboSim, whose interpreter SIMWRIGHT_PEER_PYROBOSIM names."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from simwright.worlds.acting.manipulation import fit_box, list_grasps
from simwright.worlds.planning.path import FreePoints
from simwright.worlds.planning.planner import make_planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.sensing.sensor import make_sensor

from .flat import make_flat

SETTINGS = """
start_sensor_threads: false
grasping: {generator: parallel_grasp, max_width: 0.25, depth: 0.1, height: 0.02}
sensors:
  lidar: {type: lidar, update_rate_s: 0.1, angle_units: degrees, min_angle: -120, max_angle: 120,
          angular_resolution: 5, max_range_m: 3.0}
"""


@pytest.mark.judge("pyrobosim")
def test_pyrobosim_measures_the_same(tmp_path: Path) -> None:
    world = make_flat(tmp_path, SETTINGS, reference=True)
    file = tmp_path / "flat.yaml"
    file.write_text(
        file.read_text().replace(": locations.yaml, objects: ", ": $PWD/locations.yaml, objects: $PWD/")
    )
    draws = FreePoints(world.free_space, np.random.default_rng(0))
    points = [[float(value) for value in draws.draw()] for _ in range(30)]  # type: ignore[union-attr]
    poses = [[x, y, 0.3 * number] for number, (x, y) in enumerate(points)]
    pairs = [points[number : number + 2] for number in range(28)]
    worker = Path(__file__).with_name("pyrobosim_worker.py")
    command = [
        os.environ["SIMWRIGHT_PEER_PYROBOSIM"],
        str(worker),
        str(file),
        json.dumps(poses),
        json.dumps(pairs),
    ]
    answer = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    )
    robot = world.robots[0]
    lidar = make_sensor(world, robot, "lidar")
    for (x, y, yaw), ranges in zip(poses, answer["scans"], strict=True):
        robot.pose = WorldPose.from_yaw(x, y, 0.0, yaw)
        assert np.abs(lidar.measure().ranges - ranges).max() < 1e-9
    planner = make_planner(world, robot)
    for start, goal, length in answer["paths"]:
        found = planner.plan(WorldPose(*start), WorldPose(*goal))
        assert found.path is not None
        assert found.path.length == pytest.approx(length, abs=1e-6)
    robot.pose = WorldPose(-1.0, 0.1)
    for name, size, count in answer["boxes"]:
        item = next(item for item in world.objects if item.name == name)
        assert sorted(fit_box(item).size) == pytest.approx(size, abs=1e-6)
        assert len(list_grasps(robot, item, ("front", "top", "left", "right"))) == count
