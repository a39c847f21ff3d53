# SPDX-License-Identifier: Apache-2.0
"""What a planner is, and the table of them.

A planner is made for one robot in one world and answers any number of questions.  It plans in the free space as the
robot knows it; when a door changes, what was prepared is prepared anew at the next question.  Planners of others
come through entry points in ``simwright.world_planners``: a class with ``PROPERTIES`` that is made like ours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
import shapely

from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.registry import Registry, import_object
from simwright.worlds.entities import ComponentOptions, WorldRobot
from simwright.worlds.floors import FloorLink, Ride, find_stop, list_routes, time_ride
from simwright.worlds.graph import find_free_ways
from simwright.worlds.planning.path import Path, PathAnswer, Points, make_path, refuse
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.robots_options import PLANNERS as PROPERTIES
from simwright.worlds.robots_options import find_wrong_property
from simwright.worlds.world import World

ROWS = {
    "astar": "simwright.worlds.planning.astar:AStarPlanner",
    "rrt": "simwright.worlds.planning.rrt:RrtPlanner",
    "prm": "simwright.worlds.planning.road_map:PrmPlanner",
    "world_graph": "simwright.worlds.planning.road_map:WorldGraphPlanner",
}
REFERENCE = {
    "astar": "simwright.worlds.planning.reference:ReferenceAStar",
    "rrt": "simwright.worlds.planning.reference:ReferenceRrt",
    "prm": "simwright.worlds.planning.reference:ReferencePrm",
    "world_graph": "simwright.worlds.planning.reference:ReferenceWorldGraph",
}
"""The same in reference mode."""
GRID_RESOLUTION = 0.05
"""Cells of A* where nothing is said [m]."""


class Planner(ABC):
    """Plans for one robot; ``values`` are the properties of its type, all of them."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}
    """Names and defaults of properties of a planner that is not ours."""

    def __init__(self, world: World, robot: WorldRobot, values: Mapping[str, Any], seed: int = 0) -> None:
        self.world = world
        self.robot = robot
        self.values = dict(values)
        self.seed = seed
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.avoid: Geometry | None = None
        """Where the robot may not be besides, such as beside other robots."""
        self._space: Geometry | None = None
        self._parts: Any = ()

    def reset(self) -> None:
        """Draw from the beginning again, and prepare anew."""
        self.random = np.random.Generator(np.random.PCG64(self.seed))
        self._space = None

    def make_ready(self) -> None:  # noqa: B027 - ours prepare at the first question, and again when a door changes
        """Prepare before the first question, where a planner does so once."""

    def plan(self, start: WorldPose, goal: WorldPose) -> PathAnswer:
        """A path that the robot can go, or why there is none."""
        space = self.find_space()
        if self.avoid is not None:
            space = shapely.difference(space, self.avoid)
        # the world gives the same object until a door or the radius changes
        if space is not self._space:
            self.prepare(space)
            self._space, self._parts = space, shapely.get_parts(space)
            shapely.prepare(self._parts)
        for pose, word in ((start, "start"), (goal, "goal")):
            if not shapely.intersects_xy(space, pose.x, pose.y):
                return refuse(f"{word}-occupied", f"the {word} ({pose.x:.3g}, {pose.y:.3g}) is not free")
        if start.xy == goal.xy:
            return PathAnswer(Path((start, goal)))
        # answers at once what searching would find out only by looking everywhere
        if not self._parts_joined(start, goal):
            across = self._plan_across(start, goal)
            return refuse("no-path", self._explain_split()) if across is None else across
        return self.search(start, goal, space)

    def _plan_across(self, start: WorldPose, goal: WorldPose) -> PathAnswer | None:
        """A path over lifts and stairs; None where both poses are on one floor."""
        table = self.world.floor_table
        here, there = (table.locate(self.world, pose).name for pose in (start, goal))
        if here == there:
            return None
        reason = f"no lift or stairs that {self.robot.name!r} may use lead from {here!r} to {there!r}"
        for route in list_routes(self.world, self.robot, here, there):
            answer = self._follow_route(start, goal, route)
            if answer.found:
                return answer
            reason = answer.reason
        return refuse("no-path", reason)

    def _follow_route(
        self, start: WorldPose, goal: WorldPose, route: list[tuple[FloorLink, str, str]]
    ) -> PathAnswer:
        poses: list[WorldPose] = []
        rides: list[Ride] = []
        explored = 0
        for link, floor, stop in route:
            gate, door = find_stop(self.world, link, floor), find_stop(self.world, link, stop)
            if gate is None or door is None:
                return refuse("no-path", f"{link.name!r} has a stop without a navigation pose")
            leg = self.plan(start, gate)
            explored += leg.explored
            if leg.path is None:
                return refuse("no-path", f"{link.name!r} cannot be reached: {leg.reason}")
            poses += leg.path.poses
            rides.append(Ride(len(poses) - 1, link.name, stop, time_ride(self.world, link, floor, stop)))
            start = door
        last = self.plan(start, goal)
        if last.path is None:
            return last
        return PathAnswer(Path((*poses, *last.path.poses), tuple(rides)), explored=explored + last.explored)

    def _parts_joined(self, start: WorldPose, goal: WorldPose) -> bool:
        """Are two free poses in one part of the free space?"""
        first, second = (shapely.intersects_xy(self._parts, pose.x, pose.y) for pose in (start, goal))
        return bool((first & second).any())

    def _explain_split(self) -> str:
        closed = [hallway.name for hallway in self.world.hallways if self.robot.knows_closed(hallway)]
        doors = f" (closed: {', '.join(closed[:5])})" if closed else ""
        return f"no free way at all leads from the start to the goal{doors}"

    def find_space(self) -> Geometry:
        """Where the robot may go, as far as it knows; the same object as long as nothing changes."""
        return self.world.known_space(self.robot)

    def prepare(self, space: Geometry) -> None:  # noqa: B027 - not every planner has something to prepare
        """Make what serves all questions in a space."""

    @abstractmethod
    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """A path between two poses that are free and apart."""

    # -- what planners share ---------------------------------------------------------------------------------

    def find_free(self, space: Geometry, starts: Points, ends: Points) -> Any:
        """Which straight ways are free, many at once."""
        return find_free_ways(space, starts, ends)

    def is_free_way(self, space: Geometry, start: Points, end: Points) -> bool:
        """Is a straight way free?"""
        return bool(shapely.covers(space, shapely.linestrings((start, end))))

    def finish(
        self, start: WorldPose, points: Points, goal: WorldPose, space: Geometry, explored: int
    ) -> PathAnswer:
        """The path over ``points``, the two ends included, with fewer of them if so wished."""
        if self.values.get("compress_path"):
            points = drop_points(points, space)
        return PathAnswer(make_path(start, points[1:-1], goal), explored=explored)


