# SPDX-License-Identifier: Apache-2.0
"""A polygon with holes as convex pieces, few and plain: rectangles where corners are square.

Every corner that points inwards is cut open once: along one of its own edges, which leaves rectangles of a wall with
square corners, or to a corner across, where that is much shorter (round walls).  What the cuts leave is convex.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.polygons import Geometry

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
    return polygon.area > MIN_AREA and not polygon.buffer(-MIN_WIDTH / 2).is_empty


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
