"""Coordinates from poses: exact where the joint can make the way, the nearest where it cannot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.math3d import IDENTITY, Pose, quat_from_axis_angle, vec3
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.kinematics import compute_joint_pose, measure_gap, measure_joint_pose, solve_coordinates

X, Y, Z = np.eye(3)


def make_joint(*dofs: Dof) -> Joint:
    return Joint("j", JointKind.D6, "a", "b", Pose.of((1, 2, 3), (0.6, 0.8, 0, 0)), IDENTITY, list(dofs))


@pytest.mark.parametrize(
    ("dofs", "q"),
    [
        ([Dof(Motion.HINGE, Z)], [2.5]),
        ([Dof(Motion.HINGE, Z, ref=0.5)], [-2.0]),
        ([Dof(Motion.HINGE, Y, anchor=vec3(0.1, 0.0, -0.3))], [1.2]),
        ([Dof(Motion.HINGE, Y, pitch=0.05)], [9.0]),
        ([Dof(Motion.SLIDE, X, ref=0.1)], [0.7]),
        ([Dof(Motion.SLIDE, X), Dof(Motion.SLIDE, Y), Dof(Motion.HINGE, Z)], [0.4, -3.0, 2.0]),
        ([Dof(Motion.HINGE, X), Dof(Motion.HINGE, Y), Dof(Motion.HINGE, Z)], [0.7, -1.1, 2.0]),
        ([Dof(Motion.HINGE, X, anchor=vec3(0, 0, 0.2)), Dof(Motion.HINGE, Z)], [-1.5, 0.8]),
        ([Dof(Motion.BALL)], [0.5, 0.5, -0.5, 0.5]),
        ([Dof(Motion.FREE)], [1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8]),
        ([], []),
    ],
)
def test_a_way_that_the_joint_made_is_found_again(dofs: list[Dof], q: list[float]) -> None:
    joint = make_joint(*dofs)
    parent = Pose.of((3, 1, 0), (0.8, 0, 0.6, 0))
    way = measure_joint_pose(joint, parent, parent @ joint.transform(q))
    found = solve_coordinates(joint, way)
    np.testing.assert_allclose(found, q, atol=1e-6)
    assert measure_gap(compute_joint_pose(joint, found), way) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_what_no_coordinate_makes_is_left_over() -> None:
    joint = make_joint(Dof(Motion.HINGE, Z))
    way = Pose(vec3(0.0, 0.0, 0.25), quat_from_axis_angle(Z, 0.4))
    found = solve_coordinates(joint, way)
    assert found == pytest.approx([0.4])
    assert measure_gap(compute_joint_pose(joint, found), way) == pytest.approx((0.25, 0.0), abs=1e-6)


def test_a_hinge_is_wound_into_its_limits() -> None:
    joint = make_joint(Dof(Motion.HINGE, Z, lower=math.pi, upper=2.0 * math.pi))
    way = Pose(vec3(), quat_from_axis_angle(Z, -0.5))
    assert solve_coordinates(joint, way) == pytest.approx([2.0 * math.pi - 0.5])
    joint = make_joint(Dof(Motion.HINGE, Z, lower=-0.1, upper=0.1))
    assert solve_coordinates(joint, way) == pytest.approx([-0.5]), "outside, but where the body stands"
