# SPDX-License-Identifier: Apache-2.0
"""A path: poses from a start to a goal, joined by straight lines; a planner's answer; points drawn in free space."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.floors import Ride, measure
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose

Points = npt.NDArray[np.float64]
"""n by 2 [m]."""


@dataclass(frozen=True, slots=True)
class Path:
    """At least one pose; the first and the last one as they were asked for, the others look along the way."""

    poses: tuple[WorldPose, ...]
    rides: tuple[Ride, ...] = ()
    """Lifts and stairs on the way: the pose after a ride is on another floor."""

    @property
    def length(self) -> float:
        """The way in the plane [m]; rides do not count."""
        return measure(self.poses, self.rides)

    def list_legs(self) -> list[Path]:
        """The parts between rides, one more than there are rides."""
        ends = [ride.index + 1 for ride in self.rides]
        return [Path(self.poses[a:b]) for a, b in zip([0, *ends], [*ends, len(self.poses)], strict=True)]

    @property
    def points(self) -> Points:
        """The points of the poses [m]."""
        return np.array([pose.xy for pose in self.poses], dtype=np.float64).reshape(-1, 2)


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """A path, or None and why there is none."""

    path: Path | None
    reason: str = ""
    code: str = ""
    """``start-occupied``, ``goal-occupied`` or ``no-path``; empty where there is a path."""
    explored: int = field(default=0, compare=False)
    """Cells, samples or nodes that were looked at."""

    @property
    def found(self) -> bool:
        """Is there a path?"""
        return self.path is not None


def make_path(start: WorldPose, points: Sequence[Sequence[float]] | Points, goal: WorldPose) -> Path:
    """From one pose over points [m] to another; on the way a robot looks to where it comes to be."""
    poses = [start]
    before = start.xy
    for x, y in np.asarray(points, dtype=np.float64).reshape(-1, 2).tolist():
        if math.dist(before, (x, y)) > 0.0:
            yaw = math.atan2(y - before[1], x - before[0])
            poses.append(WorldPose.from_yaw(x, y, start.z, yaw))
            before = (x, y)
    if len(poses) > 1 and poses[-1].xy == goal.xy:
        poses.pop()
    return Path((*poses, goal))


def refuse(code: str, reason: str, explored: int = 0) -> PathAnswer:
    """The answer without a path."""
    return PathAnswer(None, reason, code, explored)


_BATCH = 256
# batches without a single free point after which the polygon counts as empty
_TRIES = 100


class FreePoints:
    """A source of points of ``space``."""

    def __init__(self, space: Geometry, random: np.random.Generator) -> None:
        self._space, self._random = space, random
        self._left: list[Points] = []

    def draw(self) -> Points | None:
        """The next point; None where none can be found."""
        if not self._left:
            self._fill()
        return self._left.pop() if self._left else None

    def _fill(self) -> None:
        if self._space.is_empty:
            return
        low_x, low_y, high_x, high_y = self._space.bounds
        for _ in range(_TRIES):
            points = self._random.random((_BATCH, 2))
            points *= (high_x - low_x, high_y - low_y)
            points += (low_x, low_y)
            good = points[shapely.intersects_xy(self._space, points[:, 0], points[:, 1])]
            if len(good):
                # taken from the end: reversed, so that points come in the order in which they were drawn
                self._left = list(good[::-1])
                return


def index_points(points: Points) -> Any:
    """A k-d tree of points."""
    return importlib.import_module("scipy.spatial").cKDTree(points)  # slow to import, and without types
