# SPDX-License-Identifier: Apache-2.0
"""The surfaces of a location that objects stand on."""

from __future__ import annotations

from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.footprints import EntityFootprint, move_polygon, read_footprint
from simwright.worlds.metadata_read import SPAWN_KEYS
from simwright.worlds.poses import WorldPose
from simwright.worlds.read_colors import read_category_color
from simwright.worlds.read_state import WorldReading
from simwright.worlds.world import Location, Spawn


def add_spawns(reading: WorldReading, location: Location) -> None:
    """Make the surfaces that the category lists."""
    for index, value in enumerate(location.category.entry.items("locations")):
        try:
            entry = location.category.entry.item("locations", index, value)
            location.spawns.append(_make_spawn(reading, location, entry, len(location.spawns)))
        except Refusal as refusal:
            reading.settle(refusal)


def _make_spawn(reading: WorldReading, location: Location, entry: WorldEntry, number: int) -> Spawn:
    from simwright.worlds.locations import keep_free_poses, place_nav_poses

    footprint = _read_shape(reading, location, entry)
    polygon = footprint.polygon
    if not footprint.in_world:
        polygon = move_polygon(polygon, location.pose)
    center = polygon.centroid
    point = (0.0, 0.0) if center.is_empty else (center.x, center.y)
    color, stated = location.color, location.stated_color
    if "color" in entry:
        color, stated = read_category_color(reading, entry, location.color)
    candidates, nav_poses = location.nav_candidates, location.nav_poses
    if "nav_poses" in entry:
        candidates = place_nav_poses(reading, entry, footprint.offset, location.pose)
        nav_poses = keep_free_poses(candidates, location.room.free)
    return Spawn(
        name=f"{location.name}_{entry.text('name', f'loc{number}')}",
        location=location,
        polygon=polygon,
        height=footprint.height or location.height,
        pose=WorldPose(point[0], point[1], 0.0, location.pose.quaternion, location.pose.yaw),
        color=color,
        nav_poses=nav_poses,
        nav_candidates=candidates,
        stated_color=stated,
    )


def _read_shape(reading: WorldReading, location: Location, entry: WorldEntry) -> EntityFootprint:
    """The footprint of a surface, made once unless it is that of the location."""
    key = (location.category, entry.path)
    found = reading.shapes.get(key)
    if found is None:
        reading.check_loose_keys(entry, SPAWN_KEYS)
        inner = entry.child("footprint")
        if inner is None:
            return EntityFootprint(location.polygon, None, in_world=True)
        found = read_footprint(reading, inner, location.polygon)
        if not found.in_world:
            reading.shapes[key] = found
    footprint: EntityFootprint = found
    return footprint
