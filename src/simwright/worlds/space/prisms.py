# SPDX-License-Identifier: Apache-2.0
"""Convex polygons as solids: boxes, cylinders, and upright prisms of triangles.

A solid stands between two heights on a convex outline.  Its geometry is centred as the model wants it; where it stands
is a pose beside it.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import shapely

from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.model.geometry import Box, Cylinder, Mesh, MeshData
from simwright.worlds.space.convex import Geometry, Points

Solid: TypeAlias = tuple[Box | Cylinder | Mesh, Pose]
"""A geometry and where it is."""
_SQUARE = 1e-7
_ROUND = 1e-9
_DIGITS = 6
"""Corners of prisms that are meant to be equal are equal [decimals of a metre]."""
MANY_CORNERS = 32
"""A regular outline of so many corners was meant to be a circle."""
ROUND_ERROR = 5e-4
"""How far the circle may stand out of its polygon [m]; larger ones stay prisms, so that plane and space agree."""


def raise_prism(outline: Geometry, bottom: float, top: float, *, is_round: bool = True) -> Solid:
    """The solid on a convex polygon between two heights [m]."""
    points = shapely.get_coordinates(shapely.orient_polygons(outline))[:-1]
    middle, height = (bottom + top) / 2.0, top - bottom
    box = _find_box(points)
    if box is not None:
        (x, y), (length, width), yaw = box
        return Box.of(length, width, height), Pose.of((x, y, middle), quat_from_axis_angle((0, 0, 1), yaw))
    circle = _find_circle(points) if is_round else None
    if circle is not None:
        (x, y), radius = circle
        return Cylinder(radius, height), Pose.of((x, y, middle))
    low, high = points.min(axis=0), points.max(axis=0)
    x, y = (low + high) / 2.0
    corners = np.round(points - (x, y), _DIGITS) + 0.0
    return make_prism(corners, -height / 2.0, height / 2.0), Pose.of((x, y, middle))


def make_prism(points: Points, bottom: float, top: float) -> Mesh:
    """A closed mesh of triangles on a convex ring of corners, which runs to the left."""
    count = len(points)
    ring = np.arange(count, dtype=np.int32)
    following = np.roll(ring, -1)
    fan = np.column_stack((np.zeros(count - 2, dtype=np.int32), ring[1:-1], ring[2:]))
    sides = np.concatenate(
        (
            np.column_stack((ring, following, following + count)),
            np.column_stack((ring, following + count, ring + count)),
        )
    )
    triangles = np.concatenate((fan[:, ::-1], fan + count, sides)).astype(np.int32)
    vertices = np.concatenate(
        (np.column_stack((points, np.full(count, bottom))), np.column_stack((points, np.full(count, top))))
    )
    return Mesh(MeshData(vertices, triangles.reshape(-1), smooth=False), source="prism")


def _find_box(points: Points) -> tuple[Points, tuple[float, float], float] | None:
    """Centre, edge lengths [m] and heading [rad] of a rectangle; along the axes where it can be."""
    if len(points) != 4:
        return None
    edges = np.roll(points, -1, axis=0) - points
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    if np.abs(edges[0] + edges[2]).max() > _SQUARE or abs(edges[0] @ edges[1]) > _SQUARE * lengths.max():
        return None
    first = int(np.argmin([_turn(edge) for edge in edges]))
    yaw = math.atan2(edges[first][1], edges[first][0])
    yaw = 0.0 if abs(yaw) < _ROUND else yaw
    return points.mean(axis=0), (float(lengths[first]), float(lengths[(first + 1) % 4])), yaw


def _turn(edge: Points) -> float:
    """How far an edge is from +x, edges that are equally far in a fixed order."""
    angle = math.atan2(edge[1], edge[0])
    return round(abs(angle), 9) + (1e-10 if angle < 0.0 else 0.0)


def _find_circle(points: Points) -> tuple[Points, float] | None:
    """Centre and radius [m] of a regular polygon of many corners."""
    if len(points) < MANY_CORNERS:
        return None
    center = points.mean(axis=0)
    radii = np.hypot(*(points - center).T)
    edges = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    radius = float(radii.mean())
    if np.ptp(radii) > 1e-6 * radius + _SQUARE * 4 or np.ptp(edges) > 1e-5 * radius + _SQUARE * 4:
        return None
    error = radius * (1.0 - math.cos(math.pi / len(points)))
    return (center, round(radius, 6)) if error <= ROUND_ERROR else None
