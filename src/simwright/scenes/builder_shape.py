# SPDX-License-Identifier: Apache-2.0
"""Shapes as type and three numbers: what they weigh, how far they reach, which model geometry they are."""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array, vec3
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Plane,
    Sphere,
    box_bounds,
)
from simwright.model.inertia import Inertial
from simwright.model.moments import compute_moments
from simwright.model.shell import measure_surface, measure_wall
from simwright.runtime.kinds import ShapeType

UNBOUNDED = 1e6
"""Reach of what has no end [m]."""


def describe_geometry(geometry: Geometry) -> tuple[ShapeType, tuple[float, float, float]] | None:
    """Type and size of a primitive; None for meshes and what else is not a primitive."""
    match geometry:
        case Box():
            x, y, z = (float(v) / 2 for v in geometry.size)
            return ShapeType.BOX, (x, y, z)
        case Sphere():
            return ShapeType.SPHERE, (float(geometry.radius), 0.0, 0.0)
        case Ellipsoid():
            x, y, z = (float(v) for v in geometry.radii)
            return ShapeType.ELLIPSOID, (x, y, z)
        case Capsule():
            return ShapeType.CAPSULE, (float(geometry.radius), float(geometry.length) / 2, 0.0)
        case Cylinder():
            return ShapeType.CYLINDER, (float(geometry.radius), float(geometry.length) / 2, 0.0)
        case Cone():
            return ShapeType.CONE, (float(geometry.radius), float(geometry.length) / 2, 0.0)
        case Plane():
            # Newton writes a plane without end as one of no size
            width, length = (0.0, 0.0) if geometry.size is None else (float(v) for v in geometry.size[:2])
            return ShapeType.PLANE, (width, length, 0.0)
        case _:
            return None


def make_geometry(kind: ShapeType, scale: tuple[float, float, float], source: Geometry | None) -> Geometry:
    """The model geometry of a shape, without its scale where it has a ``source``."""
    a, b, c = scale
    match kind:
        case ShapeType.BOX:
            return Box.of(2 * a, 2 * b, 2 * c)
        case ShapeType.SPHERE:
            return Sphere(a)
        case ShapeType.ELLIPSOID:
            return Ellipsoid(vec3(a, b, c))
        case ShapeType.CAPSULE:
            return Capsule(a, 2 * b)
        case ShapeType.CYLINDER:
            return Cylinder(a, 2 * b)
        case ShapeType.CONE:
            return Cone(a, 2 * b)
        case ShapeType.PLANE:
            # zero in either direction is no end, see describe_geometry
            return Plane(np.array((a, b)) if a > 0.0 and b > 0.0 else None)
        case _:
            assert source is not None, "a mesh has its geometry"
            return source


def weigh_shape(
    kind: ShapeType,
    scale: tuple[float, float, float],
    source: Geometry | None,
    *,
    density: float,
    thickness: float | None = None,
) -> Inertial:
    """Mass of a solid, or of a wall of ``thickness`` [m] (zero: nothing); in the shape's frame."""
    geometry = make_geometry(kind, scale, source)
    factors = vec3(scale) if source is not None else None
    if thickness is None:
        return compute_moments(geometry, factors).inertial(density)
    wall = (
        measure_wall(geometry, factors, thickness) if thickness > 0.0 else measure_surface(geometry, factors)
    )
    # an open mesh has no inside: it weighs as a solid would rather than nothing
    if wall is None:
        return compute_moments(geometry, factors).inertial(density)
    return wall.inertial(density if thickness > 0.0 else 0.0)


def measure_radius(kind: ShapeType, scale: tuple[float, float, float], source: Geometry | None) -> float:
    """Radius of a ball around the shape's origin that holds it [m]."""
    a, b, _ = scale
    match kind:
        case ShapeType.SPHERE:
            return a
        case ShapeType.BOX:
            return float(np.linalg.norm(scale))
        case ShapeType.ELLIPSOID:
            return max(scale)
        case ShapeType.CAPSULE | ShapeType.CYLINDER | ShapeType.CONE:
            # a ball that surely holds it; Newton uses the same bound, so contact searches agree
            return a + b
        case ShapeType.PLANE:
            return float(np.linalg.norm(scale)) if a > 0.0 and b > 0.0 else UNBOUNDED
        case _:
            lower, upper = measure_bounds(kind, scale, source)
            return float(np.linalg.norm(np.maximum(np.abs(lower), np.abs(upper))))


def measure_bounds(
    kind: ShapeType, scale: tuple[float, float, float], source: Geometry | None
) -> tuple[Array, Array]:
    """Corners of a box around the shape, in its frame [m]."""
    bounds = box_bounds(make_geometry(kind, scale, source))
    if bounds is None:
        # an empty mesh has no extent; a plane without end reaches everywhere
        reach = np.full(3, UNBOUNDED if kind is ShapeType.PLANE else 0.0)
        return -reach, reach
    if source is None:
        return bounds
    # a negative factor mirrors: corners change sides
    corners = np.stack(bounds) * vec3(scale)
    return corners.min(axis=0), corners.max(axis=0)
