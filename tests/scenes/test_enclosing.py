# SPDX-License-Identifier: Apache-2.0
"""Boxes are the smallest that hold everything; hulls face outward."""

import numpy as np
import pytest

from simwright.core.math3d import matrix_from_quat, quat_from_axis_angle, vec3
from simwright.model.geometry import Mesh
from simwright.model.moments import compute_moments
from simwright.scenes.ops.approximate_meshes import find_box, find_hull, find_turned_box

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], dtype=float)


@pytest.mark.parametrize("seed", range(5))
def test_a_turned_box_is_found_again(seed):
    rng = np.random.default_rng(seed)
    turn = matrix_from_quat(quat_from_axis_angle(rng.normal(size=3), rng.uniform(0, 3)))
    shift = rng.normal(size=3)
    inside = rng.uniform(-1, 1, (50, 3)) * (1, 2, 3)
    points = np.concatenate((CORNERS, inside)) @ turn.T + shift
    pose, half = find_box(points)
    assert sorted(half) == pytest.approx([1, 2, 3], rel=1e-6)
    assert pose.p == pytest.approx(shift, abs=1e-6)
    local = (points - pose.p) @ matrix_from_quat(pose.q)
    assert np.all(np.abs(local) <= half + 1e-6)


def test_the_box_of_sap_warp():
    """Against what its loader (c0c861c) computed: the smallest of those turned by whole degrees about the main axes."""
    points = np.array(
        [[0, 0, 0], [0.3, 0.02, 0.01], [0.05, 0.2, 0.03], [0.04, 0.01, 0.12], [0.25, 0.15, 0.02],
         [0.2, 0.05, 0.1], [0.11, 0.17, 0.08]]
    )  # fmt: skip
    pose, half = find_turned_box(points)
    assert half == pytest.approx([0.097491518, 0.150413468, 0.059506811], rel=1e-6)
    assert pose.p == pytest.approx([0.141545385, 0.110179193, 0.056529328], abs=1e-6)
    theirs = np.array([-0.681882143, 0.03647022, -0.014727697, -0.7304039])
    assert abs(pose.q @ theirs) == pytest.approx(1.0, abs=1e-7)
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [1, 2, 0]], dtype=float)
    assert sorted(find_turned_box(flat)[1])[1:] == pytest.approx([0.5, 1.0])


def test_a_box_holds_a_ball_of_points_tightly():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(500, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    pose, half = find_box(points)
    local = (points - pose.p) @ matrix_from_quat(pose.q)
    assert np.all(np.abs(local) <= half + 1e-9)
    assert np.prod(half) <= np.prod(np.ptp(points, axis=0) / 2) + 1e-9


@pytest.mark.parametrize(
    "points",
    [
        [[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]],
        [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]],
        [[1, 2, 3]],
        [[1, 2, 3], [4, 5, 6]],
    ],
)
def test_flat_things_have_thin_boxes(points):
    points = np.array(points, dtype=float)
    pose, half = find_box(points)
    assert np.all(half > 0)
    local = (points - pose.p) @ matrix_from_quat(pose.q)
    assert np.all(np.abs(local) <= half + 1e-6)


def test_a_flat_rectangle_keeps_its_size():
    turn = matrix_from_quat(quat_from_axis_angle(vec3(1, 1, 0), 0.7))
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]], dtype=float) @ turn.T
    _, half = find_box(points)
    assert sorted(half)[1:] == pytest.approx([0.5, 1.0], rel=1e-6)


def test_a_hull():
    inside = np.random.default_rng(1).uniform(-0.9, 0.9, (100, 3))
    points = np.concatenate((CORNERS, inside))
    hull = find_hull(Mesh.of(points, np.arange(len(points) // 3 * 3).reshape(-1, 3)))
    assert len(hull.data.vertices) == 8
    assert compute_moments(hull, None).volume == pytest.approx(48.0)
    assert find_hull(Mesh.of([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])) is None
