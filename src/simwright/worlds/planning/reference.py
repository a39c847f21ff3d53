# SPDX-License-Identifier: Apache-2.0
"""Planners as PyRoboSim 5.0.1 has them, for reference mode.

They differ from ours in what they do not do: neither the start nor the goal has to be free, points along a way are
looked at instead of the way, and what was prepared when the robot came into the world stays as it is when doors change.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from simwright.worlds.entities import WorldRobot
from simwright.worlds.graph import build_graph, find_free_ways
from simwright.worlds.grid import Grid, make_grid
from simwright.worlds.planning.path import FreePoints, Path, PathAnswer, Points, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.planning.road_map import RoadMap, find_shortest, join_pairs
from simwright.worlds.planning.rrt import RrtPlanner
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

# the order of PyRoboSim's steps: it decides which of several shortest paths is found
_STEPS = ((-1, 0), (1, 0), (0, 1), (0, -1), (-1, 1), (-1, -1), (1, 1), (1, -1))
# positions [m] that are one point up to rounding
_SAME = 1e-9


class ReferencePlanner(Planner):
    """Prepared once, and no question is refused before the search."""

    _is_ready = False

    def make_ready(self) -> None:
        """Prepare, unless that was done before."""
        if not self._is_ready:
            self._is_ready = True
            self.prepare(self.find_space())

    def reset(self) -> None:
        """Draw from the beginning again, and prepare anew."""
        super().reset()
        self._is_ready = False

    def plan(self, start: WorldPose, goal: WorldPose) -> PathAnswer:
        """A path, or why there is none."""
        self.make_ready()
        return self.search(start, goal, self.find_space())

    def find_free(self, space: Geometry, starts: Points, ends: Points) -> Any:
        """Which ways are free at the points that PyRoboSim looks at."""
        return find_free_ways(space, starts, ends, step=float(self.values["collision_check_step_dist"]))

    def is_free_way(self, space: Geometry, start: Points, end: Points) -> bool:
        """Is a straight way free?"""
        return bool(self.find_free(space, start[None], end[None])[0])

    def finish_path(self, poses: list[WorldPose], space: Geometry, explored: int) -> PathAnswer:
        """The path over poses: on the way a robot looks to where it comes to be."""
        if self.values.get("compress_path"):
            poses = self._compress(poses, space)
        turned = list(poses)
        for number in range(1, len(poses) - 1):
            before, here = turned[number - 1], poses[number]
            yaw = math.atan2(here.y - before.y, here.x - before.x)
            turned[number] = WorldPose.from_yaw(here.x, here.y, here.z, yaw)
        return PathAnswer(Path(tuple(turned)), explored=explored)

    def _compress(self, poses: list[WorldPose], space: Geometry) -> list[WorldPose]:
        kept, here = [poses[0]], 0
        while here < len(poses) - 1:
            for ahead in range(len(poses) - 1, here, -1):
                if self._is_pair_free(space, poses[here], poses[ahead]):
                    kept.append(poses[ahead])
                    here = ahead
                    break
            else:
                break
        return kept

    def _is_pair_free(self, space: Geometry, start: WorldPose, end: WorldPose) -> bool:
        return self.is_free_way(space, np.array(start.xy), np.array(end.xy))


class ReferenceAStar(ReferencePlanner):
    """A* on the grid that was made when the robot came."""

    grid: Grid

    def find_space(self) -> Geometry:
        """The free space at the radius of the grid."""
        return self.world.known_space(self.robot, float(self.values["grid_inflation_radius"]))

    def prepare(self, space: Geometry) -> None:
        """Make the grid."""
        resolution = float(self.values["grid_resolution"])
        radius = float(self.values["grid_inflation_radius"])
        self.grid = make_grid(self.world, resolution, radius, space=space)

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """A way over cells; the start and the goal stand for the first and the last."""
        cells = self._find_cells(self.grid.to_cell(*start.xy), self.grid.to_cell(*goal.xy))
        if cells is None:
            return refuse("no-path", "no way over free cells leads from the start to the goal")
        if self.values["compress_path"]:
            cells = self._reduce(cells)
        poses = [WorldPose(*self.grid.to_point(*cell)) for cell in cells]
        poses[0] = start
        # after the start: a path within one cell is the goal alone, which nobody can follow
        poses[-1] = goal
        values, self.values = self.values, self.values | {"compress_path": False}
        answer = self.finish_path(poses, space, len(cells))
        self.values = values
        return answer

    def _find_cells(self, first: tuple[int, int], last: tuple[int, int]) -> list[tuple[int, int]] | None:
        steps = _STEPS if self.values["diagonal_motion"] else _STEPS[:4]
        costs, before = {first: 0.0}, {first: first}
        done: set[tuple[int, int]] = set()
        # of equal estimates the one that came first: the sorted list of PyRoboSim puts later ones behind
        serial = itertools.count()
        queue = [(self._estimate(first, last), next(serial), first)]
        latest = {first: 0}
        while queue:
            _, number, cell = heappop(queue)
            if latest.get(cell) != number:
                continue
            if cell == last:
                cells = [cell]
                while cells[-1] != first:
                    cells.append(before[cells[-1]])
                return cells[::-1]
            done.add(cell)
            for i, j in steps:
                other = (cell[0] + i, cell[1] + j)
                if other in done or self.grid.is_occupied(*other):
                    continue
                cost = costs[cell] + math.sqrt(i * i + j * j)
                if cost < costs.get(other, math.inf):
                    costs[other], before[other] = cost, cell
                    latest[other] = next(serial)
                    heappush(queue, (cost + self._estimate(other, last), latest[other], other))
        return None

    def _estimate(self, cell: tuple[int, int], last: tuple[int, int]) -> float:
        kind = self.values["heuristic"]
        if kind == "euclidean":
            return math.sqrt((cell[0] - last[0]) ** 2 + (cell[1] - last[1]) ** 2)
        return abs(cell[0] - last[0]) + abs(cell[1] - last[1]) if kind == "manhattan" else 0.0

    def _reduce(self, cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The cells that straight rows of free cells join."""
        kept, here = [cells[0]], 0
        while here < len(cells) - 1:
            for ahead in range(len(cells) - 1, here, -1):
                if all(not self.grid.is_occupied(*cell) for cell in _draw_line(cells[here], cells[ahead])):
                    kept.append(cells[ahead])
                    here = ahead
                    break
            else:
                break
        return kept


