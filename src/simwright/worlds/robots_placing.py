# SPDX-License-Identifier: Apache-2.0
"""Where robots start.

Nothing said: anywhere free.  A pose: there.  A room or hallway: somewhere in it, or at the pose.  A location or spawn:
at one of its navigation poses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import shapely

from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, suggest
from simwright.worlds.free_space import compute_free_space, update_waypoints
from simwright.worlds.poses import WorldPose
from simwright.worlds.poses_read import read_pose
from simwright.worlds.query import choose_query, find_place
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.sampling import MAX_TRIES
from simwright.worlds.world import Hallway, Location, Place, Room, Spawn
from simwright.worlds.world_state import is_in_hallway

if TYPE_CHECKING:
    from simwright.worlds.robots import WorldRobot


def place_robot(reading: WorldReading, robot: WorldRobot, entry: WorldEntry) -> None:
    """Our policy: a pose that is given counts; what is drawn is free, also of other robots."""
    pose = read_pose(reading, entry, "pose") if "pose" in entry else None
    query = choose_query(reading, entry, "location")
    place = None if query is None else _resolve(reading, robot, query, entry)
    if isinstance(place, (Location, Spawn)):
        _place_at_spawn(reading, robot, place, pose, entry)
    elif pose is not None:
        _place_at_pose(reading, robot, place, pose)
    else:
        _place_anywhere(reading, robot, place)
    _report_overlap(reading, robot)


def _place_at_pose(reading: WorldReading, robot: WorldRobot, place: Place | None, pose: WorldPose) -> None:
    world = reading.world
    robot.pose, robot.location = pose, world.locate(pose)
    if not shapely.intersects_xy(world.free_space, pose.x, pose.y):
        reading.report(messages.ROBOT_OCCUPIED, robot.where, name=robot.name, x=pose.x, y=pose.y)
    elif place is not None and not shapely.intersects_xy(place.polygon, pose.x, pose.y):
        reading.report(
            messages.ROBOT_ELSEWHERE, robot.where, name=robot.name, place=place.name, x=pose.x, y=pose.y
        )
    if robot.location is None:
        robot.location = place


def _place_anywhere(reading: WorldReading, robot: WorldRobot, place: Place | None) -> None:
    """Somewhere free, in ``place`` if there is one."""
    world = reading.world
    space = world.free_space if place is None else world.free_space.intersection(place.polygon)
    discs = [(other.pose.x, other.pose.y, robot.radius + other.radius) for other in world.robots]
    pose = reading.sampler.sample_free_pose(space, world.bounds, robot.radius, discs)
    if pose is None:
        where = "in the world" if place is None else f"in {place.name!r}"
        raise refuse_entity(messages.NO_ROOM_LEFT, robot.where, name=robot.name, place=where)
    robot.pose = pose
    robot.location = place if place is not None else world.locate(pose)


def _place_at_spawn(
    reading: WorldReading,
    robot: WorldRobot,
    place: Location | Spawn,
    pose: WorldPose | None,
    entry: WorldEntry,
) -> None:
    spawn = _choose_spawn(reading, robot, place, entry)
    if not spawn.nav_poses:
        where = entry.find_where("location")
        raise Refusal(messages.NO_NAV_POSE, where, place=spawn.name, name=robot.name)
    matching = pose is not None and any(pose.is_near(other) for other in spawn.nav_poses)
    if pose is not None and not matching:
        reading.report(
            messages.ROBOT_POSE_IGNORED, entry.find_where("pose"), name=robot.name, place=place.name
        )
    if pose is None or not matching:
        pose = spawn.nav_poses[reading.sampler.choose(len(spawn.nav_poses))]
    robot.pose, robot.location = pose, spawn


def _report_overlap(reading: WorldReading, robot: WorldRobot) -> None:
    for other in reading.world.robots:
        if math.dist(robot.pose.xy, other.pose.xy) < robot.radius + other.radius:
            reading.report(messages.ROBOT_OVERLAP, robot.where, name=robot.name, other=other.name)


def place_reference_robot(
    reading: WorldReading, robot: WorldRobot, pose: WorldPose | None, query: str | None, entry: WorldEntry
) -> None:
    """As PyRoboSim does it, with its draws in their order."""
    world = reading.world
    before = world.inflation_radius
    largest = max([other.radius for other in world.robots] + [robot.radius])
    if largest > before:
        world.set_inflation_radius(largest)
    try:
        if query is None:
            _settle_free(reading, robot, pose)
        else:
            _settle_at(reading, robot, _resolve(reading, robot, query, entry), pose, entry)
    except Refusal:
        world.set_inflation_radius(before)
        raise
    world.robots.append(robot)
    world.names[robot.name] = robot
    _reset_planner(reading, robot)


def _settle_free(reading: WorldReading, robot: WorldRobot, pose: WorldPose | None) -> None:
    world = reading.world
    if pose is None:
        pose = _sample_apart(reading, robot)
        if pose is None:
            raise refuse_entity(messages.NO_ROOM_LEFT, robot.where, name=robot.name, place="in the world")
    elif not world.is_free(pose.x, pose.y):
        reading.report(messages.ROBOT_OCCUPIED, robot.where, name=robot.name, x=pose.x, y=pose.y)
    robot.pose, robot.location = pose, world.locate(pose)


def _sample_apart(reading: WorldReading, robot: WorldRobot) -> WorldPose | None:
    """A free pose in the bounds of the world and away from other robots: all tries together at most a thousand."""
    world = reading.world
    discs = [(other.pose.x, other.pose.y, robot.radius + other.radius) for other in world.robots]
    return reading.sampler.sample_free_pose(world.free_space, world.bounds, robot.radius, discs)


def _settle_at(
    reading: WorldReading, robot: WorldRobot, place: Place | None, pose: WorldPose | None, entry: WorldEntry
) -> None:
    if isinstance(place, (Room, Hallway)):
        if pose is None:
            point = reading.sampler.sample_point(place.free, MAX_TRIES)
            if point is None:
                raise refuse_entity(
                    messages.NO_ROOM_LEFT, robot.where, name=robot.name, place=f"in {place.name!r}"
                )
            pose = WorldPose.from_yaw(*point, 0.0, reading.sampler.sample_yaw())
        elif not _is_inside(place, pose):
            reading.report(messages.ROBOT_OCCUPIED, robot.where, name=robot.name, x=pose.x, y=pose.y)
        robot.pose, robot.location = pose, place
        return
    assert isinstance(place, (Location, Spawn))
    spawn = _choose_spawn(reading, robot, place, entry)
    if not spawn.nav_poses:
        where = entry.find_where("location")
        raise Refusal(messages.NO_NAV_POSE, where, place=spawn.name, name=robot.name)
    if pose is None or pose not in spawn.nav_poses:
        pose = spawn.nav_poses[reading.sampler.choose(len(spawn.nav_poses))]
    robot.pose, robot.location = pose, spawn


def _reset_planner(reading: WorldReading, robot: WorldRobot) -> None:
    """What setting up a planner changes: way points for the world graph, draws for the road map, each twice."""
    world, planner = reading.world, robot.path_planner
    if planner is None:
        return
    if planner.type == "world_graph":
        update_waypoints(world)
    elif planner.type == "prm":
        known = compute_free_space(world, closed=[h for h in world.hallways if robot.knows_closed(h)])
        for space in (world.free_space, known):
            for _ in range(int(planner["max_nodes"])):
                if reading.sampler.sample_free_pose(space, world.bounds, robot.radius) is None:
                    break


def _resolve(reading: WorldReading, robot: WorldRobot, query: str, entry: WorldEntry) -> Place:
    world = reading.world
    place, reason = find_place(world, query, reading.sampler)
    if place is None:
        raise refuse_entity(
            messages.UNRESOLVED,
            entry.find_where("location"),
            query=query,
            name=robot.name,
            reason=reason,
            meant=suggest(query, world.names),
        )
    return place


def _choose_spawn(
    reading: WorldReading, robot: WorldRobot, place: Location | Spawn, entry: WorldEntry
) -> Spawn:
    if isinstance(place, Spawn):
        return place
    if not place.spawns:
        raise Refusal(
            messages.NO_SURFACE,
            entry.find_where("location"),
            location=place.name,
            category=place.category.name,
            name=robot.name,
        )
    return place.spawns[reading.sampler.choose(len(place.spawns))]


def _is_inside(place: Room | Hallway, pose: WorldPose) -> bool:
    if isinstance(place, Hallway):
        return is_in_hallway(place, pose)
    return bool(shapely.intersects_xy(place.free, pose.x, pose.y))
