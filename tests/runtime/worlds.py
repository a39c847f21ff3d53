"""Small models for tests."""

from __future__ import annotations

import math

from simwright.runtime.collision import CollisionModel
from simwright.runtime.kinds import JointType, ShapeType
from simwright.runtime.model import Model
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import DofConfig
from simwright.scenes.finish import finish_world
from simwright.scenes.load import build_shared
from simwright.scenes.replicate import replicate


def build_two_links() -> Builder:
    """A free base with an arm of a hinge and a slide, and a box that stands in the world."""
    builder = Builder()
    half = math.sqrt(0.5)
    base = builder.add_body("base", (0.1, 0.2, 1.0, 0.0, 0.0, half, half))
    arm, rod = builder.add_body("arm"), builder.add_body("rod")
    for body, size in ((base, 0.2), (arm, 0.1), (rod, 0.05)):
        builder.add_shape(body, ShapeType.BOX, (size, size, size), pose=(0.03, 0.0, 0.01, 0.0, 0.0, 0.0, 1.0))
    builder.add_shape(
        -1, ShapeType.BOX, (0.1, 0.1, 0.1), pose=(1.0, 1.0, 0.1, 0.0, 0.0, 0.0, 1.0), label="post"
    )
    joints = [
        builder.add_joint(JointType.FREE, -1, base, label="root"),
        builder.add_joint(
            JointType.REVOLUTE,
            base,
            arm,
            parent_xform=(0.3, 0.0, 0.0, half, 0.0, 0.0, half),
            child_xform=(-0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
            label="elbow",
            angular=[DofConfig(axis=(0.0, 0.0, 1.0), target_pos=0.5)],
        ),
        builder.add_joint(
            JointType.PRISMATIC,
            arm,
            rod,
            parent_xform=(0.1, 0.05, 0.0, 0.0, 0.0, 0.0, 1.0),
            label="slide",
            linear=[DofConfig(axis=(0.0, 1.0, 0.0))],
        ),
    ]
    builder.add_articulation(joints, "robot")
    builder.joint_q[7:] = [0.4, 0.1]
    builder.joint_qd[:] = [0.1, -0.2, 0.3, 0.5, 0.4, -0.6, 0.7, 0.8]
    return builder


def two_links(worlds: int = 1, *, ground: bool = True) -> tuple[Model, CollisionModel]:
    """The model of :func:`build_two_links` in several worlds."""
    builder = build_two_links()
    return replicate(finish_world(builder), build_shared(builder, ground=ground), worlds, (2.0, 3.0, 0.0))
