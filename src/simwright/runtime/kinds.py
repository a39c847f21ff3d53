# SPDX-License-Identifier: Apache-2.0
"""The numbers that stand for kinds in the arrays: the same as Newton's, so that arrays can be handed over."""

from __future__ import annotations

import enum


class JointType(enum.IntEnum):
    """``joint_type``; coordinates and freedoms of each in :data:`COORDINATES` and :data:`FREEDOMS`."""

    PRISMATIC = 0
    REVOLUTE = 1
    BALL = 2
    FIXED = 3
    FREE = 4
    DISTANCE = 5
    D6 = 6


COORDINATES = {
    JointType.PRISMATIC: 1,
    JointType.REVOLUTE: 1,
    JointType.BALL: 4,
    JointType.FIXED: 0,
    JointType.FREE: 7,
    JointType.DISTANCE: 7,
}
"""Entries in ``joint_q``; a D6 joint has one for each axis."""

FREEDOMS = {
    JointType.PRISMATIC: (1, 0),
    JointType.REVOLUTE: (0, 1),
    JointType.BALL: (0, 3),
    JointType.FIXED: (0, 0),
    JointType.FREE: (3, 3),
    JointType.DISTANCE: (3, 3),
}
"""Linear and angular entries in ``joint_qd``; a D6 joint has those of its axes."""


class ShapeType(enum.IntEnum):
    """``shape_type``; what ``shape_scale`` means for each is in :data:`SCALE_MEANING`."""

    NONE = 0
    PLANE = 1
    HEIGHTFIELD = 2
    SPHERE = 3
    CAPSULE = 4
    ELLIPSOID = 5
    CYLINDER = 6
    BOX = 7
    MESH = 8
    CONE = 9
    CONVEX_MESH = 10


SCALE_MEANING = {
    ShapeType.PLANE: "width, length, 0 (0, 0: without end)",
    ShapeType.HEIGHTFIELD: "factors of the geometry",
    ShapeType.SPHERE: "radius, 0, 0",
    ShapeType.CAPSULE: "radius, half height, 0",
    ShapeType.ELLIPSOID: "the three radii",
    ShapeType.CYLINDER: "radius, half height, 0",
    ShapeType.BOX: "the three half extents",
    ShapeType.MESH: "factors of the geometry",
    ShapeType.CONE: "radius, half height, 0",
    ShapeType.CONVEX_MESH: "factors of the geometry",
}


class TargetMode(enum.IntEnum):
    """``joint_target_mode``: what drives a freedom."""

    NONE = 0
    POSITION = 1
    VELOCITY = 2
    POSITION_VELOCITY = 3
    EFFORT = 4


# bits, not numbers: one shape may have several
class ShapeFlag(enum.IntFlag):
    """``shape_flags``."""

    VISIBLE = 1
    COLLIDE_SHAPES = 2
    COLLIDE_PARTICLES = 4
    SITE = 8
    HYDROELASTIC = 16


class BodyFlag(enum.IntFlag):
    """``body_flags``."""

    DYNAMIC = 1
    KINEMATIC = 2
