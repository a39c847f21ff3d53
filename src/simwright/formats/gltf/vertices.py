# SPDX-License-Identifier: Apache-2.0
"""From the polygons of a mesh to the vertices of glTF: triangles, normals, tangents, one row of everything per vertex.

Triangles (REP-0158 3.4) name corners, not points, so that what is said about a corner stays with it.  Quads are cut
along the diagonal that lies inside; larger polygons are fanned where they are convex, and cut ear by ear where not.

Where a source has no normals, faces that meet at less than a crease angle share them; a mesh that says it is round has
no creases, and one that says it has facets has nothing but.  Tangents follow the texture coordinates of the normal map,
as MikkTSpace has it.

Corners that differ are split into vertices; a mesh whose data are all per vertex keeps its vertices as they are.

All rows go into the binary buffer, which stores rows and images once however often they are used.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.model.geometry import MeshData, fan_triangles
from simwright.model.material import make_all_linear

Numbers = npt.NDArray[np.int64]
_FACTOR = np.uint64(0xD6E8FEB86659FD93)


def find_distinct(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The number of the first row of each sort, in order, and the sort of each row.  Rows are of 32-bit numbers."""
    if rows.dtype == np.float32:
        rows = rows + np.float32(0.0)  # -0 is 0
    bits = np.ascontiguousarray(rows).view(np.uint32)
    # Rows are compared by one 64-bit number: sorting whole rows is far slower.
    keys = bits[:, 0].astype(np.uint64)
    for column in range(1, bits.shape[1]):
        keys = (keys ^ (keys >> np.uint64(31))) * _FACTOR + bits[:, column]
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    if not np.array_equal(bits[first[number]], bits):  # two sorts with one key
        _, first, number = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        number = number.reshape(-1)
    # In the order of first appearance, so that the same mesh gives the same bytes.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number]


MAX_EARS = 5000
"""Corners of the largest dented polygon that is cut ear by ear; cutting takes time that grows with their square."""


def triangulate(data: MeshData) -> tuple[Numbers, Numbers]:
    """``(n, 3)`` corner numbers of counter-clockwise triangles, and the face each is of."""
    if data.counts is None:
        corners = np.arange(len(data.indices), dtype=np.int64).reshape(-1, 3)
        faces = np.arange(len(corners))
    else:
        counts = np.asarray(data.counts, dtype=np.int64)
        starts = np.cumsum(counts) - counts
        numbers = np.arange(len(data.indices), dtype=np.int32)
        corners = fan_triangles(data.counts, numbers).astype(np.int64)
        faces = np.repeat(np.arange(len(counts)), np.maximum(counts - 2, 0))
        first = np.cumsum(np.maximum(counts - 2, 0)) - np.maximum(counts - 2, 0)
        places = np.asarray(data.vertices)[data.indices]
        _turn_quads(places, counts, starts, first, corners)
        for face in _find_dented(places, counts, starts):
            start, count = int(starts[face]), int(counts[face])
            if count <= MAX_EARS:
                ears = _cut_ears(places[start : start + count])
                corners[first[face] : first[face] + count - 2] = ears + start
    if data.left_handed:
        corners = corners[:, ::-1]
    points = data.indices[corners]
    # A triangle that names a point twice has no area and no normal.
    sound = (points[:, 0] != points[:, 1]) & (points[:, 1] != points[:, 2]) & (points[:, 2] != points[:, 0])
    return (corners, faces) if sound.all() else (corners[sound], faces[sound])


def _turn_quads(places: Array, counts: Numbers, starts: Numbers, first: Numbers, corners: Numbers) -> None:
    """Cut quads along the other diagonal where the first one is outside."""
    quads = np.flatnonzero(counts == 4)
    if not len(quads):
        return
    a, b, c, d = (places[starts[quads] + k] for k in range(4))
    diagonal = c - a
    # Where the two halves face opposite ways, the diagonal runs outside.
    one, two = np.cross(b - a, diagonal), np.cross(diagonal, d - a)
    dented = quads[np.einsum("ij,ij->i", one, two) < 0.0]
    if len(dented):
        base = starts[dented][:, None]
        corners[first[dented]] = base + np.array((0, 1, 3))
        corners[first[dented] + 1] = base + np.array((1, 2, 3))


