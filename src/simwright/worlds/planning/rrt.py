# SPDX-License-Identifier: Apache-2.0
"""Rapidly exploring random trees: plain, from both ends, connecting, and with rewiring (RRT*).

``max_time`` is the one limit that is not the same on every machine: planning stops after that many seconds.  Ordinary
questions end long before, by a path or by ``max_nodes_sampled``.
"""

from __future__ import annotations

import math
import time

import numpy as np

from simwright.worlds.planning.draws import FreePoints
from simwright.worlds.planning.path import PathAnswer, Points, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.planning.tree import SearchTree
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import Geometry


class RrtPlanner(Planner):
    """Grows a tree from the start, and with ``bidirectional`` another one from the goal."""

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """Grow until the goal, or the other tree, is reached."""
        source, target = np.array(start.xy), np.array(goal.xy)
        if math.dist(source, target) <= self._reach and self.is_free_way(space, source, target):
            return self.finish(start, np.array((source, target)), goal, space, 0)
        trees = [SearchTree(source), SearchTree(target)]
        growing = trees if self.values["bidirectional"] else trees[:1]
        draws = FreePoints(space, self.random)
        limit, until = (
            int(self.values["max_nodes_sampled"]),
            time.monotonic() + float(self.values["max_time"]),
        )
        for sampled in range(1, limit + 1):
            drawn = draws.draw()
            if drawn is None:
                return refuse("no-path", "there is nothing free to draw points from", sampled)
            for number, tree in enumerate(growing):
                new = self._extend(tree, drawn, space)
                if new is None:
                    continue
                met = self._meet(tree, new, trees[1 - number], space)
                if met is not None:
                    return self.finish(start, self._join(trees, number, met), goal, space, sampled)
            if time.monotonic() > until:
                seconds = self.values["max_time"]
                return refuse("no-path", f"no path was found in {seconds:g} s (max_time)", sampled)
        return refuse("no-path", f"no path was found with {limit} samples (max_nodes_sampled)", limit)

    @property
    def _reach(self) -> float:
        return float(self.values["max_connection_dist"])

    def _extend(
        self, tree: SearchTree, toward: Points, space: Geometry, origin: int | None = None
    ) -> int | None:
        """A new node in the direction of a point, from the nearest node or a given one; None where that is blocked."""
        near = tree.find_nearest(toward) if origin is None else origin
        here = tree.point(near).copy()
        away = toward - here
        length = math.hypot(*away)
        if length == 0.0:
            return None
        new = toward if length <= self._reach else here + away * (self._reach / length)
        if not self.is_free_way(space, here, new):
            return None
        number = tree.add(new, near, min(length, self._reach))
        if self.values["rrt_star"]:
            self._rewire(tree, number, space)
        return number

    def _rewire(self, tree: SearchTree, node: int, space: Geometry) -> None:
        """Give a new node the parent that makes its way shortest, then lead its neighbours over it where that helps."""
        point = tree.point(node).copy()
        radius = min(float(self.values["rewire_radius"]), self._reach)
        around = [other for other in tree.list_around(point, radius) if other != node]
        if not around:
            return
        lengths = [math.dist(tree.point(other), point) for other in around]
        by_cost = sorted(
            zip(around, lengths, strict=True), key=lambda pair: (tree.costs[pair[0]] + pair[1], pair[0])
        )
        for other, length in by_cost:
            if tree.costs[other] + length >= tree.costs[node]:
                break
            if self.is_free_way(space, tree.point(other), point):
                tree.move(node, other, length)
                break
        for other, length in zip(around, lengths, strict=True):
            better = tree.costs[node] + length < tree.costs[other] - 1e-12
            if better and self.is_free_way(space, point, tree.point(other)):
                tree.move(other, node, length)

    def _meet(self, tree: SearchTree, new: int, other: SearchTree, space: Geometry) -> tuple[int, int] | None:
        """The nodes of two trees between which a straight way closes the path, if there is one."""
        target = other.find_nearest(tree.point(new))
        goal = other.point(target)
        while True:
            here = tree.point(new)
            if math.dist(here, goal) <= self._reach and self.is_free_way(space, here, goal):
                return new, target
            if not self.values["rrt_connect"]:
                return None
            further = self._extend(tree, goal, space, new)
            if further is None:
                return None
            new = further

    def _join(self, trees: list[SearchTree], number: int, met: tuple[int, int]) -> Points:
        """From the start to the goal over the two nodes that meet."""
        ways = [trees[number].trace(met[0]), trees[1 - number].trace(met[1])]
        if number == 1:
            ways.reverse()
        return np.array([*ways[0], *ways[1][::-1]])
