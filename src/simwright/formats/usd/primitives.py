# SPDX-License-Identifier: Apache-2.0
"""Cube, Sphere, Capsule, Cylinder, Cone and Plane as model geometry, with scale folded in where it fits.

A primitive that its scale turns into another one becomes that (a stretched ball is an ellipsoid); one that
has no name keeps the scale on its shape.  Equal primitives are one object.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, Pose, quat_from_axis_angle, vec3
from simwright.formats.usd.scan import Found
from simwright.formats.usd.source import Source
from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Plane, Sphere

TAPERED = declare(
    "usd-geometry-tapered",
    Level.WARNING,
    "{type} {name!r} is tapered (radii {bottom:g} and {top:g}); the larger radius is used",
    hint="use a mesh",
    doc="Capsule_1 and Cylinder_1 may have two radii; the model's capsules and cylinders have one.",
)

_TURNS = {
    "X": quat_from_axis_angle((0.0, 1.0, 0.0), math.pi / 2),
    "Y": quat_from_axis_angle((1.0, 0.0, 0.0), -math.pi / 2),
}
_EVEN = 1e-5

Sized = tuple[Geometry, Array | None]


def find_axis_turn(source: Source, found: Found) -> Pose | None:
    """The rotation of local Z onto the axis of a primitive; None where there is nothing to turn."""
    if found.type not in _AXIAL:
        return None
    turn = _TURNS.get(source.get_text(found.prim, "axis", "Z"))
    return None if turn is None else Pose(np.zeros(3), turn)


def read_primitive(source: Source, found: Found, scale: Array) -> Sized | None:
    """Geometry of a primitive at a scale, and the scale that is left; None if it is no primitive."""
    reader = _READERS.get(found.type)
    if reader is None:
        return None
    geometry, left = reader(source, found, np.abs(scale))
    return source.primitives.setdefault(_key(geometry), geometry), left


def _key(geometry: Geometry) -> tuple[Any, ...]:
    fields = (getattr(geometry, name) for name in geometry.__slots__)
    return (geometry.kind, *(tuple(v) if isinstance(v, np.ndarray) else v for v in fields))


def _length(source: Source, found: Found, name: str, default: float) -> float:
    return abs(source.get_number(found.prim, name, default)) * source.units.length


def _is_even(*values: float) -> bool:
    return max(values) - min(values) <= _EVEN * max(values)


def _read_cube(source: Source, found: Found, scale: Array) -> Sized:
    return Box(_length(source, found, "size", 2.0) * scale), None


def _read_sphere(source: Source, found: Found, scale: Array) -> Sized:
    radius = _length(source, found, "radius", 1.0)
    if _is_even(*scale):
        return Sphere(radius * float(scale[0])), None
    return Ellipsoid(radius * scale), None


def _read_capsule(source: Source, found: Found, scale: Array) -> Sized:
    radius, height = _read_radius(source, found, 0.5), _length(source, found, "height", 1.0)
    if _is_even(*scale):
        return Capsule(radius * float(scale[0]), height * float(scale[2])), None
    return Capsule(radius, height), scale


def _read_round(source: Source, found: Found, scale: Array) -> Sized:
    kind: Callable[[float, float], Geometry] = Cone if found.type == "Cone" else Cylinder
    radius, height = _read_radius(source, found, 1.0), _length(source, found, "height", 2.0)
    if _is_even(float(scale[0]), float(scale[1])):
        return kind(radius * float(scale[0]), height * float(scale[2])), None
    return kind(radius, height), scale


def _read_radius(source: Source, found: Found, default: float) -> float:
    if not found.type.endswith("_1"):
        return _length(source, found, "radius", default)
    bottom = _length(source, found, "radiusBottom", default)
    top = _length(source, found, "radiusTop", default)
    if not _is_even(bottom, top):
        source.reporter.report(
            TAPERED,
            source.where(found.prim),
            type=found.type,
            name=found.prim.GetName(),
            bottom=bottom,
            top=top,
        )
    return max(bottom, top)


def _read_plane(source: Source, found: Found, scale: Array) -> Sized:
    width, length = _length(source, found, "width", 2.0), _length(source, found, "length", 2.0)
    return Plane(vec3(width * float(scale[0]), length * float(scale[1]), 0.0)[:2]), None


_READERS: dict[str, Callable[[Source, Found, Array], Sized]] = {
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
