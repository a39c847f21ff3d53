# SPDX-License-Identifier: Apache-2.0
"""Joints as URDF has them: the same motion for the same coordinates, whatever frames the model has."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.math3d import IDENTITY, Pose, quat_from_rpy, vec3
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Drive, Gear, Joint, JointKind, Mimic, Motion

from .writing import find_pose, make_pair, random_pose, write

TILTED = vec3(1.0, 2.0, -2.0) / 3.0


def hinge(name: str = "j", **values: object) -> Dof:
    return Dof(Motion.HINGE, axis=TILTED, name=name, **values)  # type: ignore[arg-type]


def assert_same_motion(asset, written, names, follow=()):
    rng = np.random.default_rng(0)
    for _ in range(5):
        values = dict(zip(names, rng.normal(size=len(names)), strict=True))
        led = {name: factor * values[leader] + offset for name, leader, factor, offset in follow}
        ours, theirs = find_pose(asset, "tip", values), find_pose(written.again, "tip", values | led)
        assert ours.is_close(theirs, 1e-12)


def test_a_hinge_whose_axis_passes_the_childs_frame_is_one_joint(tmp_path):
    far = ~Pose(0.3 * TILTED, quat_from_rpy((0.1, 0.2, 0.3)))
    asset = make_pair(hinge(lower=-1.0, upper=2.0), far=far)
    written = write(asset, tmp_path)
    assert written.joint("j").get("type") == "revolute"
    assert written.links == ["world", "base", "tip"]
    assert_same_motion(asset, written, ["j"])


def test_a_hinge_beside_the_childs_frame_gets_a_link_between(tmp_path, accept_urdf):
    asset = make_pair(hinge())
    written = write(asset, tmp_path)
    assert written.links == ["world", "base", "tip", "j_link"]
    assert written.joint("j").get("type") == "continuous"
    assert written.joint("j").find("limit") is None
    assert len(written.link("j_link")) == 0, "nothing is invented for a link between"
    assert "urdf-write-joint-expanded" in written.kinds
    assert_same_motion(asset, written, ["j"])
    accept_urdf(written.path)


@pytest.mark.parametrize(("beside", "links"), [(2e-9, 3), (2e-8, 4)])
def test_what_single_precision_rounds_makes_no_link_between_and_what_it_keeps_does(tmp_path, beside, links):
    """A hinge 2e-8 m beside a foot's frame is 4e-7 of a mass matrix: other engines would see another robot."""
    across = vec3(2.0, -1.0, 0.0) / math.sqrt(5.0)
    written = write(make_pair(hinge(), far=Pose(beside * across, IDENTITY.q)), tmp_path)
    assert len(written.links) == links


def test_a_slide_is_one_joint_from_everywhere(tmp_path):
    asset = make_pair(Dof(Motion.SLIDE, axis=TILTED, name="j", lower=0.0, upper=0.5))
    written = write(asset, tmp_path)
    assert written.links == ["world", "base", "tip"]
    assert_same_motion(asset, written, ["j"])


def test_reference_coordinates_are_in_the_origin(tmp_path):
    asset = make_pair(hinge(ref=0.4))
    assert_same_motion(asset, write(asset, tmp_path), ["j"])
    slide = make_pair(Dof(Motion.SLIDE, axis=TILTED, name="j", ref=0.4))
    assert_same_motion(slide, write(slide, tmp_path / "slide"), ["j"])


