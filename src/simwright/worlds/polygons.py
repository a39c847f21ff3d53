# SPDX-License-Identifier: Apache-2.0
"""Polygons of the plane: moved, grown, their edges, and which of many may meet another one.

Everything here is plain shapely and knows nothing of worlds.  Lengths are metres, angles radians.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.poses import WorldPose

Geometry: TypeAlias = Any
"""A shapely Polygon or MultiPolygon, possibly empty (shapely has no types of its own)."""
Array: TypeAlias = npt.NDArray[np.float64]
# sines and cosines below this are zero, so that quarter turns are exact
_SMALL_COSINE = 2.5e-16


def move_polygon(polygon: Geometry, pose: WorldPose) -> Geometry:
    """The polygon turned by the yaw of a pose and moved to its point."""
    if pose.yaw == 0.0:
        if pose.x == 0.0 and pose.y == 0.0:
            return polygon
        return shapely.transform(polygon, lambda points: np.add(points, pose.xy))
    # moved first and turned about its new place afterwards, in the order of PyRoboSim: the other way round the last
    # bits of the corners differ, and with them whether two polygons that touch count as touching
    cosine, sine = _turn(pose.yaw)
    x, y = pose.x, pose.y
    shift_x, shift_y = x - x * cosine + y * sine, y - x * sine - y * cosine

    def move(points: Array) -> Array:
        along, across = points[:, 0] + x, points[:, 1] + y
        return np.column_stack(
            (cosine * along - sine * across + shift_x, sine * along + cosine * across + shift_y)
        )

    return shapely.transform(polygon, move)


def move_many(polygon: Geometry, x: Array, y: Array, yaw: Array) -> npt.NDArray[Any]:
    """A polygon without holes at many poses."""
    points = shapely.get_coordinates(polygon)
    cosine, sine = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    moved = np.empty((len(x), len(points), 2))
    moved[:, :, 0] = cosine * points[:, 0] - sine * points[:, 1] + x[:, None]
    moved[:, :, 1] = sine * points[:, 0] + cosine * points[:, 1] + y[:, None]
    result: npt.NDArray[Any] = shapely.polygons(moved)
    return result


def _turn(yaw: float) -> tuple[float, float]:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return (
        0.0 if abs(cosine) < _SMALL_COSINE else cosine,
        0.0 if abs(sine) < _SMALL_COSINE else sine,
    )


class Edges(NamedTuple):
    """Straight pieces of outlines: ``starts`` and ``ends``, n by 2 [m]."""

    starts: Array
    ends: Array


def list_edges(space: Geometry) -> Edges:
    """All edges of a polygon, its holes included."""
    rings = shapely.get_rings(shapely.get_parts(space))
    points, index = shapely.get_coordinates(rings, return_index=True)
    same = index[1:] == index[:-1]
    return Edges(points[:-1][same], points[1:][same])


def grow(polygon: Geometry, distance: float) -> Geometry:
    """The polygon grown (or with a negative ``distance`` [m] shrunk), corners kept sharp."""
    return polygon.buffer(distance, cap_style="flat", join_style="mitre")


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
