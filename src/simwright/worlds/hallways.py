# SPDX-License-Identifier: Apache-2.0
"""The ``hallways`` section: corridors by direction, angle or points, each with a door."""

from __future__ import annotations

import math
from typing import Any

import shapely

from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.names import check_name, name_hallway
from simwright.worlds.poses import WorldPose
from simwright.worlds.read_colors import read_color
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.rooms import GRAY, find_room
from simwright.worlds.world import Geometry, Hallway, Room, grow

KEYS = frozenset(
    {
        "name", "room_start", "room_end", "width", "conn_method", "offset", "conn_angle", "conn_points", "color",
        "wall_width", "is_open", "is_locked",
    }
)  # fmt: skip
METHODS = ("auto", "angle", "points")
_SLIVER = 1e-9
_CRACK = 1e-6
"""Half the width [m] of a gap that rounding may leave beside a door."""


def add_hallway(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one hallway to the world."""
    world = reading.world
    start, end = find_room(reading, entry, "room_start"), find_room(reading, entry, "room_end")
    name, alias = name_hallway(reading, entry, start, end)
    reading.check_keys(entry, KEYS)
    where = entry.find_where()
    if start is end:
        reason = "it starts and ends in the same room"
        raise Refusal(messages.HALLWAY_USELESS, where, name=name, reason=reason)
    width = entry.number("width", 0.0)
    if width <= 0.0:
        raise entry.refuse_sort(entry.get("width"), "a positive number", "width")
    color = read_color(reading, entry, GRAY)
    offset = entry.number("offset", 0.0)
    points = _read_line(entry, start, end, offset)
    polygon = grow(shapely.LineString(points), width / 2.0)
    check_name(reading, name, Hallway, where)
    if polygon.is_empty:
        raise Refusal(messages.HALLWAY_USELESS, where, name=name, reason="its points are all the same")
    other = reading.floors.find_meeting(polygon, ignore=(start, end))
    if other is not None:
        raise refuse_entity(messages.HALLWAY_OVERLAPS, where, name=name, other=other.name)
    wall_width = entry.number("wall_width", 0.2)
    hallway = Hallway(
        name=name,
        alias=alias,
        room_start=start,
        room_end=end,
        width=width,
        wall_width=wall_width,
        offset=offset,
        points=points,
        polygon=polygon,
        outer=grow(polygon, wall_width).difference(start.outer).difference(end.outer),
        slab=polygon.difference(start.outer).difference(end.outer),
        color=color,
        is_open=entry.flag("is_open", True),
        is_locked=entry.flag("is_locked", False),
        where=where,
    )
    if not reading.reference:
        _widen_door(reading, hallway)
    set_waypoints(hallway, start.free, end.free)
    if len(hallway.nav_poses) < 2:
        reason = "its centre line does not leave the rooms"
        raise Refusal(messages.HALLWAY_USELESS, where, name=name, reason=reason)
    _register(reading, hallway)
    world.hallways.append(hallway)


def set_waypoints(hallway: Hallway, start_free: Geometry, end_free: Geometry) -> None:
    """The centre line outside of two free floors: its points, and the poses before both ends."""
    line = shapely.LineString(hallway.points).difference(start_free).difference(end_free)
    parts = line.geoms if hasattr(line, "geoms") else [line]
    points = [point for part in parts for point in part.coords]
    if len(points) < 2:
        hallway.waypoints, hallway.nav_poses = [], []
        return
    waypoints = [WorldPose(x, y) for x, y in points]
    waypoints[0] = _look(points[0], points[1])
    waypoints[-1] = _look(points[-1], points[-2])
    hallway.waypoints = waypoints
    hallway.nav_poses = [waypoints[0], waypoints[-1]]


def blocks_way(hallway: Hallway, slab: Geometry) -> bool:
    """Does a door of that shape separate the two rooms?"""
    rest = grow(hallway.polygon.difference(slab), -_CRACK)
    start, end = hallway.room_start.polygon, hallway.room_end.polygon
    parts = rest.geoms if hasattr(rest, "geoms") else [rest]
    return not any(part.intersects(start) and part.intersects(end) for part in parts)


def _widen_door(reading: WorldReading, hallway: Hallway) -> None:
    """Let the door fill the corridor up to the floors where it would leave a way between the outer wall faces."""
    if hallway.slab.area > _SLIVER and blocks_way(hallway, hallway.slab):
        return
    start, end = hallway.rooms
    wide = hallway.polygon.difference(start.polygon).difference(end.polygon)
    if wide.is_empty:
        return
    hallway.slab = wide
    reading.report(messages.DOOR_WIDENED, hallway.where, name=hallway.name)


def _register(reading: WorldReading, hallway: Hallway) -> None:
    names = reading.world.names
    names[hallway.name] = hallway
    names[hallway.alias] = hallway
    for room in hallway.rooms:
        room.hallways.append(hallway)
    pair = tuple(sorted(room.name for room in hallway.rooms))
    reading.counts[pair] = reading.counts.get(pair, 0) + 1
    if not hallway.outer.is_empty:
        reading.floors.add(hallway.outer, hallway)


def _read_line(entry: WorldEntry, start: Room, end: Room, offset: float) -> list[tuple[float, float]]:
    """The centre line."""
    method = entry.text("conn_method", "auto")
    if method == "points":
        return entry.points("conn_points", 2)
    if method not in METHODS:
        raise entry.refuse_name(method, "connection method", METHODS, "conn_method")
    (x, y), (to_x, to_y) = start.centroid, end.centroid
    angle, length = math.atan2(to_y - y, to_x - x), math.dist(start.centroid, end.centroid)
    if method == "angle":
        given = entry.number("conn_angle", 0.0)
        length *= math.cos(angle - given)
        angle = given
    cosine, sine = math.cos(angle), math.sin(angle)
    first = (x - offset * sine, y + offset * cosine)
    return [first, (first[0] + length * cosine, first[1] + length * sine)]


def _look(from_point: Any, to_point: Any) -> WorldPose:
    yaw = math.atan2(to_point[1] - from_point[1], to_point[0] - from_point[0])
    return WorldPose.from_yaw(from_point[0], from_point[1], 0.0, yaw)
