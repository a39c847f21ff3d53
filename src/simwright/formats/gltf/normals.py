# SPDX-License-Identifier: Apache-2.0
"""Normals and tangents of triangles.

Where a source has no normals, faces that meet at less than a crease angle share them; a mesh that says it is round
has no creases, and one that says it has facets has nothing but.  Tangents follow the texture coordinates of the
normal map, as MikkTSpace has it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.formats.gltf.rows import find_distinct

Numbers = npt.NDArray[np.int64]
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
    _, place = find_distinct(np.asarray(vertices, dtype=np.float32))
    points = place[triangles].reshape(-1)
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
    along[np.abs(area) <= _SMALL] = 0.0
    along = np.nan_to_num(along)
    weights = _measure_angles(points[a], points[b], points[c])
    unit = np.repeat(make_unit(along, along), 3, axis=0) * weights[:, None]
    index = triangles.reshape(-1)
    sums = sum_rows(index, unit, len(points))
    sums -= normals * np.einsum("ij,ij->i", sums, normals)[:, None]
    aside = np.where(np.abs(normals[:, :1]) < 0.9, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    aside = make_unit(aside - normals * np.einsum("ij,ij->i", aside, normals)[:, None])
    tangents = np.empty((len(points), 4), dtype=np.float32)
    tangents[:, :3] = make_unit(sums, aside)
    tangents[:, 3] = turns
    return tangents
