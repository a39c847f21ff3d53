# SPDX-License-Identifier: Apache-2.0
"""Where robots can be, where beams go, and what is solid: unions and differences of the polygons of a floor plan.

The free space is the union of the floors, each shrunk by the inflation radius, less inflated furniture and inflated
closed doors.  Whoever wants it kept asks :class:`~simwright.worlds.world.World`, which computes it once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.entities import FloorPlan, Hallway, Location, Room
from simwright.worlds.polygons import Geometry, cut_polygons, grow, join_polygons
from simwright.worlds.poses import WorldPose

_STYLE = {"cap_style": "flat", "join_style": "mitre"}


def compute_free_space(
    plan: FloorPlan, inflation: float | None = None, closed: Iterable[Hallway] | None = None
) -> Geometry:
    """Free robot centres at another inflation radius [m], or with other doors closed than are."""
    doors = plan.closed_hallways if closed is None else list(closed)
    if inflation is None or inflation == plan.inflation_radius:
        floors = [part.free for part in plan.floors]
        slabs = [hallway.slab_inflated for hallway in doors]
        furniture = [location.inflated for location in plan.locations]
    else:
        rooms, halls, grown = _inflate(plan, inflation)
        floors, furniture = [*rooms.values(), *halls.values()], list(grown.values())
        slabs = list(_grow_all([hallway.slab for hallway in doors], inflation))
    # furniture before a hallway reaches into it, which PyRoboSim takes out of the room's floor only
    holes = [] if plan.reference else furniture
    return _cut(plan, _cut(plan, _join(plan, floors), holes), slabs)


def compute_sensing_space(plan: FloorPlan) -> Geometry:
    """The floors, less closed doors."""
    floors = _join(plan, [part.polygon for part in plan.floors])
    return _cut(plan, floors, [hallway.slab for hallway in plan.closed_hallways])


def compute_open_space(plan: FloorPlan, sensing: Geometry) -> Geometry:
    """The sensing space less furniture."""
    return _cut(plan, sensing, [location.polygon for location in plan.locations])


def compute_solid_space(plan: FloorPlan, opened: Geometry) -> Geometry:
    """Walls, closed doors and furniture: everything inside of the outer walls that is not ``opened``."""
    return _cut(plan, compute_building(plan), [opened])


def compute_building(plan: FloorPlan) -> Geometry:
    """Everything inside of the outer walls, and the walls themselves."""
    # hallways without the rooms taken out: their outer polygons may leave slivers by rounding
    halls = list(_grow_all([h.polygon for h in plan.hallways], [h.wall_width for h in plan.hallways]))
    return _join(plan, [*(room.outer for room in plan.rooms), *halls])


def _join(plan: FloorPlan, polygons: Sequence[Geometry]) -> Geometry:
    """The union of floors; in reference mode as PyRoboSim has it, with the rooms that GEOS loses there."""
    return shapely.union_all(polygons) if plan.reference else join_polygons(polygons)


def _cut(plan: FloorPlan, polygon: Geometry, holes: Sequence[Geometry]) -> Geometry:
    """A polygon less others; in reference mode as PyRoboSim has it."""
    if not plan.reference:
        return cut_polygons(polygon, holes)
    return polygon.difference(shapely.union_all(holes)) if len(holes) else polygon


def update_free_polygons(plan: FloorPlan) -> None:
    """Bring the free polygons of rooms, hallways and locations to the inflation radius of the plan."""
    rooms, halls, furniture = _inflate(plan, plan.inflation_radius)
    for room, polygon in rooms.items():
        room.free = polygon
    slabs = _grow_all([hallway.slab for hallway in plan.hallways], plan.inflation_radius)
    for (hallway, polygon), slab in zip(halls.items(), slabs, strict=True):
        hallway.free, hallway.slab_inflated = polygon, slab
    for location, polygon in furniture.items():
        location.inflated = polygon


def update_navigation(plan: FloorPlan) -> None:
    """Bring everything that depends on the inflation radius up to date: polygons, navigation poses, waypoints."""
    update_free_polygons(plan)
    for location in plan.locations:
        location.nav_poses = keep_free_poses(location.nav_candidates, location.room.free)
        for spawn in location.spawns:
            # shared lists stay shared: PyRoboSim has one list too, and pictures draw it once
            if spawn.nav_candidates is location.nav_candidates:
                spawn.nav_poses = location.nav_poses
            else:
                spawn.nav_poses = keep_free_poses(spawn.nav_candidates, location.room.free)
    update_waypoints(plan)


def update_waypoints(plan: FloorPlan) -> None:
    """The way points of hallways at the present inflation radius.

    PyRoboSim takes the furniture out of the rooms first, so that pieces of the line over a table count as well.
    """
    if plan.reference:
        for hallway in plan.hallways:
            set_waypoints(hallway, hallway.room_start.free, hallway.room_end.free)
        return
    shrunk = dict(
        zip(
            plan.rooms,
            _grow_all([room.polygon for room in plan.rooms], -plan.inflation_radius),
            strict=True,
        )
    )
    for hallway in plan.hallways:
        set_waypoints(hallway, shrunk[hallway.room_start], shrunk[hallway.room_end])


def _inflate(
    plan: FloorPlan, radius: float
) -> tuple[dict[Room, Geometry], dict[Hallway, Geometry], dict[Location, Geometry]]:
    """Free polygons of rooms and hallways, and grown furniture."""
    floors = dict(zip(plan.rooms, _grow_all([room.polygon for room in plan.rooms], -radius), strict=True))
    furniture = dict(
        zip(plan.locations, _grow_all([loc.polygon for loc in plan.locations], radius), strict=True)
    )
    corridors = _grow_all([hallway.polygon for hallway in plan.hallways], -radius)
    halls = {}
    if plan.hallways:
        # one call for all hallways: in large worlds calls by themselves take longest
        starts = np.array([floors[hallway.room_start] for hallway in plan.hallways], dtype=object)
        ends = np.array([floors[hallway.room_end] for hallway in plan.hallways], dtype=object)
        rest = shapely.difference(shapely.difference(corridors, starts), ends)
        halls = dict(zip(plan.hallways, rest, strict=True))
    rooms = {}
    for room, floor in floors.items():
        for location in room.locations:
            floor = floor.difference(furniture[location])  # noqa: PLW2901 - it shrinks
        rooms[room] = floor
    return rooms, halls, furniture


def _grow_all(polygons: Sequence[Geometry], distance: float | Sequence[float]) -> npt.NDArray[Any]:
    """All polygons grown at once, by one distance or by one each [m]: one call is much faster than many."""
    grown: npt.NDArray[Any] = shapely.buffer(np.array(polygons, dtype=object), np.asarray(distance), **_STYLE)
    return grown


def keep_free_poses(poses: list[WorldPose], free: Geometry) -> list[WorldPose]:
    """The poses in a polygon; its edge counts."""
    return [pose for pose in poses if shapely.intersects_xy(free, pose.x, pose.y)]


def is_in_hallway(hallway: Hallway, pose: WorldPose) -> bool:
    """Is the centre of a robot in the free part of a corridor?"""
    if not shapely.intersects_xy(hallway.free, pose.x, pose.y):
        return False
    # a closed door takes its inflated slab out of the corridor
    return hallway.is_open or not shapely.intersects_xy(hallway.slab_inflated, pose.x, pose.y)


# half the width [m] of a gap that rounding may leave beside a door
_CRACK = 1e-6


def set_waypoints(hallway: Hallway, start_free: Geometry, end_free: Geometry) -> None:
    """The centre line outside of two free floors: its points, and the poses before both ends."""
    line = shapely.LineString(hallway.points).difference(start_free).difference(end_free)
    # furniture in reference mode may cut the line into several pieces
    parts = line.geoms if hasattr(line, "geoms") else [line]
    points = [point for part in parts for point in part.coords]
    if len(points) < 2:
        hallway.waypoints, hallway.nav_poses = [], []
        return
    waypoints = [WorldPose(x, y) for x, y in points]
    waypoints[0] = _face(points[0], points[1])
    # both ends look into the corridor
    waypoints[-1] = _face(points[-1], points[-2])
    hallway.waypoints = waypoints
    hallway.nav_poses = [waypoints[0], waypoints[-1]]


def blocks_way(hallway: Hallway, slab: Geometry) -> bool:
    """Does a door of that shape separate the two rooms?"""
    # shrunk a little, so that two parts that only touch count as apart
    rest = grow(hallway.polygon.difference(slab), -_CRACK)
    start, end = hallway.room_start.polygon, hallway.room_end.polygon
    parts = rest.geoms if hasattr(rest, "geoms") else [rest]
    return not any(part.intersects(start) and part.intersects(end) for part in parts)


def _face(from_point: Any, to_point: Any) -> WorldPose:
    yaw = math.atan2(to_point[1] - from_point[1], to_point[0] - from_point[0])
    return WorldPose.from_yaw(from_point[0], from_point[1], 0.0, yaw)
