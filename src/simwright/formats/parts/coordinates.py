# SPDX-License-Identifier: Apache-2.0
"""Texture coordinates that are made from the geometry, as MuJoCo 4.0 makes them, where a mesh brings none.

A texture names its coordinates by ``uv_set``.  ``st`` are those of the mesh, or go once over a primitive; the others
here say how MuJoCo's ``texuniform`` and cube textures lie on a shape.  The image of a cube texture is one side, if all
are the same, or a strip: its six sides below each other, +x, -x, +y, -y, +z, -z, each as OpenGL has it.

Coordinates count v upwards, as OpenUSD does.  MuJoCo counts it downwards and multiplies with ``texrepeat`` there:
:func:`place_repeated` gives the transform that says the same.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    MeshData,
    Plane,
    Sphere,
)
from simwright.model.material import RenderMaterial, Texture

OBJECT = "st"
"""Once over the whole shape."""
UNIFORM = "st_uniform"
"""The same, stretched by the half sizes of the shape: repeats are counted per length."""
CUBE = "st_cube"
"""Seen from the centre of the shape onto a cube around it, the shape brought to equal sizes first."""
CUBE_UNIFORM = "st_cube_uniform"
"""The same without bringing it to equal sizes."""
SIDE = "st_side"
"""As a cube, with one image on all its sides."""
SIDE_UNIFORM = "st_side_uniform"
"""The same without bringing the shape to equal sizes."""
STRIPS = frozenset({CUBE, CUBE_UNIFORM})
CUBES = STRIPS | {SIDE, SIDE_UNIFORM}
STRETCHED = frozenset({UNIFORM, CUBE_UNIFORM, SIDE_UNIFORM})
MADE = CUBES | {UNIFORM}
"""Coordinates that no file brings."""

_SLICES, _STACKS, _ROWS = 48, 24, 8
_SIDES = 6
_FINE = 700
"""Triangles of a primitive that a cube is seen from."""
# half a texel of a strip of small sides: neighbours on the strip are not neighbours on the cube
_INSET = 0.004
_FLAT = 1e-12


def place_repeated(repeat: tuple[float, float]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Scale and offset of a texture that MuJoCo repeats: v is counted from the other end."""
    x, y = (value if value > 0.0 else 1.0 for value in repeat)
    # whole repeats start at the same place from both ends
    return (x, y), (0.0, (1.0 - y) % 1.0)


def find_made_texture(material: RenderMaterial | None) -> Texture | None:
    """The image of a material whose coordinates decide, None if it has no image."""
    if material is None or not material.textures:
        return None
    return material.textures.get("diffuse") or next(iter(material.textures.values()))


def cover(geometry: Geometry, texture: Texture, edge: float) -> MeshData | None:
    """A primitive as a mesh with the coordinates that a texture asks for; None for what is a mesh already.

    ``edge`` is the drawn edge length of a plane without end [m].
    """
    found = _list_pieces(geometry, edge)
    if found is None:
        return None
    pieces, half = found
    if texture.uv_set in CUBES:
        stretch = half if texture.uv_set in STRETCHED else np.ones(3)
        return _cover_by_cube(pieces, stretch, texture.uv_set)
    repeat = np.array([value if value > 0.0 else 1.0 for value in texture.scale])
    uvs = []
    for piece in pieces:
        rows = piece.uvs * half[:2] if texture.uv_set == UNIFORM and piece.is_sized else piece.uvs
        rows = rows - 0.5 / repeat if piece.is_centred else rows
        uvs.append(np.stack((rows[:, 0], 1.0 - rows[:, 1]), axis=1))
    return _name(_join(pieces, np.concatenate(uvs)), texture.uv_set)


def project(points: Array, half: Array, uv_set: str, repeat: tuple[float, float]) -> Array:
    """Coordinates of a mesh without any, along its own z axis; ``points`` and half sizes are in MuJoCo's mesh frame."""
    x, y = (value if value > 0.0 else 1.0 for value in repeat)
    across = np.ones(2) if uv_set == UNIFORM else 1.0 / np.maximum(half[:2], _FLAT)
    u, v = 0.5 * points[:, 0] * across[0] - 0.5 / x, -0.5 * points[:, 1] * across[1] - 0.5 / y
    return np.stack((u, 1.0 - v), axis=1)


