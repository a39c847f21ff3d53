"""Connects and welds of MuJoCo: joints that close loops."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.math3d import Pose
from simwright.model.joint import JointKind, Motion


def pair(kind: str, api: str, inside: str, extra: str = "") -> str:
    def body(name: str, place: str, inner: str = "") -> str:
        return f"""
    def Xform "{name}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        double3 xformOp:translate = {place}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        {inner}
    }}"""

    site = 'def Sphere "s" ( prepend apiSchemas = ["MjcSiteAPI"] ) { double radius = 0.1 }'
    return f"""
def Xform "R" {{
    {body("a", "(1, 0, 0)", site)} {body("b", "(0, 2, 0)")}
    def Physics{kind}Joint "e" ( prepend apiSchemas = ["{api}"] ) {{ {inside} }}
    {extra}
}}"""


ENDS = "rel physics:body0 = </R/a>\n rel physics:body1 = </R/b>\n point3f physics:localPos0 = (0, 0, 3)\n"


def test_connect_holds_the_point_of_the_first_body(read):
    found = read(pair("Spherical", "MjcEqualityConnectAPI", ENDS))
    joint = found.asset.joint("e")
    assert (joint.kind, joint.closes_loop) == (JointKind.BALL, True)
    np.testing.assert_allclose(joint.parent_frame.p, (0, 0, 3))
    np.testing.assert_allclose(joint.child_frame.p, (1, -2, 3))


def test_connect_to_the_world_moves_the_point_on_the_world(read):
    found = read(
        pair("Spherical", "MjcEqualityConnectAPI", ENDS.splitlines()[0] + "\n" + ENDS.splitlines()[2])
    )
    joint = found.asset.joint("e")
    assert (joint.parent, joint.child) == ("", "a")
    np.testing.assert_allclose(joint.child_frame.p, (0, 0, 3))
    np.testing.assert_allclose(joint.parent_frame.p, (1, 0, 3))


def test_connected_sites_meet_as_authored(read):
    ends = "rel physics:body0 = </R/a/s>\n rel physics:body1 = </R/b>\n point3f physics:localPos1 = (0, 0, 5)"
    joint = read(pair("Spherical", "MjcEqualityConnectAPI", ends)).asset.joint("e")
    np.testing.assert_allclose(joint.child_frame.p, (0, 0, 5))
    np.testing.assert_allclose(joint.parent_frame.p, 0)


def test_weld_keeps_both_frames_and_its_scale(read):
    inside = (
        ENDS
        + "quatf physics:localRot1 = (0, 1, 0, 0)\n float mjc:torqueScale = 7\n bool physics:jointEnabled = false"
    )
    found = read(pair("Fixed", "MjcEqualityWeldAPI", inside))
    joint = found.asset.joint("e")
    assert (joint.kind, joint.closes_loop, joint.enabled) == (JointKind.FIXED, True, False)
    assert joint.parent_frame.is_close(Pose.of((0, 0, 3)))
    assert joint.child_frame.is_close(Pose.of((0, 0, 0), (0, 1, 0, 0)))
    assert found.asset.extras.get("mjc", "/R/e", "mjc:torqueScale") == 7


@pytest.mark.parametrize(
    ("api", "kind", "motions"),
    [("MjcEqualityConnectAPI", JointKind.BALL, [Motion.BALL]), ("MjcEqualityWeldAPI", JointKind.FIXED, [])],
)
def test_the_api_decides_what_is_held(read, api, kind, motions):
    found = read(pair("Revolute", api, ENDS))
    joint = found.asset.joint("e")
    assert joint.kind is kind
    assert [dof.motion for dof in joint.dofs] == motions
    assert "usd-equality-kind" in found.kinds


def test_an_equality_on_something_else_is_reported(read):
    extra = 'def Xform "x" ( prepend apiSchemas = ["MjcEqualityWeldAPI"] ) {}'
    found = read(pair("Fixed", "MjcEqualityWeldAPI", "rel physics:body1 = </R/gone>", extra))
    assert found.kinds == {"usd-equality-misplaced", "usd-joint-target-missing"}
