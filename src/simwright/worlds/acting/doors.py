# SPDX-License-Identifier: Apache-2.0
"""Opening and closing the hallway or location that the robot stands at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import shapely

from simwright.worlds.acting.action import Action, Result, Steps, attempt, fail, refuse, succeed
from simwright.worlds.entities import Hallway, Location, Spawn, WorldRobot
from simwright.worlds.free_space import is_in_hallway
from simwright.worlds.world import World

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation


def open_here(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Open; what is open already stays so."""
    return _set(simulation, robot, action, True)


def close_here(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Close; what is closed already stays so."""
    return _set(simulation, robot, action, False)


def _set(simulation: WorldSimulation, robot: WorldRobot, action: Action, state: bool) -> Steps:
    world, word = simulation.world, "open" if state else "close"
    place = _find_place(world, robot, action)
    if isinstance(place, Result):
        return place
    refusal = yield from attempt(simulation, robot, word, lambda: _check(world, robot, place, state))
    if refusal is not None:
        return refusal
    changed = place.is_open is not state
    # the robot that closes a door is beside it, checked above; the world would find it in the corridor
    reason = world.open(place.name) if state else world.close(place.name, ignore=[robot])
    if reason:
        return fail("locked", reason)
    # whoever moves a door has seen it
    if isinstance(place, Hallway) and robot.partial_obs_hallways:
        (robot.known_closed.discard if state else robot.known_closed.add)(place.name)
    if changed:
        simulation.log(robot, word, place.name, place=place.name)
    return succeed(place=place.name, changed=changed)


def _find_place(world: World, robot: WorldRobot, action: Action) -> Hallway | Location | Result:
    # surfaces have no door of their own: that of their location is meant
    here = robot.location.location if isinstance(robot.location, Spawn) else robot.location
    if not isinstance(here, (Hallway, Location)):
        at = f"at {here.name!r}" if here is not None else "nowhere in particular"
        return refuse("not-openable", f"{robot.name!r} is {at}, where nothing can be opened or closed")
    wanted = world.names.get(action.target) if isinstance(action.target, str) else action.target
    if action.target is not None and wanted is not here and getattr(wanted, "location", None) is not here:
        name = getattr(wanted, "name", action.target)
        return refuse("elsewhere", f"{robot.name!r} is at {here.name!r}, not at {name!r}")
    return here


def _check(world: World, robot: WorldRobot, place: Hallway | Location, state: bool) -> Result | None:
    if robot.held is not None:
        return refuse("holding", f"{robot.name!r} holds {robot.held.name!r} and has no hand free")
    # asked before the lock: what is open already can be "opened" although it is locked
    if place.is_open is state:
        return None
    if place.is_locked:
        return refuse("locked", f"{place.name!r} is locked")
    if isinstance(place, Hallway) and not state:
        return _check_doorway(world, robot, place)
    return None


def _check_doorway(world: World, robot: WorldRobot, hallway: Hallway) -> Result | None:
    """A door does not close on a robot, nor on the one that closes it."""
    pose = robot.pose
    # the door would close on the robot itself
    if shapely.distance(hallway.slab, shapely.Point(pose.xy)) < robot.radius:
        return refuse("in-doorway", f"{robot.name!r} stands in {hallway.name!r} itself")
    for other in world.robots:
        if other is not robot and is_in_hallway(hallway, other.pose):
            return refuse("in-doorway", f"{other.name!r} stands in {hallway.name!r}")
    return None
