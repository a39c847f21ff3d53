# SPDX-License-Identifier: Apache-2.0
"""Coordinates of the arrays and MuJoCo's, for all worlds at once.

Hinges and slides have the same numbers on both sides.  Bodies that float against the world are translated in
:mod:`~simwright.engines.mujoco.floating`; those that float against another body, and balls, one by one here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.engines.mujoco.bodies import as_wxyz
from simwright.engines.mujoco.build import Built
from simwright.engines.mujoco.floating import FloatingGroup
from simwright.runtime.kinds import JointType
from simwright.runtime.kinematics import Motion, move_bodies
from simwright.runtime.rotation import Values, compose, conjugate, cross, invert, multiply, rotate

Index = npt.NDArray[np.int64]
_FLOATS = (JointType.FREE, JointType.DISTANCE)


@dataclass(frozen=True, slots=True)
class Floating:
    """A ball, or a joint of six freedoms on another body: where it is on both sides."""

    joint: int
    kind: JointType
    q: int
    qd: int
    qpos: int
    qvel: int
    parent: int
    child: int


class CoordinateMap:
    """Translates ``joint_q`` and ``joint_qd`` (worlds x entries, worlds at the origin) and MuJoCo's state."""

    def __init__(self, built: Built) -> None:
        world, mj = built.world, built.mj
        self._world = world
        self.nq, self.nv = int(mj.nq), int(mj.nv)
        pairs_q: list[tuple[int, int]] = []
        pairs_v: list[tuple[int, int]] = []
        self._floating: list[Floating] = []
        loose: list[tuple[int, int, int]] = []
        for joint, names in sorted(built.seats.joints.items()):
            kind = JointType(int(world.joint_type[joint]))
            q, qd = int(world.joint_q_start[joint]), int(world.joint_qd_start[joint])
            if kind in _FLOATS or kind is JointType.BALL:
                at = mj.joint(names[0])
                ends = int(world.joint_parent[joint]), int(world.joint_child[joint])
                if kind in _FLOATS and ends[0] < 0:
                    loose.append((joint, int(at.qposadr[0]), int(at.dofadr[0])))
                    continue
                self._floating.append(
                    Floating(joint, kind, q, qd, int(at.qposadr[0]), int(at.dofadr[0]), *ends)
                )
                continue
            for number, name in enumerate(names):
                at = mj.joint(name)
                pairs_q.append((q + number, int(at.qposadr[0])))
                pairs_v.append((qd + number, int(at.dofadr[0])))
        self._group = FloatingGroup(world, loose)
        self._q, self._qpos = _split(pairs_q)
        self._qd, self._qvel = _split(pairs_v)
        self.dof_of = _fill(pairs_v, len(world.joint_qd))
        self._carried = any(one.kind in _FLOATS for one in self._floating)

    def to_engine(self, q: Values, qd: Values) -> tuple[Values, Values]:
        """``qpos`` and ``qvel`` from coordinates."""
        qpos, qvel = np.zeros((len(q), self.nq)), np.zeros((len(q), self.nv))
        qpos[:, self._qpos], qvel[:, self._qvel] = q[:, self._q], qd[:, self._qd]
        self._group.to_engine(q, qd, qpos, qvel)
        motion = self._move(q, qd) if self._carried else None
        world = self._world
        for one in self._floating:
            before, after = world.joint_X_p[one.joint], world.joint_X_c[one.joint]
            if one.kind is JointType.BALL:
                turn = _unit(q[:, one.q : one.q + 4])
                inner = multiply(multiply(np.tile(after[3:], (len(q), 1)), turn), conjugate(after[3:])[None])
                qpos[:, one.qpos : one.qpos + 4] = as_wxyz(inner)
                spin = rotate(conjugate(turn), qd[:, one.qd : one.qd + 3])
                qvel[:, one.qvel : one.qvel + 3] = rotate(after[3:], spin)
                continue
            assert motion is not None
            frame, spin, rate = self._carry(one, before, motion)
            local = q[:, one.q : one.q + 7].copy()
            local[:, 3:] = _unit(local[:, 3:])
            pose = compose(compose(frame, local), invert(after)[None])
            angular = rotate(frame[:, 3:], qd[:, one.qd + 3 : one.qd + 6]) + spin
            arm = rotate(pose[:, 3:], world.body_com[one.child])
            linear = rotate(frame[:, 3:], qd[:, one.qd : one.qd + 3]) + rate(pose[:, :3] + arm)
            qpos[:, one.qpos : one.qpos + 3] = pose[:, :3]
            qpos[:, one.qpos + 3 : one.qpos + 7] = as_wxyz(pose[:, 3:])
            qvel[:, one.qvel : one.qvel + 3] = linear - cross(angular, arm)
            qvel[:, one.qvel + 3 : one.qvel + 6] = rotate(conjugate(pose[:, 3:]), angular)
        return qpos, qvel

    def from_engine(self, qpos: Values, qvel: Values, q: Values, qd: Values) -> None:
        """Coordinates from ``qpos`` and ``qvel``, written into ``q`` and ``qd``."""
        q[:, self._q], qd[:, self._qd] = qpos[:, self._qpos], qvel[:, self._qvel]
        self._group.from_engine(qpos, qvel, q, qd)
        world = self._world
        for one in self._floating:
            before, after = world.joint_X_p[one.joint], world.joint_X_c[one.joint]
            if one.kind is JointType.BALL:
                inner = qpos[:, one.qpos : one.qpos + 4][:, [1, 2, 3, 0]]
                back = np.tile(conjugate(after[3:]), (len(q), 1))
                turn = multiply(multiply(back, inner), after[None, 3:])
                q[:, one.q : one.q + 4] = turn
                spin = rotate(back, qvel[:, one.qvel : one.qvel + 3])
                qd[:, one.qd : one.qd + 3] = rotate(turn, spin)
                continue
            frame, spin, rate = self._carry(one, before, self._move(q, qd))
            place, turn = (
                qpos[:, one.qpos : one.qpos + 3],
                qpos[:, one.qpos + 3 : one.qpos + 7][:, [1, 2, 3, 0]],
            )
            pose = np.concatenate((place, turn), axis=1)
            q[:, one.q : one.q + 7] = compose(invert(frame), compose(pose, np.tile(after, (len(q), 1))))
            angular = rotate(turn, qvel[:, one.qvel + 3 : one.qvel + 6])
            arm = rotate(turn, world.body_com[one.child])
            linear = qvel[:, one.qvel : one.qvel + 3] + cross(angular, arm)
            back = conjugate(frame[:, 3:])
            qd[:, one.qd : one.qd + 3] = rotate(back, linear - rate(place + arm))
            qd[:, one.qd + 3 : one.qd + 6] = rotate(back, angular - spin)

    def _move(self, q: Values, qd: Values) -> Motion:
        """Poses of all bodies at some coordinates."""
        world, count = self._world, len(q)

        def tile(values: Values) -> Values:
            return np.repeat(values[None], count, axis=0)

        motion = Motion(
            np.asarray(q, dtype=np.float64),
            np.asarray(qd, dtype=np.float64),
            tile(world.joint_X_p),
            tile(world.body_q),
            np.zeros((count, world.body_count, 6)),
        )
        move_bodies(world.arrays, motion)
        return motion

    def _carry(
        self, one: Floating, before: Values, motion: Motion
    ) -> tuple[Values, Values, Callable[[Values], Values]]:
        """The parent frame of a floating joint, its spin, and its velocity at a place."""
        above, carried = motion.body_q[:, one.parent], motion.body_qd[:, one.parent]
        middle = above[:, :3] + rotate(above[:, 3:], self._world.body_com[one.parent])
        frame = compose(above, np.tile(before, (len(above), 1)))
        return frame, carried[:, 3:], lambda at: carried[:, :3] + cross(carried[:, 3:], at - middle)


def _unit(turn: Values) -> Values:
    size = np.linalg.norm(turn, axis=1, keepdims=True)
    return np.where(size > 0.0, turn / np.maximum(size, 1e-12), np.array((0.0, 0.0, 0.0, 1.0)))


def _split(pairs: list[tuple[int, int]]) -> tuple[Index, Index]:
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _fill(pairs: list[tuple[int, int]], count: int) -> Index:
    table = np.full(count, -1, dtype=np.int64)
    for here, there in pairs:
        table[here] = there
    return table
