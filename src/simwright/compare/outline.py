# SPDX-License-Identifier: Apache-2.0
"""A shape by the numbers that make it: where its corners or ends are, how large it is.

Turns that map a shape on itself (a cylinder about its axis, a box by a quarter with its edges exchanged) change
nothing here.  Meshes are told by points, triangles, bounds, area, volume and second moments of the surface, which do
not depend on the order of points or on how polygons are cut into triangles.  Where a side has a convex hull, only
the reach of both in many directions counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from simwright.compare.values import measure
from simwright.core.math3d import Array, Pose
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Heightfield,
    Mesh,
    Plane,
    Polyline,
    Sphere,
)

HULLS = ("convexHull",)
"""Approximations that leave of a mesh only how far it reaches."""
_ROUND = 1e-9


Values = dict[str, tuple[float | Array | None, float]]
"""What is measured, each with the scale it is measured against."""


@dataclass(slots=True, eq=False)
class Outline:
    """``points`` [m] are a set unless ``ordered``; ``counts`` are exact.

    ``support`` [m] tells how far the shape reaches in many directions: all there is to say of a convex hull.
    """

    kind: str
    points: Array
    ordered: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    support: Array | None = None
    is_hull: bool = False


def outline_shape(shape: Shape, pose: Pose) -> Outline:
    """The outline of a shape that stands at ``pose``."""
    geometry, scale = shape.geometry, np.abs(scaled(shape))
    match geometry:
        case Box():
            corners = np.array(list(product((-0.5, 0.5), repeat=3))) * geometry.size * scale
            return Outline("box", pose.apply(corners))
        case Sphere():
            return _outline_round(np.full(3, geometry.radius) * scale, pose)
        case Ellipsoid():
            return _outline_round(np.asarray(geometry.radii) * scale, pose)
        case Cylinder() | Capsule() | Cone():
            return _outline_axial(geometry, scale, pose)
        case Plane():
            return _outline_plane(geometry, pose)
        case Heightfield():
            return _outline_heights(geometry, scale, pose)
        case Polyline():
            return _outline_polyline(geometry, scale, pose)
        case Mesh():
            outline = _outline_mesh(geometry, scaled(shape), pose)
            if shape.collision:
                token = "" if shape.approximation is None else shape.approximation.token
                outline.is_hull = token in HULLS
                points = np.asarray(geometry.data.vertices, dtype=np.float64) * scaled(shape)
                outline.support = _measure_support(pose.apply(points))
            return outline


def _outline_round(radii: Array, pose: Pose) -> Outline:
    size = float(radii.max())
    if float(radii.max() - radii.min()) <= _ROUND * size:
        return Outline("sphere", pose.p[None], values={"radius": (size, 0.0)})
    axes = np.diag(radii)
    return Outline("ellipsoid", pose.apply(np.concatenate((axes, -axes))))


def _outline_axial(geometry: Cylinder | Capsule | Cone, scale: Array, pose: Pose) -> Outline:
    half = geometry.length / 2.0 * float(scale[2])
    ends = pose.apply(np.array(((0.0, 0.0, half), (0.0, 0.0, -half))))
    radii = sorted(float(geometry.radius * s) for s in scale[:2])
    values: Values = {"radius": (radii[1], 0.0)}
    if radii[1] - radii[0] > _ROUND * radii[1]:
        values["smaller radius"] = (radii[0], 0.0)
    return Outline(geometry.kind, ends, isinstance(geometry, Cone), values=values)


def _outline_plane(geometry: Plane, pose: Pose) -> Outline:
    normal = pose.rotation[:, 2]
    size = None if geometry.size is None else np.sort(geometry.size)
    # a plane's own point may be anywhere on it: the nearest to the origin tells which plane it is
    nearest = (normal * float(normal @ pose.p))[None]
    return Outline("plane", nearest, values={"normal": (normal, 1.0), "size": (size, 0.0)})


def _outline_heights(geometry: Heightfield, scale: Array, pose: Pose) -> Outline:
    x, y = geometry.size / 2.0 * scale[:2]
    corners = pose.apply(np.array(((-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0))))
    heights = np.asarray(geometry.heights, dtype=np.float64) * float(scale[2])
    rows, columns = heights.shape
    span = float(np.abs(heights).max()) if heights.size else 0.0
    return Outline(
        "heightfield",
        corners,
        ordered=True,
        counts={"rows": rows, "columns": columns},
        values={"heights": (heights, span)},
    )


def _outline_polyline(geometry: Polyline, scale: Array, pose: Pose) -> Outline:
    flat = np.concatenate([np.asarray(loop, dtype=np.float64) for loop in geometry.loops])
    points = np.column_stack((flat, np.zeros(len(flat)))) * scale
    height = geometry.height * float(scale[2])
    return Outline(
        "polyline",
        pose.apply(points),
        counts={"loops": len(geometry.loops)},
        values={"height": (height, 0.0)},
    )


def _outline_mesh(geometry: Mesh, scale: Array, pose: Pose) -> Outline:
    data = geometry.data
    triangles = data.triangles()
    counts = {"points": len(data.vertices), "triangles": len(triangles)}
    if not len(triangles):
        return Outline("mesh", np.zeros((0, 3)), counts=counts)
    points = pose.apply(np.asarray(data.vertices, dtype=np.float64) * scale)
    corners = points[triangles]
    used = corners.reshape(-1, 3)
    middle = used.mean(axis=0)
    corners = corners - middle
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normals = np.cross(b - a, c - a)
    areas = np.linalg.norm(normals, axis=1) / 2.0
    area = float(areas.sum())
    volume = float(np.einsum("ij,ij->i", a, normals).sum()) / 6.0
    if float(np.prod(np.sign(scale))) < 0.0:
        volume = -volume
    size = float(np.linalg.norm(np.ptp(used, axis=0)))
    total = a + b + c
    center = (areas[:, None] * total).sum(axis=0) / (3.0 * area) if area else np.zeros(3)
    weighted = areas[:, None] / 12.0
    second = sum(((weighted * x).T @ x for x in (a, b, c, total)), np.zeros((3, 3)))
    # an open or flat mesh has next to no volume, and points are as exact as they are far from their origin
    reach = max(size, float(np.abs(data.vertices * scale).max()))
    return Outline(
        "mesh",
        np.stack((used.min(axis=0), used.max(axis=0), middle + center)),
        ordered=True,
        counts=counts,
        values={
            "area": (area, size * reach),
            "volume": (abs(volume), size**2 * reach / 6.0),
            "second moments": (second, size**3 * reach / 12.0),
        },
    )


def _spread_directions(count: int) -> Array:
    """Directions all over the sphere, on a spiral."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * math.pi * (3.0 - math.sqrt(5.0))
    radius = np.sqrt(1.0 - z * z)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), z), axis=1)


