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
_SOLID = 1e-7
"""Well above what rounding leaves of a volume that is none, against the cube of the trace."""


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
    middle = np.add.reduce(rows, axis=1) / len(vertices)
    centred = rows - middle[:, None]
    if _are_flat(centred @ centred.T):
        return None
    try:
        spatial = importlib.import_module("scipy.spatial")
        faces = spatial.ConvexHull(exact, qhull_options=f"Qt TA{limit - 4}").simplices
    # no scipy, or points that Qhull refuses: Newton has its own ways then
    except (ImportError, ValueError, RuntimeError):
        return None
    # all coordinates at once: functions for cross products and unique numbers take longer than Qhull on few points
    places = vertices.T[:, faces.T]
    first = places[:, 0]
    across = places[:, 1:] - first[:, None]
    one, other = across[:, 0], across[:, 1]
    normals = one[_NEXT] * other[_AFTER] - one[_AFTER] * other[_NEXT]
    normals *= first - middle.astype(np.float32)[:, None]
    inwards = normals[0] + normals[1] + normals[2] < 0.0
    faces[inwards, 1:] = faces[inwards, :0:-1]
    is_used = np.zeros(len(vertices), dtype=bool)
    is_used[faces] = True
    corners = (is_used.cumsum() - 1)[faces]
    low, high = np.minimum.reduce(rows, axis=1), np.maximum.reduce(rows, axis=1)
    return _HullFaces(vertices[is_used], corners.reshape(-1), low, high)


_NEXT, _AFTER = np.array((1, 2, 0)), np.array((2, 0, 1))
"""The two axes that follow each, round and round."""


def _are_flat(products: npt.NDArray[np.float64]) -> bool:
    """Do points lie in a plane, by Newton's bound?  Given are the products of their coordinates about the middle."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = products.tolist()
    trace = xx + yy + zz
    volume = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    # the volume is the product of the spreads, so the smallest is more than this over half the square of the trace:
    # far above the bound, as of nearly all, it need not be found
    if trace > _FLAT and volume > _SOLID * trace**3:
        return False
    spread = np.linalg.eigvalsh(products)
    # squares of the singular values, the smallest first
    return bool(spread[0] <= (10 * _FLAT) ** 2 * max(spread[2], _FLAT**2))


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
