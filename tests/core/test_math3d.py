"""Rotations and rigid transforms against closed forms and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simwright.core.math3d import (
    IDENTITY,
    Pose,
    matrix_from_quat,
    quat_angle,
    quat_between,
    quat_from_axis_angle,
    quat_from_intrinsic_xyz,
    quat_from_matrix,
    quat_from_rpy,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    rotation_vector_between,
    rpy_from_quat,
)

angles = st.floats(-math.pi, math.pi)
numbers = st.floats(-10, 10)
vectors = st.tuples(numbers, numbers, numbers)
quats = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: np.linalg.norm(q) > 1e-3)


def elementary(axis: int, angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    m = np.eye(3)
    m[i, i] = m[j, j] = c
    m[i, j], m[j, i] = -s, s
    return m


@given(angles, angles, angles)
def test_rpy_is_fixed_axis_x_then_y_then_z(roll, pitch, yaw):
    expected = elementary(2, yaw) @ elementary(1, pitch) @ elementary(0, roll)
    assert matrix_from_quat(quat_from_rpy((roll, pitch, yaw))) == pytest.approx(expected, abs=1e-12)


@given(angles, angles, angles)
def test_intrinsic_xyz_turns_about_axes_that_turn_with_it(roll, pitch, yaw):
    expected = elementary(0, roll) @ elementary(1, pitch) @ elementary(2, yaw)
    assert matrix_from_quat(quat_from_intrinsic_xyz(roll, pitch, yaw)) == pytest.approx(expected, abs=1e-12)


@given(quats)
def test_rpy_round_trip_gives_the_same_rotation(q):
    q = quat_normalize(q)
    assert quat_angle(q, quat_from_rpy(rpy_from_quat(q))) < 1e-14


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
def test_rpy_at_the_pole_keeps_the_rotation(pitch):
    q = quat_from_rpy((0.3, pitch, 0.7))
    assert quat_angle(q, quat_from_rpy(rpy_from_quat(q))) < 1e-14


@given(quats)
def test_matrix_round_trip(q):
    q = quat_normalize(q)
    assert quat_angle(q, quat_from_matrix(matrix_from_quat(q))) < 1e-9


@given(quats, quats, vectors)
def test_product_rotates_by_the_right_factor_first(a, b, v):
    a, b = quat_normalize(a), quat_normalize(b)
    assert quat_rotate(quat_multiply(a, b), v) == pytest.approx(quat_rotate(a, quat_rotate(b, v)), abs=1e-9)


@given(vectors.filter(lambda v: np.linalg.norm(v) > 1e-3), vectors.filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_shortest_rotation_turns_one_direction_into_the_other(a, b):
    turned = quat_rotate(quat_between(a, b), np.array(a) / np.linalg.norm(a))
    assert turned == pytest.approx(np.array(b) / np.linalg.norm(b), abs=1e-5)


def test_opposite_directions_are_turned_by_pi():
    assert quat_rotate(quat_between((0, 0, 1), (0, 0, -1)), (0, 0, 1)) == pytest.approx([0, 0, -1])


def test_axis_angle_normalises_the_axis():
    assert quat_from_axis_angle((0, 0, 5), math.pi / 2) == pytest.approx(
        [math.sqrt(0.5), 0, 0, math.sqrt(0.5)]
    )


def test_zero_quaternion_is_identity():
    assert quat_normalize((0, 0, 0, 0)).tolist() == [1, 0, 0, 0]


@given(vectors, quats, vectors, quats, vectors)
def test_poses_compose_and_invert(p1, q1, p2, q2, v):
    a, b = Pose.of(p1, q1), Pose.of(p2, q2)
    assert (a @ b).apply(v) == pytest.approx(a.apply(b.apply(v)), abs=1e-9)
    assert (a @ ~a).is_identity(1e-9)
    assert Pose.from_matrix(a.matrix).is_close(a, 1e-9)


def test_identity_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        IDENTITY.p[0] = 1.0


@pytest.mark.parametrize(
    ("angle", "turned"), [(0.7, 0.7), (3.0, 3.0), (3.5, 3.5 - 2 * math.pi), (-2.0, -2.0)]
)
def test_the_rotation_vector_between_two_orientations_is_the_shorter_turn(angle, turned):
    axis = np.array((2.0, -1.0, 2.0)) / 3.0
    start = quat_from_axis_angle((0.3, 1.0, -0.2), 1.1)
    end = quat_multiply(quat_from_axis_angle(axis, angle), start)
    assert rotation_vector_between(start, end) == pytest.approx(turned * axis, abs=1e-12)


def test_the_rotation_vector_between_equal_orientations_is_nothing():
    start = quat_from_axis_angle((0.3, 1.0, -0.2), 1.1)
    assert rotation_vector_between(start, -start).tolist() == [0.0, 0.0, 0.0]


def test_placing_by_the_identity_gives_the_numbers_of_the_products():
    same = Pose(np.array(IDENTITY.p), np.array(IDENTITY.q))
    rng = np.random.default_rng(5)
    for number in range(50):
        pose = Pose.of(rng.normal(size=3), rng.normal(size=4) * 10.0 ** (number % 3))
        pose.p[number % 3] = -0.0
        one, other = IDENTITY @ pose, same @ pose
        assert one.p.tobytes() == other.p.tobytes()
        np.testing.assert_array_equal(one.q, other.q)
