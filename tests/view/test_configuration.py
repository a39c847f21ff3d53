"""Joints that a person moves: mimics follow, loops close, and what is drawn of a mass is that mass."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import simwright
from simwright.core.errors import UnknownNameError, UsageError
from simwright.model.asset import Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Mimic, Motion
from simwright.view.configuration import Configuration, parse_coordinates
from simwright.view.drawing import find_inertia_box


def make_arm(*mimics: Mimic) -> Asset:
    def hinge(name: str, parent: str, child: str) -> Joint:
        return Joint(
            name,
            JointKind.REVOLUTE,
            parent,
            child,
            dofs=[Dof(Motion.HINGE, name=name, lower=-1.0, upper=2.0)],
        )

    joints = [hinge("a", "base", "one"), hinge("b", "one", "two"), hinge("c", "two", "three")]
    return Asset("arm", [Body(name) for name in ("base", "one", "two", "three")], joints, mimics=list(mimics))


def test_followers_go_where_leaders_put_them_whatever_their_order() -> None:
    configuration = Configuration(make_arm(Mimic("c", "b", 2.0, 0.1), Mimic("b", "a", -0.5)))
    configuration.move({"a": 0.4})
    assert configuration.get("b") == pytest.approx(-0.2)
    assert configuration.get("c") == pytest.approx(-0.3)
    assert configuration.followers == {"b", "c"}


def test_who_moves_a_follower_moves_its_leader() -> None:
    configuration = Configuration(make_arm(Mimic("c", "b", 2.0, 0.1), Mimic("b", "a", -0.5)))
    configuration.move({"c": 0.5})
    assert [configuration.get(name) for name in "abc"] == pytest.approx([-0.4, 0.2, 0.5])


def test_a_loop_closes_and_what_is_held_stays(samples: Path) -> None:
    configuration = Configuration(simwright.load(samples / "fourbar" / "fourbar.usda"))
    start = configuration.pose()
    configuration.move({"crank_joint": 0.4})
    assert configuration.get("crank_joint") == 0.4
    assert configuration.gap < 1e-4
    loop = configuration.tree.loops[0]
    ends = [configuration.pose()[name] @ frame for name, frame in (
        (loop.parent, loop.parent_frame), (loop.child, loop.child_frame))]  # fmt: skip
    np.testing.assert_allclose(ends[0].p, ends[1].p, atol=1e-4)
    assert any(not pose.is_close(start[name], 1e-3) for name, pose in configuration.pose().items())
    configuration.reset()
    assert all(pose.is_close(start[name], 1e-9) for name, pose in configuration.pose().items())


def test_sliders_have_the_limits_of_their_joints_or_a_usual_range() -> None:
    arm = make_arm()
    arm.joint("b").dofs[0].lower = arm.joint("c").dofs[0].lower = -math.inf
    arm.joint("c").dofs[0].upper = math.inf
    dofs = Configuration(arm).dofs
    assert dofs["a"].range == (-1.0, 2.0)
    assert dofs["c"].range == (-math.pi, math.pi)
    assert dofs["b"].range[1] == 2.0
    assert dofs["b"].range[0] <= -math.pi


def test_a_joint_that_is_not_there_and_a_value_that_is_none() -> None:
    configuration = Configuration(make_arm())
    with pytest.raises(UnknownNameError, match="elbow"):
        configuration.move({"elbow": 1.0})
    with pytest.raises(UsageError, match="'much' is not a coordinate of 'a'"):
        parse_coordinates({"a": "much"})
    assert parse_coordinates({"a": "-0.5"}) == {"a": -0.5}


def test_the_box_of_a_mass_has_that_mass_and_inertia() -> None:
    sides, mass = np.array((0.2, 0.5, 1.1)), 3.0
    squares = sides**2
    inertia = mass / 12 * np.diag(squares.sum() - squares)
    box = find_inertia_box(Inertial(mass, np.array((0.1, 0.2, 0.3)), inertia))
    assert box is not None
    np.testing.assert_allclose(box.pose.p, (0.1, 0.2, 0.3))
    np.testing.assert_allclose(np.sort(box.size), sides)
    assert find_inertia_box(Inertial(0.0, np.zeros(3), np.zeros((3, 3)))) is None
