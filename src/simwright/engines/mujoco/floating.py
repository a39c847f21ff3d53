# SPDX-License-Identifier: Apache-2.0
"""Bodies that float against the world, all of them and all worlds at once.

A pose of joint frames here, of the body frame there; linear velocity of the centre of mass along the axes of the parent
frame here, of the body's origin along the world's axes there; angular velocity along the axes of the parent frame here,
of the body there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simwright.engines.world import OneWorld
from simwright.runtime.rotation import Values, compose, conjugate, cross, invert, rotate

_XYZW = (0, 1, 2, 4, 5, 6, 3)
"""Where the numbers of a pose here are in one of MuJoCo."""


class FloatingGroup:
    """Joints of six freedoms on the world; ``places`` are (joint, first of qpos, first of qvel)."""

    def __init__(self, world: OneWorld, places: Sequence[tuple[int, int, int]]) -> None:
        joints = [joint for joint, _, _ in places]
        self.count = len(joints)
        seven, six = np.arange(7), np.arange(6)
        first = np.array(places, dtype=np.int64).reshape(-1, 3)
        self._q = world.joint_q_start[joints][:, None] + seven
        self._qd = world.joint_qd_start[joints][:, None] + six
        self._qpos = first[:, 1:2] + np.array(_XYZW)
        self._qvel = first[:, 2:3] + six
        self._before = world.joint_X_p[joints]
        self._after = world.joint_X_c[joints]
        self._back = invert(self._after) if joints else self._after
        self._turn = self._before[:, 3:]
        self._com = world.body_com[world.joint_child[joints]]

    def to_engine(self, q: Values, qd: Values, qpos: Values, qvel: Values) -> None:
        """Fill in ``qpos`` and ``qvel``."""
        if not self.count:
            return
        local, rate = q[:, self._q], qd[:, self._qd]
        size = np.linalg.norm(local[..., 3:], axis=-1, keepdims=True)
        local[..., 3:] = np.where(size > 0.0, local[..., 3:] / np.maximum(size, 1e-12), (0.0, 0.0, 0.0, 1.0))
        pose = compose(compose(self._before, local), self._back)
        turn = pose[..., 3:]
        spin = rotate(self._turn, rate[..., 3:])
        qpos[:, self._qpos] = pose
        held = np.empty_like(rate)
        held[..., :3] = rotate(self._turn, rate[..., :3]) - cross(spin, rotate(turn, self._com))
        held[..., 3:] = rotate(conjugate(turn), spin)
        qvel[:, self._qvel] = held

    def from_engine(self, qpos: Values, qvel: Values, q: Values, qd: Values) -> None:
        """Fill in coordinates and velocities."""
        if not self.count:
            return
        pose, rate = qpos[:, self._qpos], qvel[:, self._qvel]
        turn, back = pose[..., 3:], conjugate(self._turn)
        q[:, self._q] = compose(invert(self._before), compose(pose, self._after))
        spin = rotate(turn, rate[..., 3:])
        held = np.empty_like(rate)
        held[..., :3] = rotate(back, rate[..., :3] + cross(spin, rotate(turn, self._com)))
        held[..., 3:] = rotate(back, spin)
        qd[:, self._qd] = held
