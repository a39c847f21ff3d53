# SPDX-License-Identifier: Apache-2.0
"""A mesh as files list it: faces that wind counter-clockwise, each corner naming its rows, grouped by look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.model.geometry import MeshData, fan_triangles

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class IndexedRows:
    """Rows, and the row of each corner."""

    rows: Array
    index: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Polygons:
    """``counts`` are the corners of each face; ``groups`` its faces by look, "" for those without."""

    counts: Numbers
    points: IndexedRows
    normals: IndexedRows | None
    uvs: IndexedRows | None
    groups: list[tuple[str, Numbers]]

    def corners_of(self, faces: Numbers) -> Numbers:
        """The corner numbers of some faces, one after the other."""
        starts = np.cumsum(self.counts) - self.counts
        return spread(starts[faces], self.counts[faces])


def spread(starts: Numbers, counts: Numbers) -> Numbers:
    """``start, start + 1 ...`` for each pair of start and count."""
    ends = np.cumsum(counts)
    offsets = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
    return np.asarray(np.repeat(starts, counts) + offsets, dtype=np.int64)


def list_polygons(data: MeshData, looks: Iterable[str] = ()) -> Polygons:
    """Faces as they are, those of a left-handed mesh turned round."""
    count = data.face_count
    counts = np.full(count, 3, dtype=np.int64) if data.counts is None else np.asarray(data.counts, np.int64)
    starts = np.cumsum(counts) - counts
    corners = spread(starts, counts)
    if data.left_handed:
        # Each face is walked backwards.
        corners = np.repeat(2 * starts + counts - 1, counts) - corners
    return _tabulate(data, counts, corners, _group(data, looks))


def list_triangles(data: MeshData, looks: Iterable[str] = ()) -> Polygons:
    """The same with polygons fanned into triangles."""
    counts = np.full(data.face_count, 3, dtype=np.int32) if data.counts is None else data.counts
    numbers = np.arange(len(data.indices), dtype=np.int32)
    corners = fan_triangles(counts, numbers)
    corners = corners[:, ::-1] if data.left_handed else corners
    face = np.repeat(np.arange(len(counts)), np.maximum(np.asarray(counts) - 2, 0))
    groups = [(name, np.flatnonzero(np.isin(face, faces))) for name, faces in _group(data, looks)]
    return _tabulate(
        data, np.full(len(corners), 3, dtype=np.int64), corners.reshape(-1).astype(np.int64), groups
    )


def _tabulate(
    data: MeshData, counts: Numbers, corners: Numbers, groups: list[tuple[str, Numbers]]
) -> Polygons:
    points = np.asarray(data.indices, dtype=np.int64)[corners]

    def find(rows: Any) -> IndexedRows | None:
        if rows is None or not len(rows):
            return None
        values = np.asarray(rows, dtype=np.float64)
        # Corners first, as everywhere: where both lengths are equal, rows are per corner.
        if len(values) == len(data.indices):
            return _pack(values, corners)
        return _pack(values, points) if len(values) == len(data.vertices) else None

    return Polygons(
        counts,
        IndexedRows(np.asarray(data.vertices, dtype=np.float64), points),
        find(data.normals),
        find(data.uvs),
        groups,
    )


def _pack(rows: Array, index: Numbers) -> IndexedRows:
    """Equal rows are one."""
    distinct, number = np.unique(rows[index], axis=0, return_inverse=True)
    return IndexedRows(distinct, number.reshape(-1).astype(np.int64))


def _group(data: MeshData, looks: Iterable[str]) -> list[tuple[str, Numbers]]:
    known = set(looks)
    left = np.ones(data.face_count, dtype=bool)
    groups: dict[str, list[Numbers]] = {}
    for subset in data.subsets:
        faces = np.asarray(subset.faces, dtype=np.int64)
        if subset.material in known and len(faces):
            # A face in several sets is in the first.
            groups.setdefault(subset.material, []).append(faces[left[faces]])
            left[faces] = False
    result = [(name, np.concatenate(parts)) for name, parts in groups.items()]
    rest = np.flatnonzero(left)
    return ([("", rest)] if len(rest) else []) + [(name, faces) for name, faces in result if len(faces)]


def name_looks(polygons: Polygons) -> dict[str, str]:
    """Looks that are used -> a word for each that any file format takes."""
    words: dict[str, str] = {}
    for name, _ in polygons.groups:
        if name:
            base = "".join(c if c.isascii() and (c.isalnum() or c in "_-.") else "_" for c in name) or "look"
            word, number = base, 2
            while word in words.values():
                word, number = f"{base}_{number}", number + 1
            words[name] = word
    return words
