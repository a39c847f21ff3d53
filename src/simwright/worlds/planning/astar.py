# SPDX-License-Identifier: Apache-2.0
"""A* on an occupancy grid.

With the heuristic ``euclidean`` or ``none`` the path is a shortest one on the grid.  ``manhattan`` overestimates where
diagonal steps are allowed: it looks at fewer cells and may find a longer path.  The start and the goal need not be in
the middle of a cell, nor need the middle of their cells be free: a straight free way leads to a cell nearby.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np
import shapely

from simwright.worlds.graph import find_free_ways
from simwright.worlds.grid import make_grid
from simwright.worlds.planning.path import PathAnswer, Points, refuse
from simwright.worlds.planning.planner import Planner
from simwright.worlds.polygons import Geometry, grow
from simwright.worlds.poses import WorldPose

DIAGONAL = math.sqrt(2.0)
SAVING = 2.0 - DIAGONAL
"""A diagonal step instead of two straight ones."""
_DONE = 2
# how many cells away the first and the last cell may be from the start and the goal
_REACH = 2
_REPAIRS = 64
_EDGE = 1e-9


class AStarPlanner(Planner):
    """Plans on a grid of ``grid_resolution`` [m], for a robot of ``grid_inflation_radius`` [m]."""

    def prepare(self, space: Geometry) -> None:
        """Make the grid: of cells on the very edge of the free space, rounding would decide whether ways are free."""
        resolution = float(self.values["grid_resolution"])
        self.grid = make_grid(self.world, resolution, self.radius, space=grow(space, -_EDGE))
        width, height = self.grid.shape
        # a frame of occupied cells: the search needs no test for the edge of the grid
        framed = np.ones((width + 2, height + 2), dtype=np.uint8)
        framed[1:-1, 1:-1] = self.grid.occupied
        self._occupied, self._stride = framed.tobytes(), height + 2

    @property
    def radius(self) -> float:
        """The radius of the grid [m]: not less than the robot's own."""
        return max(float(self.values["grid_inflation_radius"]), self.robot.radius)

    def find_space(self) -> Geometry:
        """The free space at the radius of the grid."""
        return self.world.known_space(self.robot, self.radius)

    def search(self, start: WorldPose, goal: WorldPose, space: Geometry) -> PathAnswer:
        """A shortest path over cells."""
        first, last = self._enter(start, space), self._enter(goal, space)
        for cell, pose, word in ((first, start, "start"), (last, goal, "goal")):
            if cell is None:
                return refuse(
                    "no-path", f"no free cell of the grid is near the {word} ({pose.x:.3g}, {pose.y:.3g})"
                )
        assert first is not None
        assert last is not None
        occupied = self._occupied
        explored = 0
        for _ in range(_REPAIRS):
            cells, count = find_cells(
                occupied,
                self._stride,
                (first, last),
                self._saving,
                diagonal=self._diagonal,
            )
            explored += count
            if cells is None:
                break
            points = self._to_points(cells)
            wrong = self._find_crossings(points, space)
            # the grid looks at points: something thinner than a cell between two of them is found here
            if not len(wrong):
                whole = self._attach_ends(start, points, goal, space)
                return self.finish(start, whole, goal, space, explored)
            if {cells[number] for number in wrong} & {first, last}:
                break
            # a cell that cannot be reached from its neighbour is taken out, and the search begins again
            blocked = bytearray(occupied)
            for number in wrong:
                blocked[cells[number]] = 1
            occupied = bytes(blocked)
        reason = "no way over free cells leads from the start to the goal"
        return refuse("no-path", reason, explored)

    @property
    def _saving(self) -> float | None:
        """What a diagonal step saves in the estimate of a way; None for no estimate.

        On the grid no way is shorter than its own steps, which are never shorter than the straight line: ``euclidean``
        finds the same path so, and looks at fewer cells.
        """
        kind = self.values["heuristic"]
        if kind == "manhattan" or (kind == "euclidean" and not self._diagonal):
            return 0.0
        return SAVING if kind == "euclidean" else None

    @property
    def _diagonal(self) -> bool:
        return bool(self.values["diagonal_motion"])

    def _to_points(self, cells: list[int]) -> Points:
        row, column = np.divmod(np.array(cells), self._stride)
        grid = self.grid
        at = np.column_stack((row - 1, column - 1)) + grid.sample
        return np.asarray(at * grid.resolution + np.array(grid.origin))

    def _enter(self, pose: WorldPose, space: Geometry) -> int | None:
        """The number of the nearest free cell that a straight free way leads to."""
        grid = self.grid
        i, j = grid.to_cell(*pose.xy)
        near = [(i + di, j + dj) for di in range(-_REACH, _REACH + 1) for dj in range(-_REACH, _REACH + 1)]
        near = [cell for cell in near if not grid.is_occupied(*cell)]
        near.sort(key=lambda cell: math.dist(grid.to_point(*cell), pose.xy))
        for cell in near:
            line = shapely.linestrings((pose.xy, grid.to_point(*cell)))
            if math.dist(grid.to_point(*cell), pose.xy) == 0.0 or shapely.covers(space, line):
                return self._number(*cell)
        return None

    def _attach_ends(self, start: WorldPose, points: Points, goal: WorldPose, space: Geometry) -> Points:
        """The path with the start and the goal themselves: for the first and the last cell where that is free."""
        ends = np.array((start.xy, goal.xy))
        if len(points) < 2:
            return ends if _is_short_cut(space, ends) else np.vstack((ends[:1], points, ends[1:]))
        if _is_short_cut(space, np.array((ends[0], points[1]))):
            points = points[1:]
        if len(points) > 1 and _is_short_cut(space, np.array((points[-2], ends[1]))):
            points = points[:-1]
        return np.vstack((ends[:1], points, ends[1:]))

    def _number(self, i: int, j: int) -> int:
        return (i + 1) * self._stride + j + 1

    def _find_crossings(self, points: Points, space: Geometry) -> list[int]:
        """The numbers of points that are only reached through something thinner than a cell."""
        if len(points) < 2:
            return []
        found: list[int] = (np.flatnonzero(~find_free_ways(space, points[:-1], points[1:])) + 1).tolist()
        return found


