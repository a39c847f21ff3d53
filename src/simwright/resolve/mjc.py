# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's schemas (``mjc:``): data only.

Angular gains are per radian here.  ``mjc:solreflimit`` has no row: it is not stiffness but a time constant,
and stays with the solver's own attributes.
"""

from __future__ import annotations

from simwright.resolve.table import (
    COMPENSATION,
    COMPILER_COORDINATE,
    EFFORT,
    EFFORT_RANGE,
    GAIN_RADIAN,
    INERTIA,
    LENGTH,
    NUMBER,
    PERIOD,
    SHELL,
    SOLREF_DAMPING,
    SOLREF_STIFFNESS,
    PrimType,
    Row,
    ValueForm,
)

NAME = "mjc"
TITLE = "MuJoCo"
NAMESPACES = ("mjc",)

ROWS = (
    Row(
        PrimType.SCENE, "max_solver_iterations", ("mjc:option:iterations",), "MjcSceneAPI", default=100,
        doc="Most iterations of the constraint solver.",
    ),
    Row(
        PrimType.SCENE, "time_steps_per_second", ("mjc:option:timestep",), "MjcSceneAPI", default=0.002,
        transform=PERIOD, doc="Simulation steps per second, from the step [s].",
    ),
    Row(
        PrimType.SCENE, "gravity_enabled", ("mjc:flag:gravity",), "MjcSceneAPI", default=True, form=ValueForm.FLAG,
        doc="Does gravity act?",
    ),
    Row(
        PrimType.JOINT, "armature", ("mjc:armature",), "MjcJointAPI", INERTIA, 0.0,
        doc="Inertia that only the motion of the joint feels.",
    ),
    Row(
        PrimType.JOINT, "damping", ("mjc:damping",), "MjcJointAPI", GAIN_RADIAN,
        doc="Passive damping, per radian.",
    ),
    Row(
        PrimType.JOINT, "friction", ("mjc:frictionloss",), "MjcJointAPI", EFFORT, 0.0,
        doc="Dry friction.",
    ),
    Row(
        PrimType.JOINT, "stiffness", ("mjc:stiffness",), "MjcJointAPI", GAIN_RADIAN, 0.0,
        doc="Stiffness of a passive spring, per radian.",
    ),
    Row(
        PrimType.JOINT, "spring_ref", ("mjc:springref",), "MjcJointAPI", COMPILER_COORDINATE, 0.0,
        doc="Position at which the passive spring is relaxed.",
    ),
    Row(
        PrimType.JOINT, "ref", ("mjc:ref",), "MjcJointAPI", COMPILER_COORDINATE, 0.0,
        doc="MuJoCo's coordinate where the joint frames meet; limits and springs count from it.",
    ),
    Row(
        PrimType.JOINT, "effort_limit",
        ("mjc:actuatorfrcrange:min", "mjc:actuatorfrcrange:max", "mjc:actuatorfrclimited"), "MjcJointAPI",
        EFFORT, transform=EFFORT_RANGE, doc="Largest effort of all actuators together.",
    ),
    Row(
        PrimType.BODY, "gravity_scale", ("mjc:gravcomp",), "", transform=COMPENSATION,
        doc="Share of gravity that the body feels.",
    ),
    Row(
        PrimType.SHAPE, "max_hull_vertices", ("mjc:maxhullvert",), "MjcMeshCollisionAPI", default=-1,
        doc="Most vertices of a convex hull; -1 is no bound.",
    ),
    Row(
        PrimType.SHAPE, "margin", ("mjc:margin",), "MjcCollisionAPI", LENGTH, 0.0,
        doc="Thickness added to the surface (MuJoCo 3.9 and later).",
    ),
    Row(
        PrimType.SHAPE, "gap", ("mjc:gap",), "MjcCollisionAPI", LENGTH, 0.0,
        doc="Distance beyond the margin in which contacts are generated.",
    ),
    Row(
        PrimType.SHAPE, "mass_model", ("mjc:shellinertia",), "MjcCollisionAPI", default=False,
        transform=SHELL, form=ValueForm.FLAG, doc='"solid" or "shell".',
    ),
    *(
        row
        for prim in (PrimType.SHAPE, PrimType.MATERIAL)
        for row in (
            Row(
                prim, "ke", ("mjc:solref",), "MjcCollisionAPI", transform=SOLREF_STIFFNESS,
                form=ValueForm.NUMBERS, doc="Contact stiffness per mass, from time constant and damping ratio.",
            ),
            Row(
                prim, "kd", ("mjc:solref",), "MjcCollisionAPI", transform=SOLREF_DAMPING,
                form=ValueForm.NUMBERS, doc="Contact damping per mass, from the time constant.",
            ),
        )
    ),
    Row(
        PrimType.MATERIAL, "mu_torsional", ("mjc:torsionalfriction",), "MjcMaterialAPI", LENGTH, 0.005,
        doc="Resistance to spinning.",
    ),
    Row(
        PrimType.MATERIAL, "mu_rolling", ("mjc:rollingfriction",), "MjcMaterialAPI", LENGTH, 0.0001,
        doc="Resistance to rolling.",
    ),
    Row(
        PrimType.MATERIAL, "priority", ("mjc:priority",), "MjcCollisionAPI", default=0,
        doc="Whose values count where two materials meet.",
    ),
    Row(
        PrimType.MATERIAL, "weight", ("mjc:solmix",), "MjcCollisionAPI", default=1.0,
        doc="Weight in the mean of two materials.",
    ),
    *(
        Row(PrimType.ACTUATOR, f"{key}_{end}", (f"mjc:{key}Range:{name}",), "MjcActuator", default=0.0, doc=doc)
        for key, doc in (
            ("ctrl", "Range of the control."),
            ("force", "Range of the force."),
            ("act", "Range of the activation."),
            ("length", "Range of the length."),
        )
        for end, name in (("low", "min"), ("high", "max"))
    ),
    *(
        Row(PrimType.ACTUATOR, key, (f"mjc:{key}",), "MjcActuator", NUMBER, default, form=form, doc=doc)
        for key, default, form, doc in (
            ("gainPrm", (1, *[0] * 9), ValueForm.NUMBERS, "Parameters of the gain."),
            ("gainType", "fixed", ValueForm.TEXT, "Kind of gain."),
            ("biasPrm", (0,) * 10, ValueForm.NUMBERS, "Parameters of the bias."),
            ("biasType", "none", ValueForm.TEXT, "Kind of bias."),
            ("dynPrm", (1, *[0] * 9), ValueForm.NUMBERS, "Parameters of the activation dynamics."),
            ("dynType", "none", ValueForm.TEXT, "Kind of activation dynamics."),
            ("gear", (1, *[0] * 5), ValueForm.NUMBERS, "Transmission ratios."),
        )
    ),
)  # fmt: skip
