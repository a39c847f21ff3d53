# SPDX-License-Identifier: Apache-2.0
"""Polygons cut into triangles (REP-0158 3.4), those with dents too.

A triangle names corners, not points, so that what is said about a corner stays with it.  Quads are cut along the
diagonal that lies inside; larger polygons are fanned where they bulge outwards everywhere, and cut ear by ear
where they do not.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.model.geometry import MeshData, fan_triangles

Numbers = npt.NDArray[np.int64]
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
    sound = (points[:, 0] != points[:, 1]) & (points[:, 1] != points[:, 2]) & (points[:, 2] != points[:, 0])
    return (corners, faces) if sound.all() else (corners[sound], faces[sound])


def _turn_quads(places: Array, counts: Numbers, starts: Numbers, first: Numbers, corners: Numbers) -> None:
    """Cut quads along the other diagonal where the first one is outside."""
    quads = np.flatnonzero(counts == 4)
    if not len(quads):
        return
    a, b, c, d = (places[starts[quads] + k] for k in range(4))
    diagonal = c - a
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
        scale = np.einsum("fi,fi->f", normals, normals)
        dented += faces[(inwards < -1e-9 * scale[:, None]).any(axis=1)].tolist()
    return sorted(dented)


def _cut_ears(ring: Array) -> Numbers:
    """The triangles of one polygon, seen along its normal."""
    normal = np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0)
    drop = int(np.argmax(np.abs(normal)))
    flat = np.delete(ring, drop, axis=1) * (1.0 if (normal[drop] > 0) == (drop != 1) else (-1.0, 1.0))
    left = list(range(len(ring)))
    triangles: list[tuple[int, int, int]] = []
    while len(left) > 3:
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
