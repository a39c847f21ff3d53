# SPDX-License-Identifier: Apache-2.0
"""Meshes of what a format has no geometry for: ellipsoids, cones, stretched cylinders, plates, terrain, outlines."""

from __future__ import annotations

import math

import numpy as np

from simwright.core.math3d import Array
from simwright.model.geometry import (
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    Plane,
    Polyline,
    Sphere,
)
from simwright.model.moments import heightfield_solid, outline_solid

_SIDES = 64
_RINGS = 16


def make_mesh(geometry: Geometry) -> Mesh | None:
    """A closed mesh (an open one for a plate) with its points on the surface; None for what has no end."""
    match geometry:
        case Sphere():
            return _revolve(_arc(geometry.radius, -1.0, 1.0))
        case Ellipsoid():
            ball = _revolve(_arc(1.0, -1.0, 1.0)).data
            return Mesh.of(ball.vertices * geometry.radii, ball.triangles())
        case Cylinder():
            return _revolve([(geometry.radius, -geometry.length / 2), (geometry.radius, geometry.length / 2)])
        case Cone():
            return _revolve([(geometry.radius, -geometry.length / 2), (0.0, geometry.length / 2)])
        case Capsule():
            half = geometry.length / 2
            low = [(r, z - half) for r, z in _arc(geometry.radius, -1.0, 0.0)]
            return _revolve([*low, *((r, z + half) for r, z in _arc(geometry.radius, 0.0, 1.0))])
        case Plane():
            return None if geometry.size is None else _make_plate(geometry.size)
        case Heightfield():
            return Mesh.of(*heightfield_solid(geometry))
        case Polyline():
            return _extrude(geometry)
    return None


def _arc(radius: float, start: float, end: float) -> list[tuple[float, float]]:
    """A meridian as distances from the axis and heights; ``start`` and ``end`` in quarter turns."""
    steps = round(_RINGS * (end - start))
    angles = [math.pi / 2 * (start + (end - start) * step / steps) for step in range(steps + 1)]
    return [(0.0 if abs(a) == math.pi / 2 else radius * math.cos(a), radius * math.sin(a)) for a in angles]


def _revolve(profile: list[tuple[float, float]]) -> Mesh:
    """A profile from the bottom up, turned about Z and closed by its ends."""
    # A profile that does not begin on the axis is closed by a disc.
    if profile[0][0]:
        profile = [(0.0, profile[0][1]), *profile]
    if profile[-1][0]:
        profile = [*profile, (0.0, profile[-1][1])]
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    circle = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    rings = [np.column_stack((r * circle, np.full(_SIDES, z))) for r, z in profile[1:-1]]
    vertices = np.concatenate((*rings, [(0.0, 0.0, profile[0][1]), (0.0, 0.0, profile[-1][1])]))
    one, two = np.arange(_SIDES), np.roll(np.arange(_SIDES), -1)
    bottom, top, last = len(vertices) - 2, len(vertices) - 1, (len(rings) - 1) * _SIDES
    triangles = [np.column_stack((two, one, np.full(_SIDES, bottom)))]
    for ring in range(len(rings) - 1):
        low, high = ring * _SIDES, (ring + 1) * _SIDES
        triangles += [np.column_stack((low + one, low + two, high + two))]
        triangles += [np.column_stack((low + one, high + two, high + one))]
    triangles.append(np.column_stack((last + one, last + two, np.full(_SIDES, top))))
    return Mesh.of(vertices, np.concatenate(triangles))


def _extrude(outline: Polyline) -> Mesh | None:
    solid = outline_solid(outline)
    return None if solid is None else Mesh.of(*solid)


def _make_plate(size: Array) -> Mesh:
    x, y = float(size[0]) / 2, float(size[1]) / 2
    return Mesh.of([(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)], [(0, 1, 2), (0, 2, 3)])
