# SPDX-License-Identifier: Apache-2.0
"""Newton's schemas (``newton:``), as of newton-usd-schemas 0.6: data only.

Joint values hold for every free axis.  The per-axis limit gains and the joint state are older spellings that
no Newton schema declares any more; they are still read.
"""

from __future__ import annotations

import math

from simwright.resolve.table import (
    COORDINATE,
    EFFORT,
    GAIN,
    INERTIA,
    LENGTH,
    NUMBER,
    PRESSURE_SLOPE,
    RATE,
    STIFFNESS,
    STOP_DAMPING,
    UNSET_ABOVE,
    UNSET_BELOW,
    PrimType,
    Row,
    ValueForm,
)

NAME = "newton"
TITLE = "Newton"
NAMESPACES = ("newton",)

_INF = math.inf
_AXES = ("linear", "angular", "transX", "transY", "transZ", "rotX", "rotY", "rotZ")
_SDF = "NewtonSDFCollisionAPI"

ROWS = (
    Row(
        PrimType.SCENE, "max_solver_iterations", ("newton:maxSolverIterations",), "NewtonSceneAPI", default=-1,
        doc="Iterations of the solver per step; -1 leaves it to the solver.",
    ),
    Row(
        PrimType.SCENE, "time_steps_per_second", ("newton:timeStepsPerSecond",), "NewtonSceneAPI", default=1000,
        doc="Simulation steps per second.",
    ),
    Row(
        PrimType.SCENE, "gravity_enabled", ("newton:gravityEnabled",), "NewtonSceneAPI", default=True,
        form=ValueForm.FLAG, doc="Does gravity act?",
    ),
    Row(
        PrimType.JOINT, "armature", ("newton:armature",), "NewtonJointAPI", INERTIA, 0.0,
        doc="Inertia that only the motion of the joint feels.",
    ),
    Row(
        PrimType.JOINT, "friction", ("newton:friction",), "NewtonJointAPI", EFFORT, 0.0,
        doc="Dry friction.",
    ),
    Row(
        PrimType.JOINT, "damping", ("newton:damping",), "NewtonJointAPI", GAIN,
        doc="Passive damping.",
    ),
    Row(
        PrimType.JOINT, "velocity_limit", ("newton:velocityLimit",), "NewtonJointAPI", RATE, _INF,
        UNSET_ABOVE, doc="Largest speed; inf is none.",
    ),
    Row(
        PrimType.JOINT, "limit_ke", ("newton:limitStiffness",), "NewtonJointAPI", GAIN,
        transform=UNSET_BELOW, doc="Stiffness of the stops of every axis; inf is a rigid stop.",
    ),
    Row(
        PrimType.JOINT, "limit_kd", ("newton:limitDamping", "newton:limitStiffness"), "NewtonJointAPI", GAIN,
        transform=STOP_DAMPING, doc="Damping of the stops of every axis.",
    ),
    *(
        Row(
            PrimType.JOINT, f"limit_{axis}_{key}", (f"newton:{axis}:{name}",), "", GAIN, axis=axis,
            doc="Gain of the stops of one axis (older spelling).",
        )
        for axis in _AXES
        for key, name in (("ke", "limitStiffness"), ("kd", "limitDamping"))
    ),
    *(
        Row(
            PrimType.JOINT, f"{axis}_{key}", (f"newton:{axis}:{key}",), "", unit, 0.0, axis=axis,
            doc="Initial state of one axis (no schema declares it).",
        )
        for axis in _AXES
        for key, unit in (("position", COORDINATE), ("velocity", RATE))
    ),
    Row(
        PrimType.SHAPE, "max_hull_vertices", ("newton:maxHullVertices",), "NewtonMeshCollisionAPI", default=-1,
        doc="Most vertices of a convex hull; -1 is no bound.",
    ),
    Row(
        PrimType.SHAPE, "margin", ("newton:contactMargin",), "NewtonCollisionAPI", LENGTH, 0.0,
        doc="Thickness added to the surface.",
    ),
    Row(
        PrimType.SHAPE, "gap", ("newton:contactGap",), "NewtonCollisionAPI", LENGTH, -_INF,
        UNSET_BELOW, doc="Distance beyond the margin in which contacts are generated.",
    ),
    *(
        Row(
            # Newton still reads them, with a deprecation warning.
            PrimType.SHAPE, key, (f"newton:contact_{key}",), "", unit,
            doc="Contact gain of one shape (older spelling; now on the material).",
        )
        for key, unit in (("ke", STIFFNESS), ("kd", STIFFNESS), ("kf", STIFFNESS), ("ka", LENGTH))
    ),
    *(
        Row(
            PrimType.SHAPE, key, (f"newton:{name}",), _SDF, unit, -_INF, UNSET_BELOW, doc=doc,
        )
        for key, name, unit, doc in (
            ("sdf_max_resolution", "sdfMaxResolution", NUMBER, "Cells of the distance field along its longest side."),
            ("sdf_narrow_band_inner", "sdfNarrowBandInner", LENGTH, "Inner end of the band that is sampled."),
            ("sdf_narrow_band_outer", "sdfNarrowBandOuter", LENGTH, "Outer end of the band that is sampled."),
            ("sdf_target_voxel_size", "sdfTargetVoxelSize", LENGTH, "Size of a cell; it beats the resolution."),
            ("sdf_padding", "sdfPadding", LENGTH, "Room around the shape."),
            ("kh", "hydroelasticStiffness", PRESSURE_SLOPE, "Pressure per depth of hydroelastic contact."),
        )
    ),
    Row(
        PrimType.SHAPE, "sdf_texture_format", ("newton:sdfTextureFormat",), _SDF, form=ValueForm.TEXT,
        doc="How the distance field is stored.",
    ),
    Row(
        PrimType.SHAPE, "hydroelastic_enabled", ("newton:hydroelasticEnabled",), _SDF, form=ValueForm.FLAG,
        doc="Is contact a pressure field?",
    ),
    Row(
        PrimType.SHAPE, "mass_model", ("newton:massModel",), "NewtonMassAPI", default="solid", form=ValueForm.TEXT,
        doc='"solid" or "shell".',
    ),
    Row(
        PrimType.SHAPE, "shell_thickness", ("newton:shellThickness",), "NewtonMassAPI", LENGTH, -_INF,
        UNSET_BELOW, doc="Thickness of a shell; -inf takes the margin.",
    ),
    Row(
        PrimType.ARTICULATION, "self_collision_enabled", ("newton:selfCollisionEnabled",),
        "NewtonArticulationRootAPI", default=True, form=ValueForm.FLAG, doc="Do the links touch each other?",
    ),
    Row(
        PrimType.MATERIAL, "mu_torsional", ("newton:torsionalFriction",), "NewtonMaterialAPI", LENGTH, 0.005,
        doc="Resistance to spinning.",
    ),
    Row(
        PrimType.MATERIAL, "mu_rolling", ("newton:rollingFriction",), "NewtonMaterialAPI", LENGTH, 0.0001,
        doc="Resistance to rolling.",
    ),
    *(
        Row(
            PrimType.MATERIAL, key, (f"newton:{name}",), "NewtonMaterialAPI", unit,
            transform=UNSET_BELOW, doc=doc,
        )
        for key, name, unit, doc in (
            ("ke", "contactStiffness", STIFFNESS, "Normal force per depth."),
            ("kd", "contactDamping", STIFFNESS, "Normal force per speed."),
            ("kf", "contactFrictionGain", STIFFNESS, "Friction force per slip speed, before it slides."),
            ("ka", "contactAdhesion", LENGTH, "Distance over which parting surfaces hold together."),
        )
    ),
)  # fmt: skip
