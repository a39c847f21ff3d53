# SPDX-License-Identifier: Apache-2.0
"""The ``locations`` section: furniture with its surfaces and the poses to reach it from."""

from __future__ import annotations

from typing import Any

import shapely

from simwright.worlds import messages
from simwright.worlds.document import WorldEntry, suggest
from simwright.worlds.footprints import EntityFootprint, move_polygon, read_footprint_of
from simwright.worlds.metadata import Category
from simwright.worlds.metadata_read import LOCATION_KEYS
from simwright.worlds.names import check_name, choose_name
from simwright.worlds.poses import WorldPose, rotate_point
from simwright.worlds.poses_read import read_optional_pose, read_pose_value
from simwright.worlds.read_colors import Rgb, parse_color, read_category_color
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.rooms import find_room
from simwright.worlds.spawn import add_spawns
from simwright.worlds.world import Geometry, Location, Room, grow

KEYS = frozenset({"name", "category", "parent", "pose", "color", "is_open", "is_locked", "is_charger"})
BLACK = (0.0, 0.0, 0.0)
DEFAULT_HEIGHT = 1.0


def add_location(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one location to the world."""
    pose = read_optional_pose(reading, entry)
    where = entry.find_where()
    if "parent" not in entry:
        raise refuse_entity(
            messages.NO_PARENT, where, name=entry.text("name", entry.text("category", "location"))
        )
    room = find_room(reading, entry, "parent")
    reading.check_keys(entry, KEYS)
    category = find_category(entry, reading.world.location_categories, "location")
    name = choose_name(reading, entry, category.name, reading.counts.get(category.name, 0))
    color, stated = read_colors(reading, entry, category, BLACK)
    footprint = _read_shape(reading, category, room)
    check_name(reading, name, Location, where)
    if pose is None:
        pose = WorldPose() if reading.reference else _sample_pose(reading, footprint, room, name, entry)
    raw = footprint.polygon
    location = Location(
        name=name,
        category=category,
        room=room,
        pose=pose,
        raw_polygon=raw,
        polygon=_place_shape(reading, footprint, pose),
        height=DEFAULT_HEIGHT if footprint.height is None else footprint.height,
        color=color,
        is_open=_read_flag(reading, entry, category, "is_open", True),
        is_locked=_read_flag(reading, entry, category, "is_locked", False),
        is_charger=_read_flag(reading, entry, category, "is_charger", False),
        where=where,
        stated_color=stated,
    )
    _check_fit(location)
    location.nav_candidates = place_nav_poses(reading, category.entry, footprint.offset, pose)
    location.nav_poses = keep_free_poses(location.nav_candidates, room.free)
    location.inflated = grow(location.polygon, reading.world.inflation_radius)
    add_spawns(reading, location)
    _register(reading, location)


def find_category(entry: WorldEntry, categories: dict[str, Category], what: str) -> Category:
    """The category of an entity."""
    name = entry.text("category")
    category = categories.get(name)
    if category is None or not category.entry.data:
        raise refuse_entity(
            messages.UNKNOWN_CATEGORY,
            entry.find_where("category"),
            what=what,
            name=name,
            meant=suggest(name, categories),
        )
    return category


def read_colors(
    reading: WorldReading, entry: WorldEntry, category: Category, default: Rgb
) -> tuple[Rgb, Any]:
    """Colour of an entity or of its category, and the one PyRoboSim would have."""
    value = entry.get("color")
    if value is not None:
        color = parse_color(reading, entry, value)
        return color, color
    key = ("color", category)
    if key not in reading.shapes:
        reading.shapes[key] = read_category_color(reading, category.entry, default)
    found: tuple[Rgb, Any] = reading.shapes[key]
    return found


def place_nav_poses(
    reading: WorldReading, entry: WorldEntry, offset: WorldPose, pose: WorldPose
) -> list[WorldPose]:
    """The navigation poses of a category or a spawn around a location at ``pose``, free or not."""
    placed = []
    for index, value in enumerate(entry.items("nav_poses")):
        relative = read_pose_value(reading, entry, value, "nav_poses", index)
        x, y = rotate_point(relative.x + offset.x, relative.y + offset.y, pose.yaw)
        placed.append(WorldPose.from_yaw(x + pose.x, y + pose.y, pose.z, relative.yaw + pose.yaw))
    return placed


def keep_free_poses(poses: list[WorldPose], free: Geometry) -> list[WorldPose]:
    """The poses in a polygon; its edge counts."""
    return [pose for pose in poses if shapely.intersects_xy(free, pose.x, pose.y)]


def _read_shape(reading: WorldReading, category: Category, room: Room) -> EntityFootprint:
    """The footprint of a category, made once unless it is that of the room."""
    found = reading.shapes.get(category)
    if found is None:
        reading.check_loose_keys(category.entry, LOCATION_KEYS)
        found = read_footprint_of(reading, category.entry, room.polygon)
        if not found.in_world:
            reading.shapes[category] = found
    footprint: EntityFootprint = found
    return footprint


def _place_shape(reading: WorldReading, footprint: EntityFootprint, pose: WorldPose) -> Geometry:
    """The footprint at its pose; one of type parent is where it has to be (PyRoboSim moves it all the same)."""
    if footprint.in_world and not reading.reference:
        return footprint.polygon
    return move_polygon(footprint.polygon, pose)


def _read_flag(reading: WorldReading, entry: WorldEntry, category: Category, key: str, default: bool) -> bool:
    """A flag of the location, else of its category, where PyRoboSim does not look."""
    if key not in entry and not reading.reference:
        default = category.entry.flag(key, default)
    return entry.flag(key, default)


def _check_fit(location: Location) -> None:
    """Inside of the room, and apart from all other locations in it."""
    room = location.room
    if not location.polygon.within(room.polygon):
        reason = f"is not inside of {room.name!r}"
        raise refuse_entity(messages.LOCATION_MISFIT, location.where, name=location.name, reason=reason)
    for other in room.locations:
        if location.polygon.intersects(other.polygon):
            reason = f"touches {other.name!r}"
            raise refuse_entity(messages.LOCATION_MISFIT, location.where, name=location.name, reason=reason)


def _sample_pose(
    reading: WorldReading, footprint: EntityFootprint, room: Room, name: str, entry: WorldEntry
) -> WorldPose:
    """A place in the room for a location without a pose."""
    if footprint.in_world:
        return room.pose
    others = [other.polygon for other in room.locations]
    pose = reading.sampler.sample_placement(footprint.polygon, room.polygon, others)
    if pose is None:
        raise refuse_entity(messages.NO_ROOM_LEFT, entry.find_where(), name=name, place=f"in {room.name!r}")
    return pose


def _register(reading: WorldReading, location: Location) -> None:
    world, room = reading.world, location.room
    room.locations.append(location)
    if reading.reference:
        room.free = room.free.difference(location.inflated)
    world.locations.append(location)
    key = location.category.name
    reading.counts[key] = reading.counts.get(key, 0) + 1
    world.names[location.name] = location
    for spawn in location.spawns:
        world.names[spawn.name] = spawn
