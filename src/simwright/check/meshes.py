# SPDX-License-Identifier: Apache-2.0
"""Mesh analysis for rules: triangulated, closed, manifold, wound consistently, intersecting itself.

Vectorised, computed when a rule asks, and remembered: topology once per distinct index array (copies of a mesh
share it), the rest once per prim.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from simwright.check.snapshot import Node, Snapshot

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Topology:
    """Edges of a mesh counted: each edge of a closed surface is used twice, in opposite directions."""

    edges: int
    boundary: int
    """Edges used by one face only."""
    crowded: int
    """Edges used by three faces or more."""
    flipped: int
    """Edges used by two faces in the same direction."""

    @property
    def is_closed(self) -> bool:
        """No hole, no crowded edge, consistent winding."""
        return self.boundary == 0 and self.crowded == 0 and self.flipped == 0 and self.edges > 0

    @property
    def is_manifold(self) -> bool:
        """No edge has more than two faces."""
        return self.crowded == 0


@dataclass(slots=True)
class MeshFacts:
    """Arrays of a mesh prim, checked for sense; ``problem`` says why there is nothing to analyse."""

    points: npt.NDArray[Any]
    counts: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    problem: str = ""
    topologies: dict[tuple[int, int], Topology] = field(default_factory=dict, repr=False)
    _memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_triangulated(self) -> bool:
        """Has every face three corners?"""
        if "triangulated" not in self._memo:
            self._memo["triangulated"] = bool(np.all(self.counts == 3))
        return bool(self._memo["triangulated"])

    @property
    def face_count(self) -> int:
        """Number of faces."""
        return len(self.counts)

    @property
    def triangles(self) -> Ints:
        """``(n, 3)`` corners; polygons are fanned."""
        if "triangles" not in self._memo:
            if self.is_triangulated:
                triangles = self.indices.reshape(-1, 3)
            else:
                from simwright.model.geometry import fan_triangles

                triangles = fan_triangles(self.counts, self.indices)
            self._memo["triangles"] = triangles
        result: Ints = self._memo["triangles"]
        return result

    @property
    def topology(self) -> Topology:
        """Edge counts by index; where the surface is open, again with equal points made one."""
        if "topology" not in self._memo:
            found = self._shared_topology()
            if not found.is_closed and len(self.points):
                welded = weld_points(self.points)[self.indices]
                found = count_edges(self.counts, welded)
            self._memo["topology"] = found
        result: Topology = self._memo["topology"]
        return result

    def _shared_topology(self) -> Topology:
        key = (len(self.indices), hash((self.indices.tobytes(), self.counts.tobytes())))
        if key not in self.topologies:
            self.topologies[key] = count_edges(self.counts, self.indices)
        return self.topologies[key]

    @property
    def volume(self) -> float:
        """Signed volume: negative where a closed surface is wound inwards."""
        if "volume" not in self._memo:
            corners = self.points[self.triangles].astype(np.float64)
            corners -= corners.reshape(-1, 3).mean(axis=0)
            a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
            self._memo["volume"] = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0
        return float(self._memo["volume"])

    @property
    def is_convex(self) -> bool:
        """Closed, and no point lies outside the plane of any face beyond a small tolerance.

        Tested locally (each neighbour across an edge bends inwards) and by the Euler number, which together
        mean convex for a closed surface.
        """
        if "convex" not in self._memo:
            self._memo["convex"] = self.topology.is_closed and _is_convex(self.points, self.triangles)
        return bool(self._memo["convex"])


@dataclass(slots=True)
class MeshBook:
    """Facts of every mesh looked at, for one snapshot."""

    facts: dict[str, MeshFacts] = field(default_factory=dict)
    topologies: dict[tuple[int, int], Topology] = field(default_factory=dict)


def read_mesh(node: Node, snapshot: Snapshot) -> MeshFacts:
    """Facts of a Mesh prim (remembered on the snapshot)."""
    book = snapshot.shared("meshes", lambda _: MeshBook())
    key = node.prim.GetPath().pathString
    if key not in book.facts:
        facts = make_facts(
            *(node.value(name) for name in ("points", "faceVertexCounts", "faceVertexIndices"))
        )
        facts.topologies = book.topologies
        book.facts[key] = facts
    return book.facts[key]


def make_facts(points: Any, counts: Any, indices: Any) -> MeshFacts:
    """Facts from raw arrays (anything that numpy understands, or None)."""
    p = np.zeros((0, 3), np.float32) if points is None else np.asarray(points).reshape(-1, 3)
    c = np.zeros(0, np.int32) if counts is None else np.asarray(counts)
    i = np.zeros(0, np.int32) if indices is None else np.asarray(indices)
    return MeshFacts(p, c, i, problem=_find_problem(p, c, i))


def _find_problem(points: npt.NDArray[Any], counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> str:
    if len(points) == 0 or len(counts) == 0:
        return "the mesh has no points or no faces"
    if counts.min() < 0 or int(counts.sum()) != len(indices):
        return f"faceVertexCounts add up to {int(counts.sum())}, but there are {len(indices)} indices"
    if len(indices) and (indices.min() < 0 or indices.max() >= len(points)):
        return f"faceVertexIndices reach {int(indices.max())}, but there are {len(points)} points"
    if not np.isfinite(points.sum()) and not np.all(np.isfinite(points)):
        return "the points hold numbers that are not finite"
    return ""


def count_edges(counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> Topology:
    """Count how often and in which direction each edge is used; zero-length edges are left out.

    One sort of ``2 * edge + direction``: on a closed surface the sorted keys come in pairs that differ by one.
    """
    if len(indices) == 0:
        return Topology(0, 0, 0, 0)
    start, end = indices, _next_corner(counts, indices)
    low, high = np.minimum(start, end), np.maximum(start, end)
    size = int(high.max()) + 1
    kind = np.int32 if 2 * size * size < 2**31 else np.int64
    keys = low.astype(kind) * kind(2 * size)
    keys += high.astype(kind) * kind(2)
    keys += start > end
    if bool(np.any(low == high)):
        keys = keys[low != high]
    keys.sort()
    half = len(keys) // 2
    if len(keys) % 2 == 0 and half:
        first, second = keys[0::2], keys[1::2]
        in_pairs = not np.any(first & 1) and np.array_equal(first + kind(1), second)
        if in_pairs and bool(np.all(first[1:] != first[:-1])):
            return Topology(half, 0, 0, 0)
    return _count_uneven(keys)


def _count_uneven(keys: npt.NDArray[Any]) -> Topology:
    edges, starts, uses = np.unique(keys >> 1, return_index=True, return_counts=True)
    directions = np.add.reduceat(keys & 1, starts) if len(keys) else np.zeros(0, np.int64)
    twice = uses == 2
    return Topology(
        edges=len(edges),
        boundary=int(np.count_nonzero(uses == 1)),
        crowded=int(np.count_nonzero(uses > 2)),
        flipped=int(np.count_nonzero(twice & (directions != 1))),
    )


def _next_corner(counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """For every corner, the index of the next corner of its face."""
    if len(indices) == 3 * len(counts) and bool(np.all(counts == 3)):
        following = np.empty_like(indices)
        following[0::3], following[1::3], following[2::3] = indices[1::3], indices[2::3], indices[0::3]
        return following
    ends = np.cumsum(counts, dtype=np.int64)
    used = counts > 0
    following = np.concatenate((indices[1:], indices[:1]))
    following[ends[used] - 1] = indices[(ends - counts)[used]]
    return following


def weld_points(points: npt.NDArray[Any]) -> Ints:
    """For every point, the number of the first point at exactly the same place."""
    clean = np.ascontiguousarray(points + np.zeros(1, points.dtype))  # -0.0 becomes 0.0
    rows = clean.view([("", clean.dtype)] * 3).reshape(-1)
    _, inverse = np.unique(rows, return_inverse=True)
    result: Ints = inverse.reshape(-1).astype(np.int64)
    return result


def _is_convex(points: npt.NDArray[Any], triangles: Ints) -> bool:
    """Local convexity over every edge, and one piece without handles."""
    corners = weld_points(points)[triangles]
    places = points.astype(np.float64)
    used, first = np.unique(corners, return_index=True)
    position = places[triangles.reshape(-1)[first]]
    number = np.searchsorted(used, corners)
    if len(used) - 3 * len(corners) // 2 + len(corners) != 2:  # Euler: vertices - edges + faces
        return False
    a, b, c = (position[number[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    edges = number[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    key = np.sort(edges, axis=1) @ np.array((len(used), 1))
    order = np.argsort(key, kind="stable").reshape(-1, 2)
    face, other = order[:, 0] // 3, order[:, 1] // 3
    opposite = number[other, (order[:, 1] % 3 + 2) % 3]
    height = np.einsum("ij,ij->i", normals[face], position[opposite] - a[face])
    size = float(np.ptp(position, axis=0).max())
    inward = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) < 0
    scale = np.linalg.norm(normals[face], axis=1) * size
    return bool(np.all((-height if inward else height) <= 1e-5 * scale))


@dataclass(frozen=True)
class TriangleSet:
    """Triangles prepared for intersection tests: corners and bounds, in order of their least x."""

    corners: Floats
    ids: Ints

    @cached_property
    def low(self) -> Floats:
        """Least coordinates."""
        return self.corners.min(axis=1)

    @cached_property
    def high(self) -> Floats:
        """Greatest coordinates."""
        return self.corners.max(axis=1)


def find_self_intersections(facts: MeshFacts, most: int = 1) -> list[tuple[int, int]]:
    """Pairs of triangles that cross each other and share no corner, at most ``most`` of them."""
    triangles = facts.triangles
    corners = facts.points[triangles].astype(np.float64)
    axis = int(np.argmax(np.ptp(corners.reshape(-1, 3), axis=0)))
    order = np.argsort(corners[:, :, axis].min(axis=1), kind="stable")
    ids = weld_points(facts.points)[triangles][order]
    tri = TriangleSet(corners[order], ids)
    ends = np.searchsorted(tri.low[:, axis], tri.high[:, axis], side="right")
    found: list[tuple[int, int]] = []
    step = max(1, int(2_000_000 // max(1, int((ends - np.arange(len(ends))).mean()))))
    for begin in range(0, len(order), step):
        rows = np.arange(begin, min(begin + step, len(order)))
        for i, j in _crossing_pairs(tri, rows, ends[rows]):
            found.append((int(order[i]), int(order[j])))
            if len(found) >= most:
                return found
    return found


def _crossing_pairs(tri: TriangleSet, rows: Ints, ends: Ints) -> list[tuple[int, int]]:
    spans = np.maximum(ends - rows - 1, 0)
    i = np.repeat(rows, spans)
    j = np.arange(len(i)) - np.repeat(np.cumsum(spans) - spans, spans) + i + 1
    near = np.all((tri.low[i] <= tri.high[j]) & (tri.low[j] <= tri.high[i]), axis=1)
    i, j = i[near], j[near]
    apart = ~(tri.ids[i][:, :, None] == tri.ids[j][:, None, :]).any(axis=(1, 2))
    i, j = i[apart], j[apart]
    crossing = _edges_pierce(tri.corners[i], tri.corners[j]) | _edges_pierce(tri.corners[j], tri.corners[i])
    return list(zip(i[crossing].tolist(), j[crossing].tolist(), strict=True))


def _edges_pierce(first: Floats, second: Floats) -> npt.NDArray[np.bool_]:
    """Does an edge of ``first`` pass through the inside of ``second``?  Touching does not count."""
    hit = np.zeros(len(first), dtype=bool)
    a, b, c = second[:, 0], second[:, 1], second[:, 2]
    ab, ac = b - a, c - a
    for start, end in ((0, 1), (1, 2), (2, 0)):
        origin, direction = first[:, start], first[:, end] - first[:, start]
        p = np.cross(direction, ac)
        determinant = np.einsum("ij,ij->i", ab, p)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1.0 / determinant
            offset = origin - a
            u = np.einsum("ij,ij->i", offset, p) * inverse
            q = np.cross(offset, ab)
            v = np.einsum("ij,ij->i", direction, q) * inverse
            t = np.einsum("ij,ij->i", ac, q) * inverse
            e = 1e-6
            hit |= (u > e) & (v > e) & (u + v < 1 - e) & (t > e) & (t < 1 - e)
    return hit
