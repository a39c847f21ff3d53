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

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simwright.checker.facts.meshes import Floats, MeshFacts, cross_columns, list_collision_meshes, read_mesh
from simwright.checker.facts.snapshot import StageSnapshot
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


_PAIRS = 100_000
"""Candidate pairs looked at in one go."""
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
                known = facts.book.crossings
                if key not in known:
                    known[key] = next(iter(find_self_intersections(facts)), None)
                answers[key] = known[key]
        pair = answers[key]
        if pair is not None:
            result.crossing.append((node, *pair))
    return result


def find_self_intersections(facts: MeshFacts, most: int = 1) -> list[tuple[int, int]]:
    """Pairs of triangles that cross each other and share no corner, at most ``most`` of them."""
    triangles = facts.surface_faces.triangles
    corners = facts.points[triangles].astype(np.float64)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    # along the longest axis the fewest triangles overlap
    axis = int(np.argmax(high.max(axis=0) - low.min(axis=0)))
    order = np.argsort(low[:, axis], kind="stable")
    sweep = _Sweep(corners[order], triangles[order], low[order], high[order], axis)
    found: list[tuple[int, int]] = []
    for begin, end in sweep.chunks():
        for i, j in sweep.crossing_pairs(begin, end):
            found.append((int(order[i]), int(order[j])))
            if len(found) >= most:
                return found
    return found


class _Sweep:
    """Triangles in order of their least coordinate along an axis."""

    def __init__(self, corners: Floats, ids: npt.NDArray[Any], low: Floats, high: Floats, axis: int) -> None:
        self.corners, self.ids = corners, ids
        others = [k for k in range(3) if k != axis]
        self.bounds = [(np.ascontiguousarray(low[:, k]), np.ascontiguousarray(high[:, k])) for k in others]
        ends = np.searchsorted(low[:, axis], high[:, axis], side="right")
        self.spans = np.maximum(ends - np.arange(len(ends)) - 1, 0)

    def chunks(self) -> list[tuple[int, int]]:
        """Ranges of rows with a bounded number of candidate pairs each."""
        total = np.cumsum(self.spans)
        cuts = np.searchsorted(total, np.arange(_PAIRS, int(total[-1]) + _PAIRS, _PAIRS)) + 1
        edges = [0, *(min(int(cut), len(total)) for cut in cuts)]
        return [(a, b) for a, b in itertools.pairwise(edges) if a < b]

    def crossing_pairs(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Pairs with the first triangle in a range of rows."""
        spans = self.spans[begin:end]
        rows = np.arange(begin, end)
        # all pairs (row, following rows within reach) without a Python loop
        j = np.arange(int(spans.sum())) + np.repeat(rows + 1 - (np.cumsum(spans) - spans), spans)
        low, high = self.bounds[0]
        near = np.repeat(low[begin:end], spans) <= high.take(j)
        near &= low.take(j) <= np.repeat(high[begin:end], spans)
        i, j = np.repeat(rows, spans)[near], j[near]
        low, high = self.bounds[1]
        near = (low.take(i) <= high.take(j)) & (low.take(j) <= high.take(i))
        i, j = i[near], j[near]
        # neighbours share a corner or an edge and meet there by design
        shares = np.zeros(len(i), bool)
        mine, theirs = self.ids[i], self.ids[j]
        for k in range(3):
            for m in range(3):
                shares |= mine[:, k] == theirs[:, m]
        i, j = i[~shares], j[~shares]
        hit = _edges_pierce(self.corners[i], self.corners[j]) | _edges_pierce(
            self.corners[j], self.corners[i]
        )
        return list(zip(i[hit].tolist(), j[hit].tolist(), strict=True))


def _edges_pierce(first: Floats, second: Floats) -> npt.NDArray[np.bool_]:
    """Does an edge of ``first`` pass through the inside of ``second``?  Touching does not count."""
    hit = np.zeros(len(first), dtype=bool)
    if not len(first):
        return hit
    corners = np.ascontiguousarray(first.transpose(1, 2, 0))
    a, b, c = np.ascontiguousarray(second.transpose(1, 2, 0))
    ab, ac = b - a, c - a
    # strictly inside: touching, also of coplanar faces, is not a crossing
    e = 1e-6
    for start, end in ((0, 1), (1, 2), (2, 0)):
        direction, offset = corners[end] - corners[start], corners[start] - a
        p, q = cross_columns(direction, ac), cross_columns(offset, ab)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = 1.0 / _dot(ab, p)
            u = _dot(offset, p) * inverse
            v = _dot(direction, q) * inverse
            t = _dot(ac, q) * inverse
            hit |= (u > e) & (v > e) & (u + v < 1 - e) & (t > e) & (t < 1 - e)
    return hit


def _dot(a: Floats, b: Floats) -> Floats:
    product: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product
