# SPDX-License-Identifier: Apache-2.0
"""Meshes with fewer triangles, for pages that show them: vertices that are near each other become one.

Pages of ``view`` and reports use it where a robot has more triangles than a browser draws without a GPU.  What is
converted or simulated is never thinned: ``convert --lod`` has a slower method that keeps edges.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from simwright.core.math3d import Array
from simwright.model.geometry import MeshData, Subset

FEWEST = 60
"""No mesh gets fewer triangles [1]: what is left would not look like it."""
_PER_CELL = 3.0
"""Triangles for each square of a surface that is as wide as a cell: cells are crossed at a slant, and so 1.5 of them
are met, each of which is a vertex, and there are twice as many triangles as vertices."""

_TRIES, _NEAR, _LEAST_STEP = 4, 0.7, 0.4
"""How often the cells are made smaller, from which share of what is wanted on they are not, and by how much at most."""


def thin_mesh(data: MeshData, wanted: int) -> MeshData:
    """A mesh with about ``wanted`` triangles, as it is if it has no more than that.

    Vertices in one cell of a grid become one in their middle.  Triangles that are left keep the normals, colours,
    texture coordinates and materials of their corners, which are then stored for each corner.
    """
    triangles = np.asarray(data.triangles())
    wanted = max(wanted, FEWEST)
    if len(triangles) <= wanted:
        return data
    points = np.asarray(data.vertices, dtype=np.float64)
    sides = points[triangles[:, 1:]] - points[triangles[:, :1]]
    area = float(np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum()) / 2.0
    if not np.isfinite(area) or area <= 0.0:
        return data
    owner, merged, kept = _search(points, triangles, np.sqrt(_PER_CELL * area / wanted), wanted)
    if not len(kept):
        return data
    count = int(owner.max()) + 1
    shares = np.bincount(owner, minlength=count)[:, None]
    middles = np.stack([np.bincount(owner, points[:, axis], count) for axis in range(3)], axis=1) / shares
    return _pick(data, middles, merged[kept], kept)


def _search(points: Array, triangles: Any, edge: float, wanted: int) -> tuple[Any, Any, Any]:
    """Cells of points, corners of triangles and rows of those that are left, for cells about as wide as ``edge``.

    Meshes of large and of small triangles keep fewer than was reckoned, since there are cells without a vertex: they
    are cut again with smaller ones.
    """
    for _ in range(_TRIES):
        owner = _find_cells(points, edge)
        merged = owner[triangles]
        kept = _find_kept(merged, int(owner.max()) + 1)
        share = len(kept) / wanted
        if share > _NEAR:
            break
        edge *= max(np.sqrt(share), _LEAST_STEP)
    return owner, merged, kept


def _find_cells(points: Array, edge: float) -> Any:
    """For each point the number of the cell of a grid that it is in; cells without points have no number."""
    cells = np.floor((points - points.min(axis=0)) / edge).astype(np.int64)
    size = cells.max(axis=0) + 1
    # one number for each cell: rows of three would be sorted ten times as slowly
    keys = (cells[:, 0] * size[1] + cells[:, 1]) * size[2] + cells[:, 2]
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _find_kept(merged: Any, count: int) -> Any:
    """Rows of triangles that still have three corners, each once."""
    whole = (merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 2] != merged[:, 0])
    rows = np.flatnonzero(whole)
    corners = merged[rows]
    # the least corner first: which way round a triangle goes stays as it was
    first = corners.argmin(axis=1)
    turned = [corners[np.arange(len(rows)), (first + step) % 3] for step in range(3)]
    if count >= 1 << 21:  # three corners do not fit into 63 bits
        return rows
    keys = (turned[0] * count + turned[1]) * count + turned[2]
    return np.sort(rows[np.unique(keys, return_index=True)[1]])


def _pick(data: MeshData, middles: Array, corners: Any, kept: Any) -> MeshData:
    """The triangles in rows ``kept``, with the corners given, and what the mesh says of theirs."""
    indices = np.asarray(data.triangles())[kept]
    # rows of what is stored for each corner of a face, in the order of the triangles
    numbers = np.arange(len(data.indices), dtype=np.int32)
    places = np.asarray(dataclasses.replace(data, indices=numbers).triangles())[kept]

    def take(rows: Array | None) -> Array | None:
        if rows is None:
            return None
        if len(rows) == len(data.indices):
            found: Array = rows[places.reshape(-1)]
            return found
        return rows[indices.reshape(-1)] if len(rows) == len(data.vertices) else None

    uv_sets = {name: rows for name, values in data.uv_sets.items() if (rows := take(values)) is not None}
    return MeshData(
        middles,
        corners.reshape(-1).astype(np.int32),
        normals=take(data.normals),
        uvs=take(data.uvs),
        colors=take(data.colors),
        subsets=_pick_subsets(data, kept),
        uv_name=data.uv_name,
        uv_sets=uv_sets,
        smooth=data.smooth,
    )


def _pick_subsets(data: MeshData, kept: Any) -> tuple[Subset, ...]:
    """The same materials on the triangles that are left."""
    faces = np.arange(data.face_count)
    if data.counts is not None:
        faces = np.repeat(faces, np.maximum(np.asarray(data.counts) - 2, 0))
    left = faces[kept]
    found = (
        dataclasses.replace(one, faces=np.flatnonzero(np.isin(left, one.faces)).astype(np.int32))
        for one in data.subsets
    )
    return tuple(one for one in found if len(one.faces))
