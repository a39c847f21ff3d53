# SPDX-License-Identifier: Apache-2.0
"""Corners become vertices: glTF has one row of everything per vertex, so corners that differ are split.

A mesh whose data are all per vertex keeps its vertices as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.colors import make_all_linear
from simwright.core.math3d import Array
from simwright.formats.gltf.normals import compute_normals, compute_tangents, find_turns, make_unit
from simwright.formats.gltf.rows import find_distinct
from simwright.formats.gltf.triangles import triangulate
from simwright.model.geometry import MeshData

Numbers = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """What the look of a primitive reads: texture coordinates by name, colours, tangents along one of the sets."""

    uv_names: tuple[str, ...] = ()
    colors: bool = False
    tangents: int | None = None


@dataclass(slots=True, eq=False)
class Vertices:
    """The arrays of a primitive; texture coordinates count v downwards."""

    points: Array
    normals: Singles
    triangles: Numbers
    uvs: list[Singles] = field(default_factory=list)
    colors: Singles | None = None
    tangents: Singles | None = None


class Cutter:
    """A mesh, cut once, that gives the vertices of any of its faces."""

    def __init__(self, data: MeshData) -> None:
        self.data = data
        self.corners, self.faces = triangulate(data)
        self._vertices = np.asarray(data.vertices, dtype=np.float64)
        self._normals: Array | None = None
        self._by_vertex: bool = False

    def find_uvs(self, name: str) -> Array | None:
        """Texture coordinates by the name of their set."""
        if name == self.data.uv_name:
            return self.data.uvs
        found = self.data.uv_sets.get(name)
        return self.data.uvs if found is None and name == "st" else found

    def make(self, faces: npt.NDArray[Any] | None, needs: Needs) -> Vertices | None:
        """The vertices of all faces, or of some; None if there are no triangles."""
        corners = self.corners if faces is None else self.corners[self._select(faces)]
        if not len(corners):
            return None
        numbers = corners.reshape(-1)
        points = np.asarray(self.data.indices, dtype=np.int64)[numbers]
        normals, by_vertex = self._find_normals()
        columns = _Columns(points, numbers, len(self._vertices), len(self.data.indices))
        columns.add("normal", normals, None if by_vertex else True)
        sets = [self.find_uvs(name) for name in needs.uv_names]
        for place, rows in enumerate(sets):
            assert rows is not None, "only sets that are there are asked for"
            columns.add(f"uv{place}", np.nan_to_num(rows))
        if needs.colors and self.data.colors is not None:
            columns.add("color", self.data.colors)
        if needs.tangents is not None:
            uvs = columns.gather(f"uv{needs.tangents}")
            columns.add_gathered("turn", find_turns(uvs)[:, None])
        first, index = columns.merge()
        return self._assemble(columns, first, index, points, needs)

    def _assemble(
        self, columns: _Columns, first: Numbers, index: Numbers, points: Numbers, needs: Needs
    ) -> Vertices:
        result = Vertices(
            self._vertices[points[first]],
            columns.gather("normal", first).astype(np.float32),
            index.reshape(-1, 3),
        )
        for place in range(len(needs.uv_names)):
            rows = columns.gather(f"uv{place}", first)
            result.uvs.append(np.stack((rows[:, 0], 1.0 - rows[:, 1]), axis=1).astype(np.float32))
        if columns.has("color"):
            result.colors = np.clip(make_all_linear(columns.gather("color", first)[:, :3]), 0.0, 1.0).astype(
                np.float32
            )
        if needs.tangents is not None:
            result.tangents = compute_tangents(
                result.points,
                columns.gather("normal", first),
                columns.gather(f"uv{needs.tangents}", first),
                columns.gather("turn", first)[:, 0],
                result.triangles,
            )
        return result

    def _select(self, faces: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        wanted = np.zeros(self.data.face_count, dtype=bool)
        wanted[faces] = True
        return wanted[self.faces]

    def _find_normals(self) -> tuple[Array, bool]:
        """Unit rows, one per vertex or one per corner of the mesh."""
        if self._normals is None:
            given = self.data.normals
            count = 0 if given is None else len(given)
            self._by_vertex = count == len(self._vertices) != len(self.data.indices)
            if given is not None and (self._by_vertex or count == len(self.data.indices)):
                self._normals = make_unit(np.asarray(given, dtype=np.float64))
            else:
                self._normals, self._by_vertex = self._compute(), False
        return self._normals, self._by_vertex

    def _compute(self) -> Array:
        triangles = np.asarray(self.data.indices, dtype=np.int64)[self.corners]
        rows = np.zeros((len(self.data.indices), 3))
        rows[:, 2] = 1.0
        if self.data.counts is None:
            rows[self.corners.reshape(-1)] = compute_normals(self._vertices, triangles, self.data.smooth)
            return rows
        # a corner of a polygon is in several of its triangles, which lie about in one plane
        found = compute_normals(self._vertices, triangles, self.data.smooth)
        sums = np.zeros_like(rows)
        np.add.at(sums, self.corners.reshape(-1), found)
        return make_unit(sums, rows)


class _Columns:
    """What is said about corners, column by column, and which corners are one vertex."""

    def __init__(self, points: Numbers, numbers: Numbers, vertices: int, corners: int) -> None:
        self._points, self._numbers = points, numbers
        self._vertices, self._corners = vertices, corners
        self._gathered: dict[str, Array] = {}
        self._by_vertex: dict[str, Array] = {}

    def has(self, name: str) -> bool:
        return name in self._gathered or name in self._by_vertex

    def add(self, name: str, rows: Array, by_corner: bool | None = None) -> None:
        """Rows per vertex or per corner of the mesh; told by their number unless said."""
        if by_corner is None:
            by_corner = not (len(rows) == self._vertices != self._corners)
        if by_corner and len(rows) == self._corners:
            self._gathered[name] = np.asarray(rows)[self._numbers]
        elif len(rows) == self._vertices:
            self._by_vertex[name] = np.asarray(rows)

    def add_gathered(self, name: str, rows: Array) -> None:
        """Rows of the corners of the triangles."""
        self._gathered[name] = rows

    def gather(self, name: str, chosen: Numbers | None = None) -> Array:
        """Rows of the corners of the triangles, or of some of these."""
        rows = self._gathered.get(name)
        if rows is not None:
            return rows if chosen is None else rows[chosen]
        return self._by_vertex[name][self._points if chosen is None else self._points[chosen]]

    def merge(self) -> tuple[Numbers, Numbers]:
        """A corner for each vertex, and the vertex of each corner; vertices in a fixed order."""
        if not self._gathered:
            used = np.full(self._vertices, -1, dtype=np.int64)
            used[self._points[::-1]] = np.arange(len(self._points) - 1, -1, -1)
            kept = used >= 0
            return used[kept], (np.cumsum(kept) - 1)[self._points]
        parts: Sequence[npt.NDArray[Any]] = [
            self._points.astype(np.int32).view(np.float32).reshape(-1, 1),
            *(rows.astype(np.float32) + np.float32(0.0) for rows in self._gathered.values()),
        ]
        return find_distinct(np.concatenate(parts, axis=1).view(np.uint32))
