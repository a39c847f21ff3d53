# SPDX-License-Identifier: Apache-2.0
"""What importers into flat builders share: joints, followers, closures and the parts that are wanted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.core.math3d import IDENTITY, Pose, vec3
from simwright.model.asset import Actuator, Asset, Body
from simwright.model.coordinates import list_couplings, plan_closures
from simwright.model.flat_joints import (
    JointPlacement,
    bound_stop,
    is_plain,
    move_anchor,
    order_axes,
    reverse_joint,
)
from simwright.model.joint import Dof, Equality, EqualityKind, Joint, JointKind, Mimic, Motion
from simwright.model.selection import Selection, compile_paths, drop_bodies

X, Y, Z = np.eye(3)


class Said(list[tuple[str, str]]):
    """Collects what joints go in as."""

    def __call__(self, joint: Joint, as_what: str, why: str) -> None:
        self.append((as_what, why))


def hinge(name: str, parent: str, child: str, *dofs: Dof) -> Joint:
    return Joint(name, JointKind.REVOLUTE, parent, child, dofs=list(dofs or (Dof(Motion.HINGE, Z),)))


def test_a_reversed_joint_makes_the_inverse_way() -> None:
    joint = hinge("j", "a", "b", Dof(Motion.HINGE, X), Dof(Motion.HINGE, Z))
    joint.parent_frame, joint.child_frame = Pose.of((1, 2, 3)), Pose.of((0, 1, 0), (0.6, 0.8, 0, 0))
    said = Said()
    back = reverse_joint(joint, said)
    assert (back.parent, back.child, said) == ("b", "a", [])
    assert back.transform([0.7, 0.3]).is_close(~joint.transform([0.3, 0.7]), 1e-12)
    reverse_joint(hinge("k", "a", "b", Dof(Motion.SLIDE, X), Dof(Motion.HINGE, Z)), said)
    assert len(said) == 1


def test_a_shared_anchor_moves_both_frames() -> None:
    joint = hinge("j", "a", "b", Dof(Motion.HINGE, Z, anchor=vec3(1, 0, 0), pitch=0.1))
    said = Said()
    dofs, placement = move_anchor(
        joint, JointPlacement.of(joint, {"a": 0, "b": 1}, IDENTITY, "j"), said, "toys have"
    )
    assert [why for _, why in said] == ["toys have no screw joints"]
    assert not np.any(dofs[0].anchor)
    np.testing.assert_allclose((placement.parent_frame.p, placement.child_frame.p), ((1, 0, 0), (1, 0, 0)))


def test_slides_come_before_hinges_and_three_are_enough() -> None:
    joint = hinge("j", "a", "b", Dof(Motion.BALL), Dof(Motion.SLIDE, X))
    said = Said()
    slides, hinges = order_axes(joint, joint.dofs, said)
    assert (len(slides), len(hinges), len(said)) == (1, 3, 1)


def test_a_stop_that_does_not_give_is_a_large_number() -> None:
    dof = Dof(Motion.SLIDE, X)
    assert bound_stop(dof, 5.0, 1.0) == (5.0, 1.0)
    assert bound_stop(dof, math.inf, 1.0) == (1e8, 0.0)
    assert bound_stop(Dof(Motion.HINGE, X), math.inf, 0.0)[0] == pytest.approx(1e8 * 180.0 / math.pi)


def test_followers_of_followers_follow_the_first_leader() -> None:
    joints = [hinge(name, "", name) for name in "abc"]
    mimics = [Mimic("b", "a", 2.0, 1.0), Mimic("c", "b", 3.0, 0.5)]
    asset = Asset("x", joints=joints, mimics=mimics)
    found = {coupling.mimic.follower: coupling for coupling in list_couplings(asset)}
    last = found["c"]
    assert (last.leader, last.multiplier, last.offset) == (joints[0], 6.0, 3.5)
    assert last.find_indices({"a": 4, "c": 7}) == (7, 4)
    assert last.find_indices({"c": 7}) is None
    asset.mimics.append(Mimic("a", "c"))
    assert all(coupling.leader is coupling.follower for coupling in list_couplings(asset)), "a circle"


def test_equalities_between_two_bodies_close_loops() -> None:
    weld = Equality("w", EqualityKind.WELD, "a", "", frame_a=Pose.of((1, 0, 0)), frame_b=Pose.of((0, 2, 0)))
    point = Equality("p", EqualityKind.CONNECT, "a", "b")
    lost = [Equality("self", EqualityKind.WELD, "a", "a"), Equality("far", EqualityKind.DISTANCE, "a", "b")]
    asset = Asset("x", equalities=[weld, point, *lost])
    closures, left = plan_closures(asset, {"a": 0, "b": 1}, Pose.of((0, 0, 5)))
    assert left == lost
    assert [(c.parent, c.child, c.is_point) for c in closures] == [(-1, 0, False), (0, 1, True)]
    np.testing.assert_allclose(closures[0].parent_frame.p, (0, 2, 5), err_msg="the world is the parent")


def test_bodies_go_with_their_joints_and_patterns_are_checked() -> None:
    asset = Asset("x", bodies=[Body("a"), Body("b")], joints=[hinge("j", "a", "b"), hinge("k", "", "a")])
    drop_bodies(asset, {"b"})
    assert ([b.name for b in asset.bodies], [j.name for j in asset.joints]) == (["a"], ["k"])
    is_out = compile_paths(Selection(ignore_paths=["/r/x"], root_path="/r"))
    assert [is_out(path) for path in ("/r/x/y", "/r/z", "/q", "")] == [True, False, True, False]
    with pytest.raises(UsageError, match="ignore_paths"):
        compile_paths(Selection(ignore_paths=["("]))


@pytest.mark.parametrize(
    ("transmission", "gear", "plain"),
    [
        ("joint", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), True),
        ("joint", (2.0, 0.0, 0.0, 0.0, 0.0, 0.0), False),
        ("joint", (1.0, 0.0, 0.5, 0.0, 0.0, 0.0), False),
        ("tendon", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), False),
        ("tendon", (2.0, 0.0, 0.0, 0.0, 0.0, 0.0), False),
    ],
)
def test_only_an_actuator_of_a_joint_without_a_gear_is_plain(
    transmission: str, gear: tuple[float, ...], plain: bool
) -> None:
    actuator = Actuator("a", "motor", "joint1")
    actuator.transmission, actuator.gear = transmission, gear
    assert is_plain(actuator) is plain
