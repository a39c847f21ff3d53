# SPDX-License-Identifier: Apache-2.0
"""Collision meshes do not pass through themselves.

Why: where a surface crosses itself, inside and outside are undefined: contacts point the wrong way and volume is
counted twice.

Fails: two overlapping boxes merged into one mesh without a boolean union; a face pushed through the opposite side.
Passes: convex meshes; separate shells, also touching ones; faces that only share an edge or a plane.

Reading: the search is heuristic.  Triangles that touch or lie in one plane are not counted, meshes above
`max_self_intersection` triangles are not searched, and a stage gets `self_intersection_budget` triangles in
all; an info says what was left out.

Fix: unsafe.  Closed shells are united; a mesh that engines take as its convex hull becomes that hull, and its
triangles stay as a variant of collision_fidelity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simwright.checker.facts.meshes import Floats, MeshFacts, cross_columns, list_collision_meshes, read_mesh
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.topology import Ints
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode


@rule(
    "geo-coll-no-selfint",
    "3.4",
    "must",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="unite the parts, or let the convex hull take its place",
)
def geo_coll_no_selfint(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One pair per mesh is enough to know."""
    search = search_stage(snapshot)
    for node, first, second in search.crossing:
        yield Finding(
            f"triangles {first} and {second} of a collision mesh cross each other",
            hint="merge overlapping parts with a boolean union, or split them into colliders of their own",
            at=node,
            prop="faceVertexIndices",
        )
    # silence would look like a clean result
    left = [*search.too_large, *search.left_out]
    if left:
        yield Finding(
            f"{len(left)} collision meshes were not searched for self-intersections: {len(search.too_large)} are too"
            f" large, for {len(search.left_out)} the budget of the stage was used up",
            hint="raise max_self_intersection or self_intersection_budget in the settings to search them",
            at=left[0],
            level=Level.INFO,
            fix=Fixable.NO,
        )


_FIRST_PAIRS, _PAIRS = 1_000, 4_000
"""Pairs of triangles looked at in one go: few at first, as many meshes that cross themselves do so all over."""
_CELLS = 250_000
"""Pairs of boxes compared in one go, at most."""
_ROWS = 128
"""Boxes compared with others in one go: in a block of more, more are too far from each other."""
_CONVEX_COST = 6
"""Asking whether a mesh is convex costs about a sixth of searching it, at worst."""


@dataclass(slots=True)
class CrossingSearch:
    """The result of searching the collision meshes of a stage for self-intersections."""

    crossing: list[tuple[PrimNode, int, int]] = field(default_factory=list)
    """A mesh and two of its faces (triangles, where faces are polygons) that cross."""
    too_large: list[PrimNode] = field(default_factory=list)
    left_out: list[PrimNode] = field(default_factory=list)
    """Meshes the budget did not reach."""


def search_stage(snapshot: StageSnapshot) -> CrossingSearch:
    """Search every collision mesh once; copies share the answer, convex meshes cannot cross themselves."""
    limits = snapshot.settings
    budget = float(limits.self_intersection_budget)
    answers: dict[int, tuple[int, int] | None] = {}
    result = CrossingSearch()
    for node in list_collision_meshes(snapshot):
        facts = read_mesh(node, snapshot)
        if facts.problem:
            continue
        key = id(facts)
        if not facts.form.topology.is_closed:
            facts.surface  # noqa: B018 - wanted later by other rules: now its arrays are at hand
        if key not in answers:
            count = facts.triangle_count
            if count > limits.max_self_intersection:
                result.too_large.append(node)
                continue
            if budget < count / _CONVEX_COST:
                result.left_out.append(node)
                continue
            budget -= count / _CONVEX_COST
            if facts.is_convex:
                answers[key] = None
            elif budget < count:
                result.left_out.append(node)
                continue
            else:
                budget -= count
                known = facts.answers
                if known.crossing is None:
                    known.crossing = (next(iter(find_self_intersections(facts)), None),)
                answers[key] = known.crossing[0]
        pair = answers[key]
        if pair is not None:
            result.crossing.append((node, *pair))
    return result


