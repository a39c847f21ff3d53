# SPDX-License-Identifier: Apache-2.0
"""A growing tree of points with their costs: nearest node, nodes around, change of parent."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from simwright.worlds.planning.path import Points

_TAIL = 1024
"""Newest points that are looked at one by one; the others are in a k-d tree."""


def index_points(points: Points) -> Any:
    """A k-d tree of points."""
    return importlib.import_module("scipy.spatial").cKDTree(points)  # slow to import, and without types


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
