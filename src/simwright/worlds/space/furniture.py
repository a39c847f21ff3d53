# SPDX-License-Identifier: Apache-2.0
"""Furniture as solids: filled from the floor up to its lowest surface, with boards for every surface above.

In the plane a location blocks its whole footprint, so in space it does from the floor on.  A surface that is lower than
the furniture and takes (nearly) all of it makes a cabinet: open at the sides, with a top over it where things fit in.
Any other low surface is open to the top, so that things on it can be seen and reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely

from simwright.worlds.space.convex import GRID, Geometry, list_polygons
from simwright.worlds.space.part import SolidPart, mix
from simwright.worlds.world import Rgb

BOARD = 0.03
"""Thickness of a board [m]."""
CLEARANCE = 0.3
"""The least height of a compartment [m]."""
COVER = 0.8
"""How much of the footprint the surface of a cabinet takes."""
_BLACK = (0.0, 0.0, 0.0)
_SAME = 1e-6


@dataclass(frozen=True, slots=True)
class SurfaceOutline:
    """Where things stand: an outline and its height above the floor [m]."""

    outline: Geometry
    height: float


@dataclass(frozen=True, slots=True)
class _Column:
    """A part of the plane and the heights of the surfaces over it; ``filled`` where the footprint is."""

    outline: Geometry
    levels: tuple[float, ...]
    filled: bool


def raise_furniture(
    part: SolidPart,
    outline: Geometry,
    top: float,
    surfaces: Sequence[SurfaceOutline],
    *,
    clearance: float,
    color: Rgb,
) -> None:
    """Add the solids of one piece of furniture; ``clearance`` is what the highest thing needs [m]."""
    needed = max(CLEARANCE, clearance)
    spread = [_spread(surface, outline, top - BOARD - needed) for surface in surfaces]
    is_cabinet = any(new is not old for new, old in zip(spread, surfaces, strict=True))
    lid = top if is_cabinet and top - BOARD - needed >= max(surface.height for surface in surfaces) else None
    for column in _list_columns(outline, top, spread, lid):
        below = 0.0
        for number, level in enumerate(column.levels):
            solid = number == 0 and column.filled
            bottom = 0.0 if solid else max(level - BOARD, (level + below) / 2.0)
            name = "body" if solid else "board"
            part.raise_outline(
                name, column.outline, bottom, level, color if solid else mix(color, _BLACK, 0.12)
            )
            below = level


def _spread(surface: SurfaceOutline, outline: Geometry, highest: float) -> SurfaceOutline:
    """The surface of a cabinet goes on to its edges."""
    if surface.height > highest or surface.outline.intersection(outline).area < COVER * outline.area:
        return surface
    return SurfaceOutline(surface.outline.union(outline), surface.height)


def _list_columns(
    outline: Geometry, top: float, surfaces: Sequence[SurfaceOutline], lid: float | None
) -> list[_Column]:
    columns = [_Column(outline, (), True)]
    for surface in surfaces:
        known = shapely.union_all([column.outline for column in columns])
        level = surface.height
        columns = [
            part
            for column in columns
            for part in (
                _Column(column.outline.intersection(surface.outline), (*column.levels, level), column.filled),
                _Column(column.outline.difference(surface.outline), column.levels, column.filled),
            )
        ]
        columns.append(_Column(surface.outline.difference(known), (level,), False))
    merged: dict[tuple[tuple[float, ...], bool], list[Geometry]] = {}
    for column in columns:
        levels = _settle_levels(column, top, lid)
        if not column.outline.is_empty and levels:
            merged.setdefault((levels, column.filled), []).append(column.outline)
    return [
        _Column(shapely.union_all(parts, grid_size=GRID), levels, filled)
        for (levels, filled), parts in merged.items()
        if list_polygons(shapely.union_all(parts, grid_size=GRID))
    ]


def _settle_levels(column: _Column, top: float, lid: float | None) -> tuple[float, ...]:
    """Heights that are apart, from below; the top of the furniture where nothing else is."""
    levels: list[float] = []
    for level in sorted(column.levels):
        if level > _SAME and (not levels or level - levels[-1] > _SAME):
            levels.append(level)
    if column.filled and top > _SAME and not levels:
        return (top,)
    if column.filled and lid is not None:
        levels.append(lid)
    return tuple(levels)
