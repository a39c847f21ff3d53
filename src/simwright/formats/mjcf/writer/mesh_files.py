# SPDX-License-Identifier: Apache-2.0
"""Mesh files that MuJoCo reads: STL for bare triangles, OBJ where there are normals or texture coordinates.

MuJoCo stores points in single precision, and so do the files: STL as bits, OBJ with as many decimals as name a float
exactly, nine digits if need be.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.formats.mesh.writer.obj import write_decimals, write_singles, write_whole
from simwright.model.geometry import Faces, MeshData, Subset

Singles: TypeAlias = npt.NDArray[np.float32]
"""Rows in single precision."""
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
MAX_STL_FACETS = 200_000
"""MuJoCo refuses STL files with more."""
MIN_VERTICES = 4
"""MuJoCo refuses meshes with fewer."""


def write_mesh(data: MeshData, subset: Subset | None = None) -> tuple[str, bytes]:
    """The ending and the content of a file with a mesh, or with the faces of one subset."""
    has_rows = any(rows is not None and len(rows) for rows in (data.normals, data.uvs))
    facets = len(data.indices)  # never fewer than triangles
    if has_rows or facets > MAX_STL_FACETS or len(data.vertices) < MIN_VERTICES:
        return ".obj", write_obj(data, subset)
    return ".stl", write_stl(data, subset)


def write_stl(data: MeshData, subset: Subset | None = None) -> bytes:
    """Binary STL; MuJoCo finds the common points of triangles again, and their normals."""
    corners = np.asarray(data.vertices, dtype=np.float32)[data.indices[_number_corners(data, subset)]]
    facets = np.zeros(len(corners), dtype=_FACET)
    facets["corners"] = corners
    return b"\0" * 80 + len(facets).to_bytes(4, "little") + facets.tobytes()


def write_obj(data: MeshData, subset: Subset | None = None) -> bytes:
    """The text of a triangle mesh, or of the faces of one subset."""
    mesh = triangulate(data, subset)
    parts = [_write_rows("v", mesh.vertices)]
    if mesh.uvs is not None:
        parts.append(_write_rows("vt", mesh.uvs))
    if mesh.normals is not None:
        parts.append(_write_rows("vn", mesh.normals))
    parts.append(_write_faces(mesh))
    return b"".join(parts)


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
    """The distinct rows, and the number of each row among them."""
    bits = np.ascontiguousarray(rows + np.float32(0.0)).view(np.uint32).astype(np.uint64)
    keys = bits[:, 0]
    for column in range(1, bits.shape[1]):
        keys = keys * _MIXER + bits[:, column]  # wraps round
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][number], rows):  # two rows with one key
        _, first, number = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        number = number.ravel()
    return rows[first], number


def _write_rows(word: str, rows: Singles) -> bytes:
    text = write_decimals(word, rows)
    return write_singles(word, rows) if text is None else text


def _write_faces(mesh: Triangles) -> bytes:
    """Corners as point, point/texture, point//normal or point/texture/normal."""
    columns, separators = [mesh.corners["v"]], [" "]
    if "vt" in mesh.corners:
        columns.append(mesh.corners["vt"])
        separators.append("/")
    if "vn" in mesh.corners:
        columns.append(mesh.corners["vn"])
        separators.append("/" if "vt" in mesh.corners else "//")
    table = np.stack(columns, axis=-1).reshape(len(columns[0]), -1) + 1
    return write_whole("f", separators * 3, table)
