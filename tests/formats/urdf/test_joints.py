"""Joints of every type, their limits and relations, and the tree they make."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from simwright.model.joint import WORLD, JointKind, Motion
from simwright.model.kinematics import forward_kinematics

LIMIT = '<limit lower="-1" upper="2" effort="10" velocity="3"/>'


def kinds(reporter: Any) -> list[str]:
    return [found.kind for found in reporter]


def link(name: str) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(kind: str, inside: str = LIMIT, name: str = "j", parent: str = "a", child: str = "b") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'
    )


PAIR = link("a") + link("b")


def test_a_revolute_joint_with_everything(load: Any) -> None:
    asset, reporter = load(
        PAIR
        + joint(
            "revolute",
            '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 1"/>'
            + LIMIT
            + '<dynamics damping="0.1" '
            'friction="0.2"/><safety_controller soft_lower_limit="-0.9" k_velocity="5"/>'
            '<calibration rising="0.3"/>',
        )
    )
    assert kinds(reporter) == []
    found = asset.joint("j")
    (dof,) = found.dofs
    assert (found.kind, dof.motion, dof.name) == (JointKind.REVOLUTE, Motion.HINGE, "j")
    assert (dof.lower, dof.upper, dof.effort_limit, dof.velocity_limit) == (-1, 2, 10, 3)
    assert (dof.damping, dof.friction) == (0.1, 0.2)
    assert dof.safety == {"soft_lower_limit": -0.9, "k_velocity": 5}
    assert asset.extras.get("urdf", "j", "calibration.rising") == 0.3
    assert asset.body("b").pose.p.tolist() == [1, 0, 0]
    assert np.allclose(asset.body("b").pose.rpy, (0, 0, math.pi / 2))


@pytest.mark.parametrize(
    ("kind", "expected", "motions"),
    [
        ("continuous", JointKind.REVOLUTE, [Motion.HINGE]),
        ("prismatic", JointKind.PRISMATIC, [Motion.SLIDE]),
        ("fixed", JointKind.FIXED, []),
        ("floating", JointKind.FLOATING, [Motion.FREE]),
        ("planar", JointKind.PLANAR, [Motion.SLIDE, Motion.SLIDE, Motion.HINGE]),
    ],
)
def test_every_type(kind: str, expected: JointKind, motions: list[Motion], load: Any) -> None:
    asset, _ = load(PAIR + joint(kind))
    assert asset.joint("j").kind is expected
    assert [dof.motion for dof in asset.joint("j").dofs] == motions


def test_a_planar_joint_moves_perpendicular_to_its_axis(load: Any) -> None:
    asset, _ = load(PAIR + joint("planar", '<axis xyz="0 2 0"/>'))
    pose = forward_kinematics(asset, {"j": (0.3, 0.4, 0.5)})["b"]
    assert pose.p[1] == pytest.approx(0)
    assert np.linalg.norm(pose.p) == pytest.approx(0.5)
    assert np.allclose(pose.rotation @ (0, 1, 0), (0, 1, 0))


def test_infinite_limits_mean_none(load: Any) -> None:
    asset, reporter = load(
        PAIR + joint("prismatic", '<limit lower="-inf" upper="inf" effort="inf" velocity="1"/>')
    )
    (dof,) = asset.joint("j").dofs
    assert not dof.is_limited
    assert dof.effort_limit is None
    assert kinds(reporter) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (joint("revolute", ""), "urdf-limit-missing"),
        (joint("revolute", '<limit lower="2" upper="1" effort="1" velocity="1"/>'), "urdf-limit-order"),
        (joint("revolute", '<limit effort="1" velocity="1"/>'), "urdf-limit-locked"),
        (joint("revolute", '<limit lower="-1" upper="1" effort="-1" velocity="1"/>'), "urdf-limit-negative"),
        (joint("continuous"), "urdf-limit-unused"),
        (joint("revolute", '<axis xyz="0 0 0"/>' + LIMIT), "urdf-axis-zero"),
        (joint("revolute", '<axis xyz="0 0 2"/>' + LIMIT), "urdf-axis-length"),
        (joint("revolute", '<axis xyz="0 zero 2"/>' + LIMIT), "xml-bad-number"),
        (joint("revolute", LIMIT + '<dynamics damping="-1"/>'), "urdf-dynamics-negative"),
        (joint("hinge"), "urdf-joint-type"),
        (joint("revolute", LIMIT + '<mimic joint="j"/>'), "urdf-mimic-target"),
        (joint("revolute", LIMIT + '<mimic joint="k"/>'), "urdf-mimic-target"),
        (joint("fixed", '<mimic joint="j"/>'), "urdf-mimic-still"),
        (joint("fixed", "", child="c"), "urdf-joint-link"),
        (joint("fixed") + joint("fixed"), "urdf-duplicate-name"),
    ],
)
def test_each_mistake_has_its_own_finding(text: str, code: str, load: Any) -> None:
    asset, reporter = load(PAIR + text)
    assert code in kinds(reporter)
    assert len(asset.bodies) == 2
    assert all(dof.lower <= dof.upper for j in asset.joints for dof in j.dofs)
    assert all(np.isclose(np.linalg.norm(dof.axis), 1) for j in asset.joints for dof in j.dofs)


def test_mimic(load: Any) -> None:
    follower = joint(
        "prismatic", LIMIT + '<mimic joint="j" multiplier="-2" offset="0.5"/>', name="k", child="c"
    )
    asset, reporter = load(PAIR + link("c") + follower + joint("revolute"))
    (mimic,) = asset.mimics
    assert (mimic.follower, mimic.leader, mimic.multiplier, mimic.offset) == ("k", "j", -2, 0.5)
    assert kinds(reporter) == []


def test_a_root_link_called_world_is_the_world(load: Any) -> None:
    world = '<link name="world"><collision><geometry><box size="1 1 1"/></geometry></collision></link>'
    asset, reporter = load(world + link("a") + joint("fixed", parent="world", child="a"))
    assert [body.name for body in asset.bodies] == ["a"]
    assert asset.joint("j").parent == WORLD
    assert asset.shapes[0].body == WORLD
    assert kinds(reporter) == []


def test_a_link_called_world_below_the_root_is_a_body(load: Any) -> None:
    asset, _ = load(link("a") + link("world") + joint("fixed", parent="a", child="world"))
    assert {body.name for body in asset.bodies} == {"a", "world"}


def test_without_a_world_link_the_root_floats(load: Any) -> None:
    asset, _ = load(PAIR + joint("fixed"))
    assert all(j.parent != WORLD for j in asset.joints)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", {"urdf-no-links"}),
        (PAIR, {"urdf-several-roots"}),
        (
            PAIR + joint("fixed") + joint("fixed", name="k", parent="b", child="a"),
            {"urdf-no-root", "urdf-cycle"},
        ),
        (
            PAIR + link("c") + joint("fixed") + joint("fixed", name="k", child="c")
            + joint("fixed", name="l", parent="c"),
            {"urdf-two-parents"},
        ),
        (link("a") + '<link name="b"/>' + joint("revolute"), {"urdf-massless"}),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_reported_and_still_read(text: str, codes: set[str], load: Any) -> None:
    asset, reporter = load(text)
    assert set(kinds(reporter)) == codes
    assert len(asset.bodies) == text.count("<link")


def test_a_massless_link_with_something_heavy_fixed_to_it_is_fine(load: Any) -> None:
    _, reporter = load(
        link("a") + '<link name="b"/>' + link("c") + joint("revolute")
        + joint("fixed", "", name="k", parent="b", child="c")
    )  # fmt: skip
    assert kinds(reporter) == []