def _is_short_cut(space: Geometry, ends: Points) -> bool:
    return bool(shapely.covers(space, shapely.linestrings(ends)))


def find_cells(
    occupied: bytes | bytearray,
    stride: int,
    ends: tuple[int, int],
    saving: float | None,
    *,
    diagonal: bool = True,
    corners: bool = False,
) -> tuple[list[int] | None, int]:
    """The cells of a way between two, and how many were looked at; None where no way leads.

    ``occupied`` is the grid as numbers row by row of ``stride``, with a frame of occupied cells.  Steps cost 1,
    diagonal ones the root of 2; those pass corners of occupied cells only with ``corners``.  The estimate of a way is
    its rows and columns, less ``saving`` for each diagonal step it may have; None for no estimate.
    """
    # one function, above our limit of branches: the inner loop runs for every neighbour of every cell, and a call in
    # it costs as much as the rest of it
    first, last = ends
    moves = _list_moves(stride, diagonal, corners)
    goal_row, goal_column = divmod(last, stride)
    state = bytearray(occupied)
    costs = {first: 0.0}
    before = {first: first}
    queue: list[tuple[float, float, int]] = [(0.0, 0.0, first)]
    count = 0
    while queue:
        cell = heappop(queue)[2]
        # a cell may be in the queue several times: the first time it comes up is its best
        if state[cell]:
            continue
        state[cell] = _DONE
        count += 1
        if cell == last:
            return _trace(before, first, last), count
        cost = costs[cell]
        for step, length, along, across in moves:
            other = cell + step
            if state[other] or state[cell + along] == 1 or state[cell + across] == 1:
                continue
            new = cost + length
            if new < costs.get(other, math.inf):
                costs[other], before[other] = new, cell
                rest = 0.0
                if saving is not None:
                    row, column = divmod(other, stride)
                    row = row - goal_row if row > goal_row else goal_row - row
                    column = column - goal_column if column > goal_column else goal_column - column
                    less = row if row < column else column  # noqa: FURB136 - a call would cost more than the sum
                    rest = row + column - saving * less
                heappush(queue, (new + rest, rest, other))
    return None, count


def _list_moves(stride: int, diagonal: bool, corners: bool) -> list[tuple[int, float, int, int]]:
    """Steps, their lengths, and the two steps whose cells have to be free as well (the cell itself where none has)."""
    moves = [(step, 1.0, 0, 0) for step in (-stride, stride, 1, -1)]
    if diagonal:
        pairs = [(along, across) for along in (-stride, stride) for across in (1, -1)]
        moves += [(a + b, DIAGONAL, 0 if corners else a, 0 if corners else b) for a, b in pairs]
    return moves


def _trace(before: dict[int, int], first: int, last: int) -> list[int]:
    cells = [last]
    while cells[-1] != first:
        cells.append(before[cells[-1]])
    return cells[::-1]
