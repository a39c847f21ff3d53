# SPDX-License-Identifier: Apache-2.0
"""A* on an occupancy grid.

With the heuristic ``euclidean`` or ``none`` the path is a shortest one on the grid.  ``manhattan`` overestimates where
diagonal steps are allowed: it looks at fewer cells and may find a longer path.  The start and the goal need not be in
the middle of a cell, nor need the middle of their cells be free: a straight free way leads to a cell nearby.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np
import shapely

from simwright.worlds.graph import find_free_ways
from simwright.worlds.grid import make_grid
from simwright.worlds.planning.path import PathAnswer, Points, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.poses import Pose
from simwright.worlds.world import Geometry, grow

DIAGONAL = math.sqrt(2.0)
_REACH = 2
"""How many cells away the first and the last cell may be from the start and the goal."""
_REPAIRS = 64
_EDGE = 1e-9


class AStarPlanner(Planner):
    """Plans on a grid of ``grid_resolution`` [m], for a robot of ``grid_inflation_radius`` [m]."""

    def prepare(self, space: Geometry) -> None:
        """Make the grid: of cells on the very edge of the free space, rounding would decide whether ways are free."""
        resolution = float(self.values["grid_resolution"])
        inner = space if self.world.reference else grow(space, -_EDGE)
        self.grid = make_grid(self.world, resolution, self.radius, space=inner)
        width, height = self.grid.shape
        framed = np.ones((width + 2, height + 2), dtype=np.uint8)
        framed[1:-1, 1:-1] = self.grid.occupied
        self._occupied, self._stride = framed.tobytes(), height + 2

    @property
    def radius(self) -> float:
        """The radius of the grid [m]: not less than the robot's own."""
        stated = float(self.values["grid_inflation_radius"])
        return stated if self.world.reference else max(stated, self.robot.radius)

    def find_space(self) -> Geometry:
        """The free space at the radius of the grid."""
        return self.world.known_space(self.robot, self.radius)

    def search(self, start: Pose, goal: Pose, space: Geometry) -> PathAnswer:
        """A shortest path over cells."""
        first, last = self._enter(start, space), self._enter(goal, space)
        for cell, pose, word in ((first, start, "start"), (last, goal, "goal")):
            if cell is None:
                return refuse(
                    "no-path", f"no free cell of the grid is near the {word} ({pose.x:.3g}, {pose.y:.3g})"
                )
        assert first is not None
        assert last is not None
        occupied = bytearray(self._occupied)
        explored = 0
        for _ in range(_REPAIRS):
            cells, count = find_cells(
                occupied,
                self._stride,
                (first, last),
                self._estimate(last),
                diagonal=self._diagonal,
                corners=self._corners,
            )
            explored += count
            if cells is None:
                break
            points = self._to_points(cells)
            wrong = self._find_crossings(points, space)
            if not len(wrong):
                whole = self._attach_ends(start, points, goal, space)
                return self.finish(start, whole, goal, space, explored)
            if {cells[number] for number in wrong} & {first, last}:
                break
            for number in wrong:
                occupied[cells[number]] = 1
        reason = "no way over free cells leads from the start to the goal"
        return refuse("no-path", reason, explored)

    def _estimate(self, last: int) -> Callable[[int], float] | None:
        """What a cell is at least away from the last one, in cells.

        On the grid no way is shorter than its own straight steps, which are never shorter than the straight line: the
        same path, and fewer cells to look at.
        """
        kind, stride = self.values["heuristic"], self._stride
        row, column = divmod(last, stride)
        if kind == "manhattan" or (kind == "euclidean" and not self._diagonal):
            return lambda cell: abs(cell // stride - row) + abs(cell % stride - column)
        if kind == "euclidean":
            return lambda cell: _count_steps(abs(cell // stride - row), abs(cell % stride - column))
        return None

    @property
    def _diagonal(self) -> bool:
        return bool(self.values["diagonal_motion"])

    @property
    def _corners(self) -> bool:
        """May diagonal steps pass the corner of an occupied cell?  PyRoboSim's do."""
        return self.world.reference

    def _to_points(self, cells: list[int]) -> Points:
        row, column = np.divmod(np.array(cells), self._stride)
        grid = self.grid
        at = np.column_stack((row - 1, column - 1)) + grid.sample
        return np.asarray(at * grid.resolution + np.array(grid.origin))

    def _enter(self, pose: Pose, space: Geometry) -> int | None:
        """The number of the nearest free cell that a straight free way leads to."""
        grid = self.grid
        i, j = grid.to_cell(*pose.xy)
        if self.world.reference:
            return None if grid.is_occupied(i, j) else self._number(i, j)
        near = [(i + di, j + dj) for di in range(-_REACH, _REACH + 1) for dj in range(-_REACH, _REACH + 1)]
        near = [cell for cell in near if not grid.is_occupied(*cell)]
        near.sort(key=lambda cell: math.dist(grid.to_point(*cell), pose.xy))
        for cell in near:
            line = shapely.linestrings((pose.xy, grid.to_point(*cell)))
            if math.dist(grid.to_point(*cell), pose.xy) == 0.0 or shapely.covers(space, line):
                return self._number(*cell)
        return None

    def _attach_ends(self, start: Pose, points: Points, goal: Pose, space: Geometry) -> Points:
        """The path with the start and the goal themselves: for the first and the last cell where that is free."""
        ends = np.array((start.xy, goal.xy))
        if len(points) < 2:
            return ends if self._is_short_cut(space, ends) else np.vstack((ends[:1], points, ends[1:]))
        if self._is_short_cut(space, np.array((ends[0], points[1]))):
            points = points[1:]
        if len(points) > 1 and self._is_short_cut(space, np.array((points[-2], ends[1]))):
            points = points[:-1]
        return np.vstack((ends[:1], points, ends[1:]))

    def _is_short_cut(self, space: Geometry, ends: Points) -> bool:
        return self.world.reference or bool(shapely.covers(space, shapely.linestrings(ends)))

    def _number(self, i: int, j: int) -> int:
        return (i + 1) * self._stride + j + 1

    def _find_crossings(self, points: Points, space: Geometry) -> list[int]:
        """The numbers of points that are only reached through something thinner than a cell."""
        if self.world.reference or len(points) < 2:
            return []
        found: list[int] = (np.flatnonzero(~find_free_ways(space, points[:-1], points[1:])) + 1).tolist()
        return found


def find_cells(
    occupied: bytes | bytearray,
    stride: int,
    ends: tuple[int, int],
    estimate: Callable[[int], float] | None,
    *,
    diagonal: bool = True,
    corners: bool = False,
) -> tuple[list[int] | None, int]:
    """The cells of a way between two, and how many were looked at; None where no way leads.

    ``occupied`` is the grid as numbers row by row of ``stride``, with a frame of occupied cells.  Steps cost 1,
    diagonal ones the root of 2; those pass corners of occupied cells only with ``corners``.
    """
    first, last = ends
    straight = ((-stride, 1.0), (stride, 1.0), (1, 1.0), (-1, 1.0))
    slanted = tuple((a + b, a, b) for a in (-stride, stride) for b in (1, -1)) if diagonal else ()
    costs = {first: 0.0}
    before = {first: first}
    done = bytearray(len(occupied))
    queue: list[Any] = [(0.0, first)]
    count = 0
    while queue:
        cell = heappop(queue)[1]
        if done[cell]:
            continue
        done[cell] = 1
        count += 1
        if cell == last:
            return _trace(before, first, last), count
        cost = costs[cell]
        for step, length in straight:
            other = cell + step
            if not (occupied[other] or done[other]):
                new = cost + length
                if new < costs.get(other, math.inf):
                    costs[other], before[other] = new, cell
                    heappush(queue, (new if estimate is None else new + estimate(other), other))
        for step, along, across in slanted:
            other = cell + step
            if not (occupied[other] or done[other]) and (
                corners or not (occupied[cell + along] or occupied[cell + across])
            ):
                new = cost + DIAGONAL
                if new < costs.get(other, math.inf):
                    costs[other], before[other] = new, cell
                    heappush(queue, (new if estimate is None else new + estimate(other), other))
    return None, count


def _count_steps(rows: int, columns: int) -> float:
    """Cost of the shortest way over free cells, diagonal steps allowed."""
    return rows + columns - (2.0 - DIAGONAL) * min(rows, columns)


def _trace(before: dict[int, int], first: int, last: int) -> list[int]:
    cells = [last]
    while cells[-1] != first:
        cells.append(before[cells[-1]])
    return cells[::-1]
