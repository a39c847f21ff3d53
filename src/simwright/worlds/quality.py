# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a world that can be loaded: rooms nobody gets into, doors that do nothing, objects out of reach.

Everything is judged for a robot of the world's inflation radius.  It starts where the robots are, or, in a world
without robots, where most rooms are; it can open doors that are not locked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from simwright.core.diag import Reporter
from simwright.worlds import messages
from simwright.worlds.entities import Hallway, Room, Spawn
from simwright.worlds.free_space import blocks_way, compute_free_space
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

# smaller areas [m2] are rounding
_SPECK = 1e-6


@dataclass(frozen=True, slots=True)
class ReachableSpace:
    """Where a robot gets: as the doors are (``now``), and after opening all that are not locked (``later``)."""

    now: Geometry
    later: Geometry


def check_quality(world: World, reporter: Reporter) -> None:
    """Report everything that a person would want to know before using the world."""
    reach = find_reachable_space(world)
    for room in world.rooms:
        _check_room(world, room, reach, reporter)
    for hallway in world.hallways:
        _check_hallway(world, hallway, reporter)
    for spawn in world.spawns:
        _check_spawn(world, spawn, reach, reporter)


def find_reachable_space(world: World) -> ReachableSpace:
    """The parts of the free space that robots get to."""
    locked = [hallway for hallway in world.hallways if not hallway.is_open and hallway.is_locked]
    now = _take_reached(world, world.free_space)
    # no door could be opened: the second union would be the first again
    if all(hallway.is_open or hallway.is_locked for hallway in world.hallways):
        return ReachableSpace(now, now)
    return ReachableSpace(now, _take_reached(world, compute_free_space(world, closed=locked)))


def is_passable(hallway: Hallway) -> bool:
    """Does a robot get from one room through the open door into the other?"""
    start, end = hallway.rooms
    furniture = [location.inflated for room in hallway.rooms for location in room.locations]
    space = shapely.union_all([start.free, hallway.free, end.free]).difference(shapely.union_all(furniture))
    # a common edge counts as a way only if the rooms meet there as well
    parts = shapely.get_parts(space.buffer(_SPECK))
    return any(part.intersects(start.free) and part.intersects(end.free) for part in parts)


def _take_reached(world: World, space: Geometry) -> Geometry:
    parts = shapely.get_parts(space)
    if not len(parts):
        return shapely.Polygon()
    shapely.prepare(parts)
    chosen = np.zeros(len(parts), dtype=bool)
    for robot in world.robots:
        chosen |= shapely.intersects_xy(parts, robot.pose.x, robot.pose.y)
    # no robot, or none in free space: the part with most rooms is where one would be
    if not chosen.any():
        floors = np.array([room.polygon for room in world.rooms], dtype=object)
        rooms = shapely.intersects(parts[:, None], floors[None, :]).sum(axis=1)
        chosen[np.lexsort((shapely.area(parts), rooms))[-1]] = True
    reached = shapely.union_all(parts[chosen])
    shapely.prepare(reached)
    return reached


def _check_room(world: World, room: Room, reach: ReachableSpace, reporter: Reporter) -> None:
    occupied = _count_occupied(world, room.nav_poses)
    if occupied:
        reporter.report(
            messages.NAV_POSE_OUTSIDE,
            room.where,
            name=room.name,
            count=occupied,
            total=len(room.nav_poses),
            radius=world.inflation_radius,
        )
    if _enters(reach.now, room):
        return
    if _enters(reach.later, room):
        reporter.report(messages.ROOM_BEHIND_DOOR, room.where, name=room.name)
        return
    why, meant = _explain_room(world, room)
    reporter.report(messages.ROOM_UNREACHABLE, room.where, name=room.name, why=why, meant=meant)


def _enters(space: Geometry, room: Room) -> bool:
    return not room.free.is_empty and bool(space.intersection(room.free).area > _SPECK)


