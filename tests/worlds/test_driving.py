# SPDX-License-Identifier: Apache-2.0
"""Worlds as MJCF drive: the same path as in the plane, the same ranges, within the limits of the robots."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from simwright.app.world_build import build_world
from simwright.app.worlds import generate_worlds, load_world
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.execution.executor import find_command, make_executor
from simwright.worlds.world import World

from ..conftest import SAMPLES


@pytest.fixture(scope="module")
def lab() -> World:
    return load_world(SAMPLES / "lab" / "lab.yaml", seed=3)


@pytest.fixture(scope="module")
def model(lab: World, tmp_path_factory: pytest.TempPathFactory) -> mujoco.MjModel:
    built = build_world(lab, tmp_path_factory.mktemp("lab"), ("mjcf",))
    return mujoco.MjModel.from_xml_path(str(built.entries["mjcf"]))


def read_pose(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> list[float]:
    return [float(data.joint(f"{name}::{word}").qpos[0]) for word in ("x", "y", "yaw")]


def test_joints_stand_where_the_robots_are(lab: World, model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for robot in lab.robots:
        assert read_pose(model, data, robot.name)[:2] == pytest.approx(robot.pose.xy, abs=1e-9)
        assert data.body(robot.name).xpos[:2] == pytest.approx(robot.pose.xy, abs=1e-9)


def test_motors_have_the_limits_of_the_world(lab: World, model: mujoco.MjModel) -> None:
    assert model.nu == 3 * len(lab.robots)
    for robot in lab.robots:
        speeds = (robot.limits.max_linear_velocity,) * 2 + (robot.limits.max_angular_velocity,)
        for word, speed in zip(("x", "y", "yaw"), speeds, strict=True):
            motor = model.actuator(f"{robot.name}::{word}")
            assert bool(motor.ctrllimited[0]) == math.isfinite(speed)
            if math.isfinite(speed):
                assert motor.ctrlrange == pytest.approx((-speed, speed))


def test_mujoco_drives_the_path_of_the_plane_to_a_centimetre(lab: World, model: mujoco.MjModel) -> None:
    """From the workshop to the office, around the bench and through a door."""
    robot = lab.robots[0]
    path = WorldSimulation(lab, seed=1).plan_path(robot.name, "desk0").path
    executor = make_executor(lab, robot)
    assert path is not None
    assert executor is not None
    worst, last = follow(model, robot.name, executor, path)
    assert worst < 0.01
    assert last < 0.001


@pytest.mark.parametrize(("style", "seed"), [("office", 911), ("hospital", 914)])
def test_drawn_worlds_are_driven_to_a_centimetre(tmp_path: Path, style: str, seed: int) -> None:
    """Their robots brake as hard as they may: who begins late is late to the end."""
    world = load_world(generate_worlds(tmp_path / "world", style, 4, seed)[0])
    robot = world.robots[0]
    assert math.isfinite(robot.limits.max_linear_acceleration)
    file = build_world(world, tmp_path / "out", ("mjcf",)).entries["mjcf"]
    place = world.locations[len(world.locations) // 2].name
    path, executor = (
        WorldSimulation(world, seed=1).plan_path(robot.name, place).path,
        make_executor(world, robot),
    )
    assert path is not None
    assert executor is not None
    worst, last = follow(mujoco.MjModel.from_xml_path(str(file)), robot.name, executor, path)
    assert worst < 0.01
    assert last < 0.001


def follow(model: mujoco.MjModel, name: str, executor: Any, path: Any) -> tuple[float, float]:
    """How far MuJoCo is off the path of the plane at most, and at the end [m]."""
    trajectory = executor.follow(path)
    assert trajectory.duration > 5.0
    data = mujoco.MjData(model)
    motors = [model.actuator(f"{name}::{word}").id for word in ("x", "y", "yaw")]
    worst = 0.0
    while data.time < trajectory.duration + 1.5:
        here = read_pose(model, data, name)
        worst = max(worst, math.dist(here[:2], trajectory.sample(data.time).xy))
        data.ctrl[motors] = find_command(trajectory, data.time, here, executor.dt / 5.0)
        for _ in range(10):
            mujoco.mj_step(model, data)
    return worst, math.dist(read_pose(model, data, name)[:2], path.poses[-1].xy)


def test_walls_stop_what_drives_into_them(lab: World, model: mujoco.MjModel) -> None:
    robot = lab.robots[0]
    data = mujoco.MjData(model)
    data.ctrl[model.actuator(f"{robot.name}::x").id] = -0.8
    while data.time < 4.0:
        mujoco.mj_step(model, data)
    room = lab.locate(robot.pose)
    assert room is not None
    # the drum touches the wall, and stays out of it
    low = lab.bounds[0]
    assert read_pose(model, data, robot.name)[0] == pytest.approx(low + robot.radius, abs=0.02)


def test_rangefinders_measure_what_the_lidar_of_the_plane_does(lab: World, model: mujoco.MjModel) -> None:
    robot = lab.robots[0]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    scan = WorldSimulation(lab).sense(robot.name, "lidar")
    found = np.array([data.sensor(f"{robot.name}::lidar_{k}").data[0] for k in range(len(scan.ranges))])
    found = np.where(found < 0.0, scan.ranges.max(), found)
    assert np.abs(found - scan.ranges).max() < 0.005
