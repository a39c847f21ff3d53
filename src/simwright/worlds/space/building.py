# SPDX-License-Identifier: Apache-2.0
"""Floors, walls with their openings, and doors.

Every point of the plane belongs to one thing: floors first, then walls, the higher ones before the lower, so that no
two solids fill the same space.  Walls therefore stand exactly where the plane has them: around the floors and never on
one.  Where a corridor is lower than the wall it goes through, the wall goes on above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely

from simwright.worlds.space.convex import Geometry
from simwright.worlds.space.part import SolidPart, mix
from simwright.worlds.world import Hallway, Rgb, Room, World, grow

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
    return outline.difference(shapely.union_all([others[number] for number in sorted(numbers)]))


def _list_lintels(world: World, room: Room) -> list[Wall]:
    """The wall above corridors that are lower than the room."""
    top = world.wall_height(room)
    lintels = []
    for hallway in room.hallways:
        bottom = world.wall_height(hallway)
        if bottom < top:
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
