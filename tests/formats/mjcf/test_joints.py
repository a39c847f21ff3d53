"""Joint stacks, frames, limits and kinematics, compared with MuJoCo."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.model.joint import WORLD, JointKind, Motion

BALL = '<geom size="0.1"/>'


def model(inside: str, head: str = "") -> str:
    return f'<mujoco model="m">{head}<worldbody>{inside}</worldbody></mujoco>'


STACKS = {
    "fixed": ("", JointKind.FIXED),
    "hinge": ('<joint axis="1 2 3" pos=".1 -.2 .3" ref="20"/>', JointKind.REVOLUTE),
    "slide": ('<joint type="slide" axis="1 1 0" pos="1 0 0" ref=".3"/>', JointKind.PRISMATIC),
    "ball": ('<joint type="ball" pos=".2 .1 0"/>', JointKind.BALL),
    "universal": (
        '<joint axis="1 0 0" pos="0 0 .1"/><joint axis="0 1 0" pos="0 0 .1"/>',
        JointKind.UNIVERSAL,
    ),
    "skew hinges": ('<joint axis="1 0 0"/><joint axis="1 1 0"/>', JointKind.D6),
    "two anchors": ('<joint axis="1 0 0" pos=".3 0 0"/><joint axis="0 1 0" pos="0 .2 .1"/>', JointKind.D6),
    "planar": (
        (
            '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
            '<joint axis="0 0 1" pos=".1 .2 0"/>'
        ),
        JointKind.PLANAR,
    ),
    "hinge first": ('<joint axis="0 0 1" pos=".1 0 0"/><joint type="slide" axis="1 0 0"/>', JointKind.D6),
    "slides and ball": (
        '<joint type="slide" axis="0 1 1"/><joint type="ball" pos=".1 .2 .3"/>',
        JointKind.D6,
    ),
    "six": (
        "".join(f'<joint type="slide" axis="{a}"/>' for a in ("1 0 0", "0 1 0", "0 0 1"))
        + "".join(f'<joint axis="{a}" pos=".1 .2 .3"/>' for a in ("1 0 0", "0 1 0", "0 0 1")),
        JointKind.D6,
    ),
}


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_moves_as_in_mujoco(stack, read_text, compare):
    joints, kind = STACKS[stack]
    text = model(
        f'<body name="a" pos="1 2 3" euler="10 20 30"><joint axis="0 1 0"/>{BALL}'
        f'<body name="b" pos=".1 .2 .3" euler="40 50 60">{joints}{BALL}'
        f'<body name="c" pos="0 0 1"><joint axis="1 0 1"/>{BALL}</body></body></body>'
    )
    asset = read_text(text)
    joint = next(j for j in asset.joints if j.child == "b")
    assert joint.kind is kind
    assert joint.parent == "a"
    compare(asset)


def test_a_free_joint_is_a_pose_in_the_world(read_text, compare):
    asset = read_text(
        model(f'<body name="a" pos="1 2 3" euler="0 0 90"><freejoint name="root"/>{BALL}</body>')
    )
    (joint,) = asset.joints
    assert (joint.name, joint.kind, joint.parent) == ("root", JointKind.FLOATING, WORLD)
    assert joint.dofs[0].motion is Motion.FREE
    assert np.allclose(joint.initial()[:3], (1, 2, 3))
    compare(asset)


def test_a_body_without_joint_is_welded_to_its_parent(read_text, compare):
    asset = read_text(model('<body name="a" pos="0 0 1"><body name="b" pos="1 0 0"/></body>'))
    assert [(j.kind, j.parent, j.child) for j in asset.joints] == [
        (JointKind.FIXED, WORLD, "a"),
        (JointKind.FIXED, "a", "b"),
    ]
    assert np.allclose(asset.body("b").pose.p, (1, 0, 1))
    compare(asset)


def test_a_mocap_body_is_kinematic_and_has_no_joint(read_text):
    asset = read_text(model(f'<body name="hand" mocap="true" pos="1 0 0">{BALL}</body>'))
    assert asset.joints == []
    assert asset.body("hand").kinematic
    assert np.allclose(asset.body("hand").pose.p, (1, 0, 0))


def test_dof_values_are_si(read_text):
    joint = (
        '<joint name="j" axis="0 0 2" range="-90 45" damping="2" armature=".3" frictionloss=".4"'
        ' stiffness="5" springref="10" ref="20" margin=".01" solreflimit=".03 1" actuatorfrcrange="-3 8"/>'
    )
    asset = read_text(model(f'<body name="a">{joint}{BALL}</body>'))
    (dof,) = asset.joint("j").dofs
    assert np.allclose(dof.axis, (0, 0, 1))
    assert dof.lower == pytest.approx(-math.pi / 2)
    assert dof.upper == pytest.approx(math.pi / 4)
    assert (dof.damping, dof.armature, dof.friction, dof.stiffness) == (2.0, 0.3, 0.4, 5.0)
    assert dof.spring_ref == pytest.approx(math.radians(10))
    assert dof.ref == pytest.approx(math.radians(20))
    assert dof.effort_limit == 8.0
    extras = asset.extras.values()["mjc"]["joint/j"]
    assert extras["margin"] == 0.01
    assert extras["solreflimit"] == [0.03, 1.0]
    assert extras["actuatorfrcrange"] == [-3.0, 8.0]


def test_a_range_without_limits_is_no_limit(read_text):
    asset = read_text(model(f'<body name="a"><joint name="j" range="-1 1" limited="false"/>{BALL}</body>'))
    assert not asset.joint("j").dofs[0].is_limited


def test_defaults_leave_no_extras(read_text):
    asset = read_text(model(f'<body name="a"><joint name="j"/>{BALL}</body>'))
    assert not asset.extras


def test_unnamed_joints_get_names_that_nobody_has(read_text):
    text = model(
        f'<body name="a"><joint name="b_hinge"/>{BALL}<body name="b"><joint axis="1 0 0"/>'
        f'<joint axis="0 1 0"/>{BALL}</body></body>'
    )
    names = [dof.name for joint in read_text(text).joints for dof in joint.dofs]
    assert names == ["b_hinge", "b_hinge_2", "b_hinge_3"]


def test_parents_touch_only_where_welded_to_the_world(read_text):
    text = model(
        f'<body name="base">{BALL}<body name="a"><joint/>{BALL}<body name="b"><joint/>'
        f"{BALL}</body></body></body>"
    )
    collide = {joint.child: joint.collide for joint in read_text(text).joints}
    assert collide == {"base": False, "a": True, "b": False}


def test_the_parent_filter_can_be_off(read_text):
    text = model(
        f'<body name="a"><joint/>{BALL}<body name="b"><joint/>{BALL}</body></body>',
        '<option><flag filterparent="disable"/></option>',
    )
    assert all(joint.collide for joint in read_text(text).joints)
