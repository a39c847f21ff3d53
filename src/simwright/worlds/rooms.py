# SPDX-License-Identifier: Apache-2.0
"""The ``rooms`` section."""

from __future__ import annotations

from simwright.worlds import messages
from simwright.worlds.document import WorldEntry
from simwright.worlds.footprints import move_polygon, polygon_from_points, read_footprint_of
from simwright.worlds.names import check_name, choose_name
from simwright.worlds.poses import WorldPose
from simwright.worlds.poses_read import read_optional_pose, read_poses
from simwright.worlds.read_colors import read_color
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.world import Geometry, Room, grow

KEYS = frozenset({"name", "footprint", "color", "wall_width", "pose", "nav_poses", "height"})
GRAY = (0.4, 0.4, 0.4)


def add_room(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one room to the world."""
    world = reading.world
    pose = read_optional_pose(reading, entry)
    nav_poses = read_poses(reading, entry, "nav_poses")
    reading.check_keys(entry, KEYS)
    name = choose_name(reading, entry, "room", len(world.rooms))
    color = read_color(reading, entry, GRAY)
    polygon, height = _read_floor(reading, entry)
    if pose is not None:
        polygon = move_polygon(polygon, pose)
    center = polygon.centroid
    middle = WorldPose(center.x, center.y)
    wall_width = entry.number("wall_width", 0.2)
    where = entry.find_where()
    check_name(reading, name, Room, where)
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
    if other is not None and room.outer.intersection(other.polygon).area > 1e-9:
        reading.report(messages.WALLS_OVERLAP, room.where, name=room.name, other=other.name)
