# SPDX-License-Identifier: Apache-2.0
"""What reference mode does as PyRoboSim does it, however odd: the last bit that decides, a pose that is shared."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.worlds.live import draw_steps, make_live_world

from simwright.worlds.acting.action import Action
from simwright.worlds.acting.reference import find_nearest
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.entities import WorldRobot
from simwright.worlds.poses import WorldPose
from simwright.worlds.read import read_world
from simwright.worlds.world import World


def test_equal_distances_are_decided_as_in_pyrobosim() -> None:
    """Two navigation poses of a live sequence: math.dist calls them equally far, and the first one would be taken."""
    robot = WorldRobot("robot", 0.1)
    robot.pose = WorldPose(5.836114043703029, 0.9178892594240831)
    first = WorldPose(5.141592839616055, -0.13574269580201948)
    second = WorldPose(4.5964071603839445, 1.1537426958020194)
    assert find_nearest(robot, [first, second], lambda pose: pose) is second


def run_live_steps(seed: int, count: int, folder: Path) -> World:
    """The world after some steps of the sequence that the judge compares with PyRoboSim itself."""
    world = read_world(make_live_world(seed, folder), seed=seed, reference=True)
    simulation = WorldSimulation(world, seed=seed + 1)
    for robot, kind, target in draw_steps(world, seed, 30)[:count]:
        about = {"target": target} if kind == "navigate" else {"object": target}
        simulation.execute(robot, Action(kind, **about))
    return world


def test_a_place_is_raised_by_a_robot_that_was_sent_to_where_it_stood_and_picks_there(tmp_path: Path) -> None:
    """PyRoboSim 5.0.1 moves a robot that is there already onto the pose of the place itself, and raises both.

    The charge left is PyRoboSim's own: the path of the last step ends 0.3 m up.
    """
    world = run_live_steps(77007, 22, tmp_path)
    assert world.robots[0].battery_level == pytest.approx(79.38889453482173, abs=1e-6)


def test_a_place_stays_down_where_the_last_bit_says_that_the_robot_was_not_there(tmp_path: Path) -> None:
    """The yaw of 1.5708 comes out of PyRoboSim's interpolation with another last bit: the pose is not shared."""
    world = run_live_steps(20009, 18, tmp_path)
    assert world.robots[0].battery_level == pytest.approx(87.65686977890822, abs=1e-6)
    assert world.robots[0].pose.z == 0.0


def test_a_robot_without_charge_goes_nowhere(tmp_path: Path) -> None:
    simulation = WorldSimulation(read_world(make_live_world(3, tmp_path), seed=3, reference=True), seed=4)
    robot = simulation.world.robots[0]
    before, robot.battery_level = robot.pose, 0.0
    target = simulation.world.locations[0].name
    result = simulation.execute(robot.name, Action("navigate", target))
    assert (result.status.value, result.code) == ("precondition", "no-battery")
    assert robot.pose == before