@pytest.mark.parametrize("turned", [False, True])
def test_several_freedoms_are_a_chain(tmp_path, turned, accept_urdf):
    dofs = [
        Dof(Motion.SLIDE, axis=vec3(1, 0, 0), name="x"),
        Dof(Motion.HINGE, axis=TILTED, name="a", anchor=vec3(0.1, 0.2, 0.3)),
        Dof(Motion.HINGE, axis=vec3(0, 1, 0), name="b", ref=0.2),
    ]
    asset = make_pair(*dofs)
    if turned:
        asset.joints[1] = Joint("j", JointKind.D6, "tip", "base", random_pose(4), random_pose(5), dofs)
    written = write(asset, tmp_path)
    assert [j.get("name") for j in written.root.findall("joint")][1:4] == (
        ["b", "a", "x"] if turned else ["x", "a", "b"]
    )
    assert ("urdf-write-joint-reversed" in written.kinds) is turned
    assert_same_motion(asset, written, ["x", "a", "b"])
    assert all(written.link(f"{name}_link") is not None for name in (("b", "a") if turned else ("x", "a")))
    accept_urdf(written.path)


def test_a_screw_advances_by_a_follower(tmp_path):
    asset = make_pair(hinge(pitch=0.05, ref=0.3), kind=JointKind.SCREW)
    written = write(asset, tmp_path)
    assert_same_motion(asset, written, ["j"], [("j_advance", "j", 0.05, -0.05 * 0.3)])
    mimic = written.joint("j_advance").find("mimic")
    assert mimic.get("joint") == "j"
    assert float(mimic.get("multiplier")) == 0.05


def test_a_ball_reaches_every_attitude(tmp_path, accept_urdf):
    asset = make_pair(
        Dof(Motion.BALL, name="j", anchor=vec3(0.1, 0, 0), swing=(0.4, 0.4)), kind=JointKind.BALL
    )
    written = write(asset, tmp_path)
    assert "urdf-write-ball" in written.kinds
    assert "joints.dofs.swing" in written.lost
    turn = quat_from_rpy((0.3, 0.0, 0.0))
    asset.joints[1].dofs[0].position = turn
    angles = {"j_x": 0.3, "j_y": 0.0, "j_z": 0.0}
    assert find_pose(asset, "tip", {}).is_close(find_pose(written.again, "tip", angles), 1e-12)
    accept_urdf(written.path)


def test_planar_and_floating_joints_are_those_of_urdf(tmp_path, accept_urdf):
    along = [vec3(1, 0, 0), vec3(0, 1, 0)]
    dofs = [
        Dof(Motion.SLIDE, along[0], "j_x"),
        Dof(Motion.SLIDE, along[1], "j_y"),
        Dof(Motion.HINGE, name="j_yaw"),
    ]
    asset = make_pair(*dofs, kind=JointKind.PLANAR, far=IDENTITY)
    written = write(asset, tmp_path)
    assert written.joint("j").get("type") == "planar"
    assert_same_motion(asset, written, ["j_x", "j_y", "j_yaw"])
    free = make_pair(Dof(Motion.FREE, name="j"), kind=JointKind.FLOATING)
    written = write(free, tmp_path / "free")
    assert written.joint("j").get("type") == "floating"
    free.joints[1].dofs[0].position = written.again.joint("j").dofs[0].position = [
        1,
        2,
        3,
        *quat_from_rpy((1, 2, 3)),
    ]
    assert find_pose(free, "tip", {}).is_close(find_pose(written.again, "tip", {}), 1e-12)
    accept_urdf(written.path)


def test_a_plane_beside_the_childs_frame_is_no_planar_joint(tmp_path, accept_urdf):
    dofs = [
        Dof(Motion.SLIDE, vec3(1, 0, 0), "j_x"),
        Dof(Motion.SLIDE, vec3(0, 1, 0), "j_y"),
        Dof(Motion.HINGE, name="j_yaw"),
    ]
    asset = make_pair(*dofs, kind=JointKind.PLANAR, far=Pose.of((0.3, 0.0, 0.1)))
    written = write(asset, tmp_path)
    assert "planar" not in {joint.kind for joint in written.again.joints}
    assert_same_motion(asset, written, ["j_x", "j_y", "j_yaw"])
    accept_urdf(written.path)


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-8, 1.2])
def test_rotations_are_exact_also_at_the_pole(tmp_path, pitch):
    asset = make_pair(near=Pose.of((1, 2, 3), quat_from_rpy((0.3, pitch, -0.8))), far=IDENTITY)
    written = write(asset, tmp_path)
    assert find_pose(asset, "tip", {}).is_close(find_pose(written.again, "tip", {}), 1e-14)


