# SPDX-License-Identifier: Apache-2.0
"""Rapidly exploring random trees: plain, from both ends, connecting, and with rewiring (RRT*).

The budget is ``max_nodes_sampled``, the same on every machine.  ``max_time`` counts only where whoever makes the
planner asks for it (:func:`~simwright.worlds.planning.planner.make_planner`): planning then stops after that time [s].
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from simwright.worlds.planning.path import FreePoints, PathAnswer, Points, index_points, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose

# newest points that are looked at one by one; the others are in a k-d tree
_TAIL = 1024


class SearchTree:
    """Node 0 is the root.  ``costs`` are lengths of the way from it [m]."""

    def __init__(self, root: Points) -> None:
        self._points = np.empty((64, 2))
        self.parents: list[int] = []
        self.costs: list[float] = []
        self._children: list[list[int]] = []
        self._index: Any = None
        self._indexed = 0
        self.add(root, -1, 0.0)

    def __len__(self) -> int:
        return len(self.parents)

    def point(self, node: int) -> Points:
        """Where a node is [m]."""
        found: Points = self._points[node]
        return found

    def add(self, point: Points, parent: int, length: float) -> int:
        """A new node, ``length`` [m] from its parent; its number."""
        number = len(self.parents)
        if number == len(self._points):
            self._points = np.concatenate((self._points, np.empty_like(self._points)))
        self._points[number] = point
        self.parents.append(parent)
        self.costs.append(length + (self.costs[parent] if parent >= 0 else 0.0))
        self._children.append([])
        if parent >= 0:
            self._children[parent].append(number)
        # a k-d tree cannot grow: it is made anew after many points, not after each
        if number + 1 - self._indexed > _TAIL:
            self._indexed = number + 1
            self._index = index_points(self._points[: self._indexed].copy())
        return number

    def find_nearest(self, point: Points) -> int:
        """The nearest node; of two, the older one."""
        away = self._points[self._indexed : len(self)] - point
        squares = np.einsum("ij,ij->i", away, away)
        nearest = int(np.argmin(squares)) if len(squares) else -1
        if self._index is not None:
            distance, node = self._index.query(point)
            if nearest < 0 or distance * distance <= squares[nearest]:
                return int(node)
        return self._indexed + nearest

    def list_around(self, point: Points, radius: float) -> list[int]:
        """Nodes at most ``radius`` [m] away, the oldest first."""
        away = self._points[: len(self)] - point
        found: list[int] = np.flatnonzero(np.einsum("ij,ij->i", away, away) <= radius * radius).tolist()
        return found

    def move(self, node: int, parent: int, length: float) -> None:
        """Hang a node under another parent; the costs behind it follow."""
        # costs of all descendants change by the same gain
        self._children[self.parents[node]].remove(node)
        self._children[parent].append(node)
        self.parents[node] = parent
        gain = self.costs[parent] + length - self.costs[node]
        stack = [node]
        while stack:
            number = stack.pop()
            self.costs[number] += gain
            stack.extend(self._children[number])

    def trace(self, node: int) -> list[Points]:
        """The points from the root to a node."""
        points = []
        while node >= 0:
            points.append(self._points[node].copy())
            node = self.parents[node]
        return points[::-1]


class RrtPlanner(Planner):
    """Grows a tree from the start, and with ``bidirectional`` another one from the goal."""

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """Grow until the goal, or the other tree, is reached."""
        source, target = np.array(start.xy), np.array(goal.xy)
        if math.dist(source, target) <= self._reach and self.is_free_way(space, source, target):
            return self.finish(start, np.array((source, target)), goal, space, 0)
        # the second is the goal alone unless both grow
        trees = [SearchTree(source), SearchTree(target)]
        growing = trees if self.values["bidirectional"] else trees[:1]
        draws = FreePoints(space, self.random)
        limit, seconds = int(self.values["max_nodes_sampled"]), self.values["max_time"]
        until = math.inf if seconds is None else time.monotonic() + float(seconds)
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
            if seconds is not None and time.monotonic() > until:
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
        # no way in the tree is longer than max_connection_dist
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
            # the margin keeps two nodes from rewiring each other for ever by rounding
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
