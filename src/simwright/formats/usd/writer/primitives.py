# SPDX-License-Identifier: Apache-2.0
"""Cube, Sphere, Cylinder, Capsule, Cone and Plane with their sizes; what is left over is a scale."""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Plane, Sphere

UNBOUNDED = 100.0
"""Drawn edge length of a plane without end [m]."""
# in double precision: the asset was not read from floats, or their decimals were found
_EVEN = 1e-9


def is_primitive(geometry: Geometry) -> bool:
    """Has OpenUSD a type for it?"""
    return isinstance(geometry, Box | Sphere | Ellipsoid | Cylinder | Capsule | Cone | Plane)


def write_primitive(layer: LayerWriter, path: str, shape: Shape) -> None:
    """A primitive, placed and sized."""
    geometry = shape.geometry
    kind, sizes, stretch = describe_primitive(geometry, scaled(shape))
    layer.define(path, kind)
    if isinstance(geometry, Cylinder | Capsule | Cone | Plane):
        layer.set(path, "axis", "token", "Z", uniform=True)
    for name, size in sizes.items():
        layer.set(path, name, "double", size)
    layer.set(path, "extent", "float3[]", _find_extent(kind, sizes))
    layer.place(path, shape.pose, None if np.all(stretch == 1.0) else stretch.tolist())


def describe_primitive(geometry: Geometry, scale: Array) -> tuple[str, dict[str, float], Array]:
    """Type, sizes and the scale that goes onto them; as much of it as fits is in the sizes."""
    kind, sizes, stretch = _describe(geometry)
    stretch = stretch * np.abs(scale)
    even = float(np.ptp(stretch)) <= _EVEN * float(stretch.max())
    if kind in ("Sphere", "Capsule", "Cube") and even:
        sizes = {name: size * float(stretch[0]) for name, size in sizes.items()}
        return kind, sizes, np.ones(3)
    # an even cross section is still round; the length may have another scale
    if kind in ("Cylinder", "Cone") and abs(stretch[0] - stretch[1]) <= _EVEN * stretch[:2].max():
        across, along = float(stretch[0]), float(stretch[2])
        return kind, {"radius": sizes["radius"] * across, "height": sizes["height"] * along}, np.ones(3)
    if kind == "Plane":
        width, length = sizes["width"] * float(stretch[0]), sizes["length"] * float(stretch[1])
        return kind, {"width": width, "length": length}, np.ones(3)
    return kind, sizes, stretch


def _describe(geometry: Geometry) -> tuple[str, dict[str, float], Array]:
    match geometry:
        case Box():
            return "Cube", {"size": 1.0}, np.asarray(geometry.size, dtype=np.float64)
        case Sphere():
            return "Sphere", {"radius": geometry.radius}, np.ones(3)
        case Ellipsoid():
            return "Sphere", {"radius": 1.0}, np.asarray(geometry.radii, dtype=np.float64)
        case Cylinder() | Capsule() | Cone():
            sizes = {"radius": geometry.radius, "height": geometry.length}
            return type(geometry).__name__, sizes, np.ones(3)
    assert isinstance(geometry, Plane)
    width, length = (UNBOUNDED, UNBOUNDED) if geometry.size is None else geometry.size[:2]
    return "Plane", {"width": float(width), "length": float(length)}, np.ones(3)


def _find_extent(kind: str, sizes: dict[str, float]) -> Array:
    match kind:
        case "Cube":
            half = np.full(3, sizes["size"] / 2)
        case "Sphere":
            half = np.full(3, sizes["radius"])
        case "Plane":
            half = np.array((sizes["width"] / 2, sizes["length"] / 2, 0.0))
        case _:
            cap = sizes["radius"] if kind == "Capsule" else 0.0
            half = np.array((sizes["radius"], sizes["radius"], sizes["height"] / 2 + cap))
    return np.stack((-half, half))