def find_self_intersections(facts: MeshFacts, most: int = 1) -> list[tuple[int, int]]:
    """Pairs of triangles that cross each other and share no corner, at most ``most`` of them."""
    triangles = facts.surface_faces.triangles
    # (corner, axis, triangle): numbers that are used together lie together
    columns = np.ascontiguousarray(facts.points.T)
    corners = np.stack([columns.take(corner, axis=1) for corner in triangles.T])
    a, b, c = corners
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    # along the longest axis the fewest triangles overlap
    axis = int(np.argmax(high.max(axis=1) - low.min(axis=1)))
    order = np.argsort(low[axis], kind="stable")
    sweep = _Sweep(low.take(order, axis=1), high.take(order, axis=1), axis)
    planes = _Planes(corners)
    found: list[tuple[int, int]] = []
    for near in sweep.list_near():
        first, second = order[near[0]], order[near[1]]
        # neighbours share a corner or an edge and meet there by design
        apart = _share_none(triangles[first], triangles[second])
        first, second = planes.leave_out_apart(first[apart], second[apart])
        hit = _find_crossing(planes.corners.take(first, 2), planes.corners.take(second, 2))
        found.extend(zip(first[hit].tolist(), second[hit].tolist(), strict=True))
        if len(found) >= most:
            return found[:most]
    return found


