"""Several joints between the same two bodies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.model.joint import JointKind, Motion
from simwright.model.kinematics import build_tree

BODIES = """def Xform "R" ({root}) {{
    def Cube "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {{ }}
    def Cube "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {{
        double3 xformOp:translate = (4, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    {joints}
}}
"""
ROOT = 'prepend apiSchemas = ["PhysicsArticulationRootAPI"]'
ENDS = "rel physics:body0 = </R/a>\nrel physics:body1 = </R/b>\npoint3f physics:localPos0 = (4, 0, 0)\n"
HALF = math.sqrt(0.5)


def joint(name: str, kind: str, axis: str, more: str = "") -> str:
    return f'def Physics{kind}Joint "{name}" {{ {ENDS} uniform token physics:axis = "{axis}"\n{more} }}\n'


HINGE = joint(
    "h",
    "Revolute",
    "Z",
    f"quatf physics:localRot0 = ({HALF}, {HALF}, 0, 0)\nquatf physics:localRot1 = ({HALF}, {HALF}, 0, 0)\n"
    "float physics:lowerLimit = -10\nfloat physics:upperLimit = 80",
)
SLIDE = joint("s", "Prismatic", "X", "float physics:lowerLimit = -1")


def test_they_are_one_joint_with_slides_first(read):
    reading = read(BODIES.format(root=ROOT, joints=HINGE + SLIDE))
    assert "usd-joints-stacked" in reading.kinds
    (found,) = reading.asset.joints
    assert (found.kind, found.name) == (JointKind.D6, "h")
    assert [(dof.name, dof.motion) for dof in found.dofs] == [("s", Motion.SLIDE), ("h", Motion.HINGE)]
    assert found.dofs[1].upper == pytest.approx(math.radians(80))
    assert not build_tree(reading.asset).loops
    assert "usd-joint-cycle" not in reading.kinds


def test_axes_are_those_of_the_bodies_whatever_the_frames(read):
    for joints in (HINGE + SLIDE, SLIDE + HINGE):
        (found,) = read(BODIES.format(root=ROOT, joints=joints)).asset.joints
        slide, hinge = (found.parent_frame.rotation @ dof.axis for dof in found.dofs)
        np.testing.assert_allclose(slide, (1, 0, 0), atol=1e-7)
        np.testing.assert_allclose(hinge, (0, -1, 0), atol=1e-7)
        np.testing.assert_allclose(found.transform((0.5, 0.0)).p, (4.5, 0, 0), atol=1e-7)


def test_outside_an_articulation_they_are_one_joint_too(read):
    asset = read(BODIES.format(root="", joints=HINGE + SLIDE)).asset
    assert [j.kind for j in asset.joints] == [JointKind.D6]
    assert [dof.path for dof in asset.joints[0].dofs] == ["/R/s", "/R/h"]


def test_a_joint_that_closes_a_loop_stays_apart(read):
    loop = joint("l", "Revolute", "X", "bool physics:excludeFromArticulation = true")
    asset = read(BODIES.format(root=ROOT, joints=HINGE + loop)).asset
    assert [j.name for j in asset.joints] == ["h", "l"]


def test_joints_that_do_not_rest_alike_are_reported(read):
    far = joint("f", "Revolute", "X", "point3f physics:localPos1 = (0, 1, 0)")
    reading = read(BODIES.format(root=ROOT, joints=SLIDE + far))
    assert "usd-joint-stack-apart" in reading.kinds
    np.testing.assert_allclose(reading.asset.joints[0].dofs[1].anchor, 0.0, atol=1e-9)


def test_a_base_that_slides_on_the_world(read):
    base = (HINGE + SLIDE).replace("rel physics:body0 = </R/a>\n", "")
    reading = read(BODIES.format(root=ROOT, joints=base))
    (found,) = reading.asset.joints
    assert (found.parent, found.child, len(found.dofs)) == ("", "b", 2)
