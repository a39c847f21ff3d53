# SPDX-License-Identifier: Apache-2.0
"""Polygons of the plane: moved, grown, cut into convex pieces, their edges, and which of many may meet another one.

Everything here is plain shapely and knows nothing of worlds.  Lengths are metres, angles radians.

Convex pieces are few and plain: rectangles where corners are square.  Every corner that points inwards is cut open
once: along one of its own edges, which leaves rectangles of a wall with square corners, or to a corner across, where
that is much shorter (round walls).  What the cuts leave is convex.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.poses import WorldPose

Geometry: TypeAlias = Any
"""A shapely Polygon or MultiPolygon, possibly empty (shapely has no types of its own)."""
Array: TypeAlias = npt.NDArray[np.float64]
# sines and cosines below this are zero, so that quarter turns are exact
_SMALL_COSINE = 2.5e-16


def move_polygon(polygon: Geometry, pose: WorldPose) -> Geometry:
    """The polygon turned by the yaw of a pose and moved to its point."""
    if pose.yaw == 0.0:
        if pose.x == 0.0 and pose.y == 0.0:
            return polygon
        return shapely.transform(polygon, lambda points: np.add(points, pose.xy))
    # moved first and turned about its new place afterwards, in the order of PyRoboSim: the other way round the last
    # bits of the corners differ, and with them whether two polygons that touch count as touching
    cosine, sine = _turn(pose.yaw)
    x, y = pose.x, pose.y
    shift_x, shift_y = x - x * cosine + y * sine, y - x * sine - y * cosine

    def move(points: Array) -> Array:
        along, across = points[:, 0] + x, points[:, 1] + y
        return np.column_stack(
            (cosine * along - sine * across + shift_x, sine * along + cosine * across + shift_y)
        )

    return shapely.transform(polygon, move)


def move_many(polygon: Geometry, x: Array, y: Array, yaw: Array) -> npt.NDArray[Any]:
    """A polygon without holes at many poses."""
    points = shapely.get_coordinates(polygon)
    cosine, sine = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    moved = np.empty((len(x), len(points), 2))
    moved[:, :, 0] = cosine * points[:, 0] - sine * points[:, 1] + x[:, None]
    moved[:, :, 1] = sine * points[:, 0] + cosine * points[:, 1] + y[:, None]
    result: npt.NDArray[Any] = shapely.polygons(moved)
    return result


def _turn(yaw: float) -> tuple[float, float]:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return (
        0.0 if abs(cosine) < _SMALL_COSINE else cosine,
        0.0 if abs(sine) < _SMALL_COSINE else sine,
    )


class Edges(NamedTuple):
    """Straight pieces of outlines: ``starts`` and ``ends``, n by 2 [m]."""

    starts: Array
    ends: Array


def list_edges(space: Geometry) -> Edges:
    """All edges of a polygon, its holes included."""
    rings = shapely.get_rings(shapely.get_parts(space))
    points, index = shapely.get_coordinates(rings, return_index=True)
    same = index[1:] == index[:-1]
    return Edges(points[:-1][same], points[1:][same])


def grow(polygon: Geometry, distance: float) -> Geometry:
    """The polygon grown (or with a negative ``distance`` [m] shrunk), corners kept sharp."""
    return polygon.buffer(distance, cap_style="flat", join_style="mitre")


# grids that overlays are snapped to where plain ones fail [m]
_FINER_GRIDS = (1e-9, 1e-7)
# what rounding may take of an area: this part of it, and of 1 m^2
_AREA_ROUNDING = 1e-9
_BOX_ROUNDING = 1e-12


def join_polygons(polygons: Sequence[Geometry]) -> Geometry:
    """The union of polygons, none of which is lost.

    The area of a union is at least the sum of all areas less the overlap of every pair (Bonferroni's inequality).
    """
    parts = np.array([polygon for polygon in polygons if not polygon.is_empty], dtype=object)
    if len(parts) < 2:
        return shapely.union_all(parts)
    return _overlay(
        lambda grid: shapely.union_all(parts, grid_size=grid), lambda found: _is_union(found, parts)
    )


def cut_polygons(polygon: Geometry, holes: Sequence[Geometry]) -> Geometry:
    """A polygon less others; what they leave of it is at least the difference of the areas."""
    if not len(holes):
        return polygon
    hole = join_polygons(holes)
    area = float(shapely.area(polygon))
    least = area - float(shapely.area(hole)) - _AREA_ROUNDING * (1.0 + area)
    return _overlay(
        lambda grid: shapely.difference(polygon, hole, grid_size=grid),
        lambda found: bool(shapely.area(found) >= least),
    )


def _overlay(compute: Callable[[float | None], Geometry], is_whole: Callable[[Geometry], bool]) -> Geometry:
    """An overlay that has lost nothing: the plain one, or one on a grid.

    Where edges nearly coincide, GEOS (seen in 3.14, in one of 500 floor plans) leaves polygons out of a union, or gives
    up. On a grid of whole nanometres it computes without such mistakes, in three times the time.
    """
    for grid in (None, *_FINER_GRIDS):
        try:
            found = compute(grid)
        except shapely.errors.GEOSException:
            continue
        if is_whole(found):
            return found
    # snapped to a tenth of a micrometre nothing is lost but what is thinner: an area below the bound is our mistake
    raise AssertionError("an overlay has less area than it must have, on every grid")


def _is_union(found: Geometry, parts: npt.NDArray[Any]) -> bool:
    """Has a union the least area that it can have, without what rounding takes?"""
    areas, area = shapely.area(parts), float(shapely.area(found))
    total = float(areas.sum())
    slack = _AREA_ROUNDING * (1.0 + total)
    if area >= total - slack:  # the overlaps, which take longer to find, would only lower the bound
        return True
    # with overlaps of three and more the bound is low, or below the largest part
    return area >= max(total - _sum_overlaps(parts, areas), float(areas.max())) - slack


def _sum_overlaps(parts: npt.NDArray[Any], areas: Array) -> float:
    """The area of what two parts share, summed over all pairs."""
    first, second = shapely.STRtree(parts).query(parts, predicate="intersects")
    pairs = first < second
    first, second = first[pairs], second[pairs]
    bounds = shapely.bounds(parts)
    sizes = bounds[:, 2:] - bounds[:, :2]
    # rectangles along the axes, as most rooms and hallways are, need no overlay
    is_box = areas >= (1.0 - _BOX_ROUNDING) * sizes[:, 0] * sizes[:, 1]
    plain = is_box[first] & is_box[second]
    one, other = bounds[first[plain]], bounds[second[plain]]
    shared = np.minimum(one[:, 2:], other[:, 2:]) - np.maximum(one[:, :2], other[:, :2])
    total = float(shared.clip(min=0.0).prod(axis=1).sum())
    first, second = first[~plain], second[~plain]
    if len(first):
        total += float(shapely.area(shapely.intersection(parts[first], parts[second])).sum())
    return total


class BoundsIndex:
    """Boxes around polygons with what they belong to, in the order of adding."""

    def __init__(self) -> None:
        self._boxes = np.empty((64, 4))
        self._count = 0
        self._polygons: list[Any] = []
        self._owners: list[Any] = []

    def add(self, polygon: Any, owner: Any) -> None:
        """Add a polygon."""
        if self._count == len(self._boxes):
            self._boxes = np.concatenate((self._boxes, np.empty_like(self._boxes)))
        self._boxes[self._count] = polygon.bounds
        self._count += 1
        self._polygons.append(polygon)
        self._owners.append(owner)

    def find_meeting(self, polygon: Any, ignore: tuple[Any, ...] = ()) -> Any:
        """The owner of the first polygon that the given one touches or overlaps; None if there is none."""
        low_x, low_y, high_x, high_y = polygon.bounds
        boxes = self._boxes[: self._count]
        near = (
            (boxes[:, 0] <= high_x)
            & (boxes[:, 2] >= low_x)
            & (boxes[:, 1] <= high_y)
            & (boxes[:, 3] >= low_y)
        )
        for index in np.flatnonzero(near):
            owner = self._owners[index]
            if owner not in ignore and polygon.intersects(self._polygons[index]):
                return owner
        return None


Points: TypeAlias = npt.NDArray[np.float64]

GRID = 1e-7
"""Corners are brought to multiples of this [m], so that pieces which meet share their corners."""
MIN_AREA = 1e-7
MIN_WIDTH = 2e-5
"""What is smaller [m^2, m] is left out: simulators take no solid of no volume."""
_OVERSHOOT = 1e-6
# a cut to another corner is taken where it is this much shorter than along an edge
_SHORTCUT = 0.6
_FLAT = 1e-9


def list_polygons(geometry: Geometry) -> list[Geometry]:
    """The polygons of any geometry that are worth a solid, cleaned, from left to right."""
    # unions leave corners that differ in the last bits: they would become slivers
    geometry = shapely.set_precision(geometry, GRID)
    parts = [part for part in shapely.get_parts(geometry, return_index=False) if part.geom_type == "Polygon"]
    parts += [
        inner
        for part in shapely.get_parts(geometry)
        if part.geom_type in ("MultiPolygon", "GeometryCollection")
        for inner in list_polygons(part)
    ]
    found = [shapely.normalize(_straighten(part)) for part in parts if _is_solid(part)]
    return sorted(found, key=lambda part: (part.bounds, part.area))


def cut_convex(geometry: Geometry) -> list[Geometry]:
    """Convex polygons without holes that fill the geometry and do not overlap."""
    return [piece for polygon in list_polygons(geometry) for piece in _cut_polygon(polygon)]


def is_convex(polygon: Geometry) -> bool:
    """Is it convex, up to rounding?"""
    return not polygon.interiors and polygon.convex_hull.area - polygon.area <= MIN_AREA


def _is_solid(polygon: Geometry) -> bool:
    area, depth = float(shapely.area(polygon)), MIN_WIDTH / 2
    if area <= MIN_AREA:
        return False
    # what is nearer to the outline than a depth fills at most a rectangle along every edge and a disc around every
    # corner: where the area is much larger there is a middle, and no need to find it
    edge = depth * float(shapely.length(polygon)) + math.pi * depth**2 * int(
        shapely.get_num_coordinates(polygon)
    )
    return area > 2.0 * edge or not polygon.buffer(-depth).is_empty


def _straighten(polygon: Geometry) -> Geometry:
    """Without corners on straight edges."""
    return polygon.simplify(GRID, preserve_topology=True)


def _cut_polygon(polygon: Geometry) -> list[Geometry]:
    if is_convex(polygon):
        return [polygon]
    cuts = _find_cuts(polygon)
    # the union splits all lines where they meet, which polygonize needs
    lines = shapely.union_all([polygon.boundary, *cuts])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    shapely.prepare(polygon)
    pieces: list[Geometry] = []
    for face in faces:
        if not (polygon.contains(face.representative_point()) and _is_solid(face)):
            continue
        straight = _straighten(face)
        pieces += [straight] if is_convex(straight) else _cut_triangles(straight)
    if len(pieces) > len(cuts) + 1:  # cuts met each other
        pieces = min(pieces, _join(_cut_triangles(polygon)), key=len)
    return sorted(
        (shapely.normalize(piece) for piece in pieces), key=lambda piece: (piece.bounds, piece.area)
    )


def _cut_triangles(polygon: Geometry) -> list[Geometry]:
    """For outlines whose cuts would meet, and what rounding left with a corner that points inwards."""
    triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(polygon))
    found = (shapely.normalize(triangle) for triangle in triangles if _is_solid(triangle))
    return sorted(found, key=lambda piece: piece.bounds)


def _join(pieces: list[Geometry]) -> list[Geometry]:
    """Join neighbours as long as what comes of it is convex."""
    while True:
        joined = _join_once(pieces)
        if len(joined) == len(pieces):
            return pieces
        pieces = joined


def _join_once(pieces: list[Geometry]) -> list[Geometry]:
    first, second = shapely.STRtree(pieces).query(pieces, predicate="touches")
    taken: set[int] = set()
    found: list[Geometry] = []
    for a, b in sorted(zip(first.tolist(), second.tolist(), strict=True)):
        if a in taken or b in taken or a >= b:
            continue
        whole = pieces[a].union(pieces[b])
        if whole.geom_type == "Polygon" and is_convex(whole):
            taken |= {a, b}
            found.append(_straighten(whole))
    return [*(piece for number, piece in enumerate(pieces) if number not in taken), *found]


def _find_cuts(polygon: Geometry) -> list[Geometry]:
    """One cut for every corner that points inwards."""
    rings = [_orient(ring, hole=number > 0) for number, ring in enumerate(shapely.get_rings(polygon))]
    outline = _PolygonEdges(
        polygon, np.concatenate(rings), np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
    )
    cuts = []
    for ring in rings:
        before, after = np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0)
        coming, going = _unit(ring - before), _unit(after - ring)
        turn = coming[:, 0] * going[:, 1] - coming[:, 1] * going[:, 0]
        cuts += [_choose_cut(outline, ring[i], coming[i], going[i]) for i in np.flatnonzero(turn < -_FLAT)]
    return cuts


class _PolygonEdges(NamedTuple):
    """A polygon with the starts and ends of its edges; the starts are its corners."""

    polygon: Geometry
    start: Points
    end: Points


def _choose_cut(outline: _PolygonEdges, corner: Points, coming: Points, going: Points) -> Geometry:
    """The shorter continuation of its two edges, unless a corner across is much nearer."""
    ways = [(_find_hit(corner, way, outline.start, outline.end), way) for way in (coming, -going)]
    length, way = min(ways, key=lambda item: item[0])
    across = outline.start - corner
    distance = np.hypot(across[:, 0], across[:, 1])
    near = np.flatnonzero(
        (distance > GRID) & (distance < _SHORTCUT * length) & _splits(coming, going, across, distance)
    )
    for other in near[np.argsort(distance[near], kind="stable")]:
        line = shapely.LineString([corner, outline.start[other]])
        if outline.polygon.covers(line):
            return line
    # a little beyond the edge: a cut that ends before it would not cut
    return shapely.LineString([corner, corner + (length + _OVERSHOOT) * way])


def _splits(coming: Points, going: Points, ways: Points, lengths: Points) -> npt.NDArray[np.bool_]:
    """Which cuts leave at most half a turn on both of their sides?  The inside is left of the ring."""
    slack = -_FLAT * lengths
    left_of_coming = coming[0] * ways[:, 1] - coming[1] * ways[:, 0]
    left_of_going = going[0] * ways[:, 1] - going[1] * ways[:, 0]
    found: npt.NDArray[np.bool_] = (left_of_coming >= slack) & (left_of_going >= slack)
    return found


def _find_hit(point: Points, way: Points, start: Points, end: Points) -> float:
    """How far a ray from a corner goes inside before it meets the outline [m]."""
    edge = end - start
    cross = way[0] * edge[:, 1] - way[1] * edge[:, 0]
    offset = start - point
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (offset[:, 0] * edge[:, 1] - offset[:, 1] * edge[:, 0]) / cross
        share = (offset[:, 0] * way[1] - offset[:, 1] * way[0]) / cross
    slack = _FLAT + GRID / np.maximum(np.hypot(edge[:, 0], edge[:, 1]), GRID)
    met = (np.abs(cross) > 1e-12) & (along > GRID) & (share >= -slack) & (share <= 1.0 + slack)
    return float(along[met].min()) if met.any() else 0.0


def _orient(ring: Geometry, *, hole: bool) -> Points:
    """The corners with the inside on the left."""
    points: Points = shapely.get_coordinates(ring)[:-1]
    is_left = shapely.is_ccw(ring)
    return points if is_left != hole else points[::-1]


def _unit(vectors: Points) -> Points:
    return vectors / np.hypot(vectors[:, 0], vectors[:, 1])[:, None]
