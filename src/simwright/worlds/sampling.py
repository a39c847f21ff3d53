# SPDX-License-Identifier: Apache-2.0
"""Random choices: our own generator, or the sequence of PyRoboSim's, which draws one number after the other.

Ours draws in batches, so that many candidate places are looked at together.  The same file and seed give the same
world, on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import shapely

from simwright.worlds.polygons import Array, Geometry, move_many, move_polygon
from simwright.worlds.poses import WorldPose

Disc = tuple[float, float, float]
"""Centre and radius [m]."""
MAX_TRIES = 1000
POINT_TRIES = 100


class Sampler(Protocol):
    """Where random choices come from."""

    def choose(self, count: int, probabilities: Sequence[float] | None = None) -> int:
        """One of the numbers below ``count``."""

    def sample_point(self, polygon: Geometry, tries: int = POINT_TRIES) -> tuple[float, float] | None:
        """A point inside of a polygon; None when none was found."""

    def sample_yaw(self) -> float:
        """An angle from -pi to pi [rad]."""

    def sample_placement(
        self, shape: Geometry, surface: Geometry, others: Sequence[Geometry]
    ) -> WorldPose | None:
        """A pose at which ``shape`` lies on ``surface`` and apart from ``others``; None when none was found."""

    def sample_free_pose(
        self, space: Geometry, bounds: Sequence[float], margin: float, discs: Sequence[Disc] = ()
    ) -> WorldPose | None:
        """A pose in ``space``, ``margin`` [m] inside of ``bounds`` and outside of ``discs``; else None."""


class SeededSampler:
    """Our own: PCG64, candidates in batches that grow."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.Generator(np.random.PCG64(seed))

    def choose(self, count: int, probabilities: Sequence[float] | None = None) -> int:
        """One of the numbers below ``count``."""
        if probabilities is None:
            return int(self._random.integers(count))
        # scaled by the sum, which is 1 up to rounding
        edges = np.cumsum(probabilities)
        return min(int(np.searchsorted(edges, self._random.random() * edges[-1], side="right")), count - 1)

    def sample_point(self, polygon: Geometry, tries: int = POINT_TRIES) -> tuple[float, float] | None:
        """A point inside of a polygon."""
        if polygon.is_empty:
            return None
        shapely.prepare(polygon)
        for x, y in self._batches(polygon.bounds, tries):
            inside = np.flatnonzero(shapely.contains_xy(polygon, x, y))
            if len(inside):
                return float(x[inside[0]]), float(y[inside[0]])
        return None

    def sample_yaw(self) -> float:
        """An angle from -pi to pi [rad]."""
        return float(self._random.uniform(-math.pi, math.pi))

    def sample_placement(
        self, shape: Geometry, surface: Geometry, others: Sequence[Geometry]
    ) -> WorldPose | None:
        """A pose at which ``shape`` lies on ``surface`` and apart from ``others``."""
        if surface.is_empty:
            return None
        shapely.prepare(surface)
        obstacles = np.array(others, dtype=object)
        for x, y in self._batches(surface.bounds, MAX_TRIES):
            yaws = self._random.uniform(-math.pi, math.pi, len(x))
            # points first: moving an outline to each of them costs more
            good = np.flatnonzero(shapely.contains_xy(surface, x, y))
            if not len(good):
                continue
            candidates = move_many(shape, x[good], y[good], yaws[good])
            fits = shapely.contains(surface, candidates)
            if len(obstacles) and fits.any():
                fits &= ~shapely.intersects(candidates[:, None], obstacles[None, :]).any(axis=1)
            first = np.flatnonzero(fits)
            if len(first):
                index = good[first[0]]
                return WorldPose.from_yaw(float(x[index]), float(y[index]), 0.0, float(yaws[index]))
        return None

    def sample_free_pose(
        self, space: Geometry, bounds: Sequence[float], margin: float, discs: Sequence[Disc] = ()
    ) -> WorldPose | None:
        """A pose in ``space``, which is inside of the bounds by itself."""
        del bounds, margin
        for x, y, radius in discs:
            # exact where rejection would need many tries beside other robots
            space = space.difference(shapely.Point(x, y).buffer(radius))
        point = self.sample_point(space, MAX_TRIES)
        return None if point is None else WorldPose.from_yaw(*point, 0.0, self.sample_yaw())

    def _batches(self, bounds: Sequence[float], tries: int) -> Iterator[tuple[Array, Array]]:
        """Points in a box, in batches of growing size, ``tries`` in all."""
        low_x, low_y, high_x, high_y = bounds
        # most surfaces have room at the first try; batches grow for those that do not
        size = 8
        while tries > 0:
            size = min(size, tries)
            points: Array = self._random.random((2, size))
            yield low_x + (high_x - low_x) * points[0], low_y + (high_y - low_y) * points[1]
            tries -= size
            size *= 4


class ReferenceSampler:
    """PyRoboSim's draws, in its order, from NumPy's old generator."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)

    def choose(self, count: int, probabilities: Sequence[float] | None = None) -> int:
        """One of the numbers below ``count``."""
        return int(self._random.choice(count, p=probabilities))

    def sample_point(self, polygon: Geometry, tries: int = POINT_TRIES) -> tuple[float, float] | None:
        """A point inside of a polygon, out of its bounding box."""
        if polygon.is_empty:
            return None
        low_x, low_y, high_x, high_y = polygon.bounds
        for _ in range(tries):
            x, y = self._random.uniform(low_x, high_x), self._random.uniform(low_y, high_y)
            if shapely.contains_xy(polygon, x, y):
                return float(x), float(y)
        return None

    def sample_yaw(self) -> float:
        """An angle from -pi to pi [rad]."""
        return float(self._random.uniform(-math.pi, math.pi))

    def sample_placement(
        self, shape: Geometry, surface: Geometry, others: Sequence[Geometry]
    ) -> WorldPose | None:
        """A pose at which ``shape`` lies on ``surface`` and apart from ``others``."""
        for _ in range(MAX_TRIES):
            point = self.sample_point(surface)
            if point is None:
                continue
            pose = WorldPose.from_yaw(*point, 0.0, self.sample_yaw())
            polygon = move_polygon(shape, pose)
            if polygon.within(surface) and not any(polygon.intersects(other) for other in others):
                return pose
        return None

    def sample_free_pose(
        self, space: Geometry, bounds: Sequence[float], margin: float, discs: Sequence[Disc] = ()
    ) -> WorldPose | None:
        """A pose in ``space``, out of the bounds of the world."""
        low_x, low_y, high_x, high_y = bounds
        for _ in range(MAX_TRIES):
            # the very expression of PyRoboSim: another order of the operations gives other last bits
            x = (high_x - low_x - 2 * margin) * self._random.random_sample() + low_x + margin
            y = (high_y - low_y - 2 * margin) * self._random.random_sample() + low_y + margin
            yaw = 2.0 * math.pi * self._random.random_sample()
            if shapely.intersects_xy(space, x, y) and all(math.dist((x, y), d[:2]) >= d[2] for d in discs):
                return WorldPose.from_yaw(float(x), float(y), 0.0, float(yaw))
        return None
