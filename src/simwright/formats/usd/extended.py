# SPDX-License-Identifier: Apache-2.0
"""ExtendedPhysics schemas: passive joint behaviour, contact and friction (REP-0158 4.2.2).

One row per attribute.  Angular values are per degree, lengths and masses in stage units, as in UsdPhysics.
Mimics and actuators have files of their own.  Attributes without a row (viscous friction ...) are kept as
extras by ``leftovers``.
"""

from __future__ import annotations

import math

from simwright.core.units import DEGREE
from simwright.formats.usd.bindings import Bindings
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.formats.usd.units import Units, read_bound
from simwright.model.joint import Dof, Joint, Motion

_JOINT_ROWS = (
    ("armature", "armature", "inertia"),
    ("friction", "friction", "effort"),
    ("damping", "damping", "gain"),
    ("springStiffness", "stiffness", "gain"),
    ("springReference", "spring_ref", "step"),
    ("effortLimit", "effort_limit", "effort"),
    ("velocityLimit", "velocity_limit", "step"),
    ("limitStiffness", "limit_stiffness", "gain"),
    ("limitDamping", "limit_damping", "gain"),
)
_CONTACT_ROWS = (("margin", "margin"), ("gap", "gap"))
_MATERIAL_ROWS = (
    ("friction:torsional", "torsional_friction", "length"),
    ("friction:rolling", "rolling_friction", "length"),
    ("contact:stiffness", "stiffness", "mass"),
    ("contact:damping", "damping", "mass"),
)
TRANSLATED = frozenset(
    {
        *(f"ext_physics:joint:{name}" for name, _, _ in _JOINT_ROWS),
        *(f"ext_physics:contact:{name}" for name, _ in _CONTACT_ROWS),
        *(f"ext_physics:{name}" for name, _, _ in _MATERIAL_ROWS),
        *(f"ext_physics:mimic:{name}" for name in ("enabled", "joint", "multiplier", "offset")),
    }
)
"""Attributes that arrive in the model and so are no extras."""


def read_extended(source: Source, scan: Scan, bindings: Bindings) -> None:
    """Add what the extended schemas say about joints, colliders and materials."""
    joints = {joint.path: joint for joint in source.asset.joints}
    for found in scan.joints:
        joint = joints.get(found.path)
        if joint is not None:
            _read_joint(source, found, joint)
    for shape in source.asset.shapes:
        found_shape = scan.all.get(shape.path)
        if found_shape is not None and "ExtendedPhysicsContactAPI" in found_shape.apis:
            for name, field in _CONTACT_ROWS:
                value = source.get_optional(found_shape.prim, f"ext_physics:contact:{name}")
                if value is not None:
                    setattr(shape, field, value * source.units.length)
    prims = dict(bindings.contacts())
    for material in source.asset.physics_materials:
        for name, field, unit in _MATERIAL_ROWS:
            value = source.get_optional(prims[material.name], f"ext_physics:{name}")
            if value is not None:
                setattr(material, field, value * getattr(source.units, unit))


def _read_joint(source: Source, found: Found, joint: Joint) -> None:
    for name, field, unit in _JOINT_ROWS:
        value = source.get_optional(found.prim, f"ext_physics:joint:{name}")
        if value is None:
            continue
        for dof in joint.dofs:
            bound = read_bound(value, _find_factor(source.units, dof, unit))
            setattr(dof, field, bound if math.isfinite(bound) else None)


def _find_factor(units: Units, dof: Dof, unit: str) -> float:
    angular = dof.motion is not Motion.SLIDE
    match unit:
        case "inertia":
            return units.inertia if angular else units.mass
        case "effort":
            return units.inertia if angular else units.force
        case "gain":
            return units.inertia / DEGREE if angular else units.mass
        case _:
            return DEGREE if angular else units.length
