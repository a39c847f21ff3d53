# SPDX-License-Identifier: Apache-2.0
"""Picking up an object from the surface that the robot stands at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simwright.worlds.acting.action import Action, Result, Status, Steps, refuse, succeed
from simwright.worlds.acting.attempt import attempt
from simwright.worlds.acting.carrying import find_holder, take_object
from simwright.worlds.acting.finding import find_object
from simwright.worlds.acting.grasps import Grasp, list_grasps
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import Spawn, World, WorldObject

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation


def pick(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Find the object, choose a grasp, take_object it."""
    world = simulation.world
    item = find_object(world, robot, action.object)
    if robot.held is not None:
        return refuse("holding", f"{robot.name!r} already holds {robot.held.name!r}")
    if isinstance(item, Result):
        return item
    refusal = _check(world, robot, item)
    if refusal is not None:
        return refusal
    grasp: Grasp | None = None
    if robot.grasping is not None:
        grasps = list_grasps(robot, item, lift=not world.reference)
        if not grasps:
            return Result(Status.PLANNING, "no-grasp", f"{item.name!r} does not fit the gripper")
        grasp = grasps[simulation.choose(robot, len(grasps))]
    refusal = yield from attempt(simulation, robot, "pick", lambda: _check(world, robot, item))
    if refusal is not None:
        return refusal
    take_object(robot, item)
    return succeed(object=item.name, grasp=grasp)


def _check(world: World, robot: WorldRobot, item: WorldObject) -> Result | None:
    if item.spawn is None:
        holder = find_holder(world, item)
        name = holder.name if holder else "a robot"
        return refuse("held", f"{item.name!r} is held by {name!r}")
    place = robot.location
    if place is not item.spawn:
        at = f"at {place.name!r}" if place is not None else "nowhere in particular"
        return refuse("elsewhere", f"{item.name!r} is on {item.spawn.name!r}, and {robot.name!r} is {at}")
    return check_open(item.spawn, "pick")


def check_open(spawn: Spawn, action: str) -> Result | None:
    """Nothing can be done in a closed location."""
    if not spawn.location.is_open:
        return refuse("closed", f"{spawn.location.name!r} is closed, so nothing can be done there ({action})")
    return None
