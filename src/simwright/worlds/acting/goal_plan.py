# SPDX-License-Identifier: Apache-2.0
"""Plans made from goals: ``"at kitchen"``, ``"gear0 at desk0"``, ``"fridge open"``, ``"hall_a_b closed"``.

Closed locations are opened, and closed doors on the way as long as they are not locked; all of that before something is
picked up, for a robot that holds an object has no hand free.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import shapely

from simwright.core.errors import UsageError
from simwright.worlds.acting.action import Action, Result
from simwright.worlds.acting.finding import find_object
from simwright.worlds.acting.task_plan import parse_goal
from simwright.worlds.planning.goals import Goal, find_goals, plan_to
from simwright.worlds.planning.planner import make_planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import Hallway, Location, Spawn, World

_HINT = "say 'at PLACE', 'OBJECT at PLACE', 'PLACE open' or 'PLACE closed'"


def make_plan(world: World, robot: WorldRobot, goal: str) -> list[Action]:
    """The steps that bring a goal about; :class:`UsageError` where it cannot be understood."""
    words = goal.split()
    if len(words) >= 2 and words[-1] in {"open", "closed"}:
        return _plan_door(world, robot, " ".join(words[:-1]), words[-1] == "open")
    if "at" not in words:
        raise UsageError(f"the goal {goal!r} is not understood", hint=_HINT)
    cut = words.index("at")
    item, place = " ".join(words[:cut]), " ".join(words[cut + 1 :])
    if not place:
        raise UsageError(f"the goal {goal!r} names no place", hint=_HINT)
    if not item:
        return [*_open_doors(world, robot, [place]), Action("navigate", parse_goal(place))]
    return _plan_fetch(world, robot, item, place)


def _plan_door(world: World, robot: WorldRobot, name: str, state: bool) -> list[Action]:
    entity = world.find(name)
    if not isinstance(entity, (Hallway, Location)):
        raise UsageError(f"{name!r} can be neither opened nor closed")
    steps = _open_doors(world, robot, [name], leave=entity.name)
    return [*steps, Action("navigate", entity.name), Action("open" if state else "close")]


def _plan_fetch(world: World, robot: WorldRobot, query: str, place: str) -> list[Action]:
    item = find_object(world, robot, query)
    if isinstance(item, Result):
        raise UsageError(item.message)
    source = item.spawn
    if source is None:
        raise UsageError(f"{item.name!r} is held by a robot")
    goals = find_goals(world, robot, place, source.pose)
    target = next((goal.place for goal in goals.poses if isinstance(goal.place, Spawn)), None)
    if target is None:
        raise UsageError(f"nothing can be placed at {place!r}", hint=goals.reason)
    steps = _open_doors(world, robot, [source.name, target.name])
    for spawn in (target, source):
        if not spawn.location.is_open:
            steps += [Action("navigate", spawn.name), Action("open")]
    return [
        *steps,
        Action("navigate", source.name),
        Action("pick", object=item.name),
        Action("navigate", target.name),
        Action("place", target.name),
    ]


def _open_doors(world: World, robot: WorldRobot, stops: Iterable[str], leave: str = "") -> list[Action]:
    """Steps that open the closed doors on the way from stop to stop."""
    doors: list[Hallway] = []
    here = robot.pose
    for stop in stops:
        found, here = _find_doors(world, robot, parse_goal(stop), here)
        doors += [door for door in found if door not in doors and door.name != leave]
    return [action for door in doors for action in (Action("navigate", door.name), Action("open"))]


def _find_doors(
    world: World, robot: WorldRobot, goal: Goal, start: WorldPose
) -> tuple[list[Hallway], WorldPose]:
    """Closed doors on the way to a goal, in order, as if every door that is not locked were open."""
    goals = find_goals(world, robot, goal, start)
    planner = make_planner(world, robot, "astar")
    if not goals.poses:
        return [], start
    answer, reached = plan_to(planner, goals, start)
    if reached is not None:
        return [], reached.pose
    locked = {hallway.name for hallway in world.hallways if hallway.is_locked and not hallway.is_open}
    hopeful = dataclasses.replace(robot, partial_obs_hallways=True, known_closed=locked)
    answer, reached = plan_to(make_planner(world, hopeful, "astar"), goals, start)
    if answer.path is None or reached is None:
        return [], goals.poses[0].pose
    line = shapely.LineString(answer.path.points)
    shut = [hallway for hallway in world.hallways if not hallway.is_open and line.intersects(hallway.slab)]
    shut.sort(key=lambda hallway: line.project(hallway.slab.centroid))
    return shut, reached.pose
