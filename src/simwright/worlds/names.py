# SPDX-License-Identifier: Apache-2.0
"""Automatic names, and names that are taken.

Numbers count the entities of the category that are in the world, named ones included, as PyRoboSim does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simwright.core.diag import Where
from simwright.worlds import messages
from simwright.worlds.document import WorldEntry
from simwright.worlds.read_state import WorldReading, refuse_entity

if TYPE_CHECKING:
    from simwright.worlds.world import Entity, Room


def choose_name(reading: WorldReading, entry: WorldEntry, stem: str, number: int) -> str:
    """The given name, or ``stem`` with a number: the next free one, in reference mode always ``number``."""
    if "name" in entry:
        return entry.text("name")
    name = f"{stem}{number}"
    if reading.reference or name not in reading.world.names:
        return name
    new = number + 1
    while f"{stem}{new}" in reading.world.names:
        new += 1
    reading.report(messages.NAME_RENUMBERED, entry.find_where(), name=name, new=f"{stem}{new}")
    return f"{stem}{new}"


def name_hallway(reading: WorldReading, entry: WorldEntry, start: Room, end: Room) -> tuple[str, str]:
    """The name of a hallway and the same with its rooms the other way round."""
    if "name" in entry:
        name = entry.text("name")
        return name, name
    first, second = sorted((start.name, end.name))
    pair = (first, second)
    suffix = f"_{reading.counts[pair]}" if pair in reading.counts else ""
    reading.counts.setdefault(pair, 0)
    return f"hall_{first}_{second}{suffix}", f"hall_{second}_{first}{suffix}"


def check_name(reading: WorldReading, name: str, what: type[Any], where: Where) -> None:
    """Refuse a name that another entity of the same type has; by our policy, of any type."""
    other = reading.world.names.get(name)
    if other is None:
        return
    if isinstance(other, what) and other.name == name:
        raise refuse_entity(messages.NAME_TAKEN, where, what=describe_kind(other), name=name)
    if reading.reference:
        if any(isinstance(entity, what) and entity.name == name for entity in reading.world.entities):
            raise refuse_entity(messages.NAME_TAKEN, where, what=_KIND_WORDS[what], name=name)
        return
    raise refuse_entity(messages.NAME_SHARED, where, what=describe_kind(other), name=name)


def describe_kind(entity: Entity) -> str:
    """What an entity is called in messages."""
    return _KIND_WORDS[type(entity)]
