# SPDX-License-Identifier: Apache-2.0
"""Going somewhere: a path is planned, then followed pose by pose, and paid for by the metre.

A robot stops where a closed door, a wall or furniture is in its way, where the battery ends, and, with
``validate_during_execution``, as soon as it knows that the rest of its path is blocked.  A robot that does not know the
doors learns of them by its lidar or by running against one.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import TYPE_CHECKING

import numpy as np

from simwright.core.errors import UsageError
from simwright.worlds.acting.action import (
    NOTHING_SAID,
    Action,
    Result,
    Status,
    Steps,
    check_battery,
    fail,
    refuse,
    succeed,
)
from simwright.worlds.acting.moving import find_closed_door, is_blocked, pass_through
from simwright.worlds.entities import Spawn, WorldRobot
from simwright.worlds.execution.executor import Executor, Trajectory, make_executor, mix_poses
from simwright.worlds.graph import find_free_ways
from simwright.worlds.planning.goals import GoalPose, find_goals, plan_to
from simwright.worlds.planning.path import Path
from simwright.worlds.poses import WorldPose
from simwright.worlds.sensing.sensor import Lidar, observe_doors

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation

_END = 1e-9


def navigate(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Plan, wait, try, go."""
    refusal = check_battery(robot, "navigate")
    if refusal is not None:
        return refusal
    executor = make_executor(simulation.world, robot)
    if executor is None:
        return refuse("no-executor", f"{robot.name!r} has no path executor")
    goal, path = _choose_path(simulation, robot, action)
    if isinstance(path, Result):
        return path
    options = robot.actions.get("navigate", NOTHING_SAID)
    try:
        trip = _Trip(simulation, robot, executor, path, options.battery_usage)
    # a speed of zero makes no trajectory
    except UsageError as error:
        return refuse("no-speed", f"{robot.name!r} cannot move: {error.message}")
    if options.delay > 0.0:
        yield options.delay
    if not simulation.draw_success(robot, "navigate"):
        return fail("chance", "the attempt to navigate failed (success_probability)", path=path)
    simulation.log(robot, "path", f"{path.length:.2f} m", length=path.length, poses=len(path.poses))
    failure = yield from trip.follow()
    if failure is not None:
        # a robot that stopped on the way is wherever its pose says
        simulation.settle(robot)
        return failure
    # two surfaces may share a navigation pose: the one that was asked for counts
    simulation.settle(robot, None if goal is None else goal.place)
    place = robot.location
    if isinstance(place, Spawn) and place.location.is_charger:
        robot.charge()
        simulation.log(robot, "charge", f"charged at {place.location.name!r}", place=place.location.name)
    return succeed(path=path)


def _choose_path(
    simulation: WorldSimulation, robot: WorldRobot, action: Action
) -> tuple[GoalPose | None, Path | Result]:
    if action.path is not None:
        if not action.path.poses:
            return None, refuse("no-path", "the path that was given is empty")
        return None, action.path
    if action.target is None:
        return None, refuse("unknown-place", "no goal is given")
    planner = simulation.find_planner(robot)
    if planner is None:
        return None, refuse("no-planner", f"{robot.name!r} has no path planner")
    goals = find_goals(simulation.world, robot, action.target)
    if not goals.poses:
        return None, refuse(goals.code, goals.reason)
    answer, goal = plan_to(planner, goals)
    if answer.path is None:
        return None, Result(Status.PLANNING, answer.code, answer.reason)
    return goal, answer.path


class _Trip:
    """One robot on one path."""

    def __init__(
        self, simulation: WorldSimulation, robot: WorldRobot, executor: Executor, path: Path, usage: float
    ) -> None:
        self.simulation, self.robot, self.executor, self.usage = simulation, robot, executor, usage
        self.trajectory: Trajectory = executor.follow(path)
        self.lidar = _find_lidar(simulation, robot, executor)
        # zero: look before the first step, a door right ahead would be found too late
        self.next_look = 0.0 if self.lidar is not None else math.inf
        self.next_check = math.inf if executor.validation_dt is None else 0.0

    def follow(self) -> Generator[float, None, Result | None]:
        """Go from pose to pose; None at the end, or what went wrong."""
        time, duration = 0.0, self.trajectory.duration
        while True:
            failure = self._look_ahead(time)
            if failure is not None:
                return failure
            if time >= duration:
                return None
            step = min(self.executor.dt, duration - time)
            yield step
            # the last step ends at the very end: sums of steps would miss it by rounding
            before, time = time, duration if duration - time - step < _END else time + step
            # corners within a step count too: a straight move over them would cut through walls
            for pose in self.trajectory.list_between(before, time):
                failure = self._move(pose)
                if failure is not None:
                    return failure

    def _move(self, pose: WorldPose) -> Result | None:
        robot, world = self.robot, self.simulation.world
        if is_blocked(world, robot, pose):
            return self._run_against(pose)
        length = math.dist(robot.pose.xy, pose.xy)
        cost = self.usage * length
        if cost > robot.battery_level + _END:
            # it stops at the very point where the battery ends
            pose = mix_poses(robot.pose, pose, robot.battery_level / cost)
            self.simulation.move(robot, pose)
            robot.spend(cost)
            return fail("battery-empty", f"the battery of {robot.name!r} ended on the way")
        robot.spend(cost)
        self.simulation.move(robot, pose)
        pass_through(world, robot)
        return None

    def _run_against(self, pose: WorldPose) -> Result:
        robot = self.robot
        door = find_closed_door(self.simulation.world, robot, pose)
        if door is None:
            return fail("blocked", f"something is in the way at ({pose.x:.2f}, {pose.y:.2f})")
        if robot.partial_obs_hallways:
            # felt, not seen: the next plan leads elsewhere
            robot.known_closed.add(door.name)
        return fail("blocked", f"the door of {door.name!r} is closed")

    def _look_ahead(self, time: float) -> Result | None:
        """Measure doors and check the rest of the path, each when it is time to."""
        if self.lidar is not None and time >= self.next_look - _END:
            self.next_look = time + self.executor.lidar_dt
            for hallway in observe_doors(self.lidar):
                state = "open" if hallway.is_open else "closed"
                self.simulation.log(
                    self.robot, "observe", f"{hallway.name!r} is {state}", hallway=hallway.name
                )
        if time >= self.next_check - _END:
            self.next_check = time + (self.executor.validation_dt or math.inf)
            if not self._is_rest_free(time):
                return fail("blocked", "the rest of the path is no longer free")
        return None

    def _is_rest_free(self, time: float) -> bool:
        world, robot = self.simulation.world, self.robot
        rest = np.array([pose.xy for pose in self.trajectory.find_rest(time)])
        space = world.known_space(robot, robot.radius)
        return bool(find_free_ways(space, rest[:-1], rest[1:]).all())


def _find_lidar(simulation: WorldSimulation, robot: WorldRobot, executor: Executor) -> Lidar | None:
    if not robot.partial_obs_hallways or executor.lidar not in robot.sensors:
        return None
    sensor = simulation.find_sensor(robot, executor.lidar)
    return sensor if isinstance(sensor, Lidar) else None
