# SPDX-License-Identifier: Apache-2.0
"""Meshes for contact: triangles of the source, their convex hull, and primitives that have no prim of their own.

Engines collide meshes as convex hulls unless they are told otherwise, and the hull is closed and does not cross
itself whatever the source was (REP-0158 3.4).  So the hull is what a collider is by default, and the triangles of the
source are its finer choice.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.model.geometry import Capsule, Cone, Cylinder, Ellipsoid, Geometry, MeshData, Sphere

_ROUND = 3
"""Halvings of an icosahedron's edges: 642 points, at most 0.5 % of the radius inside the sphere."""
_SIDES = 48
_FLAT = 1e-6


def make_solid(data: MeshData, scale: Array) -> MeshData:
    """Right-handed triangles at a scale, without looks and without faces that have no area."""
    triangles = data.triangles()
    if np.prod(scale) < 0.0:
        triangles = triangles[:, ::-1]
    a, b, c = triangles.T
    # corners that are one point: such a triangle has no normal
    has_area = (a != b) & (b != c) & (c != a)
    kept = triangles if has_area.all() else triangles[has_area]
    vertices = data.vertices if np.all(scale == 1.0) else data.vertices * scale
    return MeshData(vertices, np.ascontiguousarray(kept, dtype=np.int32).reshape(-1))


def make_hull(data: MeshData, scale: Array) -> MeshData | None:
    """The convex hull at a scale, as closed triangles; None where the mesh has no volume."""
    import manifold3d

    used = np.zeros(len(data.vertices), dtype=bool)
    used[data.indices] = True
    points = data.vertices[used] * scale
    # flat points have no hull with a volume
    if len(points) < 4 or _is_flat(points):
        return None
    mesh = manifold3d.Manifold.hull_points(np.ascontiguousarray(points, dtype=np.float32)).to_mesh()
    faces = np.asarray(mesh.tri_verts, dtype=np.int32)
    if len(faces) < 4:
        return None
    return MeshData(np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3], faces.reshape(-1))


def _is_flat(points: Array) -> bool:
    centred = points - points.mean(axis=0)
    spread = np.linalg.eigvalsh(centred.T @ centred)
    return bool(spread[0] <= _FLAT**2 * max(float(spread[2]), 1e-30))


def is_closed(data: MeshData) -> bool:
    """Is every edge of a triangle mesh used twice, once in each direction?

    Points at the same place, within a millionth of the mesh's size, are one: exporters split them, some by rounding.
    """
    triangles, size = data.indices.reshape(-1, 3).astype(np.int64), len(data.vertices)
    # welding is slow; most closed meshes need none
    return _pairs_up(triangles, size) or _pairs_up(_weld(data.vertices)[triangles], size)


def _pairs_up(triangles: npt.NDArray[np.int64], size: int) -> bool:
    """Has every edge its reverse, and none a twin?  Sums of hashes tell at once that most open meshes have not."""
    starts, ends = triangles.reshape(-1), triangles[:, (1, 2, 0)].reshape(-1)
    kept = starts != ends
    forth, back = (starts * size + ends)[kept], (ends * size + starts)[kept]
    if _sum_hashes(forth) != _sum_hashes(back):
        return False
    forth.sort()
    back.sort()
    return bool(np.array_equal(forth, back) and np.all(forth[1:] != forth[:-1]))


def _sum_hashes(keys: npt.NDArray[np.int64]) -> int:
    mixed = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return int(mixed.sum(dtype=np.uint64))


def _weld(points: Array) -> npt.NDArray[np.int64]:
    """A number for each place: points in one group along every axis are one."""
    limit = _FLAT * float(np.ptp(points, axis=0).max())
    number = np.zeros(len(points), dtype=np.int64)
    for values in points.T:
        order = np.argsort(values, kind="stable")
        group = np.zeros(len(points), dtype=np.int64)
        group[order[1:]] = np.cumsum(np.diff(values[order]) > limit)
        number = np.unique(number * (len(points) + 1) + group, return_inverse=True)[1].reshape(-1)
    return number


def make_round(geometry: Geometry, scale: Array) -> MeshData:
    """A ball, cylinder, capsule or cone that its scale makes into something without a prim type, as a convex mesh."""
    match geometry:
        case Sphere():
            points, radii = _make_ball(), np.full(3, geometry.radius)
        case Ellipsoid():
            points, radii = _make_ball(), np.asarray(geometry.radii, dtype=np.float64)
        case Capsule():
            ball, shift = _make_ball() * geometry.radius, np.array((0.0, 0.0, geometry.length / 2.0))
            points, radii = np.concatenate((ball + shift, ball - shift)), np.ones(3)
        case _:
            assert isinstance(geometry, Cylinder | Cone)
            points, radii = _make_column(geometry), np.ones(3)
    hull = make_hull(MeshData(points, np.arange(len(points), dtype=np.int32)), radii * np.abs(scale))
    assert hull is not None, "a round body has a volume"
    return hull


def _make_ball() -> Array:
    """Points of a finely divided icosahedron on the unit sphere."""
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    corners = [(0.0, s, t * golden) for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    points = np.array([np.roll(corner, k) for corner in corners for k in range(3)])
    points /= np.linalg.norm(points[0])
    edge = float(np.linalg.norm(points - points[0], axis=1)[1:].min())
    for _ in range(_ROUND):
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)
        first, second = np.nonzero(np.triu(apart < 1.4 * edge, 1))
        middles = points[first] + points[second]
        points = np.concatenate((points, middles / np.linalg.norm(middles, axis=1, keepdims=True)))
        edge /= 2.0
    return points


def _make_column(geometry: Cylinder | Cone) -> Array:
    angles = np.arange(_SIDES) * (2.0 * math.pi / _SIDES)
    ring = np.stack((np.cos(angles), np.sin(angles), np.zeros(_SIDES)), axis=1) * geometry.radius
    half = np.array((0.0, 0.0, geometry.length / 2.0))
    top = np.zeros((1, 3)) if isinstance(geometry, Cone) else ring
    return np.concatenate((ring - half, np.add(top, half)))
