# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics: poses and velocities of bodies from joint coordinates, in all worlds at once.

Joints are taken in their order, one by one; all worlds move along in the same step.  Bodies that no articulation
carries stay where they are.  Conventions are those of :mod:`~simwright.runtime.state`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import (
    IDENTITY_QUAT,
    Array,
    cross,
    poses_compose,
    poses_invert,
    quats_about_axis,
    quats_multiply,
    quats_rotate,
    to_wxyz,
    to_xyzw,
)
from simwright.runtime.arrays import AnyArray
from simwright.runtime.kinds import JointType
from simwright.runtime.model import Model
from simwright.runtime.state import State

# the same in every world: taken from the first
_STRUCTURE = (
    "joint_type", "joint_parent", "joint_child", "joint_articulation", "joint_dof_dim",
    "joint_q_start", "joint_qd_start", "joint_axis", "joint_X_c", "body_com",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class WorldMotion:
    """Coordinates and poses of all worlds: ``(worlds, rows, ...)``, float64, changed in place."""

    joint_q: Array
    joint_qd: Array
    joint_X_p: Array  # noqa: N815 - Newton's name
    body_q: Array
    body_qd: Array


def eval_fk(model: Model, state: State) -> None:
    """Bring ``body_q`` and ``body_qd`` of a state in line with its ``joint_q`` and ``joint_qd``."""
    count = model.world_count
    structure = {name: _take_world(model, name) for name in _STRUCTURE}

    def split(values: AnyArray, per_world: int) -> Array:
        rows = values[: per_world * count].reshape(count, per_world, *values.shape[1:])
        return np.asarray(rows, dtype=np.float64)

    bodies, sizes = model.per_world["body"], model.per_world
    motion = WorldMotion(
        split(state.joint_q, sizes["joint_coord"]),
        split(state.joint_qd, sizes["joint_dof"]),
        split(model.joint_X_p, sizes["joint"]),
        split(state.body_q, bodies),
        split(state.body_qd, bodies),
    )
    move_bodies(structure, motion)
    state.body_q[: bodies * count] = motion.body_q.reshape(-1, 7)
    state.body_qd[: bodies * count] = motion.body_qd.reshape(-1, 6)


def _take_world(model: Model, name: str) -> AnyArray:
    """The rows of world 0."""
    frequency = {"joint_axis": "joint_dof", "body_com": "body"}.get(name, "joint")
    rows: AnyArray = getattr(model, name)[model.rows_of(frequency, 0)]
    return rows


def move_bodies(structure: Mapping[str, AnyArray], motion: WorldMotion) -> None:
    """Place the bodies of one world's structure in every world of ``motion``."""
    coms = np.asarray(structure["body_com"], dtype=np.float64)
    # the arrays have quaternions x, y, z, w as Newton has them; inside of this loop w is first
    frames, poses = to_wxyz(motion.joint_X_p), to_wxyz(motion.body_q)
    for joint, articulation in enumerate(structure["joint_articulation"].tolist()):
        # a joint that closes a loop carries nothing: its body is placed by the tree
        if articulation < 0:
            continue
        parent, child = int(structure["joint_parent"][joint]), int(structure["joint_child"][joint])
        frame = frames[:, joint]
        if parent >= 0:
            frame = poses_compose(poses[:, parent], frame)
        moved, linear, angular = _move(structure, motion, joint)
        anchor = poses_compose(frame, moved)
        pose = poses_compose(anchor, poses_invert(to_wxyz(structure["joint_X_c"][joint])))
        poses[:, child] = pose
        center = pose[:, :3] + quats_rotate(pose[:, 3:], coms[child])
        spin, rate = quats_rotate(frame[:, 3:], angular), quats_rotate(frame[:, 3:], linear)
        # linear rates of free and distance joints are those of the centre of mass already, as Newton has them
        if structure["joint_type"][joint] not in (JointType.FREE, JointType.DISTANCE):
            rate = rate + cross(spin, center - anchor[:, :3])
        if parent >= 0:
            above = poses[:, parent]
            carried = motion.body_qd[:, parent]
            middle = above[:, :3] + quats_rotate(above[:, 3:], coms[parent])
            rate = rate + carried[:, :3] + cross(carried[:, 3:], center - middle)
            spin = spin + carried[:, 3:]
        motion.body_qd[:, child] = np.concatenate((rate, spin), axis=1)
    motion.body_q[:] = to_xyzw(poses)


def _move(structure: Mapping[str, AnyArray], motion: WorldMotion, joint: int) -> tuple[Array, Array, Array]:
    """The motion of a joint: pose, linear and angular velocity, all in its parent frame."""
    kind = JointType(int(structure["joint_type"][joint]))
    at_q, at_qd = int(structure["joint_q_start"][joint]), int(structure["joint_qd_start"][joint])
    q, qd = motion.joint_q[:, at_q:], motion.joint_qd[:, at_qd:]
    worlds = len(q)
    pose = np.tile((0.0, 0.0, 0.0, *IDENTITY_QUAT), (worlds, 1))
    linear, angular = np.zeros((worlds, 3)), np.zeros((worlds, 3))
    if kind in (JointType.FREE, JointType.DISTANCE):
        return to_wxyz(q[:, :7]), qd[:, :3], qd[:, 3:6]
    if kind is JointType.BALL:
        pose[:, 3:] = to_wxyz(q[:, :4])
        return pose, linear, qd[:, :3]
    slides, hinges = (int(v) for v in structure["joint_dof_dim"][joint])
    axes = np.asarray(structure["joint_axis"][at_qd : at_qd + slides + hinges], dtype=np.float64)
    for i, axis in enumerate(axes[:slides]):
        pose[:, :3] += axis * q[:, i : i + 1]
        linear += axis * qd[:, i : i + 1]
    for i, axis in enumerate(axes[slides:], slides):
        # each turn is about an axis that the turns before it have moved
        angular += quats_rotate(pose[:, 3:], axis * qd[:, i : i + 1])
        pose[:, 3:] = quats_multiply(pose[:, 3:], quats_about_axis(axis, q[:, i]))
    return pose, linear, angular