def _find_dented(places: Array, counts: Numbers, starts: Numbers) -> list[int]:
    """Polygons of five corners and more that turn the wrong way at a corner."""
    dented: list[int] = []
    for count in np.unique(counts[counts > 4]).tolist():
        faces = np.flatnonzero(counts == count)
        rings = places[starts[faces][:, None] + np.arange(count)]
        turns = np.cross(rings - np.roll(rings, 1, axis=1), np.roll(rings, -1, axis=1) - rings)
        normals = np.cross(rings, np.roll(rings, -1, axis=1)).sum(axis=1)
        inwards = np.einsum("fki,fi->fk", turns, normals)
        # Relative to the area: a nearly straight corner is no dent.
        scale = np.einsum("fi,fi->f", normals, normals)
        dented += faces[(inwards < -1e-9 * scale[:, None]).any(axis=1)].tolist()
    return sorted(dented)


def _cut_ears(ring: Array) -> Numbers:
    """The triangles of one polygon, seen along its normal."""
    normal = np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0)
    # Projected along the axis the polygon faces most, and turned so that it winds counter-clockwise there.
    drop = int(np.argmax(np.abs(normal)))
    flat = np.delete(ring, drop, axis=1) * (1.0 if (normal[drop] > 0) == (drop != 1) else (-1.0, 1.0))
    left = list(range(len(ring)))
    triangles: list[tuple[int, int, int]] = []
    while len(left) > 3:
        # A polygon that crosses itself may have no ear; it is cut somewhere, so that the loop ends.
        spot = next((k for k in range(len(left)) if _is_ear(flat, left, k)), 0)
        before, here, after = left[spot - 1], left[spot], left[(spot + 1) % len(left)]
        triangles.append((before, here, after))
        left.pop(spot)
    triangles.append((left[0], left[1], left[2]))
    return np.array(triangles, dtype=np.int64)


def _is_ear(flat: Array, left: list[int], spot: int) -> bool:
    """Does a corner bulge outwards, with no other corner inside its triangle?"""
    a, b, c = flat[left[spot - 1]], flat[left[spot]], flat[left[(spot + 1) % len(left)]]
    if _area(a, b, c) <= 0.0:
        return False
    skipped = {spot, (spot - 1) % len(left), (spot + 1) % len(left)}
    others = flat[[corner for k, corner in enumerate(left) if k not in skipped]]
    inside = (_area(a, b, others) >= 0.0) & (_area(b, c, others) >= 0.0) & (_area(c, a, others) >= 0.0)
    same = (others == a).all(axis=1) | (others == b).all(axis=1) | (others == c).all(axis=1)
    return not bool((inside & ~same).any())


def _area(a: Array, b: Array, c: Array) -> Array:
    """Twice the signed area of triangles in a plane."""
    side, other = b - a, c - a
    return np.asarray(side[..., 0] * other[..., 1] - side[..., 1] * other[..., 0])


CREASE = math.radians(40.0)
"""Faces that meet at a larger angle have an edge between them [rad]."""
_MOST_PAIRS = 1 << 20
"""Pairs of corners that are compared at once."""
_WIDE = 256
"""Corners at one point beyond which each keeps the normal of its face."""
_SMALL = 1e-30


def compute_normals(vertices: Array, triangles: Numbers, smooth: bool | None) -> Array:
    """``(3 n, 3)`` unit normals, one for each corner of ``(n, 3)`` triangles."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    flat = make_unit(np.cross(b - a, c - a))
    if smooth is False:
        return np.repeat(flat, 3, axis=0)
    # By position: STL and exporters give each face vertices of its own.
    _, place = find_distinct(np.asarray(vertices, dtype=np.float32))
    points = place[triangles].reshape(-1)
    # Weighted by the angle, so that how a face is cut into triangles does not matter.
    weighted = np.repeat(flat, 3, axis=0) * _measure_angles(a, b, c)[:, None]
    if smooth:
        sums = sum_rows(points, weighted, len(vertices))
        return make_unit(sums[points], np.repeat(flat, 3, axis=0))
    return _gather_creased(points, flat, weighted)


def _measure_angles(a: Array, b: Array, c: Array) -> Array:
    """The angle at each corner [rad]."""
    sides = make_unit(b - a), make_unit(c - b), make_unit(a - c)
    dots = [np.einsum("ij,ij->i", sides[k], -sides[k - 1]) for k in range(3)]
    return np.asarray(np.arccos(np.clip(np.stack(dots, axis=1), -1.0, 1.0))).reshape(-1)


def _gather_creased(points: Numbers, flat: Array, weighted: Array) -> Array:
    """Sums over the corners at the same point whose faces do not turn away."""
    order = np.argsort(points, kind="stable")
    _, starts, counts = np.unique(points[order], return_index=True, return_counts=True)
    size = np.repeat(counts, counts)
    begin = np.repeat(starts, counts)
    result = np.zeros((len(points), 3))
    # The tip of a fan with thousands of faces would need millions of pairs.
    partners = np.where(size > _WIDE, 1, size)
    own = np.arange(len(points))
    begin = np.where(size > _WIDE, own, begin)
    ends = np.cumsum(partners)
    limit, low = math.cos(CREASE), 0
    while low < len(points):
        base = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, base + _MOST_PAIRS, side="right")))
        count = partners[low:high]
        here = np.repeat(own[low:high], count)
        total = int(ends[high - 1]) - base
        offsets = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
        me, other = order[here], order[begin[here] + offsets]
        near = np.einsum("ij,ij->i", flat[me // 3], flat[other // 3]) > limit
        me, other = me[near], other[near]
        result += sum_rows(me, weighted[other], len(points))
        low = high
    return make_unit(result, np.repeat(flat, 3, axis=0))


def sum_rows(numbers: Numbers, rows: Array, count: int) -> Array:
    """The sum of the rows of each number."""
    columns = [np.bincount(numbers, rows[:, k], minlength=count) for k in range(rows.shape[1])]
    return np.stack(columns, axis=1).astype(np.float64, copy=False)


def make_unit(rows: Array, instead: Array | None = None) -> Array:
    """Rows of length one; where there is no direction, that of ``instead`` or +Z."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lost = ~(lengths > _SMALL) | ~np.isfinite(lengths)
    if not lost.any():
        return np.asarray(rows / lengths[:, None])
    result = rows / np.where(lost, 1.0, lengths)[:, None]
    result[lost] = (0.0, 0.0, 1.0) if instead is None else instead[lost]
    return np.asarray(result)


