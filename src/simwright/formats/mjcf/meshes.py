# SPDX-License-Identifier: Apache-2.0
"""Meshes and height fields, one geometry object per asset, shared by all geoms that use it.

MuJoCo moves a mesh to its centre of mass and turns it to its principal axes (``mesh_pos``,
``mesh_quat``); here that is undone, so vertices are in the coordinates of the file and the shape's pose
is the one that was written.  The mesh's ``scale`` is taken out again and goes to the shape, so that a
mesh with a file is what the file says.  With ``refpos``, ``refquat`` or no file, vertices keep the scale
and the geometry names no file.  Texture coordinates: MuJoCo counts v downwards, the model upwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose, quat_rotate
from simwright.formats.mjcf.context import Context, pose_of
from simwright.model.geometry import Heightfield, Mesh, MeshData


@dataclass(frozen=True, slots=True, eq=False)
class PlacedMesh:
    """A mesh geometry, the scale its shapes have, and where MuJoCo moved its frame to."""

    geometry: Mesh
    scale: Array | None
    moved: Pose


def read_mesh(context: Context, index: int) -> PlacedMesh:
    """The mesh asset ``index``."""
    model = context.model
    moved = pose_of(model.mesh_pos[index], model.mesh_quat[index])
    name = context.name("mesh", index)
    file = context.source.files.get(("mesh", name))
    spec = context.spec_of("mesh", index)
    scale = np.array(model.mesh_scale[index], dtype=np.float64)
    if file is None or spec is None or not _is_plain(spec) or not np.all(scale):
        data = _read_data(model, index, moved, np.ones(3))
        return PlacedMesh(Mesh(data, source=f"{context.source.file}#{name}"), None, moved)
    data = _read_data(model, index, moved, scale)
    mesh = Mesh(data, source=f"{context.source.file}#{name}", file=str(file))
    return PlacedMesh(mesh, None if np.all(scale == 1.0) else scale, moved)


def read_heightfield(context: Context, index: int) -> Heightfield:
    """The height field asset ``index``; MuJoCo keeps heights between 0 and 1 of the elevation."""
    model = context.model
    rows, columns = int(model.hfield_nrow[index]), int(model.hfield_ncol[index])
    start = int(model.hfield_adr[index])
    x, y, elevation, base = (float(v) for v in model.hfield_size[index])
    heights = np.array(model.hfield_data[start : start + rows * columns], dtype=np.float64) * elevation
    file = context.source.files.get(("hfield", context.name("hfield", index)))
    size = np.array((2.0 * x, 2.0 * y))
    return Heightfield(heights.reshape(rows, columns), size, base, source=str(file or ""))


def _is_plain(spec: Any) -> bool:
    still = np.array_equal(np.asarray(spec.refpos), (0.0, 0.0, 0.0))
    return still and np.array_equal(np.asarray(spec.refquat), (1.0, 0.0, 0.0, 0.0))


def _read_data(model: Any, index: int, moved: Pose, scale: Array) -> MeshData:
    vertices = moved.apply(_rows(model, "vert", index).astype(np.float64)) / scale
    first, count = int(model.mesh_faceadr[index]), int(model.mesh_facenum[index])
    faces = np.array(model.mesh_face[first : first + count], dtype=np.int32)
    normals = _rows(model, "normal", index).astype(np.float64)
    corner_normals = np.array(model.mesh_facenormal[first : first + count])
    uvs = _rows(model, "texcoord", index).astype(np.float64)
    corner_uvs = np.array(model.mesh_facetexcoord[first : first + count])
    if np.prod(scale) < 0:
        faces, corner_normals, corner_uvs = faces[:, ::-1], corner_normals[:, ::-1], corner_uvs[:, ::-1]
    return MeshData(
        vertices,
        np.ascontiguousarray(faces).reshape(-1),
        normals=_turn(normals, moved, scale)[corner_normals.reshape(-1)] if len(normals) else None,
        uvs=(uvs * (1.0, -1.0) + (0.0, 1.0))[corner_uvs.reshape(-1)] if len(uvs) else None,
    )


def _rows(model: Any, what: str, index: int) -> Array:
    """Rows of one mesh in ``mesh_vert``, ``mesh_normal`` or ``mesh_texcoord``."""
    start = int(getattr(model, f"mesh_{what}adr")[index])
    count = int(getattr(model, f"mesh_{what}num")[index])
    rows: Array = np.array(
        getattr(model, f"mesh_{what}")[start : start + count] if count else np.zeros((0, 3))
    )
    return rows


def _turn(normals: Array, moved: Pose, scale: Array) -> Array:
    turned = quat_rotate(moved.q, normals) * scale
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    length[length == 0.0] = 1.0
    turned /= length
    return turned
