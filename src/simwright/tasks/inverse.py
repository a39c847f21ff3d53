# SPDX-License-Identifier: Apache-2.0
"""Moving the tool: differential inverse kinematics by damped least squares, inside the joints' limits.

The tool follows a target pose that actions move.  Only joints that carry the tool and have an actuator take part; what
is left of their freedom draws them to the middle of where they started.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import (
    IDENTITY,
    Array,
    Pose,
    matrix_from_quat,
    quat_from_matrix,
    quat_multiply,
    quat_normalize,
)

_DAMPING = 0.02
_ROUNDS = 8
_LEASH = 0.15
"""How far the target may run ahead of the tool [m]."""
_REST = 0.02
_LONGEST = 0.3
"""Largest step of a joint in one round [rad or m]."""


@dataclass(slots=True)
class ToolMover:
    """Inverse kinematics of one tool site.  ``joints`` are ids of single joints that it may use."""

    model: Any = field(repr=False)
    site: int
    joints: npt.NDArray[np.intp]
    weight: float = 0.3
    """How much a radian of turning counts against a metre of moving."""
    target: Pose = IDENTITY
    rest: Array = field(default_factory=lambda: np.zeros(0))
    _scratch: Any = field(default=None, repr=False)

    def reset(self, data: Any) -> None:
        """Start from where the tool is."""
        self.target = read_site(data, self.site)
        self.rest = np.array(data.qpos[self.model.jnt_qposadr[self.joints]])

    def move(self, data: Any, shift: Array, turn: Array) -> dict[int, float]:
        """Move the target by ``shift`` [m] and turn it by the rotation vector ``turn`` [rad], both in the world's axes.

        Gives positions for the joints, by id.
        """
        here = read_site(data, self.site)
        away = self.target.p + shift - here.p
        far = float(np.linalg.norm(away))
        position = here.p + away * min(1.0, _LEASH / far if far > 0 else 1.0)
        self.target = Pose.of(position, quat_multiply(_from_vector(turn), self.target.q))
        return self.solve(data, self.target)

    def solve(self, data: Any, target: Pose, *, rounds: int = _ROUNDS) -> dict[int, float]:
        """Positions of the joints that bring the tool nearest to a pose, from where they are."""
        import mujoco

        if self._scratch is None:
            self._scratch = mujoco.MjData(self.model)
        scratch, model = self._scratch, self.model
        scratch.qpos[:] = data.qpos
        addresses, dofs = model.jnt_qposadr[self.joints], model.jnt_dofadr[self.joints]
        limited = np.asarray(model.jnt_limited, dtype=bool)[self.joints]
        low = np.where(limited, model.jnt_range[self.joints, 0], -np.inf)
        high = np.where(limited, model.jnt_range[self.joints, 1], np.inf)
        place, spin = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for _ in range(rounds):
            mujoco.mj_kinematics(model, scratch)
            mujoco.mj_comPos(model, scratch)
            mujoco.mj_jacSite(model, scratch, place, spin, self.site)
            here = read_site(scratch, self.site)
            error = np.concatenate([target.p - here.p, self.weight * _to_vector(here, target)])
            if np.abs(error).max() < 1e-6:
                break
            jacobian = np.vstack([place[:, dofs], self.weight * spin[:, dofs]])
            here_q = np.array(scratch.qpos[addresses])
            scratch.qpos[addresses] = here_q + self._step(jacobian, error, here_q, low, high)
        return {int(j): float(q) for j, q in zip(self.joints, scratch.qpos[addresses], strict=True)}

    def _step(self, jacobian: Array, error: Array, here: Array, low: Array, high: Array) -> Array:
        """A step of the joints; those that would leave their limits stand still, and the others make up for them."""
        free = np.ones(len(here), dtype=bool)
        step = np.zeros(len(here))
        for _ in range(len(here)):
            used = jacobian[:, free]
            inverse = used.T @ np.linalg.inv(used @ used.T + _DAMPING**2 * np.eye(6))
            idle = np.eye(int(free.sum())) - inverse @ used
            step[:] = 0.0
            step[free] = inverse @ error + idle @ (_REST * (self.rest - here)[free])
            largest = float(np.abs(step).max())
            step *= min(1.0, _LONGEST / largest if largest > 0 else 1.0)
            outside = free & ((here + step < low - 1e-9) | (here + step > high + 1e-9))
            blocked = outside & (((here <= low + 1e-3) & (step < 0)) | ((here >= high - 1e-3) & (step > 0)))
            if not blocked.any():
                break
            free &= ~blocked
            if not free.any():
                return np.zeros(len(here))
        return np.clip(here + step, low, high) - here


def read_site(data: Any, site: int) -> Pose:
    """The pose of a site."""
    return Pose.of(data.site_xpos[site], quat_from_matrix(np.asarray(data.site_xmat[site]).reshape(3, 3)))


def _from_vector(turn: Array) -> Array:
    angle = float(np.linalg.norm(turn))
    if angle < 1e-12:
        return np.array([1.0, 0.0, 0.0, 0.0])
    half = 0.5 * angle
    return quat_normalize([np.cos(half), *(np.sin(half) * turn / angle)])


def _to_vector(here: Pose, target: Pose) -> Array:
    """The rotation vector that takes one orientation to the other, in the world's axes."""
    turn = matrix_from_quat(target.q) @ matrix_from_quat(here.q).T
    w, *axis = quat_from_matrix(turn)
    vector = np.array(axis)
    size = float(np.linalg.norm(vector))
    if size < 1e-12:
        return np.zeros(3)
    angle = 2.0 * np.arctan2(size, w)
    angle = float(angle if angle <= np.pi else angle - 2.0 * np.pi)
    return np.array(vector * (angle / size))


def find_joints(model: Any, site: int, driven: set[int]) -> npt.NDArray[np.intp]:
    """Single joints between a site and the world that have an actuator."""
    body = int(model.site_bodyid[site])
    found: list[int] = []
    while body > 0:
        first = int(model.body_jntadr[body])
        joints = range(first, first + int(model.body_jntnum[body]))
        found += [joint for joint in joints if joint in driven and model.jnt_type[joint] >= 2]
        body = int(model.body_parentid[body])
    return np.array(sorted(found), dtype=np.intp)
