# SPDX-License-Identifier: Apache-2.0
"""Primitive prims, and meshes for contact: the triangles of the source, their convex hull, primitives without a prim.

Engines collide meshes as convex hulls unless they are told otherwise, and the hull is closed and does not cross
itself whatever the source was (REP-0158 3.4).  So the hull is what a collider is by default, and the triangles of the
source are its finer choice.

Cube, Sphere, Cylinder, Capsule, Cone and Plane are written with their sizes; what is left over is a scale.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    MeshData,
    Plane,
    Sphere,
)
from simwright.model.moments import has_reverses, hull_points, weld

_ROUND = 3
"""Halvings of an icosahedron's edges: 642 points, at most 0.5 % of the radius inside the sphere."""
_SIDES = 48


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
    used = np.zeros(len(data.vertices), dtype=bool)
    used[data.indices] = True
    hull = hull_points(data.vertices[used] * scale)
    return None if hull is None else MeshData(hull[0], hull[1].reshape(-1))


def is_closed(data: MeshData) -> bool:
    """Is every edge of a triangle mesh used twice, once in each direction?

    Points at the same place, within a millionth of the mesh's size, are one: exporters split them, some by rounding.
    """
    triangles, size = data.indices.reshape(-1, 3), len(data.vertices)
    # welding is slow; most closed meshes need none
    return _pairs_up(triangles, size) or _pairs_up(weld(data.vertices)[triangles], size)


def _pairs_up(triangles: npt.NDArray[Any], size: int) -> bool:
    """Has every edge its reverse, and none a twin?  A sum tells at once that most open meshes have not."""
    if not has_reverses(triangles, size):
        return False
    corners = triangles.astype(np.int64)
    starts, ends = corners.reshape(-1), corners[:, (1, 2, 0)].reshape(-1)
    # both directions of an edge are neighbours, the one that begins at the lower number first
    keys = np.minimum(starts, ends) * size + np.maximum(starts, ends)
    keys *= 2
    keys += starts > ends
    keys = keys[starts != ends]
    keys.sort()
    forth, back = keys[0::2], keys[1::2]
    # in order, so that an even number is followed by a larger one: its own reverse, or nothing of that edge
    return len(forth) == len(back) and bool(
        np.all(forth % 2 == 0) and np.all(back == forth + 1) and np.all(forth[1:] != forth[:-1])
    )


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
            assert isinstance(geometry, (Cylinder, Cone))
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


UNBOUNDED = 100.0
"""Drawn edge length of a plane without end [m]."""
# in double precision: the asset was not read from floats, or their decimals were found
_EVEN = 1e-9


def is_primitive(geometry: Geometry) -> bool:
    """Has OpenUSD a type for it?"""
    return isinstance(geometry, (Box, Sphere, Ellipsoid, Cylinder, Capsule, Cone, Plane))


def describe_noted(geometry: Geometry) -> tuple[str | float, ...]:
    """Kind and sizes of a primitive that is written as a mesh, for the note on it."""
    match geometry:
        case Box():
            return "box", *(float(value) for value in geometry.size)
        case Sphere():
            return "sphere", float(geometry.radius)
        case Ellipsoid():
            return "ellipsoid", *(float(value) for value in geometry.radii)
        case Cylinder() | Capsule() | Cone():
            return geometry.kind, float(geometry.radius), float(geometry.length)
    assert isinstance(geometry, Plane)
    return "plane", *((UNBOUNDED, UNBOUNDED) if geometry.size is None else map(float, geometry.size[:2]))


def write_primitive(layer: LayerWriter, path: str, shape: Shape) -> None:
    """A primitive, placed and sized."""
    geometry = shape.geometry
    kind, sizes, stretch = describe_primitive(geometry, scaled(shape))
    layer.define(path, kind)
    if isinstance(geometry, (Cylinder, Capsule, Cone, Plane)):
        layer.set(path, "axis", "token", "Z", uniform=True)
    for name, size in sizes.items():
        layer.set(path, name, "double", size)
    layer.set(path, "extent", "float3[]", _find_extent(kind, sizes))
    layer.place(path, shape.pose, None if np.all(stretch == 1.0) else stretch.tolist())


def describe_primitive(geometry: Geometry, scale: Array) -> tuple[str, dict[str, float], Array]:
    """Type, sizes and the scale that goes onto them; as much of it as fits is in the sizes."""
    kind, sizes, stretch = _describe(geometry)
    stretch = stretch * np.abs(scale)
    even = float(np.ptp(stretch)) <= _EVEN * float(stretch.max())
    if kind in ("Sphere", "Capsule", "Cube") and even:
        sizes = {name: size * float(stretch[0]) for name, size in sizes.items()}
        return kind, sizes, np.ones(3)
    # an even cross section is still round; the length may have another scale
    if kind in ("Cylinder", "Cone") and abs(stretch[0] - stretch[1]) <= _EVEN * stretch[:2].max():
        across, along = float(stretch[0]), float(stretch[2])
        return kind, {"radius": sizes["radius"] * across, "height": sizes["height"] * along}, np.ones(3)
    if kind == "Plane":
        width, length = sizes["width"] * float(stretch[0]), sizes["length"] * float(stretch[1])
        return kind, {"width": width, "length": length}, np.ones(3)
    return kind, sizes, stretch


def _describe(geometry: Geometry) -> tuple[str, dict[str, float], Array]:
    match geometry:
        case Box():
            return "Cube", {"size": 1.0}, np.asarray(geometry.size, dtype=np.float64)
        case Sphere():
            return "Sphere", {"radius": geometry.radius}, np.ones(3)
        case Ellipsoid():
            return "Sphere", {"radius": 1.0}, np.asarray(geometry.radii, dtype=np.float64)
        case Cylinder() | Capsule() | Cone():
            sizes = {"radius": geometry.radius, "height": geometry.length}
            return type(geometry).__name__, sizes, np.ones(3)
    assert isinstance(geometry, Plane)
    width, length = (UNBOUNDED, UNBOUNDED) if geometry.size is None else geometry.size[:2]
    return "Plane", {"width": float(width), "length": float(length)}, np.ones(3)


def _find_extent(kind: str, sizes: dict[str, float]) -> Array:
    match kind:
        case "Cube":
            half = np.full(3, sizes["size"] / 2)
        case "Sphere":
            half = np.full(3, sizes["radius"])
        case "Plane":
            half = np.array((sizes["width"] / 2, sizes["length"] / 2, 0.0))
        case _:
            cap = sizes["radius"] if kind == "Capsule" else 0.0
            half = np.array((sizes["radius"], sizes["radius"], sizes["height"] / 2 + cap))
    return np.stack((-half, half))
