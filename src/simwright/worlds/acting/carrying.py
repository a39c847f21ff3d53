# SPDX-License-Identifier: Apache-2.0
"""Objects that change place: taken by a robot, carried along, put_object on a surface."""

from __future__ import annotations

import shapely

from simwright.worlds.footprints import move_polygon
from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import Geometry, Spawn, World, WorldObject, grow


def take_object(robot: WorldRobot, item: WorldObject) -> None:
    """Put an object into the hands of a robot."""
    assert robot.held is None, "a robot holds one object"
    if item.spawn is not None:
        item.spawn.objects.remove(item)
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
