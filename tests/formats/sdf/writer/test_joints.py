# SPDX-License-Identifier: Apache-2.0
"""Joints: every type moves as it did, about the same axes, from the same zero."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from simwright.compare.difference import make_settings
from simwright.compare.run import compare_assets
from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Asset, Body
from simwright.model.joint import (
    Dof,
    Drive,
    Equality,
    EqualityKind,
    Gear,
    Joint,
    JointKind,
    Mimic,
    Motion,
)

from .writing import Written, make_pair, make_solid, random_pose, write

X, Y, Z = vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1)
SKEW = vec3(0.6, 0.0, 0.8)


def hinge(axis: object = Z, **values: object) -> Dof:
    return Dof(Motion.HINGE, axis, name="q", **values)  # type: ignore[arg-type]


SINGLE = {
    "continuous": ([hinge(SKEW)], "continuous"),
    "limited": ([hinge(Y, lower=-0.5, upper=1.5)], "revolute"),
    "one end": ([hinge(Y, lower=-0.5)], "revolute"),
    "counts from a reference": ([hinge(X, ref=0.7, lower=0.0, upper=1.0)], "revolute"),
    "beside its frame": ([hinge(SKEW, anchor=vec3(0.1, 0.2, 0.3), ref=0.2)], "continuous"),
    "slide": ([Dof(Motion.SLIDE, SKEW, "q", lower=0.0, upper=0.4, ref=0.1)], "prismatic"),
    "screw": ([hinge(Z, pitch=0.003, ref=0.4)], "screw"),
    "ball": ([Dof(Motion.BALL, name="q")], "ball"),
    "fixed": ([], "fixed"),
}


def check_motion(asset: Asset, written: Written, *ignore: str) -> None:
    difference = compare_assets(asset, written.again, make_settings(ignore=ignore, rtol=1e-9))
    assert difference.equal, [(s.name, s.items) for s in difference.sections if not s.equal]


@pytest.mark.parametrize("case", SINGLE)
def test_one_joint(case: str, tmp_path: Path, accept_sdf) -> None:
    dofs, word = SINGLE[case]
    asset = make_pair(*dofs)
    written = write(asset, tmp_path)
    assert written.find("joint", "j").get("type") == word
    # limits and motion count from the same zero; the reference itself is gone, the start is said
    check_motion(asset, written, "limits", "keyframes", "joints") if case != "fixed" else None
    assert accept_sdf(written.path) == ""


def test_limits_and_dynamics(tmp_path: Path) -> None:
    dof = hinge(Y, lower=-0.5, upper=1.5, effort_limit=12.5, velocity_limit=3.0, damping=0.1, friction=0.2)
    dof.stiffness, dof.spring_ref, dof.limit_stiffness, dof.limit_damping = 5.0, 0.3, 1e6, 2.0
    asset = make_pair(dof)
    written = write(asset, tmp_path)
    found = written.again.joint("j").dofs[0]
    for name in ("lower", "upper", "effort_limit", "velocity_limit", "damping", "friction", "stiffness", "spring_ref",
                 "limit_stiffness", "limit_damping"):  # fmt: skip
        assert getattr(found, name) == getattr(dof, name), name
    check_motion(asset, written)


def test_a_drive_is_a_position_controller_with_its_largest_force(tmp_path: Path) -> None:
    written = write(make_pair(hinge(drive=Drive(stiffness=3.0, damping=0.5, max_force=7.0))), tmp_path)
    assert written.again.joint("j").dofs[0].drive == Drive(stiffness=3.0, damping=0.5, max_force=7.0)


def test_two_hinges_are_one_joint(tmp_path: Path, accept_sdf) -> None:
    for second, word in ((Y, "universal"), (SKEW, "revolute2")):
        dofs = [
            Dof(Motion.HINGE, X, "j_axis", ref=0.3),
            Dof(Motion.HINGE, second, "j_axis2", lower=-1.0, upper=2.0, ref=-0.2),
        ]
        asset = make_pair(*dofs, kind=JointKind.UNIVERSAL)
        written = write(asset, tmp_path)
        assert written.find("joint", "j").get("type") == word
        check_motion(asset, written, "limits", "keyframes", "joints")
        assert accept_sdf(written.path) == ""


def test_a_gearbox_keeps_its_ratio_and_reference(tmp_path: Path) -> None:
    dofs = [Dof(Motion.HINGE, X, "j_axis"), Dof(Motion.HINGE, X, "j_axis2")]
    asset = make_pair(*dofs, kind=JointKind.GEARBOX)
    asset.joints[1].gear = Gear(0.25, "base")
    written = write(asset, tmp_path)
    gear = written.again.joint("j").gear
    assert gear == Gear(0.25, "base")
    assert written.text("gearbox_ratio") == "4"


def test_other_freedoms_become_a_chain_of_light_links(tmp_path: Path, accept_sdf) -> None:
    dofs = [
        Dof(Motion.SLIDE, X, "x", ref=0.2),
        Dof(Motion.HINGE, SKEW, "turn", anchor=vec3(0.1, 0, 0)),
        Dof(Motion.BALL, name="ball"),
    ]
    asset = make_pair(*dofs)
    written = write(asset, tmp_path)
    assert "sdf-write-joint-expanded" in written.kinds
    assert [joint.name for joint in written.again.joints] == ["anchor", "x", "turn", "ball"]
    difference = compare_assets(asset, written.again, make_settings(["poses", "motion"]))
    assert difference.equal, [(s.name, s.items) for s in difference.sections if not s.equal]
    light = written.again.body("x_link").inertial
    assert light is not None
    assert 0.0 < light.mass < 1e-7
    assert accept_sdf(written.path) == ""


def test_a_joint_whose_child_is_the_world_is_turned_round(tmp_path: Path) -> None:
    asset = Asset("turned", bodies=[Body("arm", inertial=make_solid())])
    asset.joints = [
        Joint("j", JointKind.REVOLUTE, "arm", "", random_pose(1), random_pose(2), [hinge(SKEW, lower=-1.0)])
    ]
    written = write(asset, tmp_path)
    assert written.text("parent") == "world"
    assert "sdf-write-joint-reversed" in written.kinds
    check_motion(asset, written, "joints", "limits")
    assert written.again.joint("j").dofs[0].lower == -1.0


def make_fourbar(gap: float = 0.0) -> Asset:
    """Three links in a row on the world, the last held to it by a joint that closes the loop."""
    asset = Asset("fourbar", bodies=[Body(name, inertial=make_solid()) for name in ("a", "b", "c")])
    step = Pose.of((1.0, 0.0, 0.0))
    asset.joints = [
        Joint("j1", JointKind.REVOLUTE, "", "a", dofs=[hinge()]),
        Joint("j2", JointKind.REVOLUTE, "a", "b", step, dofs=[Dof(Motion.HINGE, Z, "q2")]),
        Joint("j3", JointKind.REVOLUTE, "b", "c", step, dofs=[Dof(Motion.HINGE, Z, "q3")]),
        Joint(
            "j4",
            JointKind.REVOLUTE,
            "",
            "c",
            Pose.of((3.0 + gap, 0.0, 0.0)),
            step,
            [Dof(Motion.HINGE, Z, "q4")],
        ),
    ]
    asset.joints[3].closes_loop = True
    return asset


def test_loops_stay(tmp_path: Path, accept_sdf) -> None:
    written = write(make_fourbar(), tmp_path)
    assert written.again.joint("j4").closes_loop
    assert not any(written.again.joint(name).closes_loop for name in ("j1", "j2", "j3"))
    check_motion(make_fourbar(), written)
    assert accept_sdf(written.path) == ""


def test_a_loop_that_is_open_at_zero_is_left_out(tmp_path: Path) -> None:
    written = write(make_fourbar(gap=0.5), tmp_path)
    assert written.find("joint", "j4") is None
    assert "sdf-write-loop-open" in written.kinds


def test_points_and_frames_held_together_are_joints(tmp_path: Path) -> None:
    asset = make_fourbar()
    asset.joints.pop()
    asset.equalities = [
        Equality("pin", EqualityKind.CONNECT, "a", "c", Pose.of((2.0, 0, 0))),
        Equality("glue", EqualityKind.WELD, "a", "b", Pose.of((1.0, 0, 0))),
    ]
    written = write(asset, tmp_path)
    kinds = {joint.name: (joint.kind, joint.closes_loop) for joint in written.again.joints}
    assert kinds["pin"] == (JointKind.BALL, True)
    assert kinds["glue"] == (JointKind.FIXED, True)


def test_mimics_need_a_newer_version(tmp_path: Path) -> None:
    asset = make_fourbar()
    asset.mimics = [Mimic("q2", "q", -2.0, 0.1)]
    written = write(asset, tmp_path)
    assert written.version == "1.11"
    (mimic,) = written.again.mimics
    assert (mimic.follower, mimic.leader, mimic.multiplier, mimic.offset) == ("j2", "j1", -2.0, 0.1)
    old = write(asset, tmp_path, sdf_version="1.9")
    assert old.version == "1.9"
    assert not old.again.mimics
    assert "sdf-write-version" in old.kinds


def test_the_start_of_a_joint_is_said_to_be_lost(tmp_path: Path) -> None:
    asset = make_pair(hinge(Z, position=0.5))
    written = write(asset, tmp_path)
    assert "sdf-write-zero-pose" in written.kinds
    assert (
        written.again.joint("j")
        .transform(np.zeros(1))
        .is_close(asset.joint("j").transform(np.zeros(1)), 1e-12)
    )


def test_a_screw_says_its_pitch_as_its_version_does(tmp_path: Path) -> None:
    asset = make_pair(hinge(Z, pitch=0.002))
    assert float(write(asset, tmp_path).text("thread_pitch")) == pytest.approx(-500.0)
    newer = write(asset, tmp_path, sdf_version="1.10")
    assert float(newer.text("screw_thread_pitch")) == pytest.approx(0.002 * 2 * math.pi)
    assert newer.again.joint("j").dofs[0].pitch == pytest.approx(0.002, rel=1e-12)


def test_armature_is_a_rotor_for_drake_and_lost_to_gazebo(tmp_path: Path) -> None:
    asset = make_pair(hinge(Y, armature=0.02))
    written = write(asset, tmp_path)
    drake = "{http://drake.mit.edu}rotor_inertia"
    assert float(written.find("joint", "j").findtext(drake)) == 0.02
    assert written.again.joint("j").dofs[0].armature == 0.02
    (lost,) = [f for f in written.said if f.kind == "write-lost-motion"]
    assert "the armature of 1 joint" in lost.message
    assert "Gazebo does not" in lost.hint
    # what Drake's own file said is no news to Gazebo
    second = write(written.again, tmp_path / "second")
    assert "write-lost-motion" not in second.kinds
    assert second.find("joint", "j").findtext(drake) == "0.02"


@pytest.mark.parametrize(
    "dofs",
    [[hinge(Y, armature=0.02, effort_limit=0.0)], [hinge(X, armature=0.02), Dof(Motion.HINGE, Y, name="p")]],
)
def test_armature_without_a_place_is_told(dofs: list[Dof], tmp_path: Path) -> None:
    written = write(make_pair(*dofs), tmp_path)
    assert "rotor_inertia" not in written.path.read_text()
    assert "write-lost-motion" in written.kinds
