"""Paths in time, and commands within limits."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.core.math3d import quat_from_intrinsic_xyz, quat_slerp
from simwright.worlds.entities import MotionLimits
from simwright.worlds.execution.executor import (
    VelocityControl,
    make_executor,
    make_smooth_trajectory,
    make_trajectory,
    mix_poses,
)
from simwright.worlds.planning.path import Path as Way
from simwright.worlds.planning.path import make_path
from simwright.worlds.poses import WorldPose

from ..flat import make_flat

WAY = Way((WorldPose(), WorldPose.from_yaw(2.0, 0.0, 0.0, 0.5), WorldPose.from_yaw(2.0, 0.5, 0.0, math.pi)))


def test_a_segment_takes_as_long_as_the_slower_of_moving_and_turning() -> None:
    assert make_trajectory(WAY, 0.5).times == (0.0, 4.0, 5.0)
    slow = make_trajectory(WAY, 0.5, 1.0)
    assert slow.times == pytest.approx((0.0, 4.0, 4.0 + math.pi - 0.5))


def test_turning_goes_the_shorter_way_round() -> None:
    way = Way((WorldPose.from_yaw(0.0, 0.0, 0.0, 3.0), WorldPose.from_yaw(0.0, 0.0, 0.0, -3.0)))
    made = make_trajectory(way, 1.0, 0.1)
    assert made.duration == pytest.approx((math.tau - 6.0) / 0.1)
    half = made.sample(made.duration / 2)
    assert abs(math.remainder(half.yaw - math.pi, math.tau)) < 1e-9


def test_poses_lie_between() -> None:
    made = make_trajectory(WAY, 1.0)
    assert made.sample(-1.0) == WAY.poses[0]
    assert made.sample(99.0) == WAY.poses[-1]
    pose = made.sample(0.5)
    assert (pose.x, pose.y) == (0.5, 0.0)
    assert pose.yaw == pytest.approx(0.125)
    assert [p.xy for p in made.find_rest(2.25)] == [(2.0, 0.25), (2.0, 0.5)]


def test_tilted_rotations_are_mixed_at_constant_speed() -> None:
    start, end = quat_from_intrinsic_xyz(0.3, 0.1, 0.0), quat_from_intrinsic_xyz(-0.4, 0.5, 1.2)
    quarter, half = quat_slerp(start, end, 0.25), quat_slerp(start, end, 0.5)
    assert quat_slerp(start, half, 0.5) == pytest.approx(quarter)
    assert mix_poses(WorldPose(0, 0, 0, start), WorldPose(0, 0, 2, end), 0.5).z == 1.0
    flipped = (-end[0], -end[1], -end[2], -end[3])
    assert quat_slerp(start, flipped, 0.5) == pytest.approx(half)


def test_points_at_the_same_time_keep_the_later_one() -> None:
    way = Way((WorldPose(), WorldPose.from_yaw(0.0, 0.0, 0.0, 1.0), WorldPose(1.0, 0.0)))
    made = make_trajectory(way, 1.0)
    assert made.times == (0.0, 0.0, 1.0)
    assert made.sample(0.0).yaw == 1.0


def test_speeds_have_to_be_positive() -> None:
    for speeds in ((0.0, None), (-1.0, None), (1.0, 0.0)):
        with pytest.raises(UsageError):
            make_trajectory(WAY, *speeds)


def test_the_executor_keeps_to_the_limits_of_the_robot(tmp_path: Path) -> None:
    settings = "max_linear_velocity: 0.25\nmax_angular_velocity: 0.5\n"
    world = make_flat(tmp_path, settings)
    executor = make_executor(world, world.robots[0])
    assert executor is not None
    assert executor.follow(Way((WorldPose(), WorldPose(2.0, 0.0)))).duration == 8.0
    assert executor.follow(Way((WorldPose(), WorldPose.from_yaw(0.0, 0.0, 0.0, 2.0)))).duration == 4.0
    world.reference = True
    same = make_executor(world, world.robots[0])
    assert same is not None
    assert same.follow(Way((WorldPose(), WorldPose(2.0, 0.0)))).duration == 2.0


LIMITS = MotionLimits(1.0, 2.0, 0.5, 1.0)


def test_a_straight_way_is_a_ramp_a_cruise_and_a_ramp() -> None:
    made = make_smooth_trajectory(Way((WorldPose(), WorldPose(5.0, 0.0))), LIMITS, 0.1)
    # two seconds and one metre for each ramp, three metres at one metre a second
    assert made.times == pytest.approx((0.0, 2.0, 5.0, 7.0))
    assert [pose.x for pose in made.poses] == pytest.approx([0.0, 1.0, 4.0, 5.0])
    assert made.sample(1.0).x == pytest.approx(0.25)
    assert made.sample(6.0).x == pytest.approx(4.75)
    short = make_smooth_trajectory(Way((WorldPose(), WorldPose(0.5, 0.0))), LIMITS, 0.1)
    assert short.duration == pytest.approx(2.0)
    split = Way(tuple(WorldPose(0.5 * k, 0.0) for k in range(11)))
    assert make_smooth_trajectory(split, LIMITS, 0.1).duration == pytest.approx(7.0)


def test_a_turn_on_the_spot_keeps_to_its_limits() -> None:
    way = Way((WorldPose(), WorldPose.from_yaw(0.0, 0.0, 0.0, 3.0), WorldPose.from_yaw(1.0, 0.0, 0.0, 3.0)))
    made = make_smooth_trajectory(way, LIMITS, 0.1)
    turning = 2.0 * math.sqrt(3.0 / 1.0)
    assert made.duration == pytest.approx(turning + 2.0 * math.sqrt(1.0 / 0.5))


@pytest.mark.parametrize("seed", range(40))
def test_no_two_steps_differ_by_more_than_the_accelerations(seed: int) -> None:
    random = np.random.default_rng(seed)
    dt = float(random.choice([0.02, 0.1, 0.3]))
    limits = MotionLimits(*random.uniform(0.2, 2.0, 4))
    steps = random.uniform(-1.0, 1.0, (30, 2)) * random.choice([0.03, 0.3, 3.0])
    points = np.cumsum(steps, axis=0)
    way = make_path(WorldPose(), points[:-1], WorldPose.from_yaw(*points[-1], 0.0, 1.0))
    made = make_smooth_trajectory(way, limits, dt)
    poses = [made.sample(dt * k) for k in range(-2, math.ceil(made.duration / dt) + 3)]
    place = np.array([pose.xy for pose in poses])
    yaw = np.unwrap([pose.yaw for pose in poses])
    assert made.sample(made.duration) == way.poses[-1]
    for values, speed, rate in (
        (place, limits.max_linear_velocity, limits.max_linear_acceleration),
        (yaw[:, None], limits.max_angular_velocity, limits.max_angular_acceleration),
    ):
        velocity = np.diff(values, axis=0) / dt
        assert np.linalg.norm(velocity, axis=1).max() <= speed * (1.0 + 1e-6)
        changes = np.linalg.norm(np.diff(velocity, axis=0), axis=1)
        assert changes.max() <= rate * dt * (1.0 + 1e-6)


def test_the_executor_keeps_to_the_accelerations_of_the_robot(tmp_path: Path) -> None:
    world = make_flat(tmp_path, "max_linear_acceleration: 0.5\n")
    executor = make_executor(world, world.robots[0])
    assert executor is not None
    assert executor.follow(Way((WorldPose(), WorldPose(5.0, 0.0)))).duration == pytest.approx(7.0)
    world.reference = True
    same = make_executor(world, world.robots[0])
    assert same is not None
    assert same.follow(Way((WorldPose(), WorldPose(5.0, 0.0)))).duration == 5.0
    for wrong in (MotionLimits(1.0, 1.0, 0.0, 1.0), MotionLimits(1.0, 1.0, 1.0, -1.0)):
        with pytest.raises(UsageError):
            make_smooth_trajectory(WAY, wrong, 0.1)


def test_commands_are_held_to_speed_and_acceleration() -> None:
    dynamics = VelocityControl(LIMITS)
    speeds = []
    pose = WorldPose()
    for _ in range(30):
        pose = dynamics.step(pose, (5.0, 0.0, 0.0), 0.1)
        speeds.append(dynamics.velocity[0])
    assert speeds[:3] == pytest.approx([0.05, 0.1, 0.15])
    assert speeds[-1] == 1.0
    assert pose.x == pytest.approx(sum(speeds) * 0.1)


def test_a_robot_slows_down_before_it_stands() -> None:
    dynamics = VelocityControl(LIMITS)
    dynamics.velocity = (1.0, 0.0, 0.0)
    pose = dynamics.step(WorldPose(), (0.0, 0.0, 0.0), 0.1)
    assert dynamics.velocity[0] == pytest.approx(0.95)
    assert pose.x == pytest.approx(0.095)
    reference = VelocityControl(LIMITS, reference=True)
    reference.velocity = (1.0, 0.0, 0.0)
    assert reference.step(WorldPose(), (0.0, 0.0, 0.0), 0.1) == WorldPose()


def test_commands_count_in_the_frame_of_the_robot() -> None:
    control = VelocityControl(MotionLimits())
    control.velocity = (0.6, 0.2, 0.0)
    # turned by a right angle: forward is along y, and the left along -x
    turned = control.step(WorldPose.from_yaw(1.0, 2.0, 0.0, math.pi / 2.0), (0.6, 0.2, 0.0), 0.5)
    assert (turned.x, turned.y) == pytest.approx((0.9, 2.3))
    slanting = control.step(WorldPose.from_yaw(0.0, 0.0, 0.0, math.pi / 6.0), (0.6, 0.2, 0.0), 1.0)
    assert slanting.y == pytest.approx(0.6 * 0.5 + 0.2 * math.sqrt(0.75))
    pose = VelocityControl(MotionLimits()).step(
        WorldPose.from_yaw(0.0, 0.0, 0.0, math.pi / 2), (1.0, 0.5, 0.2), 1.0
    )
    assert (pose.x, pose.y) == pytest.approx((-0.5, 1.0))
    assert pose.yaw == pytest.approx(math.pi / 2 + 0.2)
