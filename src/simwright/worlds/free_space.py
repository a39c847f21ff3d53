# SPDX-License-Identifier: Apache-2.0
"""Where robots can be, where beams go, and what is solid: unions and differences of everything in a world.

The free space is the union of the floors, each shrunk by the inflation radius, less inflated furniture and inflated
closed doors.  All of it is computed when it is asked for, once, and not while the world is being read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import shapely

from simwright.worlds.hallways import set_waypoints
from simwright.worlds.locations import keep_free_poses
from simwright.worlds.world import Geometry, Hallway, Location, Room, World

_STYLE = {"cap_style": "flat", "join_style": "mitre"}


def compute_free_space(
    world: World, inflation: float | None = None, closed: Iterable[Hallway] | None = None
) -> Geometry:
    """Free robot centres at another inflation radius [m], or with other doors closed than are."""
    doors = [hallway for hallway in world.hallways if not hallway.is_open] if closed is None else list(closed)
    if inflation is None or inflation == world.inflation_radius:
        rooms = [room.free for room in world.rooms]
        halls = [hallway.free for hallway in world.hallways]
        slabs = [hallway.slab_inflated for hallway in doors]
        furniture = [location.inflated for location in world.locations]
    else:
        parts = _inflate(world, inflation)
        rooms, halls = list(parts[0].values()), list(parts[1].values())
        furniture = list(parts[2].values())
        slabs = list(_grow_all([hallway.slab for hallway in doors], inflation))
    space = shapely.union_all([*rooms, *halls])
    if furniture and not world.reference:
        space = space.difference(shapely.union_all(furniture))
    return space.difference(shapely.union_all(slabs)) if slabs else space


def compute_sensing_space(world: World) -> Geometry:
    """The floors, less closed doors."""
    floors = shapely.union_all([part.polygon for part in world.floors])
    slabs = [hallway.slab for hallway in world.hallways if not hallway.is_open]
    return floors.difference(shapely.union_all(slabs)) if slabs else floors


def compute_open_space(world: World) -> Geometry:
    """The sensing space less furniture."""
    space = world.sensing_space
    return space.difference(shapely.union_all([location.polygon for location in world.locations]))


def compute_solid_space(world: World) -> Geometry:
    """Walls, closed doors and furniture."""
    outer = shapely.union_all(
        [room.outer for room in world.rooms]
        + list(_grow_each([h.polygon for h in world.hallways], [h.wall_width for h in world.hallways]))
    )
    return outer.difference(world.open_space)


def update_free_polygons(world: World) -> None:
    """Bring the free polygons of rooms, hallways and locations to the inflation radius of the world."""
    rooms, halls, furniture = _inflate(world, world.inflation_radius)
    for room, polygon in rooms.items():
        room.free = polygon
    slabs = _grow_all([hallway.slab for hallway in world.hallways], world.inflation_radius)
    for (hallway, polygon), slab in zip(halls.items(), slabs, strict=True):
        hallway.free, hallway.slab_inflated = polygon, slab
    for location, polygon in furniture.items():
        location.inflated = polygon


def update_derived(world: World) -> None:
    """Bring everything that depends on the inflation radius up to date: polygons, navigation poses, waypoints."""
    update_free_polygons(world)
    for location in world.locations:
        location.nav_poses = keep_free_poses(location.nav_candidates, location.room.free)
        for spawn in location.spawns:
            if spawn.nav_candidates is location.nav_candidates:
                spawn.nav_poses = location.nav_poses
            else:
                spawn.nav_poses = keep_free_poses(spawn.nav_candidates, location.room.free)
    update_waypoints(world)
    world.refresh()


def update_waypoints(world: World) -> None:
    """The way points of hallways at the present inflation radius.

    PyRoboSim takes the furniture out of the rooms first, so that pieces of the line over a table count as well.
    """
    if world.reference:
        for hallway in world.hallways:
            set_waypoints(hallway, hallway.room_start.free, hallway.room_end.free)
        return
    shrunk = dict(
        zip(
            world.rooms,
            _grow_all([room.polygon for room in world.rooms], -world.inflation_radius),
            strict=True,
        )
    )
    for hallway in world.hallways:
        set_waypoints(hallway, shrunk[hallway.room_start], shrunk[hallway.room_end])


def _inflate(
    world: World, radius: float
) -> tuple[dict[Room, Geometry], dict[Hallway, Geometry], dict[Location, Geometry]]:
    """Free polygons of rooms and hallways, and grown furniture."""
    floors = dict(zip(world.rooms, _grow_all([room.polygon for room in world.rooms], -radius), strict=True))
    furniture = dict(
        zip(world.locations, _grow_all([loc.polygon for loc in world.locations], radius), strict=True)
    )
    corridors = _grow_all([hallway.polygon for hallway in world.hallways], -radius)
    halls = {}
    if world.hallways:
        starts = np.array([floors[hallway.room_start] for hallway in world.hallways], dtype=object)
        ends = np.array([floors[hallway.room_end] for hallway in world.hallways], dtype=object)
        rest = shapely.difference(shapely.difference(corridors, starts), ends)
        halls = dict(zip(world.hallways, rest, strict=True))
    rooms = {}
    for room, floor in floors.items():
        for location in room.locations:
            floor = floor.difference(furniture[location])  # noqa: PLW2901 - it shrinks
        rooms[room] = floor
    return rooms, halls, furniture


def _grow_all(polygons: Sequence[Geometry], distance: float) -> Any:
    return shapely.buffer(np.array(polygons, dtype=object), distance, **_STYLE)


def _grow_each(polygons: Sequence[Geometry], distances: Sequence[float]) -> Any:
    return shapely.buffer(np.array(polygons, dtype=object), np.array(distances), **_STYLE)
