# SPDX-License-Identifier: Apache-2.0
"""The sections ``locations`` and ``objects``: furniture with its surfaces, and what stands on them.

A location has navigation poses, from which robots reach it.  Objects stand at a given place or at a drawn one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simwright.core.diag import Where
from simwright.model.inertia import Inertial
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, suggest
from simwright.worlds.entities import Category, Location, Rgb, Room, Spawn, WorldObject
from simwright.worlds.footprints import EntityFootprint, read_footprint, read_footprint_of
from simwright.worlds.free_space import keep_free_poses
from simwright.worlds.metadata import LOCATION_KEYS, OBJECT_KEYS, SPAWN_KEYS
from simwright.worlds.polygons import Geometry, grow, move_polygon
from simwright.worlds.poses import WorldPose, rotate_point
from simwright.worlds.query import choose_query, find_place
from simwright.worlds.read_rooms import find_room
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.read_values import (
    check_name,
    choose_name,
    parse_color,
    read_category_color,
    read_optional_pose,
    read_pose_value,
)

_LOCATION_ENTRY_KEYS = frozenset(
    {"name", "category", "parent", "pose", "color", "is_open", "is_locked", "is_charger"}
)
BLACK = (0.0, 0.0, 0.0)
_LOCATION_HEIGHT = 1.0


def add_location(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one location to the world."""
    pose = read_optional_pose(reading, entry)
    where = entry.find_where()
    # PyRoboSim leaves it out with a line in its log, but gives up the file for a parent that is not there
    if "parent" not in entry:
        raise refuse_entity(
            messages.NO_PARENT, where, name=entry.text("name", entry.text("category", "location"))
        )
    room = find_room(reading, entry, "parent")
    reading.check_keys(entry, _LOCATION_ENTRY_KEYS)
    category = find_category(entry, reading.world.location_categories, "location")
    # all of the category that were taken count, named ones too
    name = choose_name(reading, entry, category.name, reading.counts.get(category.name, 0))
    color, stated = read_colors(reading, entry, category, BLACK)
    footprint = _read_location_shape(reading, category, room)
    check_name(reading, name, Location, where)
    if pose is None:
        # PyRoboSim puts it at the origin, although its manual promises a drawn place
        pose = WorldPose() if reading.reference else _sample_pose(reading, footprint, room, name, entry)
    raw = footprint.polygon
    location = Location(
        name=name,
        category=category,
        room=room,
        pose=pose,
        raw_polygon=raw,
        polygon=_place_location_shape(reading, footprint, pose),
        height=_LOCATION_HEIGHT if footprint.height is None else footprint.height,
        color=color,
        is_open=_read_flag(reading, entry, category, "is_open", True),
        is_locked=_read_flag(reading, entry, category, "is_locked", False),
        is_charger=_read_flag(reading, entry, category, "is_charger", False),
        where=where,
        stated_color=stated,
    )
    _check_location_fit(location)
    location.nav_candidates = place_nav_poses(reading, category.entry, footprint.offset, pose)
    location.nav_poses = keep_free_poses(location.nav_candidates, room.free)
    location.inflated = grow(location.polygon, reading.world.inflation_radius)
    add_spawns(reading, location)
    _register_location(reading, location)


def find_category(entry: WorldEntry, categories: dict[str, Category], what: str) -> Category:
    """The category of an entity."""
    name = entry.text("category")
    category = categories.get(name)
    # a category without any content counts as unknown
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
    # read once for each category, so that a bad colour is reported once
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
        # the offset of the footprint counts for navigation poses as well, before the location is turned
        x, y = rotate_point(relative.x + offset.x, relative.y + offset.y, pose.yaw)
        placed.append(WorldPose.from_yaw(x + pose.x, y + pose.y, pose.z, relative.yaw + pose.yaw))
    return placed


def _read_location_shape(reading: WorldReading, category: Category, room: Room) -> EntityFootprint:
    """The footprint of a category, made once unless it is that of the room."""
    found = reading.shapes.get(category)
    if found is None:
        reading.check_loose_keys(category.entry, LOCATION_KEYS)
        found = read_footprint_of(reading, category.entry, room.polygon)
        if not found.in_world:
            reading.shapes[category] = found
    footprint: EntityFootprint = found
    return footprint


def _place_location_shape(reading: WorldReading, footprint: EntityFootprint, pose: WorldPose) -> Geometry:
    """The footprint at its pose; one of type parent is where it has to be (PyRoboSim moves it all the same)."""
    if footprint.in_world and not reading.reference:
        return footprint.polygon
    return move_polygon(footprint.polygon, pose)