def _explain_room(world: World, room: Room) -> tuple[str, str]:
    if room.free.is_empty:
        fit = f": a robot of {world.inflation_radius} m does not fit into it"
        return fit, "make the room larger, or the robot smaller"
    if not room.hallways:
        return ": no hallway leads there", "add a hallway"
    locked = [hallway.name for hallway in room.hallways if hallway.is_locked and not hallway.is_open]
    if locked:
        return f": the door of {locked[0]!r} is closed and locked", "unlock it, or add a hallway"
    return "", "look at its hallways"


def _check_hallway(world: World, hallway: Hallway, reporter: Reporter) -> None:
    if not is_passable(hallway):
        reason, meant = _explain_hallway(world, hallway)
        reporter.report(
            messages.DOORWAY_BLOCKED,
            hallway.where,
            name=hallway.name,
            start=hallway.room_start.name,
            end=hallway.room_end.name,
            reason=reason,
            meant=meant,
        )
        return
    if hallway.slab.is_empty:
        reason = "the rooms are so close that nothing is between their outer walls"
    elif not blocks_way(hallway, hallway.slab):
        reason = "it leaves a way beside it when it is closed"
    else:
        return
    reporter.report(messages.DOOR_USELESS, hallway.where, name=hallway.name, reason=reason)


def _explain_hallway(world: World, hallway: Hallway) -> tuple[str, str]:
    radius = world.inflation_radius
    for room in hallway.rooms:
        if not hallway.polygon.intersects(room.polygon):
            return f"it does not touch {room.name!r}", "let its first and last point lie in its rooms"
        if room.free.is_empty:
            return f"a robot of {radius} m does not fit into {room.name!r}", "make the room larger"
    if hallway.free.is_empty or hallway.width <= 2 * radius:
        return (
            f"it is {hallway.width} m wide, a robot needs more than {2 * radius:g} m",
            "make it wider, or the robot smaller",
        )
    # inflated furniture blocks from a robot radius away
    mouth = hallway.polygon.buffer(radius)
    for room in hallway.rooms:
        for location in room.locations:
            if location.inflated.intersects(mouth):
                return f"{location.name!r} stands in front of it", "move the furniture, or the hallway"
    return "walls or furniture leave no way", "move the hallway"


def _check_spawn(world: World, spawn: Spawn, reach: ReachableSpace, reporter: Reporter) -> None:
    # only there: by our own policy occupied poses were left out and reported while reading
    if world.reference:
        _report_stale(world, spawn, reporter)
    if not spawn.objects:
        return
    location = spawn.location
    if not spawn.nav_poses:
        reason, meant = (
            "it has no free navigation pose",
            "clear the space in front of it, or give it nav_poses",
        )
    elif not any(shapely.intersects_xy(reach.later, pose.x, pose.y) for pose in spawn.nav_poses):
        reason, meant = "no robot gets to its navigation poses", "look at what is said of its room"
    elif not location.is_open and location.is_locked:
        reason, meant = f"{location.name!r} is closed and locked", "unlock it"
    else:
        return
    reporter.report(
        messages.OBJECT_OUT_OF_REACH,
        location.where,
        spawn=spawn.name,
        name=spawn.objects[0].name,
        others=f" and {len(spawn.objects) - 1} more" if len(spawn.objects) > 1 else "",
        reason=reason,
        meant=meant,
    )


def _report_stale(world: World, spawn: Spawn, reporter: Reporter) -> None:
    occupied = _count_occupied(world, spawn.nav_poses, spawn.room.free)
    if occupied:
        reporter.report(
            messages.STALE_NAV_POSE,
            spawn.location.where,
            name=spawn.name,
            count=occupied,
            total=len(spawn.nav_poses),
            radius=world.inflation_radius,
        )


def _count_occupied(world: World, poses: list[WorldPose], space: Any = None) -> int:
    free = world.free_space if space is None else space
    return sum(not shapely.intersects_xy(free, pose.x, pose.y) for pose in poses)
