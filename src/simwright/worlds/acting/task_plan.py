# SPDX-License-Identifier: Apache-2.0
"""Plans: what each robot does, step by step, from a file or made from a goal.

::

    tender:
      - navigate bench
      - pick gear
      - {type: navigate, target: desk0}
      - {type: place, pose: [-1.4, 5.9, 0.0, 1.57]}
    courier:
      - navigate 0.5,4.2

A list instead of a mapping is the plan of the one robot there is, or of the one that is named.

Goals are ``"at kitchen"``, ``"gear0 at desk0"``, ``"fridge open"`` or ``"hall_a_b closed"``.  Closed locations are
opened, and closed doors on the way as long as they are not locked; all of that before something is picked up, for a
robot that holds an object has no hand free.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

import shapely

from simwright.core.diag import Where
from simwright.core.documents.read import read_document
from simwright.core.documents.tree import Document
from simwright.core.errors import ParseError, UnknownNameError, UsageError
from simwright.worlds.acting.action import Action, Result
from simwright.worlds.acting.manipulation import find_object
from simwright.worlds.acting.table import ACTIONS
from simwright.worlds.entities import Hallway, Location, Spawn, WorldRobot
from simwright.worlds.planning.goals import Goal, find_goals, plan_to
from simwright.worlds.planning.planner import make_planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

KEYS = ("type", "target", "object", "pose")
ALIASES = {"target_location": "target"}
"""What PyRoboSim calls it."""
_OBJECT_FIRST = {"pick", "detect"}


def read_plan(path: str | os.PathLike[str], world: World, robot: str = "") -> dict[str, list[Action]]:
    """The plans in a YAML or JSON file, by robot."""
    return _read(read_document(path), world, robot)


def parse_action(text: str) -> Action:
    """An action in words: its type, then what or where."""
    kind, _, rest = text.strip().partition(" ")
    # only to refuse an unknown action here, where the line of the plan is known
    ACTIONS.get(kind)
    rest = rest.strip()
    if kind in _OBJECT_FIRST:
        return Action(kind, object=rest)
    return Action(kind, target=parse_goal(rest) if rest else None)


def parse_goal(text: str) -> Goal:
    """A place in words, or ``x,y`` or ``x,y,yaw`` [m, rad]."""
    parts = text.split(",")
    # names may have commas too: what is not all numbers is a name
    if len(parts) in {2, 3}:
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            return text
        return WorldPose.from_yaw(numbers[0], numbers[1], 0.0, numbers[2] if len(numbers) == 3 else 0.0)
    return text


def choose_robot(world: World, name: str = "") -> str:
    """The robot of that name, or the only one there is."""
    names = [robot.name for robot in world.robots]
    if name:
        if name not in names:
            raise UnknownNameError("robot", name, names)
        return name
    if not names:
        raise UsageError("there is no robot in this world", hint="add one to the robots section")
    if len(names) > 1:
        raise UsageError(f"there are {len(names)} robots", hint=f"name one: {', '.join(names)}")
    return names[0]


def _read(document: Document, world: World, robot: str) -> dict[str, list[Action]]:
    data = document.data
    if isinstance(data, list):
        return {choose_robot(world, robot): _read_steps(document, data, ())}
    if not isinstance(data, dict) or not data:
        raise ParseError(
            "a plan is a list of steps, or robots with such lists",
            where=document.find_where(),
            hint="- navigate desk",
        )
    names = [other.name for other in world.robots]
    plans = {}
    for name, steps in data.items():
        where = document.find_where(name, key=True)
        if name not in names:
            raise UnknownNameError("robot", str(name), names, where=where)
        if not isinstance(steps, list):
            raise ParseError(f"the plan of {name!r} has to be a list of steps", where=where)
        plans[name] = _read_steps(document, steps, (name,))
    return plans


def _read_steps(document: Document, steps: Sequence[Any], path: tuple[str, ...]) -> list[Action]:
    return [
        _read_step(step, document.find_where(*path, number), document, (*path, number))
        for number, step in enumerate(steps)
    ]


def _read_step(step: Any, where: Where, document: Document, path: tuple[str | int, ...]) -> Action:
    try:
        if isinstance(step, str):
            return parse_action(step)
        if isinstance(step, dict):
            return _read_mapping(step, document, path)
    except UnknownNameError as error:
        # the same error with its place; the first one did not know the file
        raise UnknownNameError("action", error.name, error.known, where=where) from None
    raise ParseError("a step is a text like 'navigate desk' or a mapping with a type", where=where)


def _read_mapping(step: dict[str, Any], document: Document, path: tuple[str | int, ...]) -> Action:
    values: dict[str, Any] = {}
    for key, value in step.items():
        name = ALIASES.get(key, key)
        where = document.find_where(*path, key, key=True)
        if name not in KEYS:
            raise ParseError(f"a step has no {key!r}", where=where, hint=f"known: {', '.join(KEYS)}")
        if name != "pose" and not (isinstance(value, str) or (name == "target" and isinstance(value, list))):
            raise ParseError(f"{key!r} has to be a text", where=where)
        values[name] = value
    if "type" not in values:
        raise ParseError("a step has no type", where=document.find_where(*path), hint="type: navigate")
    ACTIONS.get(values["type"])
    target, pose = values.get("target"), values.get("pose")
    if isinstance(target, str):
        target = parse_goal(target)
    elif target is not None:
        target = _read_pose(target, document.find_where(*path, "target"))
    if pose is not None:
        pose = _read_pose(pose, document.find_where(*path, "pose"))
    return Action(values["type"], target, values.get("object", ""), pose)


def _read_pose(value: Any, where: Where) -> WorldPose:
    """``[x, y]``, ``[x, y, z]`` or ``[x, y, z, yaw]``, as in world files."""
    good = isinstance(value, list) and 2 <= len(value) <= 4
    if not good or any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in value):
        raise ParseError("a pose is a list [x, y], [x, y, z] or [x, y, z, yaw]", where=where)
    x, y, z, yaw = (*(float(v) for v in value), 0.0, 0.0)[:4]
    return WorldPose.from_yaw(x, y, z, yaw)


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
    # seen from where the object is: of several places the one nearest to it
    target = next((goal.place for goal in goals.poses if isinstance(goal.place, Spawn)), None)
    if target is None:
        raise UsageError(f"nothing can be placed at {place!r}", hint=goals.reason)
    # doors first: a robot that holds something has no hand free
    steps = _open_doors(world, robot, [source.name, target.name])
    # the source last: the robot picks there next
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
    # a robot that believes every door open that is not locked finds the way it could have
    hopeful = dataclasses.replace(robot, partial_obs_hallways=True, known_closed=locked)
    answer, reached = plan_to(make_planner(world, hopeful, "astar"), goals, start)
    if answer.path is None or reached is None:
        return [], goals.poses[0].pose
    # leg by leg: between floors there is no line that doors could be on
    line = shapely.MultiLineString([leg.points for leg in answer.path.list_legs() if len(leg.poses) > 1])
    shut = [hallway for hallway in world.hallways if not hallway.is_open and line.intersects(hallway.slab)]
    # in the order in which the path meets them
    shut.sort(key=lambda hallway: line.project(hallway.slab.centroid))
    return shut, reached.pose
