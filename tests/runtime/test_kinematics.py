"""Forward kinematics against closed forms and against differences in time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.math3d import quats_conjugate, quats_multiply, quats_rotate, to_wxyz, to_xyzw
from simwright.runtime.kinds import JointType
from simwright.runtime.kinematics import eval_fk
from simwright.runtime.model import Model
from simwright.runtime.state import State
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import DofConfig
from simwright.scenes.finish import finish_world
from simwright.scenes.load import build_shared
from simwright.scenes.replicate import replicate

from .worlds import two_links


def centers(model: Model, state: State) -> np.ndarray:
    poses = state.body_q.astype(np.float64)
    return poses[:, :3] + quats_rotate(to_wxyz(poses[:, 3:]), model.body_com.astype(np.float64))


def test_a_pendulum_hangs_where_it_should() -> None:
    builder = Builder()
    bob = builder.add_body("bob")
    joint = builder.add_joint(
        JointType.REVOLUTE,
        -1,
        bob,
        parent_xform=(0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0),
        child_xform=(0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        angular=[DofConfig(axis=(0.0, 1.0, 0.0))],
    )
    builder.add_articulation([joint], "pendulum")
    builder.joint_q[0], builder.joint_qd[0] = 0.3, 2.0
    model, _ = replicate(finish_world(builder), build_shared(builder), 1)
    x, z = -math.sin(0.3), 2.0 - math.cos(0.3)
    assert model.body_q[0, :3] == pytest.approx((x, 0.0, z), abs=1e-6)
    assert model.body_qd[0] == pytest.approx(
        (-2.0 * math.cos(0.3), 0.0, 2.0 * math.sin(0.3), 0.0, 2.0, 0.0), abs=1e-6
    )


def test_worlds_move_alike_and_apart() -> None:
    model, _ = two_links(worlds=4)
    state = model.state()
    eval_fk(model, state)
    np.testing.assert_allclose(state.body_q, model.body_q, atol=2e-6)
    np.testing.assert_allclose(state.body_qd, model.body_qd, atol=2e-6)
    start = model.rows_of("joint_coord", 2).start
    state.joint_q[start + 7] += 0.5
    eval_fk(model, state)
    moved = np.flatnonzero(np.abs(state.body_q - model.body_q).max(axis=1) > 1e-3).tolist()
    assert moved == [7, 8]


def test_velocities_are_those_of_differences() -> None:
    model, _ = two_links()
    step = 1e-3
    before, after = model.state(), model.state()
    for state, sign in ((before, -0.5), (after, 0.5)):
        state.joint_q[7:] += sign * step * model.joint_qd[6:]
        spin = model.joint_qd[3:6].astype(np.float64)
        half = 0.5 * sign * step * spin
        turn = np.array((1.0, *half)) / math.sqrt(1.0 + float(half @ half))
        place, pose = state.joint_q[:3], state.joint_q[3:7]
        com = model.body_com[0].astype(np.float64)
        start = np.array(place + quats_rotate(to_wxyz(pose), com))
        pose[:] = to_xyzw(quats_multiply(turn, to_wxyz(pose)))
        place[:] = start + sign * step * model.joint_qd[:3] - quats_rotate(to_wxyz(pose), com)
        eval_fk(model, state)
    speed = (centers(model, after) - centers(model, before)) / step
    np.testing.assert_allclose(speed, model.body_qd[:, :3], atol=2e-3)
    turned = quats_multiply(to_wxyz(after.body_q[:, 3:]), quats_conjugate(to_wxyz(before.body_q[:, 3:])))
    np.testing.assert_allclose(2.0 * turned[:, 1:] / step, model.body_qd[:, 3:], atol=2e-3)


def test_d6_and_ball_joints() -> None:
    builder = Builder()
    first, second = builder.add_body("first"), builder.add_body("second")
    axes = [DofConfig(axis=(1.0, 0.0, 0.0)), DofConfig(axis=(0.0, 0.0, 1.0))]
    joints = [
        builder.add_joint(JointType.D6, -1, first, linear=axes[:1], angular=axes[1:]),
        builder.add_joint(JointType.BALL, first, second, parent_xform=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)),
    ]
    builder.add_articulation(joints, "chain")
    half = math.sqrt(0.5)
    builder.joint_q[:] = [0.5, math.pi / 2, half, 0.0, 0.0, half]
    model, _ = replicate(finish_world(builder), build_shared(builder), 1)
    assert model.joint_dof_dim.tolist() == [[1, 1], [0, 3]]
    assert model.body_q[0] == pytest.approx((0.5, 0.0, 0.0, 0.0, 0.0, half, half), abs=1e-6)
    assert model.body_q[1] == pytest.approx((0.5, 1.0, 0.0, 0.5, 0.5, 0.5, 0.5), abs=1e-6)
