"""The tree is what the joints say; loops are found; poses follow closed forms."""

from __future__ import annotations

import math

import pytest

from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Pose, quat_from_axis_angle, vec3
from simwright.model.asset import Asset, Body
from simwright.model.joint import Dof, Equality, EqualityKind, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree, count_freedoms, forward_kinematics, place_bodies

HINGE_Z = Motion.HINGE


def hinge(name, parent, child, parent_frame=None, child_frame=None, axis=(0, 0, 1), **more):
    return Joint(
        name, JointKind.REVOLUTE, parent, child, parent_frame or Pose.of(), child_frame or Pose.of(),
        [Dof(Motion.HINGE, vec3(axis), name)], **more,
    )  # fmt: skip


def asset_of(bodies, joints):
    return Asset("a", bodies=[Body(name) for name in bodies], joints=joints)


def test_planar_two_link_arm():
    asset = asset_of(
        ["l1", "l2", "tip"],
        [
            hinge("j1", "", "l1"),
            hinge("j2", "l1", "l2", Pose.of((1, 0, 0))),
            Joint("j3", JointKind.FIXED, "l2", "tip", Pose.of((0.5, 0, 0))),
        ],
    )
    a, b = 0.3, -1.1
    tip = forward_kinematics(asset, {"j1": [a], "j2": [b]})["tip"]
    expected = (math.cos(a) + 0.5 * math.cos(a + b), math.sin(a) + 0.5 * math.sin(a + b), 0)
    assert tip.p == pytest.approx(expected, abs=1e-15)
    assert tip.q == pytest.approx(quat_from_axis_angle((0, 0, 1), a + b), abs=1e-15)


def test_child_frame_is_inverted():
    asset = asset_of(["b"], [hinge("j", "", "b", Pose.of((0, 0, 1)), Pose.of((0.2, 0, 0)))])
    pose = forward_kinematics(asset, {"j": [math.pi / 2]})["b"]
    assert pose.p == pytest.approx((0, -0.2, 1), abs=1e-15)


def test_order_of_joints_and_bodies_does_not_matter():
    joints = [hinge("j2", "a", "b", Pose.of((1, 0, 0))), hinge("j1", "", "a", Pose.of((0, 1, 0)))]
    asset = asset_of(["b", "a"], joints)
    assert forward_kinematics(asset)["b"].p == pytest.approx((1, 1, 0))
    assert [edge.joint.name for edge in build_tree(asset).edges] == ["j1", "j2"]


def test_four_bar_has_one_loop():
    asset = asset_of(
        ["base", "crank", "coupler", "rocker"],
        [
            Joint("fix", JointKind.FIXED, "", "base"),
            hinge("a", "base", "crank"),
            hinge("b", "crank", "coupler"),
            hinge("c", "coupler", "rocker"),
            hinge("d", "base", "rocker"),
        ],
    )
    tree = build_tree(asset)
    assert len(tree.edges) == 4
    assert [joint.name for joint in tree.loops] == ["c"]


def test_joint_marked_as_closing_stays_out_of_the_tree():
    asset = asset_of(["a", "b"], [hinge("x", "", "a"), hinge("y", "a", "b", closes_loop=True)])
    tree = build_tree(asset)
    assert ([j.name for j in tree.loops], tree.roots) == (["y"], ["b"])


def test_reversed_joint_is_walked_backwards():
    joint = hinge("j", "tip", "base", Pose.of((1, 0, 0)))
    anchored = asset_of(["tip", "base"], [Joint("fix", JointKind.FIXED, "", "base"), joint])
    tree = build_tree(anchored)
    assert [(e.child, e.reversed) for e in tree.edges] == [("base", False), ("tip", True)]
    pose = forward_kinematics(anchored, {"j": [math.pi / 2]})["tip"]
    assert pose.p == pytest.approx((0, 1, 0), abs=1e-15)


def test_floating_components_have_roots_and_keep_their_place():
    asset = asset_of(["leg", "trunk", "loose"], [hinge("hip", "trunk", "leg", Pose.of((0, 0, -1)))])
    asset.body("trunk").pose = Pose.of((0, 0, 5))
    tree = build_tree(asset)
    assert tree.roots == ["trunk", "loose"]
    assert forward_kinematics(asset)["leg"].p == pytest.approx((0, 0, 4))