def _draw_line(first: tuple[int, int], last: tuple[int, int]) -> list[tuple[int, int]]:
    """The cells of a straight line by Bresenham's rule, its first one excluded."""
    (x, y), (end_x, end_y) = first, last
    across, down = abs(end_x - x), -abs(end_y - y)
    step_x, step_y = (1 if end_x > x else -1), (1 if end_y > y else -1)
    error, cells = across + down, []
    while (x, y) != last:
        twice = 2 * error
        if twice >= down:
            error += down
            x += step_x
        if twice <= across:
            error += across
            y += step_y
        cells.append((x, y))
    return cells


class ReferenceRoadMap(ReferencePlanner):
    """Joins the start and the goal to a graph that stays as it was made."""

    road_map: RoadMap

    def find_poses(self) -> list[WorldPose]:
        """The poses of the nodes, as they are now."""
        return [WorldPose(*point) for point in self.road_map.points.tolist()]

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """The shortest way over the graph."""
        count = len(self.road_map)
        points = np.vstack((self.road_map.points, [start.xy, goal.xy]))
        places = points.tolist()
        neighbors = [
            [(other, _measure(place, places[other])) for other, _ in row]
            for place, row in zip(places, self.road_map.neighbors, strict=False)
        ] + [[], []]
        limit = self.values["max_connection_dist"]
        for number in (count, count + 1):
            # the goal is in the graph already when the start is joined, so that they are joined from both ends
            others = np.array([k for k in range(count + 2) if k != number])
            lengths = np.hypot(*(points[others] - points[number]).T)
            if limit:
                others = others[lengths <= limit]
            starts = np.repeat(points[number][None], len(others), axis=0)
            free = self.find_free(space, starts, points[others])
            for other in others[free].tolist():
                length = _measure(places[number], places[other])
                neighbors[number].append((other, length))
                neighbors[other].append((number, length))
        way, explored = find_shortest(neighbors, places, count, count + 1, _measure)
        if way is None:
            return refuse(
                "no-path", f"the graph of {count} nodes does not join the start and the goal", explored
            )
        poses = [*self.find_poses(), start, goal]
        answer = self.finish_path([poses[k] for k in way], space, explored)
        assert answer.path is not None
        poses = list(answer.path.poses)
        if not self.values["compress_path"]:
            for number, pose in zip(way[1:-1], answer.path.poses[1:-1], strict=True):
                # a path that comes over its own goal turns it as well
                if self.turn_node(number, pose) is goal:
                    poses[-1] = pose
        return PathAnswer(Path(tuple(poses)), explored=explored)

    def turn_node(self, number: int, pose: WorldPose) -> WorldPose | None:
        """A path has passed a node; what its pose was, None for points that are only ours."""
        del number, pose
        return None


