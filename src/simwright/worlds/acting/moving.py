# SPDX-License-Identifier: Apache-2.0
"""Moving a robot for real: what it carries comes along, its place follows, and doors that are closed stop it."""

from __future__ import annotations

import math

import shapely

from simwright.worlds.acting.carrying import carry_object
from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import Hallway, Room, World

_SLACK = 1e-6
"""How far beside the free space a robot may come [m]: rounding, and no more."""


def move_robot(robot: WorldRobot, pose: WorldPose) -> None:
    """Set the pose of a robot; what it holds comes along."""
    robot.pose = pose
    carry_object(robot)


def pass_through(world: World, robot: WorldRobot) -> None:
    """Follow the room or hallway a moving robot is in; what stands in the room does not matter on the way."""
    here, pose = robot.location, robot.pose
    if isinstance(here, (Room, Hallway)) and shapely.intersects_xy(here.free, pose.x, pose.y):
        return
    for part in world.floors:
        if shapely.intersects_xy(part.free, pose.x, pose.y):
            robot.location = part
            return
    robot.location = None


def is_blocked(world: World, robot: WorldRobot, pose: WorldPose) -> bool:
    """Does the straight move to a pose lead the robot against a wall, a closed door or furniture?"""
    if robot.pose.xy == pose.xy:
        return False
    space = world.free_space_at(robot.radius)
    line = shapely.linestrings((robot.pose.xy, pose.xy))
    if shapely.covers(space, line):
        return False
    outside = shapely.get_parts(shapely.difference(line, space))
    middles = shapely.line_interpolate_point(outside, 0.5, normalized=True)
    return bool((shapely.distance(space, middles) > _SLACK).any())


def find_closed_door(world: World, robot: WorldRobot, pose: WorldPose) -> Hallway | None:
    """The closed door that a blocked move ran against, if it was one."""
    line = shapely.linestrings((robot.pose.xy, pose.xy))
    for hallway in world.hallways:
        if not hallway.is_open and shapely.distance(hallway.slab, line) <= robot.radius + 10 * _SLACK:
            return hallway
    return None


def list_contacts(world: World, robot: WorldRobot) -> list[WorldRobot]:
    """Other robots that a robot overlaps."""
    return [
        other
        for other in world.robots
        if other is not robot
        and math.dist(other.pose.xy, robot.pose.xy) < robot.radius + other.radius - _SLACK
    ]
