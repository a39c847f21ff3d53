# SPDX-License-Identifier: Apache-2.0
"""What a goal means: a pose, or a place by name, category or what stands there; and the poses that reach it.

Where several places fit, the nearest one comes first; all of them are tried.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simwright.worlds.entities import Entity, Hallway, Location, Place, Room, Spawn, WorldObject, WorldRobot
from simwright.worlds.planning.path import PathAnswer, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

Goal: TypeAlias = str | WorldPose | Place | WorldObject | Sequence[float]
"""A name or description, a pose, an entity, or x, y and yaw [m, rad]."""
MAX_TRIES = 8
"""Goal poses that are planned to, one after the other, before a place counts as out of reach."""


@dataclass(frozen=True, slots=True)
class GoalPose:
    """A pose to go to, and the place it stands for, if any."""

    pose: WorldPose
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class GoalPoses:
    """Poses, the nearest first; or none, and why."""

    poses: tuple[GoalPose, ...]
    reason: str = ""
    code: str = ""


def find_goals(world: World, robot: WorldRobot, goal: Goal, origin: WorldPose | None = None) -> GoalPoses:
    """The poses that reach a goal, seen from ``origin`` (where the robot is, unless given)."""
    if isinstance(goal, WorldPose):
        return GoalPoses((GoalPose(goal),))
    if isinstance(goal, (list, tuple)):
        x, y, *yaw = (float(value) for value in goal)
        return GoalPoses((GoalPose(WorldPose.from_yaw(x, y, 0.0, yaw[0] if yaw else 0.0)),))
    # a named point first: it means nothing but itself
    if isinstance(goal, str) and (spot := world.floor_table.places.get(goal.strip())) is not None:
        return GoalPoses((GoalPose(spot),))
    if isinstance(goal, str):
        places, reason = list_places(world, robot, goal)
    else:
        assert not isinstance(goal, Sequence)
        stand = goal.spawn if isinstance(goal, WorldObject) else goal
        places, reason = ([], f"{goal.name!r} is held by a robot") if stand is None else ([stand], "")
    if not places:
        return GoalPoses((), reason, "unknown-place")
    return _sort_goal_poses(places, robot.pose if origin is None else origin)


def _sort_goal_poses(places: list[Place], here: WorldPose) -> GoalPoses:
    """The navigation poses of all places, the nearest one first."""
    poses = [pose for place in places for pose in list_goal_poses(place)]
    if not poses:
        names = " or ".join(repr(place.name) for place in places[:3])
        return GoalPoses((), f"{names} has no free navigation pose", "no-nav-pose")
    return GoalPoses(tuple(sorted(poses, key=lambda item: math.dist(item.pose.xy, here.xy))))


def plan_to(
    planner: Planner, goals: GoalPoses, start: WorldPose | None = None
) -> tuple[PathAnswer, GoalPose | None]:
    """A path to the first of the poses that can be reached; the reason is that of the nearest one."""
    first: PathAnswer | None = None
    start = planner.robot.pose if start is None else start
    for goal in goals.poses[:MAX_TRIES]:
        answer = planner.plan(start, goal.pose)
        if answer.found:
            return answer, goal
        first = first or answer
    return first or refuse(goals.code, goals.reason), None


def list_goal_poses(place: Place) -> list[GoalPose]:
    """Navigation poses of a place; those of a location are those of its surfaces."""
    if isinstance(place, Location):
        found = [GoalPose(pose, spawn) for spawn in place.spawns for pose in spawn.nav_poses]
        return found or [GoalPose(pose, place) for pose in place.nav_poses]
    return [GoalPose(pose, place) for pose in place.nav_poses]


def list_places(world: World, robot: WorldRobot, query: str) -> tuple[list[Place], str]:
    """All places that a description fits, or none and why.

    Words are names of places or objects, or categories: ``"table0"``, ``"kitchen table"``, ``"desk apple"``.
    """
    words = world.split_words(query)
    if not words:
        return [], "no place is named"
    named = [world.names[word] for word in words if word in world.names]
    kinds = set(words) - set(world.names)
    unknown = kinds - set(world.location_categories) - set(world.object_categories)
    if unknown:
        return [], _explain_unknown(world, min(unknown, key=words.index))
    items = [entity for entity in named if isinstance(entity, WorldObject)]
    if items:
        return _find_surfaces_under(robot, world, items)
    rooms, places = _sort_places(named)
    if _contradict(rooms, places):
        # "kitchen table" where "table" names a table of another room: the category is meant
        kinds |= set(words) & set(world.location_categories)
        places = []
    if kinds & set(world.object_categories):
        return _find_by_objects(world, robot, (rooms, places), kinds)
    if kinds:
        return _find_by_category(world, rooms, kinds), f"there is no {query}"
    return [*(places or rooms)], f"{query!r} is a robot"


def _sort_places(named: Iterable[Entity]) -> tuple[list[Room], list[Hallway | Location | Spawn]]:
    """Rooms, and places in them or between them."""
    rooms = [entity for entity in named if isinstance(entity, Room)]
    return rooms, [entity for entity in named if isinstance(entity, (Hallway, Location, Spawn))]


def _explain_unknown(world: World, word: str) -> str:
    known = [*world.names, *world.location_categories, *world.floor_table.places]
    close = difflib.get_close_matches(word, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    return f"{word!r} is neither a name nor a category{meant}"


def _find_by_category(world: World, rooms: list[Room], kinds: set[str]) -> list[Place]:
    """Furniture of some categories, in some rooms where any are named."""
    return [
        location
        for location in world.locations
        if location.category.name in kinds and (not rooms or location.room in rooms)
    ]


def _find_surfaces_under(
    robot: WorldRobot, world: World, items: Iterable[WorldObject]
) -> tuple[list[Place], str]:
    """The surfaces on which given objects stand; none, and why, where the robot does not know one or one is held."""
    known = robot.list_known_objects(world.objects)
    for item in items:
        if item not in known:
            return [], f"{robot.name!r} does not know where {item.name!r} is"
        if item.spawn is None:
            return [], f"{item.name!r} is held by a robot"
    return [item.spawn for item in items if item.spawn is not None], ""


def _find_by_objects(
    world: World,
    robot: WorldRobot,
    within: tuple[list[Room], list[Hallway | Location | Spawn]],
    kinds: set[str],
) -> tuple[list[Place], str]:
    """Surfaces on which an object of a category is known to stand."""
    rooms, places = within
    furniture = kinds & set(world.location_categories)
    found: list[Place] = []
    for item in robot.list_known_objects(world.objects):
        spawn = item.spawn
        if spawn is None or item.category.name not in kinds or spawn in found:
            continue
        near = (not rooms or spawn.room in rooms) and (
            not places or spawn in places or spawn.location in places
        )
        if near and (not furniture or spawn.location.category.name in furniture):
            found.append(spawn)
    wanted = " or ".join(sorted(kinds & set(world.object_categories)))
    return found, f"{robot.name!r} knows of no {wanted} there"


def _contradict(rooms: list[Room], places: list[Hallway | Location | Spawn]) -> bool:
    """Is none of the named places in one of the named rooms?"""
    around = [
        room for place in places for room in (place.rooms if isinstance(place, Hallway) else [place.room])
    ]
    return bool(rooms and places) and not any(room in rooms for room in around)
