# SPDX-License-Identifier: Apache-2.0
"""The ``objects`` section: what stands on surfaces, at a given place or at a drawn one."""

from __future__ import annotations

from dataclasses import dataclass

from simwright.core.diag import Where
from simwright.model.inertia import Inertial
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, suggest
from simwright.worlds.footprints import move_polygon, read_footprint_of
from simwright.worlds.locations import find_category, read_colors
from simwright.worlds.metadata import Category
from simwright.worlds.metadata_read import OBJECT_KEYS
from simwright.worlds.names import check_name, choose_name
from simwright.worlds.poses_read import read_optional_pose
from simwright.worlds.query import choose_query, find_place
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.world import Geometry, Location, Spawn, WorldObject, grow

KEYS = frozenset({"name", "category", "parent", "pose", "color", "inflation_radius"})
BLUE = (0.0, 0.0, 1.0)
DEFAULT_HEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class _Shape:
    """What all objects of a category have in common."""

    polygon: Geometry
    collision: Geometry
    height: float
    inertial: Inertial | None = None


def add_object(reading: WorldReading, entry: WorldEntry) -> None:
    """Add one object to the world."""
    world = reading.world
    pose = read_optional_pose(reading, entry)
    query = choose_query(reading, entry, "parent")
    where = entry.find_where()
    spawn = _find_spawn(reading, entry, query)
    reading.check_keys(entry, KEYS)
    if "inflation_radius" in entry:
        _report_radius(reading, entry)
    category = find_category(entry, world.object_categories, "object")
    key = ("object", category.name)
    name = choose_name(reading, entry, category.name, reading.counts.get(key, 0))
    color, stated = read_colors(reading, entry, category, BLUE)
    shape = _read_shape(reading, category)
    check_name(reading, name, WorldObject, where)
    if pose is None:
        others = [other.collision for other in spawn.objects]
        pose = reading.sampler.sample_placement(shape.collision, spawn.polygon, others)
        if pose is None:
            raise refuse_entity(messages.NO_ROOM_LEFT, where, name=name, place=f"on {spawn.name!r}")
        polygon = move_polygon(shape.polygon, pose)
        collision = move_polygon(shape.collision, pose)
    else:
        polygon = move_polygon(shape.polygon, pose)
        collision = grow(polygon, world.params.object_radius)
        _check_fit(reading, name, collision, spawn, entry)
    item = WorldObject(
        name=name,
        category=category,
        spawn=spawn,
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


def _read_shape(reading: WorldReading, category: Category) -> _Shape:
    """The footprint of a category, made once."""
    found = reading.shapes.get(category)
    if found is None:
        reading.check_loose_keys(category.entry, OBJECT_KEYS)
        footprint = read_footprint_of(reading, category.entry)
        height = DEFAULT_HEIGHT if footprint.height is None else footprint.height
        grown = grow(footprint.polygon, reading.world.params.object_radius)
        found = reading.shapes[category] = _Shape(footprint.polygon, grown, height, footprint.inertial)
    shape: _Shape = found
    return shape


def _check_fit(
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
