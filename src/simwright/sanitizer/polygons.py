# SPDX-License-Identifier: Apache-2.0
"""Splitting polygons into triangles: a fan where a face is convex, ears cut off one by one where it is not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simwright.sanitizer.faces import Faces, Ints, NewFaces

Array = npt.NDArray[np.float64]
_MAX_CORNERS = 4096
"""Of a face that is not convex: cutting ears takes time with the square of them."""


def split_faces(old: Faces) -> NewFaces:
    """Every face as triangles; faces of fewer than three corners are left out."""
    keep = old.counts >= 3
    starts = old.starts
    parts = [starts[keep & (old.counts == 3)][:, None] + np.arange(3)]
    orders = [np.flatnonzero(keep & (old.counts == 3))]
    for face in np.flatnonzero(keep & (old.counts > 3)):
        corners = starts[face] + np.arange(old.counts[face])
        triangles = corners[split_polygon(old.points[old.indices[corners]])]
        parts.append(triangles)
        orders.append(np.full(len(triangles), face))
    # faces stay in their order
    order = np.argsort(np.concatenate(orders), kind="stable")
    triangles = np.concatenate(parts)[order]
    return NewFaces(np.full(len(triangles), 3, dtype=np.int64), triangles.reshape(-1))


def split_polygon(points: Array) -> Ints:
    """Triangles of one polygon, counter-clockwise as it is, as numbers of its corners."""
    count = len(points)
    fan = np.stack(
        (np.zeros(count - 2, dtype=np.int64), np.arange(1, count - 1), np.arange(2, count)), axis=1
    )
    flat = _flatten(points)
    if flat is None or count > _MAX_CORNERS or _is_convex(flat):
        return fan
    found = _cut_ears(flat)
    return fan if found is None else found


def _flatten(points: Array) -> Array | None:
    """The corners in the plane of the face, counter-clockwise; None if it has no area."""
    centred = points - points.mean(axis=0)
    normal = np.cross(centred, np.roll(centred, -1, axis=0)).sum(axis=0)
    length = float(np.linalg.norm(normal))
    if length == 0.0:
        return None
    normal /= length
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    return np.stack((centred @ first, centred @ np.cross(normal, first)), axis=1)


def _turn(a: Array, b: Array, c: Array) -> Array:
    """Twice the signed area of triangles in a plane."""
    u, v = b - a, c - a
    area: Array = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return area


def _is_convex(flat: Array) -> bool:
    turns = _turn(np.roll(flat, 1, axis=0), flat, np.roll(flat, -1, axis=0))
    return bool((turns >= -1e-9 * np.ptp(flat, axis=0).max() ** 2).all())


def _cut_ears(flat: Array) -> Ints | None:
    left = list(range(len(flat)))
    found = []
    while len(left) > 3:
        ear = next((i for i in range(len(left)) if _is_ear(flat, left, i)), None)
        if ear is None:
            return None
        found.append((left[ear - 1], left[ear], left[(ear + 1) % len(left)]))
        del left[ear]
    found.append((left[0], left[1], left[2]))
    return np.array(found, dtype=np.int64)


def _is_ear(flat: Array, left: list[int], place: int) -> bool:
    a, b, c = (flat[left[(place + step) % len(left)]] for step in (-1, 0, 1))
    if float(_turn(a, b, c)) <= 0.0:
        return False
    others = flat[[i for i in left if not any(np.array_equal(flat[i], corner) for corner in (a, b, c))]]
    inside = (_turn(a, b, others) >= 0.0) & (_turn(b, c, others) >= 0.0) & (_turn(c, a, others) >= 0.0)
    return not bool(inside.any())