PLANNERS: Registry[type[Planner]] = Registry("path planner", "simwright.world_planners", ROWS)


def make_planner(
    world: World,
    robot: WorldRobot,
    options: ComponentOptions | str | None = None,
    *,
    seed: int = 0,
    **changes: Any,
) -> Planner:
    """The planner of a robot, or one of another type; ``changes`` are properties that are to be different.

    Of our planners, the clock on the wall stops none unless ``max_time`` [s] is among the changes: a world file gives
    the same paths on every machine.
    """
    if options is None:
        options = robot.path_planner
    if options is None:
        raise UsageError(
            f"the robot {robot.name!r} has no path planner", hint="name one: astar, rrt, prm ..."
        )
    kind = options if isinstance(options, str) else options.type
    make = PLANNERS.get(kind)
    if world.reference and kind in REFERENCE:
        make = cast("type[Planner]", import_object(REFERENCE[kind]))
    defaults = dict(PROPERTIES.get(kind, make.PROPERTIES))
    values = fill_defaults(world, defaults) if isinstance(options, str) else dict(options.values)
    for key in changes:
        if key not in defaults:
            raise UnknownNameError(f"property of {kind}", key, defaults)
    values |= changes
    wrong = None if world.reference and not changes else find_wrong_property(values)
    if wrong is not None:
        key, wanted = wrong
        raise UsageError(f"{key} of the planner {kind!r} has to be {wanted}, not {values[key]!r}")
    # PyRoboSim gives up after max_time, by default 2 s: what it finds depends on how fast the machine is
    if kind in PROPERTIES and "max_time" in values and "max_time" not in changes:
        values["max_time"] = None
    return make(world, robot, values, seed)


def fill_defaults(world: World, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Every property, those of A* that have no default included."""
    required = {"grid_resolution": GRID_RESOLUTION, "grid_inflation_radius": world.inflation_radius}
    return {key: required.get(key, value) for key, value in defaults.items()}


def drop_points(points: Points, space: Geometry) -> Points:
    """The points without those that straight free ways pass over: from each one to the last that it sees."""
    kept, here = [0], 0
    while here < len(points) - 1:
        ahead = np.arange(here + 1, len(points))
        starts = np.repeat(points[here][None], len(ahead), axis=0)
        seen = ahead[find_free_ways(space, starts, points[ahead])]
        here = int(seen[-1]) if len(seen) else here + 1
        kept.append(here)
    return points[kept]
