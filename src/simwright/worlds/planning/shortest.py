# SPDX-License-Identifier: Apache-2.0
"""Shortest ways in a graph of points: A* with the straight distance as its estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush

Neighbors = Sequence[Sequence[tuple[int, float]]]
"""For every node its neighbours with the length of the way there [m]."""


def find_shortest(
    neighbors: Neighbors, points: Sequence[Sequence[float]], start: int, goal: int
) -> tuple[list[int] | None, int]:
    """The numbers of the nodes of a shortest way, and how many were looked at; None where no way leads."""
    costs = {start: 0.0}
    before: dict[int, int] = {}
    done: set[int] = set()
    queue = [(math.dist(points[start], points[goal]), start)]
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
                heappush(queue, (cost + math.dist(points[other], points[goal]), other))
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