def find_turns(uvs: Array) -> Array:
    """+1 or -1 for each corner: does the triangle of texture coordinates ``(3 n, 2)`` wind like that of points?"""
    one, two = uvs[1::3] - uvs[::3], uvs[2::3] - uvs[::3]
    turn = np.where(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0] < 0.0, -1.0, 1.0)
    return np.repeat(turn, 3)


def compute_tangents(
    points: Array, normals: Array, uvs: Array, turns: Array, triangles: Numbers
) -> npt.NDArray[np.float32]:
    """``(n, 4)`` tangents of vertices: where u grows, and which way v then goes.  ``uvs`` count v upwards."""
    a, b, c = (triangles[:, k] for k in range(3))
    edge, other = points[b] - points[a], points[c] - points[a]
    (du, dv), (eu, ev) = (uvs[b] - uvs[a]).T, (uvs[c] - uvs[a]).T
    area = du * ev - eu * dv
    safe = np.where(np.abs(area) > _SMALL, area, 1.0)
    along = (edge * ev[:, None] - other * dv[:, None]) / safe[:, None]
    # A triangle whose texture coordinates lie on a line has no direction of its own.
    along[np.abs(area) <= _SMALL] = 0.0
    along = np.nan_to_num(along)
    weights = _measure_angles(points[a], points[b], points[c])
    unit = np.repeat(make_unit(along, along), 3, axis=0) * weights[:, None]
    index = triangles.reshape(-1)
    sums = sum_rows(index, unit, len(points))
    # A tangent stands at right angles to the normal.
    sums -= normals * np.einsum("ij,ij->i", sums, normals)[:, None]
    # Where no triangle has a direction, any one at right angles to the normal will do.
    aside = np.where(np.abs(normals[:, :1]) < 0.9, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    aside = make_unit(aside - normals * np.einsum("ij,ij->i", aside, normals)[:, None])
    tangents = np.empty((len(points), 4), dtype=np.float32)
    tangents[:, :3] = make_unit(sums, aside)
    tangents[:, 3] = turns
    return tangents


Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class PrimitiveInputs:
    """What the look of a primitive reads: texture coordinates by name, colours, tangents along one of the sets."""

    uv_names: tuple[str, ...] = ()
    colors: bool = False
    tangents: int | None = None


@dataclass(slots=True, eq=False)
class Vertices:
    """The arrays of a primitive; texture coordinates count v downwards."""

    points: Array
    normals: Singles
    triangles: Numbers
    uvs: list[Singles] = field(default_factory=list)
    colors: Singles | None = None
    tangents: Singles | None = None


class TriangulatedMesh:
    """A mesh, cut once, that gives the vertices of any of its faces."""

    def __init__(self, data: MeshData) -> None:
        self.data = data
        self.corners, self.faces = triangulate(data)
        self._vertices = np.asarray(data.vertices, dtype=np.float64)
        self._normals: Array | None = None
        self._by_vertex: bool = False

    def find_uvs(self, name: str) -> Array | None:
        """Texture coordinates by the name of their set."""
        if name == self.data.uv_name:
            return self.data.uvs
        found = self.data.uv_sets.get(name)
        return self.data.uvs if found is None and name == "st" else found

    def make(self, faces: npt.NDArray[Any] | None, needs: PrimitiveInputs) -> Vertices | None:
        """The vertices of all faces, or of some; None if there are no triangles."""
        corners = self.corners if faces is None else self.corners[self._select(faces)]
        if not len(corners):
            return None
        numbers = corners.reshape(-1)
        points = np.asarray(self.data.indices, dtype=np.int64)[numbers]
        normals, by_vertex = self._find_normals()
        columns = _Columns(points, numbers, len(self._vertices), len(self.data.indices))
        columns.add("normal", normals, None if by_vertex else True)
        sets = [self.find_uvs(name) for name in needs.uv_names]
        for place, rows in enumerate(sets):
            assert rows is not None, "only sets that are there are asked for"
            columns.add(f"uv{place}", np.nan_to_num(rows))
        if needs.colors and self.data.colors is not None:
            columns.add("color", self.data.colors)
        if needs.tangents is not None:
            uvs = columns.gather(f"uv{needs.tangents}")
            # Mirrored parts of a texture share points but not tangents, so they must be split.
            columns.add_gathered("turn", find_turns(uvs)[:, None])
        first, index = columns.merge()
        return self._assemble(columns, first, index, points, needs)

    def _assemble(
        self, columns: _Columns, first: Numbers, index: Numbers, points: Numbers, needs: PrimitiveInputs
    ) -> Vertices:
        result = Vertices(
            self._vertices[points[first]],
            columns.gather("normal", first).astype(np.float32),
            index.reshape(-1, 3),
        )
        for place in range(len(needs.uv_names)):
            rows = columns.gather(f"uv{place}", first)
            # glTF counts v downwards.
            result.uvs.append(np.stack((rows[:, 0], 1.0 - rows[:, 1]), axis=1).astype(np.float32))
        if columns.has("color"):
            result.colors = np.clip(make_all_linear(columns.gather("color", first)[:, :3]), 0.0, 1.0).astype(
                np.float32
            )
        if needs.tangents is not None:
            result.tangents = compute_tangents(
                result.points,
                columns.gather("normal", first),
                columns.gather(f"uv{needs.tangents}", first),
                columns.gather("turn", first)[:, 0],
                result.triangles,
            )
        return result

    def _select(self, faces: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        wanted = np.zeros(self.data.face_count, dtype=bool)
        wanted[faces] = True
        return wanted[self.faces]

    def _find_normals(self) -> tuple[Array, bool]:
        """Unit rows, one per vertex or one per corner of the mesh."""
        if self._normals is None:
            given = self.data.normals
            count = 0 if given is None else len(given)
            self._by_vertex = count == len(self._vertices) != len(self.data.indices)
            if given is not None and (self._by_vertex or count == len(self.data.indices)):
                self._normals = make_unit(np.asarray(given, dtype=np.float64))
            else:
                self._normals, self._by_vertex = self._compute(), False
        return self._normals, self._by_vertex

    def _compute(self) -> Array:
        triangles = np.asarray(self.data.indices, dtype=np.int64)[self.corners]
        rows = np.zeros((len(self.data.indices), 3))
        # Corners in no triangle keep +Z: nobody sees them, but no row may be zero.
        rows[:, 2] = 1.0
        if self.data.counts is None:
            rows[self.corners.reshape(-1)] = compute_normals(self._vertices, triangles, self.data.smooth)
            return rows
        # a corner of a polygon is in several of its triangles, which lie about in one plane
        found = compute_normals(self._vertices, triangles, self.data.smooth)
        sums = np.zeros_like(rows)
        np.add.at(sums, self.corners.reshape(-1), found)
        return make_unit(sums, rows)


class _Columns:
    """What is said about corners, column by column, and which corners are one vertex."""

    def __init__(self, points: Numbers, numbers: Numbers, vertices: int, corners: int) -> None:
        self._points, self._numbers = points, numbers
        self._vertices, self._corners = vertices, corners
        self._gathered: dict[str, Array] = {}
        self._by_vertex: dict[str, Array] = {}

    def has(self, name: str) -> bool:
        return name in self._gathered or name in self._by_vertex

    def add(self, name: str, rows: Array, by_corner: bool | None = None) -> None:
        """Rows per vertex or per corner of the mesh; told by their number unless said."""
        if by_corner is None:
            by_corner = not (len(rows) == self._vertices != self._corners)
        if by_corner and len(rows) == self._corners:
            self._gathered[name] = np.asarray(rows)[self._numbers]
        elif len(rows) == self._vertices:
            self._by_vertex[name] = np.asarray(rows)

    def add_gathered(self, name: str, rows: Array) -> None:
        """Rows of the corners of the triangles."""
        self._gathered[name] = rows

    def gather(self, name: str, chosen: Numbers | None = None) -> Array:
        """Rows of the corners of the triangles, or of some of these."""
        rows = self._gathered.get(name)
        if rows is not None:
            return rows if chosen is None else rows[chosen]
        return self._by_vertex[name][self._points if chosen is None else self._points[chosen]]

    def merge(self) -> tuple[Numbers, Numbers]:
        """A corner for each vertex, and the vertex of each corner; vertices in a fixed order."""
        if not self._gathered:
            # Nothing differs between the corners of a point: its vertices stay as they are.
            used = np.full(self._vertices, -1, dtype=np.int64)
            used[self._points[::-1]] = np.arange(len(self._points) - 1, -1, -1)
            kept = used >= 0
            return used[kept], (np.cumsum(kept) - 1)[self._points]
        parts: Sequence[npt.NDArray[Any]] = [
            # Point numbers as bits beside the floats, so that one comparison does for all.
            self._points.astype(np.int32).view(np.float32).reshape(-1, 1),
            *(rows.astype(np.float32) + np.float32(0.0) for rows in self._gathered.values()),
        ]
        return find_distinct(np.concatenate(parts, axis=1).view(np.uint32))


Rows = npt.NDArray[Any]

VERTICES, INDICES = 34962, 34963
"""What a view is for: vertex attributes, indices."""
_COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
_ALIGNMENT = 4


class Buffer:
    """Content, views into it, and accessors that say what is in a view."""

    def __init__(self) -> None:
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.length = 0
        self._parts: list[bytes] = []
        self._known: dict[tuple[bytes, object], int] = {}
        self._known_rows: dict[tuple[object, ...], int] = {}
        self._viewed: set[int] = set()

    @property
    def content(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)

    def add(
        self, rows: Rows, target: int | None = None, *, bounds: bool = False, scaled: bool = False
    ) -> int:
        """The accessor of some rows; ``bounds`` notes their range, ``scaled`` says that integers stand for 0 to 1.

        Rows of vertices that are no multiple of four bytes wide are padded, as glTF wants it.
        """
        rows = np.ascontiguousarray(rows)
        width = 1 if rows.ndim == 1 else rows.shape[1]
        kind = rows.dtype.str[1:]
        size = width * rows.dtype.itemsize
        stride = None
        stored = rows
        # Vertex attributes start at multiples of four bytes (glTF 2.0, 3.6.2.4).
        if target == VERTICES and size % _ALIGNMENT:
            stride = size + _ALIGNMENT - size % _ALIGNMENT
            stored = np.zeros((len(rows), stride // rows.dtype.itemsize), dtype=rows.dtype)
            stored[:, :width] = rows
        view = self.add_view(stored.tobytes(), target, stride)
        key = (view, kind, width, bounds, scaled)
        if key not in self._known_rows:
            if target == VERTICES and view in self._viewed:
                # where several accessors share a view (glTF 2.0, 3.6.2.4): points of a unit sphere are its normals
                self.views[view].setdefault("byteStride", size)
            self._viewed.add(view)
            self._known_rows[key] = len(self.accessors)
            row: dict[str, Any] = {
                "bufferView": view,
                "componentType": _COMPONENTS[kind],
                "count": len(rows),
                "type": _TYPES[width],
            }
            if scaled:
                row["normalized"] = True
            if bounds:
                row["min"] = np.atleast_1d(rows.min(axis=0)).tolist()
                row["max"] = np.atleast_1d(rows.max(axis=0)).tolist()
            self.accessors.append(row)
        return self._known_rows[key]

    def add_view(self, content: bytes, target: int | None = None, stride: int | None = None) -> int:
        """The view of some bytes."""
        # By content: instanced robots repeat their arrays, which are stored once.
        key = (hashlib.blake2b(content, digest_size=16).digest(), (target, stride, len(content)))
        if key in self._known:
            return self._known[key]
        row: dict[str, Any] = {"buffer": 0, "byteOffset": self.length, "byteLength": len(content)}
        if stride is not None:
            row["byteStride"] = stride
        if target is not None:
            row["target"] = target
        padding = -len(content) % _ALIGNMENT
        self._parts += [content, b"\0" * padding] if padding else [content]
        self.length += len(content) + padding
        self._known[key] = len(self.views)
        self.views.append(row)
        return self._known[key]
