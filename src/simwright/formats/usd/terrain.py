# SPDX-License-Identifier: Apache-2.0
"""Heightfields, which OpenUSD has as meshes only: their grids are noted beside the mesh.

The note counts only while the mesh is still as large as the grid says, so whoever edits the mesh is believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simwright.core.math3d import Array
from simwright.model.geometry import Heightfield

if TYPE_CHECKING:
    from simwright.formats.usd.scan import Found
    from simwright.formats.usd.source import Source

GRID, HEIGHTS = "grid", "heights"
_NEAR = 1e-5


def make_terrain_note(geometry: Heightfield, scale: Array) -> dict[str, list[float]]:
    """Rows, columns, size in x and y and depth [m], and the heights row by row [m]; all at a scale."""
    rows, columns = geometry.heights.shape
    x, y = geometry.size * scale[:2]
    grid = [float(rows), float(columns), float(x), float(y), float(geometry.base * scale[2])]
    return {GRID: grid, HEIGHTS: [float(v) for v in (geometry.heights * scale[2]).reshape(-1)]}


def read_terrain(source: Source, found: Found, scale: Array) -> Heightfield | None:
    """The noted grid of a mesh prim at a scale; None if there is none, or it is no longer true."""
    from simwright.formats.usd.source import as_floats  # the writer needs no reader

    note = source.note(found)
    grid, heights = as_floats(note.get(GRID)), np.array(as_floats(note.get(HEIGHTS)))
    if (
        len(grid) != 5
        or not np.all(scale > 0.0)
        or not (np.isfinite(grid).all() and np.isfinite(heights).all())
    ):
        return None
    rows, columns, base = int(grid[0]), int(grid[1]), grid[4]
    if min(rows, columns) < 2 or rows * columns != len(heights):
        return None
    extent = np.array(source.get(found, "extent"), dtype=np.float64)
    low = np.array((-grid[2] / 2.0, -grid[3] / 2.0, min(-base, heights.min())))
    high = np.array((grid[2] / 2.0, grid[3] / 2.0, heights.max()))
    if extent.shape != (2, 3) or np.abs(extent - (low, high)).max() > _NEAR * np.abs((low, high)).max():
        return None
    unit = source.units.length
    size = np.array(grid[2:4]) * scale[:2] * unit
    return Heightfield(
        heights.reshape(rows, columns) * (scale[2] * unit), size, base * float(scale[2]) * unit
    )
