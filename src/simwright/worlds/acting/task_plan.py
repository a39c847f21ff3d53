# SPDX-License-Identifier: Apache-2.0
"""Plans in files: what each robot does, step by step.

::

    tender:
      - navigate bench
      - pick gear
      - {type: navigate, target: desk0}
      - {type: place, pose: [-1.4, 5.9, 0.0, 1.57]}
    courier:
      - navigate 0.5,4.2

A list instead of a mapping is the plan of the one robot there is, or of the one that is named.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from simwright.core.diag import Where
from simwright.core.documents.read import parse_document, read_document
from simwright.core.documents.tree import Document
from simwright.core.errors import ParseError, UnknownNameError, UsageError
from simwright.worlds.acting.action import Action
from simwright.worlds.acting.table import ACTIONS
from simwright.worlds.planning.goals import Goal
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

KEYS = ("type", "target", "object", "pose")
ALIASES = {"target_location": "target"}
"""What PyRoboSim calls it."""
_OBJECT_FIRST = {"pick", "detect"}


def read_plan(path: str | os.PathLike[str], world: World, robot: str = "") -> dict[str, list[Action]]:
    """The plans in a YAML or JSON file, by robot."""
    return _read(read_document(path), world, robot)


def parse_plan(text: str, world: World, robot: str = "") -> dict[str, list[Action]]:
    """The plans in a text."""
    return _read(parse_document(text), world, robot)


def parse_action(text: str) -> Action:
    """An action in words: its type, then what or where."""
    kind, _, rest = text.strip().partition(" ")
    ACTIONS.get(kind)
    rest = rest.strip()
    if kind in _OBJECT_FIRST:
        return Action(kind, object=rest)
    return Action(kind, target=parse_goal(rest) if rest else None)


def parse_goal(text: str) -> Goal:
    """A place in words, or ``x,y`` or ``x,y,yaw`` [m, rad]."""
    parts = text.split(",")
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