def test_a_ring_is_walked_forwards_and_its_last_joint_closes_it():
    ring = [hinge("ab", "a", "b"), hinge("bc", "b", "c"), hinge("cd", "c", "d"), hinge("da", "d", "a")]
    tree = build_tree(asset_of("abcd", ring))
    assert [(edge.joint.name, edge.reversed) for edge in tree.edges] == [
        ("ab", False),
        ("bc", False),
        ("cd", False),
    ]
    assert [joint.name for joint in tree.loops] == ["da"]


def test_joints_are_followed_backwards_where_nothing_else_leads():
    tree = build_tree(asset_of("abcd", [hinge("j", "", "a"), hinge("ba", "b", "a"), hinge("bc", "b", "c")]))
    assert [(e.joint.name, e.reversed) for e in tree.edges] == [("j", False), ("ba", True), ("bc", False)]
    assert tree.roots == ["d"]


def test_pure_cycle_takes_its_first_body_as_root():
    asset = asset_of(["a", "b", "c"], [hinge("1", "a", "b"), hinge("2", "b", "c"), hinge("3", "c", "a")])
    tree = build_tree(asset)
    assert (tree.roots, len(tree.edges), len(tree.loops)) == (["a"], 2, 1)


def test_joint_to_a_missing_body_dangles():
    tree = build_tree(asset_of(["a"], [hinge("j", "a", "ghost"), hinge("k", "", "")]))
    assert [j.name for j in tree.dangling] == ["j", "k"]


def test_disabled_and_distance_joints_carry_nothing():
    joints = [
        hinge("off", "a", "b", enabled=False),
        Joint("rope", JointKind.DISTANCE, "a", "b", distance=(0.0, 1.0)),
    ]
    tree = build_tree(asset_of(["a", "b"], joints))
    assert (len(tree.edges), tree.roots) == (0, ["a", "b"])
    assert [j.name for j in tree.loops] == ["rope"]


def test_hinges_of_a_stack_turn_about_their_own_anchors():
    dofs = [
        Dof(Motion.HINGE, vec3(0, 0, 1), "yaw", anchor=vec3(1, 0, 0)),
        Dof(Motion.SLIDE, vec3(1, 0, 0), "out"),
    ]
    joint = Joint("stack", JointKind.D6, "", "b", dofs=dofs)
    pose = joint.transform([math.pi / 2, 2.0])
    # turn about (1, 0): origin goes to (1, -1); then slide 2 along the turned x axis
    assert pose.p == pytest.approx((1, 1, 0), abs=1e-15)
    assert (joint.positions, joint.velocities) == (2, 2)


def test_screw_advances_with_its_pitch():
    joint = Joint("s", JointKind.SCREW, "", "b", dofs=[Dof(Motion.HINGE, vec3(0, 0, 1), pitch=0.01)])
    assert joint.transform([2 * math.pi]).p == pytest.approx((0, 0, 0.02 * math.pi))


def test_ball_and_free_coordinates():
    q = quat_from_axis_angle((1, 2, 3), 0.7)
    ball = Joint("b", JointKind.BALL, "", "x", dofs=[Dof(Motion.BALL, anchor=vec3(0, 0, 1))])
    assert ball.transform(q).apply((0, 0, 1)) == pytest.approx((0, 0, 1), abs=1e-15)
    free = Joint("f", JointKind.FLOATING, "", "x", dofs=[Dof(Motion.FREE)])
    assert free.transform([1, 2, 3, *q]).is_close(Pose.of((1, 2, 3), q))
    assert free.neutral().tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert (free.positions, free.velocities) == (7, 6)


def test_reference_position_is_where_the_frames_meet():
    joint = Joint("j", JointKind.REVOLUTE, "", "b", dofs=[Dof(Motion.HINGE, ref=0.5)])
    assert joint.transform([0.5]).is_identity(1e-15)
    assert joint.neutral().tolist() == [0.5]


