"""The forms for many rotations at once agree with those for one."""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import (
    IDENTITY_QUAT,
    Pose,
    matrices_from_quats,
    matrix_from_quat,
    quat_from_matrix,
    quats_from_matrices,
)


def make_quaternions() -> np.ndarray:
    q = np.random.default_rng(4).normal(size=(200, 4))
    q[:4] = np.eye(4)
    return q / np.linalg.norm(q, axis=1)[:, None]


def test_matrices_from_quats():
    q = make_quaternions()
    np.testing.assert_array_equal(matrices_from_quats(q), [matrix_from_quat(row) for row in q])


def test_quats_from_matrices():
    matrices = matrices_from_quats(make_quaternions())
    found = quats_from_matrices(matrices)
    np.testing.assert_allclose(found, [quat_from_matrix(m) for m in matrices], atol=1e-15)
    assert np.all(found[:, 0] >= 0)
    assert quats_from_matrices(np.zeros((0, 3, 3))).shape == (0, 4)


def test_a_matrix_of_nothing_numbers_turns_nothing():
    np.testing.assert_array_equal(quats_from_matrices(np.full((1, 3, 3), np.nan))[0], IDENTITY_QUAT)


def test_move_is_apply_for_one_point():
    pose = Pose.of((1, 2, 3), make_quaternions()[9])
    np.testing.assert_allclose(pose.move((4.0, -5.0, 6.0)), pose.apply((4.0, -5.0, 6.0)), atol=1e-14)
