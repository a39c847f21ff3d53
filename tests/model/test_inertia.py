"""Inertia algebra is exact to 1e-12 relative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pxr import UsdPhysics

import simwright
from simwright.core.math3d import Pose, matrix_from_quat, quat_from_rpy, quat_normalize
from simwright.model.inertia import (
    Inertial,
    combine,
    find_nearest_moments,
    matrix_from_six,
    point_inertia,
    principal_axes,
    settle_moments,
    six_from_matrix,
)

EXACT = 1e-12
components = st.floats(-1, 1)
quats = st.tuples(components, components, components, components).filter(lambda q: np.linalg.norm(q) > 1e-2)
offsets = st.tuples(components, components, components)
positive = st.floats(0.01, 10)
triples = st.tuples(positive, positive, positive)


def relative(a, b):
    scale = max(np.abs(a).max(), np.abs(b).max(), 1e-300)
    return np.abs(np.asarray(a) - np.asarray(b)).max() / scale


@given(triples, quats)
def test_principal_axes_give_the_tensor_back(moments, q):
    rotation = matrix_from_quat(quat_normalize(q))
    tensor = rotation @ np.diag(moments) @ rotation.T
    values, axes = principal_axes(tensor)
    back = matrix_from_quat(axes)
    assert relative(back @ np.diag(values) @ back.T, tensor) < EXACT
    assert sorted(values) == pytest.approx(sorted(moments), rel=1e-11)
    assert np.linalg.norm(axes) == pytest.approx(1, abs=EXACT)


def test_diagonal_tensor_keeps_its_diagonal_and_the_identity():
    values, axes = principal_axes(np.diag((3.0, 1.0, 2.0)))
    assert values.tolist() == [3, 1, 2]
    assert axes.tolist() == [1, 0, 0, 0]


def test_principal_axes_choose_the_smallest_rotation():
    small = matrix_from_quat(quat_from_rpy((0.01, -0.02, 0.015)))
    values, axes = principal_axes(small @ np.diag((3.0, 1.0, 2.0)) @ small.T)
    assert values == pytest.approx([3, 1, 2])
    assert 2 * np.arccos(axes[0]) == pytest.approx(0.0269, abs=1e-3)


def test_six_values_are_ordered_diagonal_first():
    assert matrix_from_six((1, 2, 3, 4, 5, 6)).tolist() == [[1, 4, 5], [4, 2, 6], [5, 6, 3]]
    assert six_from_matrix(matrix_from_six((1, 2, 3, 4, 5, 6))).tolist() == [1, 2, 3, 4, 5, 6]


@given(triples, quats, positive)
def test_from_principal_and_from_six_agree(moments, q, mass):
    a = Inertial.from_principal(mass, moments, quat_normalize(q), (1, 2, 3))
    b = Inertial.from_six(mass, a.six, Pose.of((1, 2, 3)))
    assert relative(a.inertia, b.inertia) < EXACT
    assert a.com.tolist() == b.com.tolist()


@given(triples, offsets, quats, offsets)
def test_moving_a_body_moves_the_inertia_about_any_point_with_it(moments, p, q, point):
    body = Inertial(2.5, np.array((0.1, 0.2, 0.3)), np.diag(moments))
    pose = Pose.of(p, q)
    moved = body.moved(pose)
    r = pose.rotation
    assert relative(moved.about(pose.apply(point)), r @ body.about(point) @ r.T) < 1e-11


@given(positive, positive, offsets, offsets)
def test_sum_of_point_masses_has_the_reduced_mass_inertia(m1, m2, p1, p2):
    a = Inertial(m1, np.array(p1), np.zeros((3, 3)))
    b = Inertial(m2, np.array(p2), np.zeros((3, 3)))
    both = combine([a, b])
    reduced = m1 * m2 / (m1 + m2)
    expected = point_inertia(reduced, np.array(p1) - np.array(p2))
    assert np.abs(both.inertia - expected).max() < EXACT
    assert both.mass == pytest.approx(m1 + m2)


def test_sum_of_nothing_is_nothing():
    assert combine([]).mass == 0.0


@pytest.mark.parametrize(
    ("diagonal", "good"),
    [
        ((1, 1, 1), True),
        ((1, 1, 2), True),
        ((1, 1, 2.1), False),
        ((-1, 1, 1), False),
        ((np.nan, 1, 1), False),
    ],
)
def test_triangle_inequality(diagonal, good):
    assert Inertial(1.0, np.zeros(3), np.diag(diagonal)).is_physical() is good


def test_negative_mass_is_not_physical():
    assert not Inertial(-1.0, np.zeros(3), np.eye(3)).is_physical()


def test_scaling_the_mass_scales_the_inertia():
    doubled = Inertial(2.0, np.ones(3), np.eye(3)).scaled_to(4.0)
    assert (doubled.mass, doubled.inertia[0, 0], doubled.com.tolist()) == (4.0, 2.0, [1, 1, 1])


@pytest.mark.parametrize(
    "moments", [(1.0, 2.0, 2.5), (1.0, 1.0, 2.0), (1.0, 1.0, 2.0005), (1e-6, 1.0, 1.0), (0.0, 0.0, 0.0)]
)
def test_possible_moments_stay(moments):
    assert find_nearest_moments(moments).tolist() == list(moments)


@pytest.mark.parametrize(
    "moments",
    [
        (-1.0, 1.0, 1.0),
        (0.0, 1.0, 1.0),
        (0.0, 0.0, 1.0),
        (1.0, 1.0, 5.0),
        (-1.0, -2.0, -3.0),
        (-1e-9, 1e-9, 3e-9),
    ],
)
def test_moments_of_no_body_become_those_of_a_solid_one(moments):
    """Also where layers hold single precision: none is zero, none is the sum of the others."""
    found = find_nearest_moments(moments)
    a, b, c = np.sort(np.asarray(found, dtype=np.float32))
    assert a > 1e-4 * c
    assert a + b > c * (1 + 1e-5)
    assert find_nearest_moments(found).tolist() == found.tolist()


def test_nearest_moments_are_near():
    assert find_nearest_moments((-1.0, 1.0, 1.0)) == pytest.approx((3e-4, 1.5, 1.5), rel=2e-4)
    assert find_nearest_moments((1.0, 1.0, 5.0)) == pytest.approx((2.5, 2.5, 5.0), rel=2e-4)


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ((1.0, 2.0, 2.5), (1.0, 2.0, 2.5)),
        ((1.0, 2.0, 3.001), (1.0005, 2.0005, 3.001)),  # digits that were rounded: the least that makes it fit
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ],
)
def test_moments_that_writers_agree_on(moments, expected):
    settled = settle_moments(moments)
    assert settled == pytest.approx(expected, abs=1e-12)
    assert 2 * max(settled) <= sum(settled) * (1 + 1e-15)


def test_the_same_moments_in_every_format(tmp_path):
    file = tmp_path / "rod.urdf"
    file.write_text(
        '<robot name="rod"><link name="rod"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="2" izz="3.002" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    found = {}
    for name, words in (("rod.xml", {}), ("rod.sdf", {}), ("out.urdf", {"for_": "drake"})):
        entry = simwright.convert(file, tmp_path / name, **words)
        found[name] = sorted(simwright.load(entry).body("rod").inertial.principal()[0])
    # what an engine reads, not what our reader finds noted beside it
    stage = simwright.to_stage(file)
    found["usd"] = sorted(
        value
        for prim in stage.Traverse()
        if prim.HasAPI(UsdPhysics.MassAPI) and prim.HasAPI(UsdPhysics.RigidBodyAPI)
        for value in UsdPhysics.MassAPI(prim).GetDiagonalInertiaAttr().Get()
    )
    for moments in found.values():
        assert moments == pytest.approx((1.001, 2.001, 3.002), rel=1e-6)
