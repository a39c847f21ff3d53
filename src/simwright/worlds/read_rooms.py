# SPDX-License-Identifier: Apache-2.0
"""The sections ``rooms`` and ``hallways``: floors, and corridors by direction, angle or points, each with a door."""

from __future__ import annotations

import math

import shapely

from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.entities import Hallway, Room
from simwright.worlds.footprints import polygon_from_points, read_footprint_of
from simwright.worlds.free_space import blocks_way, set_waypoints
from simwright.worlds.polygons import Geometry, grow, move_polygon
from simwright.worlds.poses import WorldPose
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.read_values import (
    check_name,
    choose_name,
    name_hallway,
    read_color,
    read_optional_pose,
    read_poses,
)

_ROOM_KEYS = frozenset({"name", "footprint", "color", "wall_width", "pose", "nav_poses", "height"})
GRAY = (0.4, 0.4, 0.4)


def add_room(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one room to the world."""
    world = reading.world
    pose = read_optional_pose(reading, entry)
    nav_poses = read_poses(reading, entry, "nav_poses")
    reading.check_keys(entry, _ROOM_KEYS)
    name = choose_name(reading, entry, "room", len(world.rooms))
    color = read_color(reading, entry, GRAY)
    polygon, height = _read_floor(reading, entry)
    if pose is not None:
        polygon = move_polygon(polygon, pose)
    center = polygon.centroid
    # not turned: PyRoboSim gives a room without a pose the identity rotation
    middle = WorldPose(center.x, center.y)
    wall_width = entry.number("wall_width", 0.2)
    where = entry.find_where()
    check_name(reading, name, Room, where)
    # the bare floor against earlier floors with their walls: PyRoboSim compares so
    other = reading.floors.find_meeting(polygon)
    if other is not None:
        raise refuse_entity(messages.ROOM_OVERLAPS, where, name=name, other=other.name)
    room = Room(
        name=name,
        polygon=polygon,
        outer=grow(polygon, wall_width),
        pose=middle if pose is None else pose,
        centroid=(center.x, center.y),
        nav_poses=[middle] if nav_poses is None else nav_poses,
        wall_width=wall_width,
        height=height,
        color=color,
        where=where,
    )
    room.free = grow(polygon, -world.inflation_radius)
    _report_swallowed(reading, room)
    world.rooms.append(room)
    world.names[name] = room
    reading.floors.add(room.outer, room)
    reading.bare_floors.add(polygon, room)


def find_room(reading: WorldReading, entry: WorldEntry, key: str) -> Room:
    """The room that an entry names under a key."""
    name = entry.text(key)
    room = reading.world.names.get(name)
    if isinstance(room, Room):
        return room
    raise entry.refuse_name(name, "room", [room.name for room in reading.world.rooms], key)


def _read_floor(reading: WorldReading, entry: WorldEntry) -> tuple[Geometry, float]:
    """Polygon and wall height."""
    height = entry.number("height", 0.0)
    if isinstance(entry.get("footprint"), list):
        return polygon_from_points(entry, entry.points("footprint", 3), "footprint"), height
    footprint = read_footprint_of(reading, entry)
    return footprint.polygon, height if footprint.height is None else footprint.height


def _report_swallowed(reading: WorldReading, room: Room) -> None:
    """PyRoboSim looks at the walls of earlier rooms only."""
    other = reading.bare_floors.find_meeting(room.outer)
    # walls that only touch are common: rooms built wall to wall
    if other is not None and room.outer.intersection(other.polygon).area > 1e-9:
        reading.report(messages.WALLS_OVERLAP, room.where, name=room.name, other=other.name)


_HALLWAY_KEYS = frozenset(
    {
        "name", "room_start", "room_end", "width", "conn_method", "offset", "conn_angle", "conn_points", "color",
        "wall_width", "is_open", "is_locked",
    }
)  # fmt: skip
METHODS = ("auto", "angle", "points")
_SLIVER = 1e-9


def add_hallway(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one hallway to the world."""
    world = reading.world
    start, end = find_room(reading, entry, "room_start"), find_room(reading, entry, "room_end")
    # before the checks: the automatic name counts this hallway even if it is left out, as in PyRoboSim
    name, alias = name_hallway(reading, entry, start, end)
    reading.check_keys(entry, _HALLWAY_KEYS)
    where = entry.find_where()
    # PyRoboSim fails with an index error here
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
    _register_hallway(reading, hallway)
    world.hallways.append(hallway)


def _widen_door(reading: WorldReading, hallway: Hallway) -> None:
    """Let the door fill the corridor up to the floors where it would leave a way between the outer wall faces."""
    if hallway.slab.area > _SLIVER and blocks_way(hallway, hallway.slab):
        return
    start, end = hallway.rooms
    # PyRoboSim's door lies between the outer wall faces: nothing where rooms are nearer than two walls
    wide = hallway.polygon.difference(start.polygon).difference(end.polygon)
    if wide.is_empty:
        return
    hallway.slab = wide
    reading.report(messages.DOOR_WIDENED, hallway.where, name=hallway.name)


def _register_hallway(reading: WorldReading, hallway: Hallway) -> None:
    names = reading.world.names
    names[hallway.name] = hallway
    names[hallway.alias] = hallway
    for room in hallway.rooms:
        room.hallways.append(hallway)
    pair = tuple(sorted(room.name for room in hallway.rooms))
    reading.counts[pair] = reading.counts.get(pair, 0) + 1
    # a hallway inside of the walls of its rooms meets nothing that they do not
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
        # the line is projected on the given direction, so it ends level with the other centroid
        length *= math.cos(angle - given)
        angle = given
    cosine, sine = math.cos(angle), math.sin(angle)
    # a positive offset is to the left of the direction from start to end
    first = (x - offset * sine, y + offset * cosine)
    return [first, (first[0] + length * cosine, first[1] + length * sine)]
