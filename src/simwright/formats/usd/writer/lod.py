# SPDX-License-Identifier: Apache-2.0
"""Levels of detail of visuals: ``mesh_high`` is the source, ``mesh_medium`` and ``mesh_low`` are decimated (1.3.2).

The work is done by fast-simplification.  Every face that is left is one of the source with moved corners, so it keeps
its material; texture coordinates and colours are those of the nearest point of the source, on the same side of a
seam.  Normals are left to the renderer.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import MissingExtraError
from simwright.core.math3d import Array
from simwright.formats.usd.writer.layout import VISUAL_DEFAULT, VISUAL_HIGH, VISUAL_LOW
from simwright.formats.usd.writer.mesh_cache import Arrays, make_or_recall
from simwright.formats.usd.writer.meshes import Library, Stored, choose_word, make_visual, read_data
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import MeshData, Subset, fan_triangles

_LEVELS = {VISUAL_HIGH: (1.0, 0), VISUAL_DEFAULT: (0.25, 2000), VISUAL_LOW: (0.05, 200)}
"""Share of the triangles that is kept, and how many are kept in any case."""
_PACKAGE = "fast-simplification"


class Tiers:
    """Makes the levels; needs the extra ``lod``."""

    levels = tuple(_LEVELS)

    def __init__(self) -> None:
        if find_spec("fast_simplification") is None:
            raise MissingExtraError(_PACKAGE, "lod", "decimating meshes (--lod)")
        self._known: dict[tuple[Any, ...], Stored | None] = {}

    def make(self, shape: Shape, library: Library, *, double_sided: bool = False) -> dict[str, Stored | None]:
        """The mesh of a shape in every level; None where it is the mesh of the source."""
        key = (library.identify(shape.geometry), tuple(scaled(shape).tolist()), double_sided)
        for level, (share, least) in _LEVELS.items():
            if (*key, level) not in self._known:
                data = make_visual(read_data(shape.geometry), scaled(shape))
                small = None if level == VISUAL_HIGH else decimate(data, share, least)
                word = f"{choose_word(shape)}_{level.removeprefix('mesh_')}"
                self._known[*key, level] = (
                    None if small is None else library.store_data(word, small, double_sided=double_sided)
                )
        return {level: self._known[*key, level] for level in _LEVELS}


def decimate(data: MeshData, share: float, least: int) -> MeshData | None:
    """A mesh of about ``share`` of the triangles, ``least`` at least; None if it has no more than that."""
    triangles = data.triangles()
    target = max(int(share * len(triangles)), least)
    if target >= len(triangles):
        return None
    made = make_or_recall(
        data, f"decimate {target}", _PACKAGE, lambda: _simplify(data.vertices, triangles, target)
    )
    faces, origin = made["faces"], made["origin"]
    if len(faces) == 0 or len(faces) >= len(triangles):
        return None
    return _dress(data, made["points"].astype(np.float64), faces, origin, made["near"])


def _simplify(points: Array, triangles: npt.NDArray[np.int32], target: int) -> Arrays:
    """New points, faces, and the triangle of the source that each face was."""
    import fast_simplification

    welded, number = _weld(points)
    faces = number[triangles].astype(np.int32)
    solid = np.flatnonzero(
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    )
    kept = np.ascontiguousarray(faces[solid])
    *_, collapses = fast_simplification.simplify(welded, kept, target_count=target, return_collapses=True)
    small, _, mapping = fast_simplification.replay_simplification(welded, kept, collapses)
    moved = np.asarray(mapping)[kept].astype(np.int32)
    alive = (moved[:, 0] != moved[:, 1]) & (moved[:, 1] != moved[:, 2]) & (moved[:, 2] != moved[:, 0])
    _, first = np.unique(np.sort(moved[alive], axis=1), axis=0, return_index=True)
    chosen = np.flatnonzero(alive)[np.sort(first)]
    return {
        "points": np.asarray(small, dtype=np.float32),
        "near": _find_nearest(welded, np.asarray(small), np.asarray(mapping)),
        "faces": moved[chosen],
        "origin": solid[chosen].astype(np.int32),
    }


def _find_nearest(
    old: npt.NDArray[Any], new: npt.NDArray[Any], mapping: npt.NDArray[Any]
) -> npt.NDArray[np.int32]:
    """For every new point, the nearest of the old points that became it."""
    apart = np.linalg.norm(old - new[mapping], axis=1)
    order = np.lexsort((apart, mapping))
    kept, first = np.unique(mapping[order], return_index=True)
    nearest = np.zeros(len(new), dtype=np.int32)
    nearest[kept] = order[first]
    return nearest


def _weld(points: Array) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.intp]]:
    """Points at one place made one: edges must be shared to be collapsed."""
    rows = np.ascontiguousarray(points + 0.0, dtype=np.float32)
    _, first, number = np.unique(rows.view("V12").reshape(-1), return_index=True, return_inverse=True)
    return np.ascontiguousarray(rows[first]), number.reshape(-1)


def _dress(
    data: MeshData,
    points: Array,
    faces: npt.NDArray[np.int32],
    origin: npt.NDArray[np.int32],
    near: npt.NDArray[np.int32],
) -> MeshData:
    """Looks of the source on the faces that are left."""
    counts = np.full(data.face_count, 3, np.int32) if data.counts is None else data.counts
    owner = np.repeat(np.arange(len(counts)), np.maximum(counts - 2, 0))
    taken = fan_triangles(counts, np.arange(len(data.indices), dtype=np.int32))[origin].reshape(-1)
    moved: npt.NDArray[Any] = taken
    if data.uvs is not None or data.colors is not None:
        moved = _choose_corners(data, taken, near[faces.reshape(-1)])

    def carry(rows: Array | None) -> Array | None:
        if rows is None:
            return None
        carried: Array = rows[moved] if len(rows) == len(data.indices) else rows[data.indices[moved]]
        return carried

    subsets = []
    for subset in data.subsets:
        member = np.zeros(data.face_count, dtype=bool)
        member[subset.faces] = True
        left = np.flatnonzero(member[owner[origin]]).astype(np.int32)
        if len(left):
            subsets.append(Subset(subset.name, left, subset.material))
    return MeshData(
        points,
        np.ascontiguousarray(faces, dtype=np.int32).reshape(-1),
        uvs=carry(data.uvs),
        colors=carry(data.colors),
        subsets=tuple(subsets),
    )


def _choose_corners(
    data: MeshData, taken: npt.NDArray[Any], places: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """For every corner that is left, a corner of the source at its place, with looks nearest to its own."""
    rows = data.uvs if data.uvs is not None else data.colors
    assert rows is not None
    rows = rows if len(rows) == len(data.indices) else rows[data.indices]
    _, number = _weld(data.vertices)
    at = number[data.indices]
    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], places)
    ends = np.searchsorted(at[order], places, side="right")
    chosen = np.empty(len(taken), dtype=np.int64)
    for corner, (own, start, end) in enumerate(zip(taken, starts, ends, strict=True)):
        there = order[start:end]
        chosen[corner] = (
            own if len(there) == 0 else there[np.abs(rows[there] - rows[own]).sum(axis=1).argmin()]
        )
    return chosen
