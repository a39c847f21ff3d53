# SPDX-License-Identifier: Apache-2.0
"""Cube, Sphere, Capsule, Cylinder, Cone and Plane as model geometry, with scale folded in where it fits.

A primitive that its scale turns into another one becomes that (a stretched ball is an ellipsoid); one that has no name
keeps the scale on its shape.  Equal primitives are one object.  Ellipsoids and heightfields, which UsdPhysics does not
have, are written as meshes with a note of their numbers; the note counts only while the mesh still has that size.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, Pose, quat_from_axis_angle
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.stage_reader import StageReader, as_floats
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Plane,
    Sphere,
    box_bounds,
)

TAPERED = declare(
    "usd-geometry-tapered",
    Level.WARNING,
    "{type} {name!r} is tapered (radii {bottom:g} and {top:g}); the larger radius is used",
    hint="use a mesh",
    doc="Capsule_1 and Cylinder_1 may have two radii; the model's capsules and cylinders have one.",
)

SITE_UNEVEN = declare(
    "usd-site-uneven",
    Level.INFO,
    "site {name!r} is a {type} under uneven scale; it has the larger radius",
    hint="scale it evenly, or use a Sphere or Cube",
    doc="No capsule, cylinder or cone is elliptic, and sites have no scale of their own.",
)

TURNS = {
    "X": Pose.of(q=quat_from_axis_angle((0.0, 1.0, 0.0), math.pi / 2)),
    "Y": Pose.of(q=quat_from_axis_angle((1.0, 0.0, 0.0), -math.pi / 2)),
}
"""The rotation of Z onto the other axes."""
# a scale that single precision cannot tell from an even one
_EVEN = 1e-5

Sized = tuple[Geometry, Array | None]
ScaleTriple = tuple[float, float, float]
Read = tuple[type[Geometry], tuple[float, ...], bool]
"""The class, its numbers, and whether the scale is left over."""


_AXES = ("X", "Y", "Z")


def find_axis_turn(reader: StageReader, found: FoundPrim) -> Pose | None:
    """The rotation of local Z onto the axis of a primitive; None where there is nothing to turn."""
    if found.type not in _AXIAL:
        return None
    return TURNS.get(reader.get_choice(found, "axis", _AXES, "Z"))


def read_primitive(reader: StageReader, found: FoundPrim, scale: Array) -> Sized | None:
    """Geometry of a primitive at a scale, and the scale that is left; None if it is not a primitive."""
    read_as = _READERS.get(found.type)
    if read_as is None:
        return None
    # primitives are symmetric, so a mirrored one is the same
    x, y, z = scale.tolist()
    kind, numbers, is_scaled = read_as(reader, found, (abs(x), abs(y), abs(z)))
    geometry = reader.primitives.get((kind, numbers))
    if geometry is None:
        geometry = reader.primitives[kind, numbers] = _make(kind, numbers)
    return geometry, np.abs(scale) if is_scaled else None


def read_marker(reader: StageReader, found: FoundPrim, scale: Array) -> Geometry | None:
    """Geometry of a primitive with nothing left of its scale; None if it is not a primitive."""
    sized = read_primitive(reader, found, scale)
    if sized is None or sized[1] is None:
        return None if sized is None else sized[0]
    geometry, (x, y, z) = sized[0], sized[1].tolist()
    assert isinstance(geometry, Capsule | Cylinder | Cone)
    reader.reporter.report(SITE_UNEVEN, reader.where(found), type=found.type, name=found.name)
    return type(geometry)(geometry.radius * max(x, y), geometry.length * z)


def _make(kind: type[Geometry], numbers: tuple[float, ...]) -> Geometry:
    make: Callable[..., Geometry] = kind
    return make(np.array(numbers)) if kind in (Box, Ellipsoid, Plane) else make(*numbers)


def _length(reader: StageReader, found: FoundPrim, name: str, default: float) -> float:
    return reader.get_extent(found, name, default) * reader.units.length


def _is_even(*values: float) -> bool:
    largest = max(values)
    return largest - min(values) <= _EVEN * largest


def _read_cube(reader: StageReader, found: FoundPrim, scale: ScaleTriple) -> Read:
    size = _length(reader, found, "size", 2.0)
    return Box, (size * scale[0], size * scale[1], size * scale[2]), False


def _read_sphere(reader: StageReader, found: FoundPrim, scale: ScaleTriple) -> Read:
    radius = _length(reader, found, "radius", 1.0)
    if _is_even(*scale):
        return Sphere, (radius * scale[0],), False
    return Ellipsoid, (radius * scale[0], radius * scale[1], radius * scale[2]), False


def _read_capsule(reader: StageReader, found: FoundPrim, scale: ScaleTriple) -> Read:
    radius, height = _read_radius(reader, found, 0.5), _length(reader, found, "height", 1.0)
    if _is_even(*scale):
        return Capsule, (radius * scale[0], height * scale[2]), False
    # no primitive is a capsule with elliptic ends, so the scale stays on the shape
    return Capsule, (radius, height), True


def _read_round(reader: StageReader, found: FoundPrim, scale: ScaleTriple) -> Read:
    kind: type[Geometry] = Cone if found.type == "Cone" else Cylinder
    radius, height = _read_radius(reader, found, 1.0), _length(reader, found, "height", 2.0)
    if _is_even(scale[0], scale[1]):
        return kind, (radius * scale[0], height * scale[2]), False
    return kind, (radius, height), True


def _read_radius(reader: StageReader, found: FoundPrim, default: float) -> float:
    if not found.type.endswith("_1"):
        return _length(reader, found, "radius", default)
    bottom = _length(reader, found, "radiusBottom", default)
    top = _length(reader, found, "radiusTop", default)
    if not _is_even(bottom, top):
        where = reader.where(found)
        reader.reporter.report(TAPERED, where, type=found.type, name=found.name, bottom=bottom, top=top)
    return max(bottom, top)


def _read_plane(reader: StageReader, found: FoundPrim, scale: ScaleTriple) -> Read:
    width, length = _length(reader, found, "width", 2.0), _length(reader, found, "length", 2.0)
    return Plane, (width * scale[0], length * scale[1]), False


_READERS: dict[str, Callable[[StageReader, FoundPrim, ScaleTriple], Read]] = {
    "Cube": _read_cube,
    "Sphere": _read_sphere,
    "Capsule": _read_capsule,
    "Capsule_1": _read_capsule,
    "Cylinder": _read_round,
    "Cylinder_1": _read_round,
    "Cone": _read_round,
    "Plane": _read_plane,
}
_AXIAL = frozenset(_READERS) - {"Cube", "Sphere"}


RADII = "radii"
# the written mesh is at most 0.5 % inside the ellipsoid
_ELLIPSOID_TOLERANCE = 0.01


def read_ellipsoid(reader: StageReader, found: FoundPrim, scale: Array) -> Ellipsoid | None:
    """The noted ellipsoid of a mesh prim at a scale; None if there is none, or it is no longer true."""
    radii = np.array(as_floats(reader.note(found).get(RADII)))
    if len(radii) != 3:
        return None
    extent = reader.get(found, "extent")
    if extent is None or len(extent) != 2:
        return None
    # the extent, not the points: it is small and loads no mesh
    low, high = np.asarray(extent, dtype=np.float64)
    if not np.allclose((high - low) / 2.0, radii, rtol=_ELLIPSOID_TOLERANCE, atol=0.0):
        return None
    return Ellipsoid(radii * np.abs(scale) * reader.units.length)


_NOTED: dict[str, tuple[type[Geometry], int]] = {
    "box": (Box, 3), "sphere": (Sphere, 1), "ellipsoid": (Ellipsoid, 3), "cylinder": (Cylinder, 2),
    "capsule": (Capsule, 2), "cone": (Cone, 2), "plane": (Plane, 2),
}  # fmt: skip
"""Primitives that are noted on a mesh with texture coordinates, with the number of their sizes."""


def read_noted(reader: StageReader, found: FoundPrim, scale: Array) -> Sized | None:
    """The noted primitive of a mesh prim, and the scale that is left; None if there is none, or it is not true."""
    note = reader.note(found)
    word = str(note.get("primitive", ""))
    sizes, extent = as_floats(note.get("sizes")), reader.get(found, "extent")
    if word not in _NOTED or len(sizes) != _NOTED[word][1] or extent is None or len(extent) != 2:
        return None
    kind = _NOTED[word][0]
    bounds = box_bounds(_make(kind, tuple(sizes)))
    assert bounds is not None, "a noted plane has a size"
    low, high = np.asarray(extent, dtype=np.float64)
    size = bounds[1] - bounds[0]
    if not np.allclose(high - low, size, rtol=_ELLIPSOID_TOLERANCE, atol=1e-6 * float(size.max())):
        return None
    # mirrored primitives are the same; what cannot be stretched keeps its scale on the shape
    stretch = np.abs(scale)
    fits = kind in (Box, Ellipsoid, Plane) or _is_even(*stretch.tolist())
    factors = stretch.tolist() if fits else [1.0, 1.0, 1.0]
    numbers = tuple(n * reader.units.length * factor for n, factor in zip(sizes, factors, strict=False))
    geometry = reader.primitives.get((kind, numbers))
    if geometry is None:
        geometry = reader.primitives[kind, numbers] = _make(kind, numbers)
    return geometry, None if fits else stretch


_GRID_TOLERANCE = 1e-5


def read_terrain(reader: StageReader, found: FoundPrim, scale: Array) -> Heightfield | None:
    """The noted grid of a mesh prim at a scale; None if there is none, or it is no longer true."""
    note = reader.note(found)
    grid, heights = as_floats(note.get("grid")), np.array(as_floats(note.get("heights")))
    if (
        len(grid) != 5
        or not np.all(scale > 0.0)
        or not (np.isfinite(grid).all() and np.isfinite(heights).all())
    ):
        return None
    rows, columns, base = int(grid[0]), int(grid[1]), grid[4]
    if min(rows, columns) < 2 or rows * columns != len(heights):
        return None
    # the bottom of the mesh is the base below zero, or the lowest height
    try:
        extent = np.array(reader.get(found, "extent"), dtype=np.float64)
    except (TypeError, ValueError):
        # a damaged file has text there
        return None
    low = np.array((-grid[2] / 2.0, -grid[3] / 2.0, min(-base, heights.min())))
    high = np.array((grid[2] / 2.0, grid[3] / 2.0, heights.max()))
    if (
        extent.shape != (2, 3)
        or np.abs(extent - (low, high)).max() > _GRID_TOLERANCE * np.abs((low, high)).max()
    ):
        return None
    unit = reader.units.length
    size = np.array(grid[2:4]) * scale[:2] * unit
    return Heightfield(
        heights.reshape(rows, columns) * (scale[2] * unit), size, base * float(scale[2]) * unit
    )
