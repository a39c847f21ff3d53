# SPDX-License-Identifier: Apache-2.0
"""Points drawn evenly in a polygon, one after the other, though made in batches."""

from __future__ import annotations

import numpy as np
import shapely

from simwright.worlds.planning.path import Points
from simwright.worlds.world import Geometry

_BATCH = 256
_TRIES = 100
"""Batches without a single free point after which the polygon counts as empty."""


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
                self._left = list(good[::-1])
                return