_DIRECTIONS = _spread_directions(128)


def _measure_support(points: Array) -> Array:
    """How far points reach in each direction [m]."""
    if not len(points):
        return np.zeros(len(_DIRECTIONS))
    reach: Array = (points @ _DIRECTIONS.T).max(axis=0)
    return reach


def measure_outlines(a: Outline, b: Outline, length: float) -> dict[str, float]:
    """Relative errors by what differs; positions are measured against ``length`` [m]."""
    if a.kind != b.kind or a.values.keys() != b.values.keys():
        return {"kind": math.inf}
    if a.support is not None and b.support is not None and (a.is_hull or b.is_hull):
        return {"reach": float(np.abs(a.support - b.support).max()) / length}
    errors = {what: 0.0 if count == b.counts.get(what) else math.inf for what, count in a.counts.items()}
    errors["place"] = _measure_points(a, b) / length
    for what, (value, scale) in a.values.items():
        errors[what] = measure(value, b.values[what][0], scale)
    return errors


def _measure_points(a: Outline, b: Outline) -> float:
    """The largest distance of a point to its counterpart, or to the nearest one."""
    if len(a.points) != len(b.points):
        return math.inf
    if not len(a.points):
        return 0.0
    if a.ordered:
        return float(np.linalg.norm(a.points - b.points, axis=1).max())
    gaps = np.linalg.norm(a.points[:, None] - b.points[None], axis=-1)
    return max(float(gaps.min(axis=0).max()), float(gaps.min(axis=1).max()))
