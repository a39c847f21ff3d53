# SPDX-License-Identifier: Apache-2.0
"""Placing what the robot holds on the surface it stands at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simwright.worlds.acting.action import Action, Result, Status, Steps, refuse, succeed
from simwright.worlds.acting.attempt import attempt
from simwright.worlds.acting.carrying import find_misfit, put_object, shape_to_place
from simwright.worlds.acting.pick import check_open
from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import Location, Spawn, World

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation


def place(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Find a free spot, or take the given pose, and put_object the object there."""
    world, item = simulation.world, robot.held
    if item is None:
        return refuse("not-holding", f"{robot.name!r} holds nothing that it could place")
    spawn = _find_spawn(world, robot, action)
    if isinstance(spawn, Result):
        return spawn
    refusal = check_open(spawn, "place")
    if refusal is not None:
        return refusal
    pose = _find_pose(simulation, robot, action, spawn)
    if isinstance(pose, Result):
        return pose

    def check() -> Result | None:
        misfit = find_misfit(world, item, spawn, pose)
        return (
            refuse("misfit", f"{item.name!r} does not fit: {misfit}")
            if misfit
            else check_open(spawn, "place")
        )

    refusal = yield from attempt(simulation, robot, "place", check)
    if refusal is not None:
        return refusal
    put_object(world, item, spawn, pose, robot)
    return succeed(object=item.name, spawn=spawn.name)


def _find_spawn(world: World, robot: WorldRobot, action: Action) -> Spawn | Result:
    """The surface in reach: where the robot is, or another one of the same location from the same pose."""
    here = robot.location
    if isinstance(here, Location):
        here = next((spawn for spawn in here.spawns), here)
    if not isinstance(here, Spawn):
        at = f"at {here.name!r}" if here is not None else "nowhere in particular"
        return refuse("not-at-surface", f"{robot.name!r} is {at}, where nothing can be placed")
    wanted = world.names.get(action.target) if isinstance(action.target, str) else action.target
    if action.target is None or wanted is here or wanted is here.location:
        return here
    if isinstance(wanted, Spawn) and wanted.location is here.location:
        near = any(robot.pose.is_near(pose) for pose in wanted.nav_poses)
        if near:
            return wanted
    name = getattr(wanted, "name", action.target)
    return refuse("elsewhere", f"{robot.name!r} is at {here.name!r}, not at {name!r}")


def _find_pose(
    simulation: WorldSimulation, robot: WorldRobot, action: Action, spawn: Spawn
) -> WorldPose | Result:
    world, item = simulation.world, robot.held
    assert item is not None
    if action.pose is not None:
        misfit = find_misfit(world, item, spawn, action.pose)
        if misfit:
            return Result(Status.PLANNING, "misfit", f"{item.name!r} does not fit there: {misfit}")
        return action.pose
    others = [other.collision for other in spawn.objects]
    pose = simulation.sampler.sample_placement(shape_to_place(world, item), spawn.polygon, others)
    if pose is None:
        return Result(
            Status.PLANNING, "no-space", f"there is no space left on {spawn.name!r} for {item.name!r}"
        )
    return pose
