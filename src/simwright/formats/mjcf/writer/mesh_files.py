# SPDX-License-Identifier: Apache-2.0
"""Mesh files that MuJoCo reads: OBJ text with normals and texture coordinates, in single precision.

MuJoCo stores points in single precision, and so does the file: nine digits name a float exactly.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.model.geometry import Faces, MeshData, Subset

Singles: TypeAlias = npt.NDArray[np.float32]
"""Rows in single precision."""
MIN_VERTICES = 4
"""MuJoCo refuses meshes with fewer."""


def write_obj(data: MeshData, subset: Subset | None = None) -> bytes:
    """The text of a triangle mesh, or of the faces of one subset."""
    mesh = triangulate(data, subset)
    parts = [_write_rows("v", mesh.vertices)]
    if mesh.uvs is not None:
        parts.append(_write_rows("vt", mesh.uvs))
    if mesh.normals is not None:
        parts.append(_write_rows("vn", mesh.normals))
    parts.append(_write_faces(mesh))
    return "".join(parts).encode("ascii")


class Triangles:
    """Triangles whose corners name a point, and where there are any a normal and a texture coordinate."""

    __slots__ = ("corners", "normals", "uvs", "vertices")

    def __init__(
        self, vertices: Singles, corners: dict[str, Faces], normals: Singles | None, uvs: Singles | None
    ) -> None:
        self.vertices, self.corners, self.normals, self.uvs = vertices, corners, normals, uvs


def triangulate(data: MeshData, subset: Subset | None = None) -> Triangles:
    """Counter-clockwise triangles; rows that no corner names are left out."""
    numbers = _number_corners(data, subset)
    corners: dict[str, Faces] = {}
    points = data.indices[numbers]
    vertices, corners["v"] = _pack(np.asarray(data.vertices), points)
    normals, uvs = None, None
    if data.normals is not None and len(data.normals):
        rows = points if len(data.normals) == len(data.vertices) != len(data.indices) else numbers
        normals, corners["vn"] = _pack(np.asarray(data.normals), rows, merge=True)
    if data.uvs is not None and len(data.uvs):
        rows = points if len(data.uvs) == len(data.vertices) != len(data.indices) else numbers
        uvs, corners["vt"] = _pack(np.asarray(data.uvs), rows, merge=True)
    if len(vertices) < MIN_VERTICES:
        vertices = np.concatenate((vertices, np.repeat(vertices[:1], MIN_VERTICES - len(vertices), axis=0)))
    return Triangles(vertices, corners, normals, uvs)


def _number_corners(data: MeshData, subset: Subset | None) -> Faces:
    """``(n, 3)`` corner numbers of the triangles, polygons fanned."""
    corners = MeshData(data.vertices, np.arange(len(data.indices), dtype=np.int32), data.counts)
    triangles = corners.triangles()
    if subset is not None:
        counts = np.full(data.face_count, 3) if data.counts is None else data.counts
        faces = np.repeat(np.arange(data.face_count), np.maximum(counts - 2, 0))
        triangles = triangles[np.isin(faces, subset.faces)]
    return triangles[:, ::-1] if data.left_handed else triangles


def _pack(rows: Array, used: Faces, merge: bool = False) -> tuple[Singles, Faces]:
    """The rows that are used and the new numbers; equal rows become one if asked for."""
    single: Singles = rows.astype(np.float32)
    if merge:
        single, number = _find_distinct(single)
        used = number[used].astype(np.int32)
    kept = np.zeros(len(single), dtype=bool)
    kept[used.ravel()] = True
    renumbered: Faces = (np.cumsum(kept) - 1).astype(np.int32)[used]
    return single[kept], renumbered


def _find_distinct(rows: Singles) -> tuple[Singles, npt.NDArray[np.int64]]:
    whole = np.ascontiguousarray(rows + np.float32(0.0)).view(
        np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))
    )
    _, first, number = np.unique(whole.ravel(), return_index=True, return_inverse=True)
    return rows[first], number


def _write_rows(word: str, rows: Singles) -> str:
    line = f"{word}{' %.9g' * rows.shape[1]}\n"
    return (line * len(rows)) % tuple(rows.ravel().tolist())


def _write_faces(mesh: Triangles) -> str:
    points = mesh.corners["v"] + 1
    columns = [points]
    corner = "%d"
    if "vt" in mesh.corners:
        columns.append(mesh.corners["vt"] + 1)
        corner += "/%d"
    if "vn" in mesh.corners:
        corner += "/%d" if "vt" in mesh.corners else "//%d"
        columns.append(mesh.corners["vn"] + 1)
    table = np.stack(columns, axis=-1).ravel()
    line = f"f {corner} {corner} {corner}\n"
    return (line * len(points)) % tuple(table.tolist())
