# SPDX-License-Identifier: Apache-2.0
"""The neutral schemas that extend UsdPhysics (``ext_physics:``, REP-0158 4.2.2): data only.

They belong to no solver and are asked before every solver's own.
"""

from __future__ import annotations

from simwright.resolve.table import (
    COORDINATE,
    EFFORT,
    GAIN,
    INERTIA,
    LENGTH,
    RATE,
    STIFFNESS,
    UNSET_ABOVE,
    PrimType,
    Row,
)

NAME = "ext_physics"
NAMESPACES = ("ext_physics",)

_JOINT = "ExtendedPhysicsJointAPI"

ROWS = (
    Row(
        PrimType.JOINT, "armature", ("ext_physics:joint:armature",), _JOINT, INERTIA, 0.0,
        doc="Inertia that only the motion of the joint feels.",
    ),
    Row(
        PrimType.JOINT, "friction", ("ext_physics:joint:friction",), _JOINT, EFFORT, 0.0,
        doc="Dry friction.",
    ),
    Row(
        PrimType.JOINT, "damping", ("ext_physics:joint:damping",), _JOINT, GAIN, 0.0,
        doc="Passive damping.",
    ),
    Row(
        PrimType.JOINT, "stiffness", ("ext_physics:joint:springStiffness",), _JOINT, GAIN, 0.0,
        doc="Stiffness of a passive spring.",
    ),
    Row(
        PrimType.JOINT, "spring_ref", ("ext_physics:joint:springReference",), _JOINT, COORDINATE, 0.0,
        doc="Position at which the passive spring is relaxed.",
    ),
    Row(
        PrimType.JOINT, "effort_limit", ("ext_physics:joint:effortLimit",), _JOINT, EFFORT, float("inf"),
        UNSET_ABOVE, doc="Largest effort of all actuation together; inf is none.",
    ),
    Row(
        PrimType.JOINT, "velocity_limit", ("ext_physics:joint:velocityLimit",), _JOINT, RATE, float("inf"),
        UNSET_ABOVE, doc="Largest speed; inf is none.",
    ),
    Row(
        PrimType.JOINT, "limit_ke", ("ext_physics:joint:limitStiffness",), _JOINT, GAIN,
        doc="Stiffness of the stops.",
    ),
    Row(
        PrimType.JOINT, "limit_kd", ("ext_physics:joint:limitDamping",), _JOINT, GAIN,
        doc="Damping of the stops.",
    ),
    Row(
        PrimType.SHAPE, "margin", ("ext_physics:contact:margin",), "ExtendedPhysicsContactAPI", LENGTH, 0.0,
        doc="Thickness added to the surface.",
    ),
    Row(
        PrimType.SHAPE, "gap", ("ext_physics:contact:gap",), "ExtendedPhysicsContactAPI", LENGTH,
        doc="Distance beyond the margin in which contacts are generated.",
    ),
    Row(
        PrimType.MATERIAL, "mu_torsional", ("ext_physics:friction:torsional",), "ExtendedPhysicsFrictionAPI",
        LENGTH, doc="Resistance to spinning.",
    ),
    Row(
        PrimType.MATERIAL, "mu_rolling", ("ext_physics:friction:rolling",), "ExtendedPhysicsFrictionAPI",
        LENGTH, doc="Resistance to rolling.",
    ),
    Row(
        PrimType.MATERIAL, "ke", ("ext_physics:contact:stiffness",), "ExtendedPhysicsContactMaterialAPI",
        STIFFNESS, doc="Normal force per depth.",
    ),
    Row(
        PrimType.MATERIAL, "kd", ("ext_physics:contact:damping",), "ExtendedPhysicsContactMaterialAPI",
        STIFFNESS, doc="Normal force per speed.",
    ),
    Row(
        PrimType.MATERIAL, "ka", ("ext_physics:contact:adhesion",), "ExtendedPhysicsContactMaterialAPI",
        LENGTH, doc="Distance over which parting surfaces hold together.",
    ),
)  # fmt: skip
