# SPDX-License-Identifier: Apache-2.0
"""Floors, walls with their openings, doors, and furniture as solids.

Every point of the plane belongs to one thing: floors first, then walls, the higher ones before the lower, so that no
two solids fill the same space.  Walls therefore stand exactly where the plane has them: around the floors and never on
one.  Where a corridor is lower than the wall it goes through, the wall goes on above it.

Furniture is filled from the floor up to its lowest surface, with boards for every surface above: in the plane a
location blocks its whole footprint, so in space it does from the floor on.  A surface that is lower than the furniture
and takes (nearly) all of it makes a cabinet: open at the sides, with a top over it where things fit in.  Any other low
surface is open to the top, so that things on it can be seen and reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely

from simwright.worlds.entities import Hallway, Rgb, Room
from simwright.worlds.polygons import Geometry, grow
from simwright.worlds.space.convex import GRID, list_polygons
from simwright.worlds.space.part import SolidPart, mix
from simwright.worlds.world import World

FLOOR_THICKNESS = 0.1
WHITE = (1.0, 1.0, 1.0)
FLOOR_TINT, WALL_TINT = 0.72, 0.3
DOOR: Rgb = (0.5, 0.34, 0.22)
LOCKED_DOOR: Rgb = (0.42, 0.16, 0.14)


@dataclass(frozen=True, slots=True)
class Wall:
    """Walls of a room or hallway as an outline, and the heights between which they stand [m]."""

    owner: Room | Hallway
    outline: Geometry
    bottom: float
    top: float


def list_floors(world: World) -> list[tuple[Room | Hallway, Geometry]]:
    """What each room and hallway has of the floor; what two of them share is the first one's."""
    outlines = [part.polygon for part in world.floors]
    return list(zip(world.floors, _share_out(outlines, range(len(outlines))), strict=True))


def list_walls(world: World) -> list[Wall]:
    """Walls that do not overlap each other or any floor, and what is above openings."""
    parts = world.floors
    floors = [part.polygon for part in parts]
    outers = [part.outer if isinstance(part, Room) else grow(part.polygon, part.wall_width) for part in parts]
    outlines = [
        _subtract(outer, floors, near) for outer, near in zip(outers, _pair(outers, floors), strict=True)
    ]
    # higher walls keep their corners, lower ones end at them; rooms before hallways of the same height
    order = sorted(
        range(len(parts)), key=lambda i: (-world.wall_height(parts[i]), isinstance(parts[i], Hallway))
    )
    found: list[Wall] = []
    for part, outline in zip(parts, _share_out(outlines, order), strict=True):
        found.append(Wall(part, outline, 0.0, world.wall_height(part)))
        if isinstance(part, Room):
            found += _list_lintels(world, part)
    return found


def _share_out(outlines: list[Geometry], order: Sequence[int]) -> list[Geometry]:
    """Every outline without those that come before it in an order."""
    rank = {number: place for place, number in enumerate(order)}
    return [
        _subtract(outline, outlines, [other for other in near if rank[other] < rank[number]])
        for number, (outline, near) in enumerate(zip(outlines, _pair(outlines, outlines), strict=True))
    ]


def _pair(outlines: list[Geometry], others: list[Geometry]) -> list[list[int]]:
    """The numbers of the others that meet each outline."""
    found: list[list[int]] = [[] for _ in outlines]
    if outlines:
        first, second = shapely.STRtree(others).query(outlines, predicate="intersects")
        for number, other in zip(first.tolist(), second.tolist(), strict=True):
            found[number].append(other)
    return found


def _subtract(outline: Geometry, others: list[Geometry], numbers: list[int]) -> Geometry:
    if not numbers:
        return outline
    # sorted, so that the union has the same corners whatever the tree answers first
    return outline.difference(shapely.union_all([others[number] for number in sorted(numbers)]))


def _list_lintels(world: World, room: Room) -> list[Wall]:
    """The wall above corridors that are lower than the room."""
    top = world.wall_height(room)
    lintels = []
    for hallway in room.hallways:
        bottom = world.wall_height(hallway)
        if bottom < top:
            # room.walls has the opening cut out; here it is the opening that is wanted
            ring = room.outer.difference(room.polygon)
            lintels.append(Wall(room, ring.intersection(hallway.polygon), bottom, top))
    return lintels


def make_building(world: World) -> SolidPart:
    """All floors and walls, which stand still."""
    part = SolidPart("building", round_shapes=False)
    for owner, outline in list_floors(world):
        color = mix(owner.color, WHITE, FLOOR_TINT)
        part.raise_outline(f"{owner.name}_floor", outline, -FLOOR_THICKNESS, 0.0, color)
    for wall in list_walls(world):
        word = "wall" if wall.bottom == 0.0 else "lintel"
        color = mix(wall.owner.color, WHITE, WALL_TINT)
        part.raise_outline(f"{wall.owner.name}_{word}", wall.outline, wall.bottom, wall.top, color)
    return part


def make_door(world: World, hallway: Hallway) -> SolidPart:
    """What a closed door fills: from the floor to the top of the corridor."""
    part = SolidPart("door", round_shapes=False)
    color = LOCKED_DOOR if hallway.is_locked else DOOR
    part.raise_outline("panel", hallway.slab, 0.0, world.wall_height(hallway), color)
    return part


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
    # a top that would leave no room for things is left out
    lid = top if is_cabinet and top - BOARD - needed >= max(surface.height for surface in surfaces) else None
    for column in _list_columns(outline, top, spread, lid):
        below = 0.0
        for number, level in enumerate(column.levels):
            solid = number == 0 and column.filled
            # boards are thinner where two surfaces are nearer than a board
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
