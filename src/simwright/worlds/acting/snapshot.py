# SPDX-License-Identifier: Apache-2.0
"""The state of a world, to return to: doors, objects, robots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simwright.worlds.world import Hallway, Location, World

_ROBOT = ("pose", "location", "battery_level", "held")
_OBJECT = ("spawn", "pose", "polygon", "collision")


@dataclass(frozen=True, slots=True, eq=False)
class WorldSnapshot:
    """What can change, as it was."""

    doors: dict[str, tuple[bool, bool]]
    objects: dict[str, tuple[Any, ...]]
    surfaces: dict[str, list[Any]]
    robots: dict[str, tuple[Any, ...]]
    knowledge: dict[str, tuple[frozenset[str], frozenset[str]]]


def take_snapshot(world: World) -> WorldSnapshot:
    """Remember the state of a world."""
    return WorldSnapshot(
        {entity.name: (entity.is_open, entity.is_locked) for entity in _list_doors(world)},
        {item.name: tuple(getattr(item, key) for key in _OBJECT) for item in world.objects},
        {spawn.name: list(spawn.objects) for spawn in world.spawns},
        {robot.name: tuple(getattr(robot, key) for key in _ROBOT) for robot in world.robots},
        {r.name: (frozenset(r.known_objects), frozenset(r.known_closed)) for r in world.robots},
    )


def restore_snapshot(world: World, snapshot: WorldSnapshot) -> None:
    """Bring a world back to a state that was taken from it."""
    changed = False
    for entity in _list_doors(world):
        state = snapshot.doors[entity.name]
        changed |= state[0] is not entity.is_open
        entity.is_open, entity.is_locked = state
    for item in world.objects:
        for key, value in zip(_OBJECT, snapshot.objects[item.name], strict=True):
            setattr(item, key, value)
    for spawn in world.spawns:
        spawn.objects[:] = snapshot.surfaces[spawn.name]
    for robot in world.robots:
        for key, value in zip(_ROBOT, snapshot.robots[robot.name], strict=True):
            setattr(robot, key, value)
        known, closed = snapshot.knowledge[robot.name]
        robot.known_objects, robot.known_closed = set(known), set(closed)
    if changed:
        world.refresh()


def _list_doors(world: World) -> list[Hallway | Location]:
    return [*world.hallways, *world.locations]