def project_by_cube(directions: Array, triangles: npt.NDArray[Any], uv_set: str) -> Array:
    """Coordinates on the image of a cube for the corners of triangles; each triangle lies on one side.

    Triangles that reach over an edge of the cube are not cut: what lies beyond is the border of the side.
    """
    corners = directions[triangles]
    return _find_places(corners, corners.mean(axis=1), uv_set).reshape(-1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Part of a primitive: points [m], the same in the unit primitive that MuJoCo stretches, v counted downwards.

    ``is_sized`` tells that coordinates go once over it, ``is_centred`` that its origin is the middle of the image.
    """

    points: Array
    unit: Array
    normals: Array
    uvs: Array
    triangles: npt.NDArray[Any]
    is_sized: bool = True
    is_centred: bool = False


def _list_pieces(geometry: Geometry, edge: float) -> tuple[list[_Piece], Array] | None:
    """The pieces and the half sizes as MuJoCo has them."""
    match geometry:
        case Box():
            half = np.asarray(geometry.size, dtype=np.float64) / 2.0
            return _list_box(half), half
        case Plane():
            size = np.full(2, edge) if geometry.size is None else np.asarray(geometry.size, dtype=np.float64)
            half = np.array((size[0] / 2.0, size[1] / 2.0, 0.0))
            return [_make_sheet(half, is_sized=geometry.size is not None)], half
        case Sphere():
            half = np.full(3, float(geometry.radius))
            return [_make_ball(half)], half
        case Ellipsoid():
            half = np.asarray(geometry.radii, dtype=np.float64)
            return [_make_ball(half)], half
        case Cylinder() | Cone():
            half = np.array((geometry.radius, geometry.radius, geometry.length / 2.0))
            top = 0.0 if isinstance(geometry, Cone) else 1.0
            discs = [_make_disc(half, side) for side in ((-1.0, 1.0) if top else (-1.0,))]
            return [_make_column(half, top), *discs], half
        case Capsule():
            half = np.array((geometry.radius, geometry.radius, geometry.length / 2.0))
            return [_make_column(half, 1.0), _make_cap(half, 1.0), _make_cap(half, -1.0)], half
        case Heightfield():
            return [_make_terrain(geometry)], np.array((*(geometry.size / 2.0), 1.0))
    return None


_BOX_AXES = ((2, 0, 1), (0, 1, 2), (1, 0, 2))
"""The axis a side of a box faces along, and those of u and v."""


def _list_box(half: Array) -> list[_Piece]:
    pieces = []
    for axis, u, v in _BOX_AXES:
        for side in (-1.0, 1.0):
            unit, normals = np.zeros((4, 3)), np.zeros((4, 3))
            unit[:, axis] = normals[:, axis] = side
            unit[:, u], unit[:, v] = (-1.0, 1.0, 1.0, -1.0), (-1.0, -1.0, 1.0, 1.0)
            uvs = np.stack(((unit[:, u] + 1.0) / 2.0, (1.0 - unit[:, v]) / 2.0), axis=1)
            # u, v and the axis are right-handed but for y
            is_turned = (side < 0.0) != (axis == 1)
            faces = np.array(((0, 2, 1), (0, 3, 2)) if is_turned else ((0, 1, 2), (0, 2, 3)))
            pieces.append(_Piece(unit * half, unit, normals, uvs, faces))
    return pieces


def _make_sheet(half: Array, *, is_sized: bool) -> _Piece:
    unit = np.array(((-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)))
    points = unit * half
    uvs = np.stack(((unit[:, 0] + 1.0) / 2.0, (1.0 - unit[:, 1]) / 2.0), axis=1)
    if not is_sized:
        uvs = np.stack((0.5 * points[:, 0], -0.5 * points[:, 1]), axis=1)
    faces = np.array(((0, 1, 2), (0, 2, 3)))
    # MuJoCo does not stretch planes, so a cube texture sees them at their own size
    return _Piece(points, points, np.tile((0.0, 0.0, 1.0), (4, 1)), uvs, faces, is_sized, not is_sized)


def _turn(rows: int) -> tuple[Array, Array]:
    """Angles and row numbers of a grid once round the z axis, the seam twice."""
    turn, row = np.meshgrid(np.arange(_SLICES + 1) / _SLICES, np.arange(rows) / (rows - 1))
    return turn.reshape(-1), row.reshape(-1)


def _grid(rows: int) -> npt.NDArray[Any]:
    """Triangles of a grid whose rows go up; seen from outside they wind counter-clockwise."""
    row, side = np.meshgrid(np.arange(rows - 1), np.arange(_SLICES), indexing="ij")
    a = (row * (_SLICES + 1) + side).reshape(-1)
    b, c, d = a + 1, a + _SLICES + 2, a + _SLICES + 1
    return np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))


def _make_round(turn: Array, radius: Array, height: Array) -> Array:
    angle = 2.0 * math.pi * (turn % 1.0)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), height), axis=1)


def _make_ball(half: Array) -> _Piece:
    turn, row = _turn(_STACKS + 1)
    tilt = math.pi * (row - 0.5)
    unit = _make_round(turn, np.cos(tilt), np.sin(tilt))
    normals = unit / np.maximum(half, _FLAT)
    uvs = np.stack((turn, 1.0 - row), axis=1)
    return _Piece(unit * half, unit, normals, uvs, _grid(_STACKS + 1))


def _make_column(half: Array, top: float) -> _Piece:
    """The side of a cylinder, or of a cone whose upper radius is zero."""
    turn, row = _turn(_ROWS + 1)
    radius = 1.0 + (top - 1.0) * row
    unit = _make_round(turn, radius, 2.0 * row - 1.0)
    slope = (1.0 - top) * half[0] / max(2.0 * float(half[2]), _FLAT)
    normals = _make_round(turn, np.ones_like(turn), np.full_like(turn, slope))
    return _Piece(unit * half, unit, normals, np.stack((turn, 1.0 - row), axis=1), _grid(_ROWS + 1))


def _make_cap(half: Array, side: float) -> _Piece:
    """A half ball on the end of a capsule; its unit form stands on the unit cylinder."""
    turn, row = _turn(_STACKS // 2 + 1)
    # rows go up, so the lower cap begins at its pole
    share = row if side > 0.0 else 1.0 - row
    tilt = math.pi / 2.0 * share
    ball = _make_round(turn, np.cos(tilt), side * np.sin(tilt))
    up = np.array((0.0, 0.0, side))
    unit = ball + up
    points = ball * half[0] + up * half[2]
    uvs = np.stack((turn, 1.0 - share if side > 0.0 else share), axis=1)
    return _Piece(points, unit, ball, uvs, _grid(_STACKS // 2 + 1))


def _make_disc(half: Array, side: float) -> _Piece:
    angle = 2.0 * math.pi * np.arange(_SLICES) / _SLICES
    rim = np.stack((np.cos(angle), np.sin(angle), np.full_like(angle, side)), axis=1)
    unit = np.concatenate(((0.0, 0.0, side), rim.reshape(-1))).reshape(-1, 3)
    after = np.arange(1, _SLICES + 1)
    before = np.roll(after, -1)
    corners = (after, before) if side > 0.0 else (before, after)
    faces = np.stack((np.zeros_like(after), *corners), axis=1)
    normals = np.tile((0.0, 0.0, side), (len(unit), 1))
    return _Piece(unit * half, unit, normals, 0.5 + 0.5 * unit[:, :2], faces)


def _make_terrain(field: Heightfield) -> _Piece:
    rows, columns = field.heights.shape
    x = np.linspace(-0.5, 0.5, columns) * field.size[0]
    y = np.linspace(-0.5, 0.5, rows) * field.size[1]
    points = np.stack((*np.meshgrid(x, y), field.heights), axis=-1).reshape(-1, 3)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.concatenate(
        (np.stack((a, a + 1, a + columns + 1), axis=1), np.stack((a, a + columns + 1, a + columns), axis=1))
    )
    corners = points[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(points)
    for corner in range(3):
        np.add.at(normals, faces[:, corner], flat)
    uvs = np.stack((points[:, 0] / field.size[0], -points[:, 1] / field.size[1]), axis=1)
    return _Piece(points, points, normals, uvs, faces, is_centred=True)


def _join(pieces: list[_Piece], uvs: Array) -> MeshData:
    starts = np.cumsum([0, *(len(piece.points) for piece in pieces[:-1])])
    faces = [piece.triangles + start for piece, start in zip(pieces, starts, strict=True)]
    normals = np.concatenate([piece.normals for piece in pieces])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), _FLAT)
    points = np.concatenate([piece.points for piece in pieces])
    corners = np.concatenate(faces)
    # the pole of a ball is a row of equal points
    edges = np.cross(
        points[corners[:, 1]] - points[corners[:, 0]], points[corners[:, 2]] - points[corners[:, 0]]
    )
    sound = np.linalg.norm(edges, axis=1) > 1e-9 * np.square(np.ptp(points, axis=0).max())
    indices = corners[sound].astype(np.int32).reshape(-1)
    return MeshData(points, indices, normals=normals, uvs=uvs)


def _name(data: MeshData, uv_set: str) -> MeshData:
    return dataclasses.replace(data, uv_name=uv_set)


def _cover_by_cube(pieces: list[_Piece], stretch: Array, uv_set: str) -> MeshData:
    whole = _join(pieces, np.zeros((sum(len(piece.points) for piece in pieces), 2)))
    assert whole.normals is not None
    unit = np.concatenate([piece.unit for piece in pieces]) * stretch
    rows = np.concatenate((unit, whole.vertices, whole.normals), axis=1)[whole.indices].reshape(-1, 3, 9)
    # a view onto a cube is not linear over a face, so faces are made small
    while len(rows) < _FINE:
        rows = _quarter(rows)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        for sign in (1.0, -1.0):
            rows = _cut(rows, rows[..., first] - sign * rows[..., second])
    uvs = _find_places(rows[..., :3], rows[..., :3].mean(axis=1), uv_set)
    table = np.concatenate((rows[..., 3:], uvs), axis=-1).reshape(-1, 8)
    # points that several triangles share are one again
    table, numbers = np.unique(np.round(table, 9), axis=0, return_inverse=True)
    normals = table[:, 3:6] / np.maximum(np.linalg.norm(table[:, 3:6], axis=1, keepdims=True), _FLAT)
    indices = numbers.reshape(-1).astype(np.int32)
    return MeshData(table[:, :3], indices, normals=normals, uvs=table[:, 6:], uv_name=uv_set)


def _quarter(triangles: Array) -> Array:
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    ab, bc, ca = (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0
    parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
    return np.concatenate([np.stack(corners, axis=1) for corners in parts])


def _cut(triangles: Array, heights: Array) -> Array:
    """Triangles cut along the line on which a value of their corners is zero."""
    signs = np.sign(np.where(np.abs(heights) < 1e-9, 0.0, heights))
    crossed = (signs.max(axis=1) > 0.0) & (signs.min(axis=1) < 0.0)
    if not crossed.any():
        return triangles
    split, values, marks = triangles[crossed], heights[crossed], signs[crossed]
    # the corner that is alone on its side comes first
    lone = np.where((marks > 0.0).sum(axis=1) == 1, marks.argmax(axis=1), marks.argmin(axis=1))
    order = (lone[:, None] + np.arange(3)) % 3
    row = np.arange(len(split))[:, None]
    split, values = split[row, order], values[row, order]
    a, b, c = split[:, 0], split[:, 1], split[:, 2]
    ab = a + (b - a) * (values[:, 0] / (values[:, 0] - values[:, 1]))[:, None]
    ac = a + (c - a) * (values[:, 0] / (values[:, 0] - values[:, 2]))[:, None]
    parts = [np.stack(corners, axis=1) for corners in ((a, ab, ac), (ab, b, c), (ab, c, ac))]
    made = np.concatenate(parts)
    points = made[..., 3:6]
    areas = np.linalg.norm(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]), axis=1)
    return np.concatenate((triangles[~crossed], made[areas > _FLAT * max(float(areas.max()), _FLAT)]))


def _find_places(corners: Array, middles: Array, uv_set: str) -> Array:
    """Where on the image directions of corners lie, ``(n, 3, 2)``; the middle of a triangle decides its side."""
    axis = np.abs(middles).argmax(axis=1)
    row = np.arange(len(middles))
    is_negative = middles[row, axis] < 0.0
    x, y, z = corners[..., 0], corners[..., 1], corners[..., 2]
    sign = np.where(is_negative, -1.0, 1.0)[:, None]
    # sides of a cube map (OpenGL 4.6, 8.13): s and t over the coordinate along the side's axis
    s = np.select([(axis == 0)[:, None], (axis == 1)[:, None]], [-sign * z, x], sign * x)
    t = np.where((axis == 1)[:, None], sign * z, -y)
    depth = np.abs(np.take_along_axis(corners, axis[:, None, None].repeat(3, axis=1), axis=2)[..., 0])
    depth = np.maximum(depth, _FLAT)
    places = np.clip((np.stack((s / depth, t / depth), axis=-1) + 1.0) / 2.0, _INSET, 1.0 - _INSET)
    if uv_set not in STRIPS:
        return np.stack((places[..., 0], 1.0 - places[..., 1]), axis=-1)
    side = (2 * axis + is_negative)[:, None]
    return np.stack((places[..., 0], 1.0 - (side + places[..., 1]) / _SIDES), axis=-1)