def test_limits_dynamics_safety_and_calibration(tmp_path, accept_urdf):
    safety = {"soft_lower_limit": -0.5, "soft_upper_limit": 0.5, "k_position": 20.0, "k_velocity": 3.0}
    dof = hinge(lower=-1.0, upper=1.5, damping=0.7, friction=0.1, effort_limit=12.0, velocity_limit=3.0)
    dof.safety = safety
    asset = make_pair(dof, far=IDENTITY)
    asset.extras.keep("urdf", "j", "calibration.rising", 0.25)
    asset.extras.keep("urdf", "j", "limit.acceleration", 9.0)
    written = write(asset, tmp_path)
    again = written.again.joint("j").dofs[0]
    for field in ("lower", "upper", "damping", "friction", "effort_limit", "velocity_limit", "safety"):
        assert getattr(again, field) == getattr(dof, field)
    assert written.again.extras.get("urdf", "j", "calibration.rising") == 0.25
    assert written.again.extras.get("urdf", "j", "limit.acceleration") == 9.0
    assert not written.kinds
    accept_urdf(written.path)


def test_effort_comes_from_the_drive_or_the_motor(tmp_path):
    asset = make_pair(hinge(lower=-1.0, upper=1.0, drive=Drive(10.0, 1.0, max_force=7.0)), far=IDENTITY)
    written = write(asset, tmp_path)
    assert written.again.joint("j").dofs[0].effort_limit == 7.0
    assert written.again.joint("j").dofs[0].velocity_limit is None, "what stands for none is read as none"
    assert "urdf-write-limit" in written.kinds
    assert written.lost == {"joints.dofs.drive"}
    asset.joints[1].dofs[0].drive = None
    asset.actuators = [Actuator("m", "motor", "j", gear=(50.0,), control_range=(-0.1, 0.2))]
    assert write(asset, tmp_path / "motor").again.joint("j").dofs[0].effort_limit == 10.0


def test_a_slide_without_ends_gets_numbers_that_mean_none(tmp_path, accept_urdf):
    written = write(make_pair(Dof(Motion.SLIDE, name="j", lower=0.0)), tmp_path)
    assert (written.again.joint("j").dofs[0].lower, written.again.joint("j").dofs[0].upper) == (0.0, math.inf)
    assert "urdf-write-limit" in written.kinds
    accept_urdf(written.path)


def test_mimics_name_joints_and_others_are_reported(tmp_path):
    dofs = [Dof(Motion.HINGE, name=name) for name in ("a", "b", "c")]
    asset = make_pair(*dofs)
    asset.mimics = [Mimic("b", "a", 2.0, 0.5), Mimic("c", "a", 1.0, 0.0, polynomial=(0.3,))]
    written = write(asset, tmp_path)
    assert [(m.follower, m.leader, m.multiplier, m.offset) for m in written.again.mimics] == [
        ("b", "a", 2.0, 0.5)
    ]
    assert written.lost == {"mimics.polynomial"}


def test_gears_are_reported(tmp_path):
    dofs = [Dof(Motion.HINGE, name=name) for name in ("a", "b")]
    asset = make_pair(*dofs, kind=JointKind.GEARBOX)
    asset.joints[1].gear = Gear(3.0, "base")
    assert write(asset, tmp_path).lost == {"joints.gear"}


def test_ros_names_are_written(tmp_path):
    asset = make_pair(hinge(), far=IDENTITY)
    asset.joints[1].ros_name = "elbow"
    written = write(asset, tmp_path)
    assert written.joint("elbow") is not None
    assert written.joint("j") is None
