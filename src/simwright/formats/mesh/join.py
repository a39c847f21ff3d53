# SPDX-License-Identifier: Apache-2.0
"""Many placed pieces to one mesh: what a scene file (COLLADA, glTF) becomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import Array
from simwright.model.geometry import Faces, MeshData, Subset


@dataclass(slots=True, eq=False)
class MeshPart:
    """Polygons with corners ``indices``; normals and uvs have one row per corner.

    ``names`` are those of the objects (node, geometry) it belongs to in its file.
    """

    vertices: Array
    indices: Faces
    counts: Faces
    normals: Array | None = None
    uvs: Array | None = None
    material: str = ""
    names: tuple[str, ...] = ()

    def transformed(self, matrix: Array) -> MeshPart:
        """The part placed by a 4x4 matrix; a mirroring one turns every face round."""
        if np.array_equal(matrix, np.eye(4)):
            return self
        linear = matrix[:3, :3]
        vertices = self.vertices @ linear.T + matrix[:3, 3]
        normals = None if self.normals is None else _turn_normals(self.normals, linear)
        indices, uvs = self.indices, self.uvs
        # A mirrored face would face inwards.
        if np.linalg.det(linear) < 0:
            order = reverse_corners(self.counts)
            indices = indices[order]
            normals = None if normals is None else normals[order]
            uvs = None if uvs is None else uvs[order]
        return MeshPart(vertices, indices, self.counts, normals, uvs, self.material, self.names)


def _turn_normals(normals: Array, linear: Array) -> Array:
    # Normals turn by the inverse transpose; the pseudo-inverse also takes a flattening matrix.
    turned = normals @ np.linalg.pinv(linear)
    length = np.sqrt(np.einsum("ij,ij->i", turned, turned))
    length[length == 0.0] = 1.0
    turned /= length[:, None]
    return np.asarray(turned)


def reverse_corners(counts: Faces) -> Faces:
    """Corner order in which every face is walked backwards."""
    ends = np.cumsum(counts)
    starts = ends - counts
    within = np.arange(int(ends[-1]) if len(ends) else 0)
    return np.asarray(np.repeat(starts + ends - 1, counts) - within, dtype=np.int32)


def join_parts(parts: list[MeshPart]) -> MeshData:
    """One mesh of all parts; the faces of one material are one subset."""
    # One function: each array of the mesh is joined in a line, and all need the same offsets.
    offsets = np.cumsum([0, *(len(part.vertices) for part in parts)])
    counts = np.concatenate([part.counts for part in parts])
    indices = np.concatenate([p.indices + o for p, o in zip(parts, offsets[:-1], strict=True)])
    owner = np.repeat(np.arange(len(parts)), [len(part.counts) for part in parts])
    names = dict.fromkeys(part.material for part in parts if part.material)
    subsets = []
    for name in names:
        members = [number for number, part in enumerate(parts) if part.material == name]
        subsets.append(Subset(name, np.flatnonzero(np.isin(owner, members)).astype(np.int32), name))
    return MeshData(
        np.concatenate([part.vertices for part in parts]),
        indices.astype(np.int32),
        None if np.all(counts == 3) else counts.astype(np.int32),
        normals=_join_rows([part.normals for part in parts]),
        uvs=_join_uvs(parts),
        subsets=tuple(subsets),
    )


def list_objects(parts: list[MeshPart]) -> dict[str, Faces]:
    """The faces, in the joined mesh, of every object by its name."""
    found: dict[str, list[Faces]] = {}
    start = 0
    for part in parts:
        faces = np.arange(start, start + len(part.counts), dtype=np.int32)
        start += len(part.counts)
        for name in dict.fromkeys(part.names):
            found.setdefault(name, []).append(faces)
    return {name: np.concatenate(pieces) for name, pieces in found.items() if name}


def _join_rows(rows: list[Array | None]) -> Array | None:
    known = [row for row in rows if row is not None]
    # Normals of some parts only are dropped: zeros would shade the others black.
    return np.concatenate(known) if len(known) == len(rows) else None


def _join_uvs(parts: list[MeshPart]) -> Array | None:
    """Texture coordinates; parts without get zeros if any part has them."""
    if all(part.uvs is None for part in parts):
        return None
    return np.concatenate([np.zeros((len(p.indices), 2)) if p.uvs is None else p.uvs for p in parts])
