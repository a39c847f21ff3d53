"""Transforms: any stack of ops is read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pxr import Gf, Usd, UsdGeom

from simwright.core.errors import UsageError
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.usd.xform import (
    convert_matrix,
    read_local,
    read_relative,
    read_world,
    split_matrix,
    split_rows,
)

NUMBERS = st.floats(-100, 100).map(lambda v: round(v, 6))
POSES = st.builds(
    lambda p, axis, angle: Pose.of(p, quat_from_axis_angle(axis, angle)),
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.floats(-math.pi, math.pi),
)
SCALES = st.tuples(*[st.floats(0.01, 50)] * 3)


@pytest.fixture
def stage() -> Any:
    return Usd.Stage.CreateInMemory()


def make(stage: Any, path: str = "/A") -> Any:
    return UsdGeom.Xform.Define(stage, path)


def place(xform: Any, pose: Pose) -> None:
    """Give a prim translate and orient in double precision."""
    w, x, y, z = (float(value) for value in pose.q)
    xform.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*(float(v) for v in pose.p)))
    xform.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, x, y, z))


@settings(max_examples=50, deadline=None)
@given(POSES)
def test_written_poses_are_read_back_exactly(pose: Pose) -> None:
    stage = Usd.Stage.CreateInMemory()
    xform = make(stage)
    place(xform, pose)
    found = read_local(xform.GetPrim())
    assert found.pose.is_close(pose, 1e-12)
    assert found.is_rigid
    other = Usd.Stage.CreateInMemory()
    other.GetRootLayer().ImportFromString(stage.GetRootLayer().ExportToString())
    assert read_local(other.GetPrimAtPath("/A")).pose.is_close(pose, 1e-9), "text keeps every digit"


@settings(max_examples=50, deadline=None)
@given(POSES, SCALES)
def test_matrices_split_into_pose_and_scale(pose: Pose, scale: tuple[float, float, float]) -> None:
    found = split_matrix(pose.matrix @ np.diag([*scale, 1.0]))
    assert found.pose.is_close(pose, 1e-9)
    assert np.allclose(found.scale, scale, rtol=1e-9)
    assert not found.sheared
    assert not found.mirrored


def test_a_prim_without_a_transform(stage: Any) -> None:
    scope = stage.DefinePrim("/S", "Scope")
    assert read_local(scope).pose.is_identity()


def test_any_stack_is_read(stage: Any) -> None:
    xform = make(stage)
    xform.AddTranslateOp(opSuffix="pivot").Set((1, 0, 0))
    xform.AddRotateZOp().Set(90)
    xform.AddTranslateOp(opSuffix="pivot", isInverseOp=True)
    xform.AddScaleOp().Set((2, 3, 4))
    found = read_local(xform.GetPrim())
    expected = Pose.of((1, -1, 0), quat_from_axis_angle((0, 0, 1), math.pi / 2))
    assert found.pose.is_close(expected, 1e-9)
    assert np.allclose(found.scale, (2, 3, 4))
    assert not found.is_rigid
    assert not found.is_uniform


def test_unnormalised_and_zero_quaternions(stage: Any) -> None:
    xform = make(stage)
    op = xform.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
    op.Set(Gf.Quatd(2, 0, 0, 2))
    turn = quat_from_axis_angle((0, 0, 1), math.pi / 2)
    assert read_local(xform.GetPrim()).pose.is_close(Pose.of(q=turn), 1e-12)
    op.Set(Gf.Quatd(0, 0, 0, 0))
    assert np.all(np.isfinite(read_local(xform.GetPrim()).pose.q))


def test_ops_without_a_value_and_samples(stage: Any) -> None:
    xform = make(stage)
    op = xform.AddTranslateOp()
    assert read_local(xform.GetPrim()).pose.is_identity()
    op.Set((1, 0, 0), 1.0)
    op.Set((3, 0, 0), 3.0)
    assert list(read_local(xform.GetPrim(), Usd.TimeCode(2.0)).pose.p) == [2, 0, 0]


@pytest.mark.parametrize("scale", [(1, 1, -1), (-2, 3, 4), (-1, -1, -1)])
def test_mirrors_are_noticed_both_ways(stage: Any, scale: tuple[float, ...]) -> None:
    direct = make(stage)
    direct.AddTranslateOp().Set((0, 0, 0))
    direct.AddOrientOp().Set(Gf.Quatf(1))
    direct.AddScaleOp().Set(Gf.Vec3f(*scale))
    assert read_local(direct.GetPrim()).mirrored
    assert list(read_local(direct.GetPrim()).scale) == list(scale)
    found = split_matrix(np.diag([*scale, 1.0]))
    assert found.mirrored
    assert np.allclose(found.pose.rotation @ np.diag(found.scale), np.diag(scale))


def test_shear_is_noticed() -> None:
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    found = split_matrix(matrix)
    assert found.sheared
    assert not found.is_rigid
    assert np.isclose(np.linalg.det(found.pose.rotation), 1.0)


@pytest.mark.parametrize("diagonal", [(0, 0, 0), (1, 0, 1), (0, 0, 2), (math.nan, 1, 1)])
def test_degenerate_matrices_give_a_rotation(diagonal: tuple[float, ...]) -> None:
    found = split_matrix(np.diag([*diagonal, 1.0]))
    assert np.isclose(np.linalg.norm(found.pose.q), 1.0)


def test_world_and_relative(stage: Any) -> None:
    parent, child = make(stage, "/P"), make(stage, "/P/C")
    turn = quat_from_axis_angle((0, 0, 1), math.pi / 2)
    place(parent, Pose.of((1, 0, 0), turn))
    place(child, Pose.of((1, 0, 0)))
    cache = UsdGeom.XformCache()
    assert read_world(child.GetPrim(), cache).pose.is_close(Pose.of((1, 1, 0), turn), 1e-9)
    assert read_relative(child.GetPrim(), parent.GetPrim(), cache).pose.is_close(Pose.of((1, 0, 0)), 1e-9)
    assert read_relative(parent.GetPrim(), stage.GetPseudoRoot()).pose.is_close(
        Pose.of((1, 0, 0), turn), 1e-9
    )
    flat = make(stage, "/Flat")
    flat.AddScaleOp().Set((1, 0, 1))
    with pytest.raises(UsageError, match="no inverse"):
        read_relative(child.GetPrim(), flat.GetPrim())


def test_reset_stack(stage: Any) -> None:
    child = make(stage, "/P/C")
    child.AddTranslateOp().Set((1, 0, 0))
    child.SetResetXformStack(True)
    found = read_local(child.GetPrim())
    assert found.detached
    assert list(found.pose.p) == [1, 0, 0]


def test_convert_matrix_is_for_column_vectors() -> None:
    matrix = convert_matrix(Gf.Matrix4d().SetTranslate((1, 2, 3)))
    assert list(matrix[:3, 3]) == [1, 2, 3]


def list_matrices() -> list[Any]:
    """Rotations of all sizes with scales, mirrored, sheared, flat, empty, and with numbers that are none."""
    random = np.random.default_rng(5)
    found = []
    for number in range(300):
        axis, angle = random.normal(size=3), (0.0, math.pi, random.uniform(-4, 4))[number % 3]
        linear = np.array(Gf.Matrix3d(Gf.Rotation(Gf.Vec3d(*axis.tolist()), math.degrees(angle))))
        matrix = np.eye(4)
        scale = np.ones(3) if number % 4 else random.uniform(0.01, 50, 3)
        scale *= (1, -1 if number % 7 == 0 else 1, 0 if number % 31 == 0 else 1)
        matrix[:3, :3] = np.diag(scale) @ linear
        matrix[3, :3] = random.normal(size=3)
        matrix[0, 1] += 0.2 * (number % 11 == 0)
        found.append(matrix)
    broken = np.eye(4)
    broken[1, 1] = math.nan
    return [*found, np.zeros((4, 4)), broken, np.eye(4) * 1e-200]


@pytest.mark.parametrize("matrix", list_matrices())
def test_numbers_and_arrays_give_the_same(matrix):
    gf = Gf.Matrix4d(*matrix.ravel().tolist())
    rows, whole = split_rows(np.array(gf).tolist()), split_matrix(convert_matrix(gf))
    for mine, theirs in (
        (rows.pose.p, whole.pose.p),
        (rows.pose.q, whole.pose.q),
        (rows.scale, whole.scale),
    ):
        if (
            mine is rows.pose.q and abs(whole.pose.q[0]) < 1e-9
        ):  # half a turn: both signs are the same rotation
            theirs = theirs * np.sign(theirs @ mine)  # noqa: PLW2901
        assert mine == pytest.approx(theirs, abs=1e-12, nan_ok=True)
    assert (rows.sheared, rows.mirrored) == (whole.sheared, whole.mirrored)