def test_initial_coordinates_place_the_bodies():
    asset = asset_of(["b"], [hinge("j", "", "b", child_frame=Pose.of((-1, 0, 0)))])
    asset.joints[0].dofs[0].position = math.pi
    place_bodies(asset)
    assert asset.body("b").pose.p == pytest.approx((-1, 0, 0), abs=1e-15)


@pytest.mark.parametrize("given", [[], [1.0, 2.0], [[1.0]], math.nan, "x", None, {}])
def test_coordinates_that_a_joint_does_not_have_are_told(given):
    asset = asset_of(["b"], [hinge("j", "", "b")])
    with pytest.raises(UsageError, match=r"not coordinates of the revolute joint 'j'.*1 finite number"):
        asset.forward_kinematics({"j": given})


def test_joints_that_are_not_there_are_told():
    asset = asset_of(["b"], [hinge("shoulder", "", "b")])
    with pytest.raises(UnknownNameError, match=r"unknown joint 'sholder'.*did you mean 'shoulder'"):
        asset.forward_kinematics({"sholder": 0.5})
    assert asset.forward_kinematics({"shoulder": 0.5})["b"].is_close(asset.joint("shoulder").transform([0.5]))


def four_bar(**more):
    """A square of four links in the plane: a crank on the ground, a coupler, a rocker, and a hinge that closes it."""
    asset = asset_of(
        ["crank", "coupler", "rocker"],
        [
            hinge("a", "", "crank"),
            hinge("b", "crank", "coupler", Pose.of((0, 1, 0))),
            hinge("c", "", "rocker", Pose.of((1, 0, 0))),
            hinge("d", "coupler", "rocker", Pose.of((1, 0, 0)), Pose.of((0, 1, 0)), **more),
        ],
    )
    for body, place in zip(asset.bodies, ((0, 0, 0), (0, 1, 0), (1, 0, 0)), strict=True):
        body.pose = Pose.of(place)
    return asset


@pytest.mark.parametrize("closes", [True, False])
def test_a_four_bar_has_one_freedom(closes):
    assert count_freedoms(four_bar(closes_loop=closes)) == 1


def test_freedoms_of_trees_stacks_and_loose_bases():
    arm = asset_of(["l1", "l2"], [hinge("j1", "", "l1"), hinge("j2", "l1", "l2", Pose.of((1, 0, 0)))])
    assert count_freedoms(arm) == 2
    loose = asset_of(["base", "l1"], [hinge("j1", "base", "l1")])
    assert count_freedoms(loose) == 1
    axes = ((1, 0, 0), (0, 1, 0), (1, 0, 0))
    dofs = [Dof(Motion.HINGE, vec3(axis), f"q{number}") for number, axis in enumerate(axes)]
    tip = asset_of(["tip"], [Joint("tip", JointKind.D6, "", "tip", dofs=dofs)])
    # two of the three axes are one
    assert count_freedoms(tip) == 2
    beside = Dof(Motion.HINGE, vec3((1, 0, 0)), "beside", vec3((0, 1, 0)))
    roll = asset_of(["toe"], [Joint("toe", JointKind.D6, "", "toe", dofs=[dofs[0], beside])])
    assert count_freedoms(roll) == 2


def test_a_joint_that_closes_a_loop_about_another_axis_locks():
    both = [hinge("x", "", "tip", axis=(1, 0, 0)), hinge("y", "", "tip", axis=(0, 1, 0), closes_loop=True)]
    assert count_freedoms(asset_of(["tip"], both)) == 0
    door = [hinge("low", "", "tip"), hinge("high", "", "tip", Pose.of((0, 0, 1)), closes_loop=True)]
    assert count_freedoms(asset_of(["tip"], door)) == 1


def test_equalities_take_freedoms():
    asset = asset_of(["l1", "l2"], [hinge("j1", "", "l1"), hinge("j2", "l1", "l2", Pose.of((1, 0, 0)))])
    asset.bodies[1].pose = Pose.of((1, 0, 0))
    pin = Equality("pin", EqualityKind.CONNECT, "l2", "", Pose.of((0, 1, 0)), Pose.of((1, 1, 0)))
    asset.equalities.append(pin)
    # a point of a planar chain of two links that is held holds both
    assert count_freedoms(asset) == 0
    pin.enabled = False
    assert count_freedoms(asset) == 2
