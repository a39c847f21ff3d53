# SPDX-License-Identifier: Apache-2.0
"""Going somewhere: a path is planned, then followed pose by pose, and paid for by the metre.

A robot stops where a closed door, a wall or furniture is in its way, where the battery ends, and, with
``validate_during_execution``, as soon as it knows that the rest of its path is blocked.  A robot that does not know the
doors learns of them by its lidar or by running against one.

Robots do not drive into each other.  One whose next step would lead into another waits; around robots that do not go on
either it looks for another way, and where two meet in a corridor the one that comes later in the world gives way.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import TYPE_CHECKING

import numpy as np
import shapely
import shapely.ops

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
from simwright.worlds.floors import Ride, time_ride
from simwright.worlds.graph import find_free_ways
from simwright.worlds.planning.goals import GoalPose, find_goals, plan_to
from simwright.worlds.planning.path import Path
from simwright.worlds.planning.planner import make_planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.sensing.sensor import Lidar, observe_doors

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation

_END = 1e-9
PATIENCE = 2.0
"""How long a robot waits for another one before it looks for a way around [s]."""
GIVE_UP = 60.0
"""How long it waits in all on one way [s]."""
# of the sum of two radii: how near robots come, and how far around each other they plan
_NEAR, _WIDE = 0.995, 1.02
# how far beside the way of another robot one stands that gives way [m], and how many places it looks at
_ASIDE, _PARTS = 0.02, 6


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
    # one leg on every floor, with a ride between two
    legs = path.list_legs()
    try:
        trip = _Trip(simulation, robot, executor, legs[0], options.battery_usage)
    # a speed of zero makes no trajectory
    except UsageError as error:
        return refuse("no-speed", f"{robot.name!r} cannot move: {error.message}")
    if options.delay > 0.0:
        yield options.delay
    if not simulation.draw_success(robot, "navigate"):
        return fail("chance", "the attempt to navigate failed (success_probability)", path=path)
    simulation.log(robot, "path", f"{path.length:.2f} m", length=path.length, poses=len(path.poses))
    failure = yield from trip.follow()
    for ride, leg in zip(path.rides, legs[1:], strict=True):
        if failure is None:
            yield from _ride(simulation, robot, ride, leg.poses[0])
            failure = yield from _Trip(simulation, robot, executor, leg, options.battery_usage).follow()
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


def _ride(
    simulation: WorldSimulation, robot: WorldRobot, ride: Ride, door: WorldPose
) -> Generator[float, None, None]:
    """Wait for the cabin, ride, and stand at the other stop; stairs are free for everybody at once."""
    world = simulation.world
    link = world.floor_table.links[ride.link]
    here = world.floor_table.locate(world, robot.pose).name
    if link.kind == "lift":
        # one robot rides at a time; the cabin comes from where the last ride led
        until, floor = simulation.cabins.get(link.name, (0.0, here))
        come = 0.0 if floor == here else time_ride(world, link, floor, here) - link.door_time
        wait = max(0.0, until - simulation.time) + come
        simulation.cabins[link.name] = (simulation.time + wait + ride.seconds, ride.floor)
        if wait > 0.0:
            yield wait
    simulation.log(robot, "ride", f"{link.name!r} to {ride.floor!r}", link=link.name, floor=ride.floor)
    yield ride.seconds
    simulation.move(robot, door)


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
        self.goal = path.poses[-1]
        self.time = 0.0
        """Time on the present trajectory [s]."""
        self.waited = self.waited_in_all = 0.0
        self.stands = False
        """Does it wait for another robot?  Others plan around it then."""
        self.retreat: tuple[WorldRobot, WorldPose] | None = None
        """Whom it gives way to, and where they met."""
        self.lidar = _find_lidar(simulation, robot, executor)
        # zero: look before the first step, a door right ahead would be found too late
        self.next_look = 0.0 if self.lidar is not None else math.inf
        self.next_check = math.inf if executor.validation_dt is None else 0.0

    def follow(self) -> Generator[float, None, Result | None]:
        """Go from pose to pose; None at the end, or what went wrong."""
        trips = self.simulation.trips
        trips[self.robot.name] = self
        try:
            return (yield from self._follow())
        finally:
            trips.pop(self.robot.name, None)

    def _follow(self) -> Generator[float, None, Result | None]:
        while True:
            failure = self._look_ahead(self.time)
            if failure is not None:
                return failure
            if self.time >= self.trajectory.duration:
                if self.retreat is None:
                    return None
                yield self.executor.dt
                failure = self._await_passing(self.executor.dt)
                if failure is not None:
                    return failure
                continue
            step = min(self.executor.dt, self.trajectory.duration - self.time)
            yield step
            blocker = self._find_blocker(self._list_next(step))
            failure = self._go_on(step) if blocker is None else self._wait_for(blocker, step)
            if failure is not None:
                return failure

    def _go_on(self, step: float) -> Result | None:
        poses = self._list_next(step)
        self.time, self.waited, self.stands = self._add(step), 0.0, False
        # corners within a step count too: a straight move over them would cut through walls
        for pose in poses:
            failure = self._move(pose)
            if failure is not None:
                return failure
        return None

    def _add(self, step: float) -> float:
        # the last step ends at the very end: sums of steps would miss it by rounding
        duration = self.trajectory.duration
        return duration if duration - self.time - step < _END else self.time + step

    def _list_next(self, step: float) -> list[WorldPose]:
        return self.trajectory.list_between(self.time, self._add(step))

    def _find_blocker(self, poses: list[WorldPose]) -> WorldRobot | None:
        """The robot that the next poses would lead into; away from one it is always free to go."""
        robot = self.robot
        for other in self.simulation.world.robots:
            near = _NEAR * (robot.radius + other.radius)
            if other is robot or near == 0.0:
                continue
            here = math.dist(robot.pose.xy, other.pose.xy)
            if any(math.dist(pose.xy, other.pose.xy) < min(near, here) for pose in poses):
                return other
        return None

    def _wait_for(self, other: WorldRobot, step: float) -> Result | None:
        """Stand; after a while go around the other, or out of its way."""
        self.stands = True
        self.waited += step
        self.waited_in_all += step
        if self.waited_in_all > GIVE_UP:
            return fail("blocked", f"{other.name!r} is in the way of {self.robot.name!r}")
        idle = other.name not in self.simulation.trips and not self.simulation.is_busy(other)
        if not idle and self.waited < PATIENCE:
            return None
        self.waited = 0.0
        way = self._find_detour() or (None if idle else self._find_way_back(other))
        if way is not None:
            self.trajectory, self.time = self.executor.follow(way), 0.0
            # times count along the present trajectory
            self.next_look = min(self.next_look, 0.0) if self.lidar is not None else math.inf
            self.next_check = math.inf if self.executor.validation_dt is None else 0.0
            self.simulation.log(self.robot, "detour", f"around {other.name!r}", other=other.name)
        return None

    def _find_detour(self) -> Path | None:
        return self._plan_around(self.goal)

    def _plan_around(self, goal: WorldPose) -> Path | None:
        """A way around the robots that stand near."""
        robot, world = self.robot, self.simulation.world
        discs = []
        for other in world.robots:
            trip = self.simulation.trips.get(other.name)
            if other is robot or (trip is not None and not trip.stands):
                continue
            reach = min(_WIDE * (robot.radius + other.radius), math.dist(robot.pose.xy, other.pose.xy) - _END)
            discs.append(shapely.Point(other.pose.xy).buffer(max(reach, 0.0)))
        planner = make_planner(world, robot, "astar", grid_inflation_radius=robot.radius, compress_path=True)
        planner.avoid = shapely.union_all(discs)
        return planner.plan(robot.pose, goal).path

    def _find_way_back(self, other: WorldRobot) -> Path | None:
        """The nearest place from which the other one can pass."""
        world, trip = self.simulation.world, self.simulation.trips.get(other.name)
        # of two that wait for each other one has to stay: the first in the world
        if trip is None or world.robots.index(self.robot) < world.robots.index(other):
            return None
        apart = _WIDE * (self.robot.radius + other.radius)
        needed = shapely.LineString([*trip.list_points(), trip.goal.xy]).buffer(apart)
        aside = world.known_space(self.robot, self.robot.radius).difference(needed).buffer(-_ASIDE)
        here = shapely.Point(self.robot.pose.xy)
        parts = sorted(shapely.get_parts(aside), key=lambda part: float(shapely.distance(part, here)))
        for part in [part for part in parts if not part.is_empty][:_PARTS]:
            point = shapely.ops.nearest_points(part, here)[0]
            way = self._plan_around(WorldPose.from_yaw(point.x, point.y, 0.0, self.robot.pose.yaw))
            if way is not None:
                self.retreat = (other, self.robot.pose)
                return way
        return None

    def list_points(self) -> list[tuple[float, float]]:
        """The points of the way that is left [m]."""
        return [pose.xy for pose in self.trajectory.find_rest(self.time)]

    def _await_passing(self, step: float) -> Result | None:
        """Stand aside until the other one has passed the place where both met, then go on."""
        assert self.retreat is not None
        other, place = self.retreat
        self.waited_in_all += step
        self.stands = True
        if self.waited_in_all > GIVE_UP:
            return fail("blocked", f"{other.name!r} is in the way of {self.robot.name!r}")
        trip = self.simulation.trips.get(other.name)
        if trip is not None:
            rest = shapely.LineString(
                [pose.xy for pose in trip.trajectory.find_rest(trip.time)] + [trip.goal.xy]
            )
            if shapely.distance(rest, shapely.Point(place.xy)) < self.robot.radius + other.radius:
                return None
        way = self._find_detour()
        if way is not None:
            self.trajectory, self.time, self.retreat = self.executor.follow(way), 0.0, None
        return None

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