def _share_none(mine: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which pairs of triangles have no corner in common?"""
    others = np.ascontiguousarray(theirs.T)
    apart = np.ones(len(mine), bool)
    for corner in np.ascontiguousarray(mine.T):
        for other in others:
            apart &= corner != other
    return apart


_CLEAR = 1e-7
"""How far, of the product of three lengths, a corner is from a plane beyond all rounding of what follows."""


class _Planes:
    """The planes of triangles: most pairs whose boxes overlap lie on one side of each other."""

    def __init__(self, corners: npt.NDArray[Any]) -> None:
        self.corners: Floats = corners.astype(np.float64)
        a, b, c = self.corners
        ab, ac = b - a, c - a
        self.normals = cross_columns(ab, ac)
        size = float((self.corners.max(axis=(0, 2)) - self.corners.min(axis=(0, 2))).max())
        # the normal of a thin triangle is short, but what it is worked out of is not: that is what rounds
        self.clear = _CLEAR * size * np.sqrt(_dot(ab, ab) * _dot(ac, ac))

    def leave_out_apart(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """The pairs of which neither triangle lies clearly on one side of the other."""
        for turn in range(2):
            plane, other = (first, second) if turn == 0 else (second, first)
            normal, origin, clear = (
                self.normals.take(plane, 1),
                self.corners[0].take(plane, 1),
                self.clear.take(plane),
            )
            heights = [_dot(normal, self.corners[k].take(other, 1) - origin) for k in range(3)]
            low = np.minimum(np.minimum(heights[0], heights[1]), heights[2])
            high = np.maximum(np.maximum(heights[0], heights[1]), heights[2])
            # also what is not a number stays
            kept = ~((low > clear) | (high < -clear))
            first, second = first[kept], second[kept]
        return first, second


class _Sweep:
    """Boxes of triangles in order of their least coordinate along an axis."""

    def __init__(self, low: npt.NDArray[Any], high: npt.NDArray[Any], axis: int) -> None:
        axes = [axis, *(k for k in range(3) if k != axis)]
        self.bounds = [(low[k], high[k]) for k in axes]
        self.ends = np.searchsorted(self.bounds[0][0], self.bounds[0][1], side="right")
        """Up to where each box reaches."""
        self.coarse = [_make_coarse(*bounds) for bounds in self.bounds]
        """The bounds in steps of a 255th of the mesh: bytes are compared in a fraction of the time."""

    def list_near(self) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of rows whose boxes overlap, in order, some thousands at a time."""
        waiting: list[tuple[Ints, Ints]] = []
        count, enough = 0, _FIRST_PAIRS
        for begin, end in self.list_blocks():
            waiting.append(self.find_near(begin, end))
            count += len(waiting[-1][0])
            if count > enough:
                yield _join(waiting)
                waiting, count = [], 0
                enough = min(2 * enough, _PAIRS)
        if count:
            yield _join(waiting)

    def list_blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of rows that are compared in one go."""
        begin = 0
        while begin < len(self.ends):
            width = int(self.ends[begin : begin + _ROWS].max()) - begin
            end = min(begin + max(1, min(_ROWS, _CELLS // max(1, width))), len(self.ends))
            yield begin, end
            begin = end

    def find_near(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """Pairs with the first row in a range: whole blocks are compared faster than single pairs are gathered."""
        rows, others = slice(begin, end), slice(begin, int(self.ends[begin:end].max()))
        low, high = self.coarse[0]
        # the least coordinates are in order along the first axis: those of later rows are not below
        near = high[rows, None] >= low[others]
        room = np.empty_like(near)
        for low, high in self.coarse[1:]:
            near &= np.less_equal(low[rows, None], high[others], out=room)
            near &= np.greater_equal(high[rows, None], low[others], out=room)
        places = near.reshape(-1).nonzero()[0]
        i = places // near.shape[1]
        j = places - i * near.shape[1]
        later = j > i
        return self.leave_out_apart(i[later] + begin, j[later] + begin)

    def leave_out_apart(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """The pairs whose boxes overlap, of those that do in coarse steps."""
        low, high = self.bounds[0]
        near = high.take(i) >= low.take(j)
        for low, high in self.bounds[1:]:
            near &= low.take(i) <= high.take(j)
            near &= high.take(i) >= low.take(j)
        return i[near], j[near]


def _make_coarse(
    low: npt.NDArray[Any], high: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Bounds rounded down to steps, both alike: what is not below another number is not below it in steps."""
    least = float(low.min())
    extent = float(high.max()) - least
    factor = 255.0 / extent if extent > 0.0 else 0.0
    if not np.isfinite(factor):  # so small that steps mean nothing
        factor = 0.0

    def round_down(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        return np.minimum((values.astype(np.float64) - least) * factor, 255.0).astype(np.uint8)

    return round_down(low), round_down(high)


def _join(pairs: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    return np.concatenate([i for i, _ in pairs]), np.concatenate([j for _, j in pairs])


def _find_crossing(one: Floats, other: Floats) -> npt.NDArray[np.bool_]:
    """Does an edge of either triangle of a pair pass through the inside of the other?  Touching does not count."""
    count = one.shape[2]
    edged, pierced = np.concatenate((one, other), axis=2), np.concatenate((other, one), axis=2)
    a, b, c = (pierced[k][:, None] for k in range(3))
    ab, ac = b - a, c - a
    # (axis, edge, pair): all edges in one go
    start = edged.transpose(1, 0, 2)
    direction, offset = start[:, (1, 2, 0)] - start, start - a
    p, q = cross_columns(direction, ac), cross_columns(offset, ab)
    # strictly inside: touching, also of coplanar faces, is not a crossing
    e = 1e-6
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = 1.0 / _dot(ab, p)
        u = _dot(offset, p) * inverse
        v = _dot(direction, q) * inverse
        t = _dot(ac, q) * inverse
        hit = (u > e) & (v > e) & (u + v < 1 - e) & (t > e) & (t < 1 - e)
    pierced_by: npt.NDArray[np.bool_] = np.logical_or.reduce(hit, axis=0)
    return pierced_by[:count] | pierced_by[count:]


def _dot(a: Floats, b: Floats) -> Floats:
    product: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product