def _measure(point: Sequence[float], other: Sequence[float]) -> float:
    """A distance in the plane [m] as PyRoboSim computes it.

    ``math.dist`` may differ in the last bit, which decides between a straight way and the same way over a node on it.
    """
    return math.sqrt((point[0] - other[0]) ** 2 + (point[1] - other[1]) ** 2)


class ReferencePrm(ReferenceRoadMap):
    """Points drawn when the robot came."""

    def prepare(self, space: Geometry) -> None:
        """Draw the points and join them."""
        draws = FreePoints(space, self.random)
        drawn = (draws.draw() for _ in range(int(self.values["max_nodes"])))
        points = np.array([point for point in drawn if point is not None]).reshape(-1, 2)
        first, second = np.triu_indices(len(points), 1)
        lengths = np.hypot(*(points[second] - points[first]).T)
        near = lengths <= float(self.values["max_connection_dist"])
        first, second, lengths = first[near], second[near], lengths[near]
        free = self.find_free(space, points[second], points[first])
        pairs = np.column_stack((first, second))[free].tolist()
        self.road_map = RoadMap(points, join_pairs(len(points), pairs, lengths[free].tolist()))


class ReferenceRrt(ReferencePlanner, RrtPlanner):
    """Trees in the space of the moment."""


class ReferenceWorldGraph(ReferenceRoadMap):
    """The graph of the navigation poses, made in the true world, whatever the robot knows."""

    def find_space(self) -> Geometry:
        """The free space with the doors as they are."""
        return self.world.free_space

    def prepare(self, space: Geometry) -> None:
        """Build the graph at the radius that the world had when the robot came."""
        world, radius = self.world, find_radius(self.world, self.robot)
        before = world.inflation_radius
        if radius != before:
            world.set_inflation_radius(radius)
            space = world.free_space_at(radius)
        step = float(self.values["collision_check_step_dist"])
        graph = build_graph(world, max_distance=self.values["max_connection_dist"], step=step, space=space)
        if radius != before:
            world.set_inflation_radius(before)
            world.refresh()
        self._places = [*_list_places(world)]
        points = np.array([node.pose.xy for node in graph.nodes], dtype=np.float64).reshape(-1, 2)
        self.road_map = RoadMap(points, graph.list_neighbors())

    def find_poses(self) -> list[WorldPose]:
        """The navigation poses as they are now."""
        points = self.road_map.points.tolist()
        return [
            WorldPose(x, y, poses[index].z) if index < len(poses) else WorldPose(x, y)
            for (x, y), (poses, index) in zip(points, self._places, strict=True)
        ]

    def turn_node(self, number: int, pose: WorldPose) -> WorldPose | None:
        """PyRoboSim turns the navigation pose itself when a path passes it, for every path to come."""
        poses, index = self._places[number]
        if index >= len(poses) or math.dist(poses[index].xy, pose.xy) > _SAME:
            return None
        before, poses[index] = poses[index], pose
        for hallway in self.world.hallways:
            if hallway.waypoints is poses:
                hallway.nav_poses[:] = [poses[0], poses[-1]]
        return before


def _list_places(world: World) -> list[tuple[list[WorldPose], int]]:
    """Where the pose of every node of the world graph is kept."""
    lists = [room.nav_poses for room in world.rooms]
    lists += [hallway.waypoints for hallway in world.hallways]
    lists += [spawn.nav_poses for spawn in world.spawns]
    return [(poses, index) for poses in lists for index in range(len(poses))]


def find_radius(world: World, robot: WorldRobot) -> float:
    """The inflation radius of a world when a robot came into it [m]."""
    number = world.robots.index(robot)
    return max([world.params.inflation_radius, *(other.radius for other in world.robots[: number + 1])])
