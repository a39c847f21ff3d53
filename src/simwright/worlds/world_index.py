# SPDX-License-Identifier: Apache-2.0
"""Which polygons may meet another one, while polygons are still being added."""

from __future__ import annotations

from typing import Any

import numpy as np


class BoundsIndex:
    """Boxes around polygons with what they belong to, in the order of adding."""

    def __init__(self) -> None:
        self._boxes = np.empty((64, 4))
        self._count = 0
        self._polygons: list[Any] = []
        self._owners: list[Any] = []

    def add(self, polygon: Any, owner: Any) -> None:
        """Add a polygon."""
        if self._count == len(self._boxes):
            self._boxes = np.concatenate((self._boxes, np.empty_like(self._boxes)))
        self._boxes[self._count] = polygon.bounds
        self._count += 1
        self._polygons.append(polygon)
        self._owners.append(owner)

    def find_meeting(self, polygon: Any, ignore: tuple[Any, ...] = ()) -> Any:
        """The owner of the first polygon that the given one touches or overlaps; None if there is none."""
        low_x, low_y, high_x, high_y = polygon.bounds
        boxes = self._boxes[: self._count]
        near = (
            (boxes[:, 0] <= high_x)
            & (boxes[:, 2] >= low_x)
            & (boxes[:, 1] <= high_y)
            & (boxes[:, 3] >= low_y)
        )
        for index in np.flatnonzero(near):
            owner = self._owners[index]
            if owner not in ignore and polygon.intersects(self._polygons[index]):
                return owner
        return None
