# SPDX-License-Identifier: Apache-2.0
"""Where a line of sight meets shapes: what is measured between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simwright.core.math3d import Array, Pose, quat_conjugate, quat_rotate
from simwright.formats.gltf.meshes import make_mesh
from simwright.model.asset import Shape, scaled

_CHUNK = 200_000
_FLAT = 1e-14


def find_hit(shapes: Sequence[Shape], body: Pose, origin: Array, direction: Array) -> Array | None:
    """The first point [m] of shapes on a body at a pose that a line of sight meets; None where it misses them."""
    nearest = np.inf
    for shape in shapes:
        data = make_mesh(shape.geometry)
        if data is None or not len(data.indices):
            continue
        place = body @ shape.pose
        back = quat_conjugate(place.q)
        # in the frame of the shape: its points are many, the line of sight is one
        start = np.asarray(quat_rotate(back, origin - place.p)) / scaled(shape)
        along = np.asarray(quat_rotate(back, direction)) / scaled(shape)
        triangles = np.asarray(data.triangles())
        for first in range(0, len(triangles), _CHUNK):
            corners = np.asarray(data.vertices, dtype=np.float64)[triangles[first : first + _CHUNK]]
            nearest = min(nearest, meet_triangles(corners, start, along))
    return origin + nearest * direction if np.isfinite(nearest) else None


def meet_triangles(corners: Array, origin: Array, direction: Array) -> float:
    """How many times ``direction`` it is to the first of triangles (n x 3 x 3), from either side; infinite for none."""
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(direction, two)
    volume = np.einsum("ij,ij->i", one, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = origin - corners[:, 0]
        u = np.einsum("ij,ij->i", away, across) / volume
        turned = np.cross(away, one)
        v = turned @ direction / volume
        far = np.einsum("ij,ij->i", turned, two) / volume
        met = (np.abs(volume) > _FLAT) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (far > 0.0)
    return float(np.min(far[met], initial=np.inf))
