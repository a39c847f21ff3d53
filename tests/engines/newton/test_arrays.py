"""Warp sees the memory of numpy; types are Newton's, and so are the conventions of poses and velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simwright.core.math3d import Seven
from simwright.engines.newton import to_warp
from simwright.model.inertia import Inertial
from simwright.runtime.arrays import describe_arrays
from simwright.runtime.collision import CollisionModel
from simwright.runtime.kinds import JointType, ShapeType
from simwright.runtime.kinematics import eval_fk
from simwright.runtime.model import Model
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import DofConfig
from simwright.scenes.finish import finish_world
from simwright.scenes.load import build_shared
from simwright.scenes.replicate import replicate

pytestmark = pytest.mark.judge("newton")

AXES = [(1.0, 0.0, 0.0), (0.0, 0.6, 0.8), (0.0, -0.8, 0.6)]


def pose(generator: np.random.Generator) -> Seven:
    turn = generator.normal(size=4)
    x, y, z, *q = [*generator.normal(size=3).tolist(), *(turn / np.linalg.norm(turn)).tolist()]
    return x, y, z, q[0], q[1], q[2], q[3]


def build(newton: Any, worlds: int = 1) -> tuple[Model, CollisionModel, Any]:
    """A chain with joints of every kind, and the same chain in Newton."""
    generator = np.random.default_rng(7)
    ours, theirs = Builder(), newton.ModelBuilder()
    joints: list[list[int]] = [[], []]
    kinds = ("free", "revolute", "prismatic", "ball", "d6", "fixed", "revolute")
    for number, kind in enumerate(kinds):
        com, parent, child = generator.normal(size=3) * 0.1, number - 1, number
        ours.add_body(f"b{number}", own=Inertial(1.0, com, np.eye(3)), locked=True)
        theirs.add_link(mass=1.0, com=tuple(com), inertia=np.eye(3).tolist(), lock_inertia=True)
        ours.add_shape(child, ShapeType.SPHERE, (0.1, 0.0, 0.0))
        frames = {"parent_xform": pose(generator), "child_xform": pose(generator)}
        if kind == "free":
            joints[0].append(ours.add_joint(JointType.FREE, parent, child))
            joints[1].append(theirs.add_joint_free(child))
            continue
        axes = {"revolute": (0, 1), "prismatic": (1, 0), "ball": (0, 0), "d6": (2, 2), "fixed": (0, 0)}[kind]
        linear = [DofConfig(axis=axis) for axis in AXES[: axes[0]]]
        angular = [DofConfig(axis=axis) for axis in AXES[1 : 1 + axes[1]]]
        joints[0].append(
            ours.add_joint(JointType[kind.upper()], parent, child, linear=linear, angular=angular, **frames)
        )
        add = getattr(theirs, f"add_joint_{kind}")
        config = newton.ModelBuilder.JointDofConfig
        if kind == "d6":
            given = {
                "linear_axes": [config(axis=axis.axis) for axis in linear],
                "angular_axes": [config(axis=axis.axis) for axis in angular],
            }
        else:
            given = {"axis": (*linear, *angular)[0].axis} if any(axes) else {}
        joints[1].append(add(parent, child, **given, **frames))
    ours.add_articulation(joints[0], "chain")
    theirs.add_articulation(joints[1])
    model, collision = replicate(finish_world(ours), build_shared(ours), worlds)
    return model, collision, theirs.finalize(device="cpu")


def test_every_array_is_a_view(newton: Any) -> None:
    model, collision, _ = build(newton, worlds=3)
    state = model.state()
    for holder in (model, state, model.control(), collision):
        views = to_warp(holder)
        for name in describe_arrays(type(holder)):
            values, view = getattr(holder, name), getattr(views, name)
            assert view.ptr == values.ctypes.data, name
            np.testing.assert_array_equal(view.numpy().reshape(values.shape), values)
    views = to_warp(state)
    state.joint_q[4] = 42.0
    assert views.joint_q.numpy()[4] == 42.0
    views.body_f.fill_(3.0)
    assert np.all(state.body_f == 3.0)


def test_types_and_order_are_those_of_newton(newton: Any) -> None:
    import warp

    model, _, theirs = build(newton)
    views = to_warp(model)
    compared = 0
    for name in describe_arrays(Model):
        other = getattr(theirs, name, None)
        if isinstance(other, warp.array) and name != "gravity":
            ours = getattr(views, name)
            assert ours.dtype == other.dtype, name
            assert ours.ndim == other.ndim, name
            compared += 1
    assert compared > 40
    for name in ("joint_type", "joint_parent", "joint_child", "joint_q_start", "joint_qd_start", "joint_dof_dim",
                 "joint_ancestor", "joint_X_p", "joint_X_c", "joint_axis", "joint_articulation"):  # fmt: skip
        np.testing.assert_allclose(
            getattr(model, name), getattr(theirs, name).numpy(), atol=1e-6, err_msg=name
        )


def test_newton_moves_bodies_the_same_way(newton: Any) -> None:
    model, _, theirs = build(newton)
    generator = np.random.default_rng(3)
    state, other = model.state(), theirs.state()
    state.joint_q[:] = generator.normal(size=len(state.joint_q))
    for start in (3, 9):  # the quaternions of the free and the ball joint
        state.joint_q[start : start + 4] /= np.linalg.norm(state.joint_q[start : start + 4])
    state.joint_qd[:] = generator.normal(size=len(state.joint_qd))
    other.joint_q.assign(state.joint_q)
    other.joint_qd.assign(state.joint_qd)
    newton.eval_fk(theirs, other.joint_q, other.joint_qd, other)
    eval_fk(model, state)
    expected, found = other.body_q.numpy(), state.body_q
    turned = np.where((found[:, 3:] * expected[:, 3:]).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    np.testing.assert_allclose(found[:, :3], expected[:, :3], atol=2e-5)
    np.testing.assert_allclose(found[:, 3:] * turned, expected[:, 3:], atol=2e-5)
    np.testing.assert_allclose(state.body_qd, other.body_qd.numpy(), atol=5e-5)
