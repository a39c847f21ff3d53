# SPDX-License-Identifier: Apache-2.0
"""PhysX's schemas (``physx*:``) and its joint state (``state:``): data only."""

from __future__ import annotations

import math

from simwright.resolve.table import (
    COORDINATE,
    GAIN,
    INERTIA,
    LENGTH,
    NEGATE,
    NO_GRAVITY,
    OFFSET_GAP,
    RATE,
    SKIP_BELOW,
    STIFFNESS,
    UNSET_ABOVE,
    PrimType,
    Row,
    ValueForm,
)

NAME = "physx"
TITLE = "PhysX"
NAMESPACES = (
    "physx", "physxScene", "physxRigidBody", "physxCollision", "physxConvexHullCollision",
    "physxConvexDecompositionCollision", "physxTriangleMeshCollision",
    "physxTriangleMeshSimplificationCollision", "physxSDFMeshCollision", "physxMaterial", "physxJoint",
    "physxLimit", "physxArticulation", "state", "drive",
)  # fmt: skip

_INF = math.inf
_AXES = ("linear", "angular", "transX", "transY", "transZ", "rotX", "rotY", "rotZ")

ROWS = (
    Row(
        PrimType.SCENE, "max_solver_iterations", ("physxScene:maxVelocityIterationCount",), "PhysxSceneAPI",
        default=255, doc="Most velocity iterations per step.",
    ),
    Row(
        PrimType.SCENE, "time_steps_per_second", ("physxScene:timeStepsPerSecond",), "PhysxSceneAPI",
        default=60, doc="Simulation steps per second.",
    ),
    Row(
        # An attribute of bodies, but Newton's importer reads it on the scene prim; so do we.
        PrimType.SCENE, "gravity_enabled", ("physxRigidBody:disableGravity",), "PhysxRigidBodyAPI",
        default=False, transform=NEGATE, form=ValueForm.FLAG, doc="Does gravity act? Read on the scene.",
    ),
    Row(
        PrimType.JOINT, "armature", ("physxJoint:armature",), "PhysxJointAPI", INERTIA, 0.0,
        doc="Inertia that only the motion of the joint feels.",
    ),
    Row(
        PrimType.JOINT, "velocity_limit", ("physxJoint:maxJointVelocity",), "PhysxJointAPI", RATE,
        transform=UNSET_ABOVE, doc="Largest speed.",
    ),
    *(
        Row(
            PrimType.JOINT, f"limit_{axis}_{key}", (f"physxLimit:{axis}:{name}",), f"PhysxLimitAPI:{axis}",
            GAIN, 0.0, axis=axis, doc="Gain of the stops of one axis.",
        )
        for axis in _AXES
        for key, name in (("ke", "stiffness"), ("kd", "damping"))
    ),
    *(
        Row(
            PrimType.JOINT, f"{axis}_{key}", (f"state:{axis}:physics:{key}",), f"PhysicsJointStateAPI:{axis}",
            unit, 0.0, axis=axis, doc="Initial state of one axis.",
        )
        for axis in _AXES
        for key, unit in (("position", COORDINATE), ("velocity", RATE))
    ),
    Row(
        PrimType.SHAPE, "max_hull_vertices", ("physxConvexHullCollision:hullVertexLimit",),
        "PhysxConvexHullCollisionAPI", default=64, doc="Most vertices of a convex hull.",
    ),
    Row(
        PrimType.SHAPE, "margin", ("physxCollision:restOffset",), "PhysxCollisionAPI", LENGTH, 0.0,
        SKIP_BELOW, doc="Distance at which shapes rest; -inf leaves it to the engine.",
    ),
    Row(
        PrimType.SHAPE, "gap", ("physxCollision:contactOffset", "physxCollision:restOffset"),
        "PhysxCollisionAPI", LENGTH, (-_INF, -_INF), OFFSET_GAP,
        doc="Distance beyond the rest offset in which contacts are generated.",
    ),
    Row(
        PrimType.MATERIAL, "ke", ("physxMaterial:compliantContactStiffness",), "PhysxMaterialAPI", STIFFNESS,
        doc="Normal force per depth.",
    ),
    Row(
        PrimType.MATERIAL, "kd", ("physxMaterial:compliantContactDamping",), "PhysxMaterialAPI", STIFFNESS,
        doc="Normal force per speed.",
    ),
    Row(
        PrimType.BODY, "rigid_body_linear_damping", ("physxRigidBody:linearDamping",), "PhysxRigidBodyAPI",
        default=0.0, doc="Decay of linear velocity [1/s].",
    ),
    Row(
        PrimType.BODY, "rigid_body_angular_damping", ("physxRigidBody:angularDamping",), "PhysxRigidBodyAPI",
        default=0.05, doc="Decay of angular velocity [1/s].",
    ),
    Row(
        PrimType.BODY, "gravity_scale", ("physxRigidBody:disableGravity",), "PhysxRigidBodyAPI",
        default=False, transform=NO_GRAVITY, form=ValueForm.FLAG, doc="Share of gravity that the body feels.",
    ),
    Row(
        PrimType.ARTICULATION, "self_collision_enabled", ("physxArticulation:enabledSelfCollisions",),
        "PhysxArticulationAPI", default=True, form=ValueForm.FLAG, doc="Do the links touch each other?",
    ),
)  # fmt: skip

UNREAD = {
    "physxJoint:jointFriction": (0.0, "friction in proportion to the force that the joint carries"),
    "physxJointAxis:*:armature": (0.0, "inertia that only the motion along one axis feels"),
    "physxJointAxis:*:maxJointVelocity": (1e6, "largest speed along one axis"),
    "physxJointAxis:*:staticFrictionEffort": (0.0, "effort that it takes to start moving along one axis"),
    "physxJointAxis:*:dynamicFrictionEffort": (0.0, "friction along one axis"),
    "physxJointAxis:*:viscousFrictionCoefficient": (0.0, "damping along one axis"),
    "physxDrivePerformanceEnvelope:*:maxActuatorVelocity": (_INF, "largest speed of a drive"),
    "physxDrivePerformanceEnvelope:*:speedEffortGradient": (0.0, "effort that a drive loses with its speed"),
    "physxDrivePerformanceEnvelope:*:velocityDependentResistance": (0.0, "resistance of a drive"),
    "physxLimit:*:restitution": (0.0, "how far a joint bounces off its stop"),
    "physxPhysicsDistanceJoint:springStiffness": (0.0, "spring of a distance joint"),
    "physxPhysicsDistanceJoint:springDamping": (0.0, "damper of a distance joint"),
    "physxRigidBody:lockedPosAxis": (0, "axes along which the body cannot move"),
    "physxRigidBody:lockedRotAxis": (0, "axes about which the body cannot turn"),
    "physxRigidBody:maxLinearVelocity": (_INF, "largest speed of the body"),
    "physxMaterial:frictionCombineMode": ("average", "how the frictions of two materials become one"),
    "physxMaterial:restitutionCombineMode": ("average", "how the restitutions of two materials become one"),
    "physxSurfaceVelocity:surfaceVelocity": ((0.0, 0.0, 0.0), "speed of a conveyor's surface"),
    "physxSurfaceVelocity:surfaceAngularVelocity": ((0.0, 0.0, 0.0), "turning speed of a conveyor's surface"),
    "physxForce:force": ((0.0, 0.0, 0.0), "a force that always acts"),
    "physxForce:torque": ((0.0, 0.0, 0.0), "a torque that always acts"),
}
"""Attributes that change how a machine moves and have no row, since other engines have no such quantity: the value that
changes nothing, and what they say.  The instance of an API is written ``*``.
"""
