# SPDX-License-Identifier: Apache-2.0
"""A graph of points and straight ways that is asked again and again: what the road map and the world graph share."""

from __future__ import annotations

import numpy as np

from simwright.worlds.planning.path import PathAnswer, Points, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.planning.shortest import Neighbors, find_shortest
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import Geometry


class RoadMapPlanner(Planner):
    """Joins the start and the goal to a graph, and takes the shortest way in it."""

    points: Points
    neighbors: Neighbors

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """The shortest way over the graph, or the straight one."""
        count = len(self.points)
        points = np.vstack((self.points, [start.xy, goal.xy]))
        neighbors = [*self.neighbors, *([], [])]
        for number in (count, count + 1):
            for other, length in self._join(points, number, space):
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
