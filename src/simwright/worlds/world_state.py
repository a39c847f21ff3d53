# SPDX-License-Identifier: Apache-2.0
"""What can be done to a finished world: opening, closing, locking; and where a pose is."""

from __future__ import annotations

from collections.abc import Iterable

import shapely

from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import Entity, Hallway, Location, Place, Room, World


def set_open(world: World, entity: Entity, state: bool, ignore: Iterable[WorldRobot] = ()) -> str:
    """Open or close; the empty text, or why it did not happen.  What is so already stays so."""
    word = "open" if state else "closed"
    if not isinstance(entity, (Hallway, Location)):
        return f"{entity.name!r} cannot be {'opened' if state else 'closed'}"
    if entity.is_open is state:
        return ""
    if entity.is_locked:
        return f"{entity.name!r} is locked and cannot be {word}"
    if isinstance(entity, Hallway) and not state:
        bystanders = [robot for robot in world.robots if robot not in set(ignore)]
        blocking = next((robot for robot in bystanders if is_in_hallway(entity, robot.pose)), None)
        if blocking is not None:
            return f"the robot {blocking.name!r} stands in {entity.name!r}"
    entity.is_open = state
    if isinstance(entity, Hallway):
        world.refresh()
    return ""


def set_locked(entity: Entity, state: bool) -> str:
    """Lock or unlock; the empty text, or why it did not happen."""
    if not isinstance(entity, (Hallway, Location)):
        return f"{entity.name!r} has no lock"
    entity.is_locked = state
    return ""


def is_in_hallway(hallway: Hallway, pose: WorldPose) -> bool:
    """Is the centre of a robot in the free part of a corridor?"""
    if not shapely.intersects_xy(hallway.free, pose.x, pose.y):
        return False
    return hallway.is_open or not shapely.intersects_xy(hallway.slab_inflated, pose.x, pose.y)


def locate_pose(world: World, pose: WorldPose) -> Place | None:
    """The place of a pose: hallways first, then rooms and what stands in them."""
    for hallway in world.hallways:
        if any(pose.is_near(other) for other in hallway.nav_poses) or is_in_hallway(hallway, pose):
            return hallway
    for room in world.rooms:
        if shapely.intersects_xy(room.free, pose.x, pose.y):
            return _find_furniture(room, pose) or room
    return None


def _find_furniture(room: Room, pose: WorldPose) -> Place | None:
    """The surface or location that the pose is a navigation pose of."""
    for location in room.locations:
        for spawn in location.spawns:
            if any(pose.is_near(other) for other in spawn.nav_poses):
                return spawn
        if any(pose.is_near(other) for other in location.nav_poses):
            return location
    return None
