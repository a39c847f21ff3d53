# SPDX-License-Identifier: Apache-2.0
"""Where robots can be, where beams go, and what is solid: unions and differences of the polygons of a floor plan.

The free space is the union of the floors, each shrunk by the inflation radius, less inflated furniture and inflated
closed doors.  Whoever wants it kept asks :class:`~simwright.worlds.world.World`, which computes it once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.entities import FloorPlan, Hallway
from simwright.worlds.polygons import Geometry, cut_polygons, grow, join_polygons
from simwright.worlds.poses import WorldPose

_STYLE = {"cap_style": "flat", "join_style": "mitre"}


def compute_free_space(
    plan: FloorPlan, inflation: float | None = None, closed: Iterable[Hallway] | None = None
) -> Geometry:
    """Free robot centres at another inflation radius [m], or with other doors closed than are."""
    doors = plan.closed_hallways if closed is None else list(closed)
    if inflation is None or inflation == plan.inflation_radius:
        rooms = [room.free for room in plan.rooms]
        halls = [hallway.free if plan.reference else hallway.passage for hallway in plan.hallways]
        slabs = [hallway.slab_inflated for hallway in doors]
        furniture = [location.inflated for location in plan.locations]
    else:
        grown = _inflate(plan, inflation)
        rooms, halls = grown.rooms, grown.halls if plan.reference else grown.passages
        furniture = grown.furniture
        slabs = list(_grow_all([hallway.slab for hallway in doors], inflation))
    # furniture before a hallway reaches into it, which PyRoboSim takes out of the room's floor only
    holes = [] if plan.reference else furniture
    return _cut(plan, _cut(plan, _join(plan, [*rooms, *halls]), holes), slabs)


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
    grown = _inflate(plan, plan.inflation_radius)
    for room, polygon in zip(plan.rooms, grown.rooms, strict=True):
        room.free = polygon
    slabs = _grow_all([hallway.slab for hallway in plan.hallways], plan.inflation_radius)
    for hallway, polygon, passage, slab in zip(
        plan.hallways, grown.halls, grown.passages, slabs, strict=True
    ):
        hallway.free, hallway.passage, hallway.slab_inflated = polygon, passage, slab
    for location, polygon in zip(plan.locations, grown.furniture, strict=True):
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


class InflatedFloors(NamedTuple):
    """Polygons in the order of the plan: free parts of rooms and hallways, passages, grown furniture."""

    rooms: list[Geometry]
    halls: list[Geometry]
    passages: list[Geometry]
    furniture: list[Geometry]


def _inflate(plan: FloorPlan, radius: float) -> InflatedFloors:
    floors = dict(zip(plan.rooms, _grow_all([room.polygon for room in plan.rooms], -radius), strict=True))
    furniture = _grow_all([location.polygon for location in plan.locations], radius)
    passages = _grow_all([hallway.polygon for hallway in plan.hallways], -radius)
    halls = passages
    if plan.hallways:
        # one call for all hallways: in large worlds calls by themselves take longest
        starts = np.array([floors[hallway.room_start] for hallway in plan.hallways], dtype=object)
        ends = np.array([floors[hallway.room_end] for hallway in plan.hallways], dtype=object)
        if radius > 0.0 and not plan.reference:
            apart = ~(shapely.intersects(passages, starts) & shapely.intersects(passages, ends))
            for number in np.flatnonzero(apart):
                passages[number] = _find_passage(plan.hallways[int(number)], radius)
        halls = shapely.difference(shapely.difference(passages, starts), ends)
    grown = dict(zip(plan.locations, furniture, strict=True))
    rooms = []
    for room, floor in floors.items():
        for location in room.locations:
            floor = floor.difference(grown[location])  # noqa: PLW2901 - it shrinks
        rooms.append(floor)
    return InflatedFloors(rooms, list(halls), list(passages), list(furniture))


def _find_passage(hallway: Hallway, radius: float) -> Geometry:
    """The free part of a corridor that reaches less than ``radius`` into its rooms: of all three floors as one.

    Shrunk by itself, its ends would not meet the shrunk rooms, although nothing is in the way.
    """
    near = grow(hallway.polygon, 4.0 * radius)
    floors = [hallway.polygon, *(room.polygon.intersection(near) for room in hallway.rooms)]
    return grow(join_polygons(floors), -radius).intersection(grow(hallway.polygon, 2.0 * radius))


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