def _read_flag(reading: WorldReading, entry: WorldEntry, category: Category, key: str, default: bool) -> bool:
    """A flag of the location, else of its category, where PyRoboSim does not look."""
    # documented for categories, but PyRoboSim reads the keys of the location only
    if key not in entry and not reading.reference:
        default = category.entry.flag(key, default)
    return entry.flag(key, default)


def _check_location_fit(location: Location) -> None:
    """Inside of the room, and apart from all other locations in it."""
    room = location.room
    # touching the wall is allowed
    if not location.polygon.within(room.polygon):
        reason = f"is not inside of {room.name!r}"
        raise refuse_entity(messages.LOCATION_MISFIT, location.where, name=location.name, reason=reason)
    for other in room.locations:
        # touching counts as overlapping, as in PyRoboSim
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


def _register_location(reading: WorldReading, location: Location) -> None:
    world, room = reading.world, location.room
    room.locations.append(location)
    # PyRoboSim takes furniture out of the floor as it comes, so later navigation poses see it
    if reading.reference:
        room.free = room.free.difference(location.inflated)
    world.locations.append(location)
    key = location.category.name
    reading.counts[key] = reading.counts.get(key, 0) + 1
    world.names[location.name] = location
    for spawn in location.spawns:
        world.names[spawn.name] = spawn


def add_spawns(reading: WorldReading, location: Location) -> None:
    """Make the surfaces that the category lists."""
    for index, value in enumerate(location.category.entry.items("locations")):
        try:
            entry = location.category.entry.item("locations", index, value)
            location.spawns.append(_make_spawn(reading, location, entry, len(location.spawns)))
        except Refusal as refusal:
            reading.settle(refusal)


def _make_spawn(reading: WorldReading, location: Location, entry: WorldEntry, number: int) -> Spawn:
    footprint = _read_surface_shape(reading, location, entry)
    polygon = footprint.polygon
    if not footprint.in_world:
        polygon = move_polygon(polygon, location.pose)
    center = polygon.centroid
    point = (0.0, 0.0) if center.is_empty else (center.x, center.y)
    color, stated = location.color, location.stated_color
    if "color" in entry:
        color, stated = read_category_color(reading, entry, location.color)
    # the very list of the location, not a copy: both change together
    candidates, nav_poses = location.nav_candidates, location.nav_poses
    if "nav_poses" in entry:
        candidates = place_nav_poses(reading, entry, footprint.offset, location.pose)
        nav_poses = keep_free_poses(candidates, location.room.free)
    return Spawn(
        name=f"{location.name}_{entry.text('name', f'loc{number}')}",
        location=location,
        polygon=polygon,
        # `or`: a height of 0 means that of the location, as in PyRoboSim
        height=footprint.height or location.height,
        pose=WorldPose(point[0], point[1], 0.0, location.pose.quaternion, location.pose.yaw),
        color=color,
        nav_poses=nav_poses,
        nav_candidates=candidates,
        stated_color=stated,
    )


def _read_surface_shape(reading: WorldReading, location: Location, entry: WorldEntry) -> EntityFootprint:
    """The footprint of a surface, made once unless it is that of the location."""
    key = (location.category, entry.path)
    found = reading.shapes.get(key)
    if found is None:
        reading.check_loose_keys(entry, SPAWN_KEYS)
        inner = entry.child("footprint")
        if inner is None:
            # no footprint means the shape of the location
            return EntityFootprint(location.polygon, None, in_world=True)
        found = read_footprint(reading, inner, location.polygon)
        if not found.in_world:
            reading.shapes[key] = found
    footprint: EntityFootprint = found
    return footprint


_OBJECT_ENTRY_KEYS = frozenset({"name", "category", "parent", "pose", "color", "inflation_radius"})
BLUE = (0.0, 0.0, 1.0)
_OBJECT_HEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class _ObjectShape:
    """What all objects of a category have in common."""

    polygon: Geometry
    collision: Geometry
    height: float
    inertial: Inertial | None = None


