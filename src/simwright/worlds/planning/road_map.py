# SPDX-License-Identifier: Apache-2.0
"""Graphs of points and straight ways that are asked again and again: the probabilistic road map and the world graph.

The shortest way in a graph is found by A* with the straight distance as its estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from simwright.worlds.graph import build_graph
from simwright.worlds.planning.path import FreePoints, PathAnswer, Points, index_points, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose

Neighbors = Sequence[Sequence[tuple[int, float]]]
"""For every node its neighbours with the length of the way there [m]."""


def find_shortest(
    neighbors: Neighbors,
    points: Sequence[Sequence[float]],
    start: int,
    goal: int,
    measure: Callable[[Sequence[float], Sequence[float]], float] = math.dist,
) -> tuple[list[int] | None, int]:
    """The numbers of the nodes of a shortest way, and how many were looked at; None where no way leads.

    ``measure`` estimates what is left to go [m].
    """
    costs = {start: 0.0}
    before: dict[int, int] = {}
    done: set[int] = set()
    queue = [(measure(points[start], points[goal]), start)]
    while queue:
        node = heappop(queue)[1]
        if node in done:
            continue
        done.add(node)
        if node == goal:
            way = [goal]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1], len(done)
        for other, length in neighbors[node]:
            cost = costs[node] + length
            if other not in done and cost < costs.get(other, math.inf):
                costs[other], before[other] = cost, node
                heappush(queue, (cost + measure(points[other], points[goal]), other))
    return None, len(done)


def join_pairs(
    count: int, pairs: Sequence[Sequence[int]], lengths: Sequence[float]
) -> list[list[tuple[int, float]]]:
    """Neighbours of ``count`` nodes from pairs of them."""
    found: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for (first, second), length in zip(pairs, lengths, strict=True):
        found[first].append((second, length))
        found[second].append((first, length))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class RoadMap:
    """Points [m] and, for each, its neighbours."""

    points: Points
    neighbors: Neighbors

    def __len__(self) -> int:
        return len(self.points)


class RoadMapPlanner(Planner):
    """Joins the start and the goal to a graph, and takes the shortest way in it."""

    road_map: RoadMap

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """The shortest way over the graph, or the straight one."""
        return self.search_map(self.road_map, start, goal, space)

    def search_map(self, road_map: RoadMap, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """The shortest way over one graph."""
        count = len(road_map)
        points = np.vstack((road_map.points, [start.xy, goal.xy]))
        neighbors = [*road_map.neighbors, *([], [])]
        # the goal is joined last, so that it can be joined to the start as well
        for number in (count, count + 1):
            for other, length in self._join(points, number, space):
                # new lists: those of the graph serve the next question
                neighbors[number] = [*neighbors[number], (other, length)]
                neighbors[other] = [*neighbors[other], (number, length)]
            if not neighbors[number]:
                word = "start" if number == count else "goal"
                return refuse(
                    "no-path", f"no straight free way joins the {word} to the graph of {count} nodes"
                )
        way, explored = find_shortest(neighbors, points.tolist(), count, count + 1)
        if way is None:
            return refuse(
                "no-path", f"the graph of {count} nodes does not join the start and the goal", explored
            )
        return self.finish(start, points[way], goal, space, explored)

    def _join(self, points: Points, number: int, space: Geometry) -> list[tuple[int, float]]:
        """Nodes before ``number`` that it sees, with their distances."""
        here = points[number]
        lengths = np.hypot(*(points[:number] - here).T)
        limit = self.values["max_connection_dist"]
        near = np.flatnonzero(lengths <= limit) if limit else np.arange(number)
        free = self.find_free(space, np.repeat(here[None], len(near), axis=0), points[near])
        return list(zip(near[free].tolist(), lengths[near[free]].tolist(), strict=True))


GROWTH = 4
"""How many times as many points the next road map has, where one does not join the start and the goal."""
MOST_GROWN = 6400
"""Points that a road map grows to by itself; ``max_nodes`` may be larger."""


class PrmPlanner(RoadMapPlanner):
    """``max_nodes`` points, joined up to ``max_connection_dist`` [m]; drawn anew when a door changes.

    A map of few points misses ways that are there.  Where it does not join the start and the goal although free space
    does, larger ones are asked, up to :data:`MOST_GROWN` points; the smaller is always a part of the larger.
    """

    def prepare(self, space: Geometry) -> None:
        """Draw the points and join them."""
        self._counts = [int(self.values["max_nodes"])]
        self._grown = [self._draw_map(space, self._counts[0])]

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """The shortest way over the smallest map that has one."""
        # every question begins with the smallest: answers do not depend on what was asked before
        level = 0
        while True:
            answer = self.search_map(self._grown[level], start, goal, space)
            if answer.found:
                return answer
            if self._counts[level] >= MOST_GROWN:
                return refuse("no-path", self._explain(answer.reason), answer.explored)
            level += 1
            if level == len(self._grown):
                self._counts.append(min(max(self._counts[-1], 1) * GROWTH, MOST_GROWN))
                self._grown.append(self._draw_map(space, self._counts[-1]))

    def _explain(self, reason: str) -> str:
        limit = float(self.values["max_connection_dist"])
        return (
            f"{reason}, although free space does: the passage is too narrow for points drawn at random, or longer than "
            f"max_connection_dist ({limit:g} m); astar finds it, or a larger max_nodes"
        )

    def _draw_map(self, space: Geometry, count: int) -> RoadMap:
        # from the seed every time: the same doors give the same map, whatever was asked before, and a larger map
        # begins with the points of the smaller one
        draws = FreePoints(space, np.random.Generator(np.random.PCG64(self.seed)))
        drawn = (draws.draw() for _ in range(count))
        points = np.array([point for point in drawn if point is not None]).reshape(-1, 2)
        pairs = np.empty((0, 2), dtype=np.int64)
        if len(points):
            pairs = index_points(points).query_pairs(
                float(self.values["max_connection_dist"]), output_type="ndarray"
            )
        # the k-d tree gives pairs in an order of its own
        pairs = pairs[np.lexsort(pairs.T[::-1])]
        starts, ends = points[pairs[:, 0]], points[pairs[:, 1]]
        free = self.find_free(space, starts, ends)
        lengths = np.hypot(*(ends - starts).T)[free]
        return RoadMap(points, join_pairs(len(points), pairs[free].tolist(), lengths.tolist()))


class WorldGraphPlanner(RoadMapPlanner):
    """Needs no draws; only as good as the navigation poses are."""

    def prepare(self, space: Geometry) -> None:
        """Build the graph in the space that the robot knows."""
        limit = self.values["max_connection_dist"]
        graph = build_graph(self.world, max_distance=limit, space=space)
        points = np.array([node.pose.xy for node in graph.nodes], dtype=np.float64).reshape(-1, 2)
        self.road_map = RoadMap(points, graph.list_neighbors())
