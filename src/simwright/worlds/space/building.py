# SPDX-License-Identifier: Apache-2.0
"""Floors, walls with their openings, and doors.

Every point of the plane belongs to one thing: floors first, then walls, the higher ones before the lower, so that no
two solids fill the same space.  Walls therefore stand exactly where the plane has them: around the floors and never on
one.  Where a corridor is lower than the wall it goes through, the wall goes on above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import shapely

from simwright.worlds.space.convex import Geometry
from simwright.worlds.space.part import Part, mix
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
    found = []
    taken: Geometry = shapely.Polygon()
    for part in world.floors:
        found.append((part, part.polygon.difference(taken)))
        taken = taken.union(part.polygon)
    return found


def list_walls(world: World) -> list[Wall]:
    """Walls that do not overlap each other or any floor, and what is above openings."""
    floors = shapely.union_all([part.polygon for part in world.floors])
    shapely.prepare(floors)
    order = sorted(world.floors, key=lambda part: (-world.wall_height(part), isinstance(part, Hallway)))
    taken: Geometry = shapely.Polygon()
    found: dict[Room | Hallway, list[Wall]] = {}
    for part in order:
        outer = part.outer if isinstance(part, Room) else grow(part.polygon, part.wall_width)
        outline = outer.difference(floors).difference(taken)
        taken = taken.union(outline)
        found[part] = [Wall(part, outline, 0.0, world.wall_height(part))]
        if isinstance(part, Room):
            found[part] += _list_lintels(world, part)
    return [wall for part in world.floors for wall in found[part]]


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


def make_building(world: World) -> Part:
    """All floors and walls, which stand still."""
    part = Part("building", round_shapes=False)
    for owner, outline in list_floors(world):
        color = mix(owner.color, WHITE, FLOOR_TINT)
        part.raise_outline(f"{owner.name}_floor", outline, -FLOOR_THICKNESS, 0.0, color)
    for wall in list_walls(world):
        word = "wall" if wall.bottom == 0.0 else "lintel"
        color = mix(wall.owner.color, WHITE, WALL_TINT)
        part.raise_outline(f"{wall.owner.name}_{word}", wall.outline, wall.bottom, wall.top, color)
    return part


def make_door(world: World, hallway: Hallway) -> Part:
    """What a closed door fills: from the floor to the top of the corridor."""
    part = Part(f"door_{hallway.name}", round_shapes=False)
    color = LOCKED_DOOR if hallway.is_locked else DOOR
    part.raise_outline("panel", hallway.slab, 0.0, world.wall_height(hallway), color)
    return part
