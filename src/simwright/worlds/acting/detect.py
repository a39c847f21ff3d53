# SPDX-License-Identifier: Apache-2.0
"""Detecting objects: those in the field of view, or those on the surface that the robot stands at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simwright.worlds.acting.action import Action, Result, Steps, fail, refuse, succeed
from simwright.worlds.acting.attempt import attempt
from simwright.worlds.acting.pick import check_open
from simwright.worlds.robots import WorldRobot
from simwright.worlds.sensing.fov import FieldOfView
from simwright.worlds.world import Spawn, WorldObject

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation


def detect(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Look, remember, and say whether what was sought is among it."""
    views = [sensor for sensor in simulation.list_sensors(robot) if isinstance(sensor, FieldOfView)]

    def check() -> Result | None:
        if views:
            return None
        if not isinstance(robot.location, Spawn):
            return refuse("not-at-surface", f"{robot.name!r} is not at a surface that it could look at")
        return check_open(robot.location, "detect")

    refusal = yield from attempt(simulation, robot, "detect", check)
    if refusal is not None:
        return refusal
    found = _look(simulation, robot, views)
    robot.known_objects.update(item.name for item in found)
    if action.object:
        found = [item for item in found if action.object in {item.name, item.category.name}]
        if not found:
            return fail("not-found", f"{robot.name!r} sees no {action.object!r}")
    return succeed(objects=[item.name for item in found])


def _look(simulation: WorldSimulation, robot: WorldRobot, views: list[FieldOfView]) -> list[WorldObject]:
    if not views:
        assert isinstance(robot.location, Spawn)
        return list(robot.location.objects)
    seen = {item.name for view in views for item in view.measure()}
    return [item for item in simulation.world.objects if item.name in seen]
