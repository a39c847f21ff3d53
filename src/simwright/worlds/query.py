# SPDX-License-Identifier: Apache-2.0
"""Places by description: ``"table0"``, ``"kitchen table"``, ``"desk apple"``, or a choice among such.

Words are names of rooms, locations, spawns, hallways or objects, or categories.  A name of an object means where it
stands.  Where several places fit, one is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, shorten
from simwright.worlds.entities import Entity, Hallway, Location, Place, Room, Spawn, WorldObject
from simwright.worlds.read_state import WorldReading
from simwright.worlds.sampling import Sampler
from simwright.worlds.world import World


def choose_query(reading: WorldReading, entry: WorldEntry, key: str) -> str | None:
    """The text under ``key``, or one of those it lists; None where nothing is said."""
    value = entry.get(key)
    if value is None:
        return None
    # a list draws evenly; a mapping may have probabilities
    if isinstance(value, list):
        return _draw(reading, entry, value, None, key)
    if isinstance(value, dict):
        inner = WorldEntry(entry.document, (*entry.path, key), value)
        if "choices" not in inner:
            raise _refuse(inner, f"'choices' is missing, there is only {shorten(sorted(value))}")
        reading.check_loose_keys(inner, frozenset({"choices", "probabilities"}))
        weights = inner.get("probabilities")
        return _draw(reading, inner, inner.items("choices"), weights, "choices")
    return entry.text(key)


def _draw(reading: WorldReading, entry: WorldEntry, choices: list[Any], weights: Any, key: str) -> str:
    if not choices:
        raise _refuse(entry, "there is nothing to choose from")
    if any(isinstance(choice, (list, dict)) or choice is None for choice in choices):
        raise entry.refuse_sort(choices, "a list of names", key)
    probabilities = None
    if weights is not None:
        probabilities = entry.numbers("probabilities")
        if len(probabilities) != len(choices):
            raise _refuse(entry, f"{len(choices)} choices have {len(probabilities)} probabilities")
        if min(probabilities) < 0.0:
            raise _refuse(entry, f"the probability {min(probabilities):g} is negative")
        # the tolerance of numpy.random.choice, so that reference mode refuses the same
        if abs(sum(probabilities) - 1.0) > 1e-8:
            raise _refuse(entry, f"the probabilities add up to {sum(probabilities):g}, not to 1")
    return str(choices[reading.sampler.choose(len(choices), probabilities)])


def find_place(world: World, query: str, sampler: Sampler) -> tuple[Place | None, str]:
    """The place that a query means, or None and why there is none."""
    # PyRoboSim takes every blank for the end of a word, also one in a name
    words = query.split() if world.reference else world.split_words(query)
    entities = [world.names.get(word) for word in words]
    item, room, place = _sort_entities(entities)
    if item is not None:
        return item.spawn, "it is held by a robot"
    kinds = (*world.location_categories, *world.object_categories)
    for word, entity in zip(words, entities, strict=True):
        if not isinstance(entity, (Room, Hallway, Location, Spawn)) and word not in kinds:
            return None, f"{word!r} is neither a name nor a category"
    location_kind = next(filter(world.location_categories.__contains__, words), None)
    object_kind = next(filter(world.object_categories.__contains__, words), None)
    if object_kind is not None:
        return _find_object_place(world, (place, room), (location_kind, object_kind), sampler)
    if place is not None:
        return place, ""
    if room is not None and location_kind is None:
        return room, ""
    return _find_location(world, room, location_kind, sampler)


def _sort_entities(
    entities: Iterable[Entity | None],
) -> tuple[WorldObject | None, Room | None, Hallway | Location | Spawn | None]:
    """The first object, the last room and the last other place: of several, PyRoboSim takes these."""
    item, room, place = None, None, None
    for entity in entities:
        if isinstance(entity, WorldObject):
            item = item or entity
        elif isinstance(entity, Room):
            room = entity
        elif isinstance(entity, (Hallway, Location, Spawn)):
            place = entity
    return item, room, place


def _find_location(
    world: World, room: Room | None, kind: str | None, sampler: Sampler
) -> tuple[Place | None, str]:
    found = world.locations if room is None else room.locations
    if kind is not None:
        found = [location for location in found if location.category.name == kind]
    if not found:
        return None, f"there is no {kind or 'location'}" + (f" in {room.name!r}" if room else "")
    return found[sampler.choose(len(found))], ""


def _find_object_place(
    world: World,
    within: tuple[Place | None, Room | None],
    kinds: tuple[str | None, str],
    sampler: Sampler,
) -> tuple[Place | None, str]:
    """Where an object of a category stands: first at the named place, then anywhere that fits."""
    (place, room), (location_kind, object_kind) = within, kinds
    if place is not None:
        found = [item for item in _list_objects(place) if item.category.name == object_kind]
        if found:
            return found[sampler.choose(len(found))].spawn, ""
    found = [
        item
        for item in world.objects
        if item.category.name == object_kind and _stands_in(item.spawn, room, location_kind)
    ]
    if not found:
        return None, f"there is no {object_kind} there"
    return found[sampler.choose(len(found))].spawn, ""


def _stands_in(spawn: Spawn | None, room: Room | None, location_kind: str | None) -> bool:
    """Is a surface in a room and part of furniture of a category?  What is not said does not matter."""
    if spawn is None:
        return False
    return (room is None or spawn.room is room) and location_kind in {None, spawn.location.category.name}


def _list_objects(place: Place) -> Iterable[WorldObject]:
    """Objects that lie at a place: on a surface, or on any surface of a location; a room has none itself."""
    if isinstance(place, Spawn):
        return place.objects
    if isinstance(place, Location):
        return [item for spawn in place.spawns for item in spawn.objects]
    return ()


def _refuse(entry: WorldEntry, reason: str) -> Refusal:
    return Refusal(messages.BAD_CHOICE, entry.find_where(), place=entry.spell(), reason=reason)
