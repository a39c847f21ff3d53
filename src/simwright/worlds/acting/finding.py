# SPDX-License-Identifier: Apache-2.0
"""Which object is meant: a name, a category, or a category at a place; of several, the nearest one."""

from __future__ import annotations

import difflib
import math

from simwright.worlds.acting.action import Result, refuse
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import Hallway, Location, Room, Spawn, World, WorldObject


def find_object(world: World, robot: WorldRobot, query: str) -> WorldObject | Result:
    """The object that a robot knows by a description, or why there is none."""
    words = query.split()
    if not words:
        return refuse("unknown-object", "no object is named")
    entity = world.names.get(query.strip())
    known = robot.list_known_objects(world)
    if isinstance(entity, WorldObject):
        if entity in known:
            return entity
        return refuse("not-detected", f"{robot.name!r} has not detected {entity.name!r} yet")
    kinds = [word for word in words if word in world.object_categories]
    if not kinds:
        close = difflib.get_close_matches(
            query, [*(o.name for o in world.objects), *world.object_categories], n=1
        )
        meant = f"; did you mean {close[0]!r}?" if close else ""
        return refuse("unknown-object", f"there is no object {query!r}{meant}")
    fitting = [item for item in known if item.category.name in kinds and _is_at(world, item, words)]
    fitting = [item for item in fitting if item.spawn is not None]
    if not fitting:
        return refuse("unknown-object", f"{robot.name!r} knows of no {query}")
    return min(fitting, key=lambda item: (item.spawn is not robot.location, _measure(robot, item)))


def _is_at(world: World, item: WorldObject, words: list[str]) -> bool:
    """Is an object at all the places that a description names?"""
    spawn = item.spawn
    for word in words:
        place = world.names.get(word)
        if isinstance(place, (Room, Location, Spawn, Hallway)):
            if spawn is None or place not in {spawn, spawn.location, spawn.room}:
                return False
        elif word in world.location_categories and (spawn is None or spawn.location.category.name != word):
            return False
    return True


def _measure(robot: WorldRobot, item: WorldObject) -> float:
    return math.dist(robot.pose.xy, item.pose.xy)
