# SPDX-License-Identifier: Apache-2.0
"""Primitives as triangles, with normals and texture coordinates; glTF has nothing but meshes.

Round bodies have edges of at most ten degrees.  Texture coordinates go once round, once up, and over every face of a
box and every disc.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.math3d import Array
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    MeshData,
    Plane,
    Polyline,
    Sphere,
)

_SIDES = 36
_RINGS = 18
GROUND = 20.0
"""Edge length of a plane without end [m]."""
_BOX, _BALL, _COLUMN, _CONE = Box.of(1.0, 1.0, 1.0), Sphere(1.0), Cylinder(1.0, 1.0), Cone(1.0, 1.0)
_CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def find_unit(geometry: Geometry) -> tuple[Geometry, Array]:
    """The one primitive that all of a kind are, and what it is stretched by; others are their own."""
    match geometry:
        case Box():
            return _BOX, np.asarray(geometry.size, dtype=np.float64)
        case Sphere():
            return _BALL, np.full(3, float(geometry.radius))
        case Ellipsoid():
            return _BALL, np.asarray(geometry.radii, dtype=np.float64)
        case Cylinder():
            return _COLUMN, np.array((geometry.radius, geometry.radius, geometry.length), dtype=np.float64)
        case Cone():
            return _CONE, np.array((geometry.radius, geometry.radius, geometry.length), dtype=np.float64)
        case _:
            return geometry, np.ones(3)


def make_mesh(geometry: Geometry) -> MeshData | None:
    """The mesh of any geometry; None for one that has none."""
    match geometry:
        case Mesh():
            return geometry.data
        case Box():
            return _make_box(geometry.size)
        case Plane():
            size = (GROUND, GROUND) if geometry.size is None else geometry.size
            return _make_sheet(float(size[0]), float(size[1]))
        case Sphere():
            return _make_profile(_list_ball(geometry.radius, 0.0))
        case Ellipsoid():
            return _stretch(_make_profile(_list_ball(1.0, 0.0)), np.asarray(geometry.radii, dtype=float))
        case Capsule():
            return _make_profile(_list_ball(geometry.radius, geometry.length / 2.0))
        case Cylinder():
            return _make_profile(_list_column(geometry.radius, geometry.radius, geometry.length / 2.0))
        case Cone():
            return _make_profile(_list_column(geometry.radius, 0.0, geometry.length / 2.0))
        case Heightfield():
            return _make_terrain(geometry)
        case Polyline():
            return _extrude(geometry)


def _make_box(size: Array) -> MeshData:
    points, normals = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            normal = np.zeros(3)
            normal[axis] = side
            u, v = np.zeros(3), np.zeros(3)
            u[(axis + 1) % 3], v[(axis + 2) % 3] = side, 1.0
            points += [normal + x * u + y * v for x, y in _CORNERS]
            normals += [normal] * 4
    uvs = np.tile((np.array(_CORNERS) + 1.0) / 2.0, (6, 1))
    starts = np.arange(6, dtype=np.int32)[:, None] * 4
    faces = (starts + np.array((0, 1, 2, 0, 2, 3), dtype=np.int32)).reshape(-1)
    return MeshData(np.array(points) * (np.asarray(size) / 2.0), faces, normals=np.array(normals), uvs=uvs)


def _make_sheet(x: float, y: float) -> MeshData:
    points = np.array([(u * x / 2.0, v * y / 2.0, 0.0) for u, v in _CORNERS])
    faces = np.array((0, 1, 2, 0, 2, 3), dtype=np.int32)
    normals = np.tile((0.0, 0.0, 1.0), (4, 1))
    return MeshData(points, faces, normals=normals, uvs=(np.array(_CORNERS) + 1.0) / 2.0)


def _list_ball(radius: float, half: float) -> list[tuple[float, ...]]:
    """A profile from the lower to the upper pole: distance from the axis, height, outward direction, v."""
    angles = [math.pi * (k / _RINGS - 0.5) for k in range(_RINGS + 1)]
    middle = _RINGS // 2
    lower = [(a, -half) for a in angles[: middle + 1]]
    upper = [(a, half) for a in (angles[middle:] if half else angles[middle + 1 :])]
    total = 2.0 * half + math.pi * radius
    return [
        (
            0.0 if abs(a) == math.pi / 2 else radius * math.cos(a),
            h + radius * math.sin(a),
            math.cos(a),
            math.sin(a),
            (radius * (a + math.pi / 2) + (h + half)) / total,
        )
        for a, h in (*lower, *upper)
    ]


def _list_column(bottom: float, top: float, half: float) -> list[tuple[float, ...]]:
    """The same for a cylinder or a cone: pairs of rows where the direction jumps."""
    slope = math.atan2(bottom - top, 2.0 * half)
    out = (math.cos(slope), math.sin(slope))
    rows: list[tuple[float, ...]] = [(0.0, -half, 0.0, -1.0, 0.0), (bottom, -half, 0.0, -1.0, 1.0)]
    rows += [(bottom, -half, *out, 0.0), (top, half, *out, 1.0)]
    if top > 0.0:
        rows += [(top, half, 0.0, 1.0, 0.0), (0.0, half, 0.0, 1.0, 1.0)]
    return rows


def _make_profile(rows: list[tuple[float, ...]]) -> MeshData:
    """A profile turned about Z."""
    turn = np.linspace(0.0, 2.0 * math.pi, _SIDES + 1)
    cos, sin = np.cos(turn), np.sin(turn)
    cos[-1], sin[-1] = cos[0], sin[0]
    profile = np.array(rows)
    radius, height, out, up, v = profile.T[:, :, None]
    flat = np.broadcast_to
    shape = (len(rows), _SIDES + 1)
    points = np.stack((radius * cos, radius * sin, flat(height, shape)), axis=-1).reshape(-1, 3)
    normals = np.stack((out * cos, out * sin, flat(up, shape)), axis=-1).reshape(-1, 3)
    uvs = np.stack((flat(turn / (2.0 * math.pi), shape), flat(v, shape)), axis=-1).reshape(-1, 2)
    row, side = np.meshgrid(np.arange(len(rows) - 1), np.arange(_SIDES), indexing="ij")
    a = (row * (_SIDES + 1) + side).reshape(-1)
    b, c, d = a + 1, a + _SIDES + 2, a + _SIDES + 1
    low, high = profile[:-1, 0].repeat(_SIDES), profile[1:, 0].repeat(_SIDES)
    jumps = (np.diff(profile[:, 0]) == 0.0) & (np.diff(profile[:, 1]) == 0.0)
    is_face = ~jumps.repeat(_SIDES)
    first = np.stack((a, b, c), axis=1)[is_face & (low > 0.0)]
    second = np.stack((a, c, d), axis=1)[is_face & (high > 0.0)]
    faces = np.concatenate((first, second)).astype(np.int32).reshape(-1)
    return MeshData(points, faces, normals=normals, uvs=uvs)


def _stretch(data: MeshData, radii: Array) -> MeshData:
    assert data.normals is not None
    safe = np.maximum(np.abs(radii), 1e-12)
    return MeshData(data.vertices * radii, data.indices, normals=data.normals / safe, uvs=data.uvs)


def _make_terrain(field: Heightfield) -> MeshData:
    rows, columns = field.heights.shape
    x = np.linspace(-0.5, 0.5, columns) * field.size[0]
    y = np.linspace(-0.5, 0.5, rows) * field.size[1]
    points = np.stack((*np.meshgrid(x, y), field.heights), axis=-1).reshape(-1, 3)
    uvs = np.stack(np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows)), axis=-1).reshape(-1, 2)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.stack((a, a + 1, a + columns + 1, a, a + columns + 1, a + columns), axis=1)
    return MeshData(points, faces.astype(np.int32).reshape(-1), uvs=uvs, smooth=True)


def _extrude(outline: Polyline) -> MeshData | None:
    import manifold3d

    loops = [np.asarray(loop, dtype=np.float64) for loop in outline.loops]
    section = manifold3d.CrossSection(loops, manifold3d.FillRule.EvenOdd)
    mesh = manifold3d.Manifold.extrude(section, outline.height).to_mesh()
    faces = np.asarray(mesh.tri_verts, dtype=np.int32).reshape(-1)
    points = np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3]
    return MeshData(points, faces) if len(faces) else None