def add_object(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one object to the world."""
    world = reading.world
    pose = read_optional_pose(reading, entry)
    # drawn here already: reference mode follows the order of PyRoboSim's draws
    query = choose_query(reading, entry, "parent")
    where = entry.find_where()
    spawn = _find_spawn(reading, entry, query)
    reading.check_keys(entry, _OBJECT_ENTRY_KEYS)
    if "inflation_radius" in entry:
        _report_radius(reading, entry)
    category = find_category(entry, world.object_categories, "object")
    key = ("object", category.name)
    name = choose_name(reading, entry, category.name, reading.counts.get(key, 0))
    color, stated = read_colors(reading, entry, category, BLUE)
    shape = _read_object_shape(reading, category)
    check_name(reading, name, WorldObject, where)
    if pose is None:
        others = [other.collision for other in spawn.objects]
        pose = reading.sampler.sample_placement(shape.collision, spawn.polygon, others)
        if pose is None:
            raise refuse_entity(messages.NO_ROOM_LEFT, where, name=name, place=f"on {spawn.name!r}")
        polygon = move_polygon(shape.polygon, pose)
        # grown once for the category and moved: growing the moved polygon differs in the last bits
        collision = move_polygon(shape.collision, pose)
    else:
        polygon = move_polygon(shape.polygon, pose)
        collision = grow(polygon, world.params.object_radius)
        _check_object_fit(reading, name, collision, spawn, entry)
    item = WorldObject(
        name=name,
        category=category,
        spawn=spawn,
        # z of an object is counted from its surface
        pose=pose.raised(spawn.height if reading.reference else spawn.elevation),
        raw_polygon=shape.polygon,
        polygon=polygon,
        collision=collision,
        height=shape.height,
        color=color,
        where=where,
        stated_color=stated,
        inertial=shape.inertial,
    )
    spawn.objects.append(item)
    world.objects.append(item)
    world.names[name] = item
    reading.counts[key] = reading.counts.get(key, 0) + 1


def _find_spawn(reading: WorldReading, entry: WorldEntry, query: str | None) -> Spawn:
    """The surface an object goes to."""
    world = reading.world
    name = entry.text("name", entry.text("category", "object"))
    where = entry.find_where("parent")
    if query is None:
        spawns = reading.list_spawns()
        if not spawns:
            raise _refuse_place(where, "", name, "there are no surfaces in the world", "add locations")
        # evenly over all surfaces, whatever their size, as in PyRoboSim
        return spawns[reading.sampler.choose(len(spawns))]
    place, reason = find_place(world, query, reading.sampler)
    if isinstance(place, Location):
        if not place.spawns:
            raise Refusal(
                messages.NO_SURFACE, where, location=place.name, category=place.category.name, name=name
            )
        return place.spawns[reading.sampler.choose(len(place.spawns))]
    if isinstance(place, Spawn):
        return place
    if place is not None:
        reason = "objects stand on locations"
    meant = suggest(query, [known for known, e in world.names.items() if isinstance(e, (Location, Spawn))])
    raise _refuse_place(where, query, name, reason, meant)


def _report_radius(reading: WorldReading, entry: WorldEntry) -> None:
    """PyRoboSim takes the key and overwrites it."""
    reading.report(
        messages.UNUSED_OPTION,
        entry.find_where("inflation_radius"),
        place=entry.spell("inflation_radius"),
        reason="the radius around objects is that of params.object_radius",
        meant="remove it",
    )


def _refuse_place(where: Where, query: str, name: str, reason: str, meant: str) -> Refusal:
    return refuse_entity(messages.UNRESOLVED, where, query=query, name=name, reason=reason, meant=meant)


def _read_object_shape(reading: WorldReading, category: Category) -> _ObjectShape:
    """The footprint of a category, made once."""
    found = reading.shapes.get(category)
    if found is None:
        reading.check_loose_keys(category.entry, OBJECT_KEYS)
        footprint = read_footprint_of(reading, category.entry)
        height = _OBJECT_HEIGHT if footprint.height is None else footprint.height
        grown = grow(footprint.polygon, reading.world.params.object_radius)
        found = reading.shapes[category] = _ObjectShape(footprint.polygon, grown, height, footprint.inertial)
    shape: _ObjectShape = found
    return shape


def _check_object_fit(
    reading: WorldReading, name: str, collision: Geometry, spawn: Spawn, entry: WorldEntry
) -> None:
    """On the surface and apart from what is there."""
    reason = ""
    if not collision.within(spawn.polygon):
        reason = "is not inside of"
    elif any(collision.intersects(other.collision) for other in spawn.objects):
        other = next(other for other in spawn.objects if collision.intersects(other.collision))
        reason = f"is too close to {other.name!r} on"
    if reason:
        raise refuse_entity(
            messages.OBJECT_MISFIT,
            entry.find_where("pose"),
            name=name,
            reason=reason,
            spawn=spawn.name,
            radius=reading.world.params.object_radius,
        )
