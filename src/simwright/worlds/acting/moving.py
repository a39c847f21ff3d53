# SPDX-License-Identifier: Apache-2.0
"""Changing where robots and objects are: robots move and carry, closed doors stop them, objects are taken and put."""

from __future__ import annotations

import math

import shapely

from simwright.worlds.entities import Hallway, Room, Spawn, WorldObject, WorldRobot
from simwright.worlds.polygons import Geometry, grow, move_polygon
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

# how far beside the free space a robot may come [m]: rounding, and no more
_SLACK = 1e-6


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
    # ways along a wall leave the polygon by rounding: only what is farther out than the slack blocks
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


def take_object(robot: WorldRobot, item: WorldObject) -> None:
    """Put an object into the hands of a robot."""
    assert robot.held is None, "a robot holds one object"
    if item.spawn is not None:
        item.spawn.objects.remove(item)
    # order matters: carry_object moves whatever is in robot.held
    item.spawn, robot.held = None, item
    robot.known_objects.add(item.name)
    carry_object(robot)


def carry_object(robot: WorldRobot) -> None:
    """Bring what a robot holds to where it is: above its middle, turned as it is."""
    item = robot.held
    if item is not None:
        pose = robot.pose
        _set_pose(item, WorldPose(pose.x, pose.y, pose.z + robot.height, pose.quaternion, pose.yaw), None)


def put_object(
    world: World, item: WorldObject, spawn: Spawn, pose: WorldPose, robot: WorldRobot | None = None
) -> None:
    """Put an object on a surface at a pose in the plane, out of the hands of ``robot``."""
    if item.spawn is not None:
        item.spawn.objects.remove(item)
    item.spawn = spawn
    spawn.objects.append(item)
    # PyRoboSim forgets that the location itself may stand on something
    height = spawn.height if world.reference else spawn.elevation
    settled = WorldPose(pose.x, pose.y, height, pose.quaternion, pose.yaw)
    _set_pose(item, settled, world.params.object_radius)
    if robot is not None:
        robot.held = None


def shape_to_place(world: World, item: WorldObject) -> Geometry:
    """The outline that has to fit on a surface, in the frame of the object: its footprint and the margin around it."""
    return grow(item.raw_polygon, world.params.object_radius)


def find_misfit(world: World, item: WorldObject, spawn: Spawn, pose: WorldPose) -> str:
    """Why an object cannot stand at a pose on a surface; empty where it can."""
    outline = move_polygon(shape_to_place(world, item), pose)
    if not outline.within(spawn.polygon):
        return f"it would not stand wholly on {spawn.name!r}"
    for other in spawn.objects:
        if other is not item and shapely.intersects(outline, other.collision):
            return f"it would come too close to {other.name!r}"
    return ""


def find_holder(world: World, item: WorldObject) -> WorldRobot | None:
    """The robot that holds an object."""
    return next((robot for robot in world.robots if robot.held is item), None)


def _set_pose(item: WorldObject, pose: WorldPose, margin: float | None) -> None:
    """Move an object; what is carried has no margin to keep."""
    item.pose = pose
    item.polygon = move_polygon(item.raw_polygon, pose)
    item.collision = item.polygon if margin is None else grow(item.polygon, margin)
