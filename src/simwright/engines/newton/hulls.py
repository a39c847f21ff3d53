# SPDX-License-Identifier: Apache-2.0
"""What mesh colliders are approximated by: convex hulls as Newton makes them, and what Newton makes itself."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.engines.newton.messages import APPROXIMATION_UNUSED
from simwright.engines.newton.types import ModelBuilder
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh

_METHODS = {
    "convexdecomposition": "coacd",
    "convexhull": "convex_hull",
    "boundingsphere": "bounding_sphere",
    "boundingcube": "bounding_box",
    "meshsimplification": "quadratic",
}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColliderHull:
    """A convex mesh, and the corners of the box around all that it is the hull of."""

    mesh: Any
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]

    def find_radius(self, scale: tuple[float, ...]) -> float:
        """Half the diagonal of the scaled box, as Newton has it for meshes."""
        return float(0.5 * np.linalg.norm((self.high - self.low) * scale))


def is_hull(shape: Shape) -> bool:
    """Is it a mesh that collides by its convex hull, and by nothing else?"""
    token = shape.approximation.token.lower() if shape.approximation else "none"
    fields = (
        "sdf_enabled",
        "hydroelastic_enabled",
        "sdf_max_resolution",
        "sdf_target_voxel_size",
        "sdf_padding",
    )
    return (
        token == "convexhull"
        and shape.collision
        and shape.enabled
        and isinstance(shape.geometry, Mesh)
        and not any(name in shape.settings for name in fields)
    )


_FLAT = 1e-6
"""Newton's bound for flat: the smallest singular value of the points against the largest."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _HullFaces:
    """Vertices of a hull, their triangles, and the corners of the box around the points; nothing of it is changed."""

    vertices: npt.NDArray[np.float32]
    corners: npt.NDArray[np.int64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


_known: dict[tuple[bytes, int], _HullFaces | None] = {}
_MOST_KNOWN = 1024
_SMALL = 4096
"""Hulls with at most so many vertices are kept: a process that imports a robot again need not compute them again."""


def forget_hulls() -> None:
    """Let hulls be computed anew, as in a process that imports for the first time."""
    _known.clear()


def make_hull(points: npt.NDArray[Any], limit: int | None) -> ColliderHull | None:
    """The convex hull that Newton makes of points, with at most ``limit`` vertices; None if they are flat or too few.

    The points decide: those of a mesh that was met before in this process have the hull of then.
    """
    import newton

    limit = newton.Mesh.MAX_HULL_VERTICES if limit is None else int(limit)
    vertices = np.ascontiguousarray(points, dtype=np.float32)
    key = hashlib.blake2b(vertices.data, digest_size=20).digest(), limit
    if key in _known:
        faces = _known[key]
    else:
        faces = _compute_hull(vertices, limit)
        if faces is None or len(faces.vertices) <= _SMALL:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[key] = faces
    if faces is None:
        return None
    # a mesh of its own for every import: users change it, and solvers keep their own things on it
    mesh = newton.Mesh(faces.vertices.copy(), faces.corners, compute_inertia=False, maxhullvert=limit)
    return ColliderHull(mesh, faces.low, faces.high)


def _compute_hull(vertices: npt.NDArray[np.float32], limit: int) -> _HullFaces | None:
    """The hull of points; Newton turns its triangles outwards one by one, here all of them are turned at once."""
    if limit <= 4 or len(vertices) < 4:
        return None
    exact = vertices.astype(np.float64)
    # one row for each coordinate: sums and bounds of long rows take a tenth of those of many short ones
    rows = np.ascontiguousarray(exact.T)
    middle = rows.mean(axis=1)
    centred = rows - middle[:, None]
    spread = np.linalg.eigvalsh(centred @ centred.T)
    # squares of the singular values, the smallest first
    if spread[0] <= (10 * _FLAT) ** 2 * max(spread[2], _FLAT**2):
        return None
    try:
        spatial = importlib.import_module("scipy.spatial")
        faces = spatial.ConvexHull(exact, qhull_options=f"Qt TA{limit - 4}").simplices
    # no scipy, or points that Qhull refuses: Newton has its own ways then
    except (ImportError, ValueError, RuntimeError):
        return None
    # coordinate by coordinate: functions for cross products and unique numbers take longer than Qhull on few points
    x, y, z = vertices.T[:, faces.T]
    u, v, w = x[1] - x[0], y[1] - y[0], z[1] - z[0]
    r, s, t = x[2] - x[0], y[2] - y[0], z[2] - z[0]
    middle = middle.astype(np.float32)
    outwards = (v * t - w * s) * (x[0] - middle[0])
    outwards += (w * r - u * t) * (y[0] - middle[1])
    outwards += (u * s - v * r) * (z[0] - middle[2])
    inwards = outwards < 0.0
    faces[inwards, 1], faces[inwards, 2] = faces[inwards, 2], faces[inwards, 1]
    is_used = np.zeros(len(vertices), dtype=bool)
    is_used[faces] = True
    corners = (np.cumsum(is_used) - 1)[faces]
    return _HullFaces(vertices[is_used], corners.reshape(-1), rows.min(axis=1), rows.max(axis=1))


def approximate(
    builder: ModelBuilder,
    shapes: dict[str, int],
    asset: Asset,
    reporter: Reporter,
    *,
    hulled: set[str],
    split: frozenset[str],
) -> None:
    """Replace mesh colliders by hulls, boxes, balls or pieces where the asset asks; ``hulled`` are hulls already.

    Those named in ``split`` leave a shape that is drawn as they were.
    A distance field is a way to collide of its own: an approximation beside it is left out.
    """
    chosen: dict[tuple[str, bool], list[int]] = {}
    for shape in asset.shapes:
        index = shapes.get(shape.name)
        token = shape.approximation.token.lower() if shape.approximation else "none"
        if (
            index is None
            or token not in _METHODS
            or not shape.enabled
            or not isinstance(shape.geometry, Mesh)
            or shape.name in hulled
        ):
            continue
        if shape.settings.get("sdf_enabled"):
            reporter.report(APPROXIMATION_UNUSED, shape.source, name=shape.name, token=token)
        else:
            # one call for each method: Newton works on many meshes at once
            is_split = shape.visual and shape.name in split
            chosen.setdefault((_METHODS[token], is_split), []).append(index)
    for (method, is_split), indices in chosen.items():
        builder.approximate_meshes(method=method, shape_indices=indices, keep_visual_shapes=is_split)
