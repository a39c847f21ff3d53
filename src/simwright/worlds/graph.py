# SPDX-License-Identifier: Apache-2.0
"""The world graph: navigation poses of rooms and surfaces, way points of hallways, and the straight ways between them.

A way is free when the whole segment is in the free space.  Ways lead within a room, along a hallway and between the two
rooms that it joins: the graph grows with the number of rooms, not with its square.  In reference mode, as in PyRoboSim,
all pairs are looked at, at points every ``step`` metres, the two ends excluded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.entities import Hallway, Room, Spawn
from simwright.worlds.free_space import update_waypoints
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

STEP = 0.025
# where a way is looked at first; most of the ways that are blocked are blocked there
_PROBES = (0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875, 0.0625, 0.9375, 0.1875, 0.8125, 0.3125, 0.6875)


@dataclass(frozen=True, slots=True, eq=False)
class GraphNode:
    """A pose and what it belongs to."""

    pose: WorldPose
    entity: Room | Hallway | Spawn


@dataclass(frozen=True, slots=True, eq=False)
class WorldGraph:
    """``edges[k]`` are the numbers of two nodes, the smaller one first; ``lengths[k]`` their distance [m]."""

    nodes: list[GraphNode]
    edges: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.float64]

    def list_neighbors(self) -> list[list[tuple[int, float]]]:
        """For every node its neighbours with their distances."""
        found: list[list[tuple[int, float]]] = [[] for _ in self.nodes]
        for (first, second), length in zip(self.edges.tolist(), self.lengths.tolist(), strict=True):
            found[first].append((second, length))
            found[second].append((first, length))
        return found


def list_graph_nodes(world: World) -> list[GraphNode]:
    """Rooms, then hallways, then surfaces, in the order of the world."""
    nodes = [GraphNode(pose, room) for room in world.rooms for pose in room.nav_poses]
    nodes += [GraphNode(pose, hallway) for hallway in world.hallways for pose in hallway.waypoints]
    nodes += [GraphNode(pose, spawn) for spawn in world.spawns for pose in spawn.nav_poses]
    return nodes


def build_graph(
    world: World, *, max_distance: float | None = None, step: float = STEP, space: Geometry | None = None
) -> WorldGraph:
    """The graph of a world; ways longer than ``max_distance`` [m] are left out.

    ``space`` is where ways may lead, the free space of the world unless given.  In reference mode the way points of
    hallways are made anew first, as PyRoboSim's planner does.
    """
    # PyRoboSim makes them with the radius of the moment, which robots may have raised since
    if world.reference:
        update_waypoints(world)
    nodes = list_graph_nodes(world)
    points = np.array([node.pose.xy for node in nodes], dtype=np.float64).reshape(-1, 2)
    # ways start at the node with the larger number: in reference mode the points that are looked at count from there
    second, first = np.tril_indices(len(nodes), -1) if world.reference else list_near_pairs(world, nodes)
    lengths = np.hypot(*(points[first] - points[second]).T)
    # 0 means no limit, as None does
    if max_distance:
        near = lengths <= max_distance
        first, second, lengths = first[near], second[near], lengths[near]
    free = find_free_ways(
        world.free_space if space is None else space,
        points[second],
        points[first],
        step=step if world.reference else None,
    )
    # sorted by nodes, so that the graph does not depend on the order of the tests
    order = np.lexsort((second[free], first[free]))
    edges = np.column_stack((first[free], second[free]))[order].astype(np.int64)
    return WorldGraph(nodes, edges, lengths[free][order])


def list_near_pairs(
    world: World, nodes: list[GraphNode]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pairs of nodes in one room with its hallways, or in two rooms with the hallway between them."""
    inside: dict[Room | Hallway, list[int]] = {part: [] for part in world.floors}
    for number, node in enumerate(nodes):
        entity = node.entity
        inside[entity.room if isinstance(entity, Spawn) else entity].append(number)
    groups: list[list[Room | Hallway]] = [[room, *room.hallways] for room in world.rooms]
    groups += [[hallway, *hallway.rooms] for hallway in world.hallways]
    found = [np.empty(0, dtype=np.int64)]
    count = max(len(nodes), 1)
    for group in groups:
        numbers = np.unique([number for part in group for number in inside[part]]).astype(np.int64)
        larger, smaller = np.tril_indices(len(numbers), -1)
        found.append(numbers[larger] * count + numbers[smaller])
    # one number for each pair: groups share rooms and hallways
    pairs = np.unique(np.concatenate(found))
    return pairs // count, pairs % count


def find_free_ways(
    space: Geometry,
    start: npt.NDArray[np.float64],
    end: npt.NDArray[np.float64],
    *,
    step: float | None = None,
) -> npt.NDArray[np.bool_]:
    """Which of the segments from ``start`` to ``end`` (n by 2 [m]) are free; with ``step`` point by point."""
    shapely.prepare(space)
    lengths = np.hypot(*(end - start).T)
    free = np.ones(len(start), dtype=bool)
    for share in _PROBES:
        left = np.flatnonzero(free)
        if step is not None:
            left, shares = _snap(left, lengths, share, step)
        else:
            shares = np.full(len(left), share)
        at = start[left] + shares[:, None] * (end[left] - start[left])
        free[left] = shapely.intersects_xy(space, at[:, 0], at[:, 1])
    left = np.flatnonzero(free)
    if step is not None:
        free[left] = [_walk(space, start[i], end[i], lengths[i], step) for i in left]
        return free
    apart = left[lengths[left] > 0.0]
    lines = shapely.linestrings(np.stack((start[apart], end[apart]), axis=1))
    free[apart] = shapely.covers(space, lines)
    same = left[lengths[left] == 0.0]
    # a line of no length is not a line to shapely
    free[same] = shapely.intersects_xy(space, start[same, 0], start[same, 1])
    return free


def _snap(left: Any, lengths: Any, share: float, step: float) -> tuple[Any, Any]:
    """The shares of the nearest points that are looked at; ways without such points are left out."""
    number = np.maximum(np.round(lengths[left] * share / step), 1.0)
    inside = number * step < lengths[left]
    left, number = left[inside], number[inside]
    return left, number * step / lengths[left]


def _walk(space: Geometry, start: Any, end: Any, length: float, step: float) -> bool:
    """Is every point of a way free, its ends excluded?"""
    # both ends excluded: PyRoboSim means to add the last point, and does not
    along = np.arange(0.0, length, step)[1:]
    angle = np.arctan2(end[1] - start[1], end[0] - start[0])
    return bool(
        shapely.intersects_xy(space, start[0] + along * np.cos(angle), start[1] + along * np.sin(angle)).all()
    )
