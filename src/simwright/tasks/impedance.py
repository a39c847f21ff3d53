# SPDX-License-Identifier: Apache-2.0
"""Operational space control: torques that let the tool behave like a mass on a spring and a damper.

After Khatib, 1987: the error of the tool's pose becomes an acceleration, the inertia that the tool has through the arm
makes a force of it, and the Jacobian torques of the joints.  Gravity, Coriolis forces and dry friction are made up for;
what freedom is left draws the joints to where they started.  Unlike targets of servos this is soft: a tool that is held
gives way, and what it touches is pressed with no more than the spring has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from simwright.core.math3d import Array
from simwright.engines.mujoco.queries import (
    Ints,
    MjData,
    compute_mass_block,
    compute_site_jacobians,
    read_site,
)
from simwright.tasks.inverse import ToolMover

# stiffness for each kilogram that the tool feels like [1/s^2], critically damped
_STIFFNESS = 400.0
# the same of what draws joints back to their start, which is to be weaker
_REST = 10.0
# part of the dry friction from which on it is made up for; smaller values let joints chatter about their target
_STICK = 0.3
# directions in which the arm can accelerate its tool less than this part of the best are left alone: near singularities
# the inertia there is without bound
_WEAK = 1e-3


@dataclass(slots=True)
class ToolImpedance:
    """Torques for the joints of a :class:`ToolMover`, whose target the tool is drawn to."""

    mover: ToolMover
    stiffness: float = _STIFFNESS
    _dofs: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._dofs = np.asarray(self.mover.model.jnt_dofadr)[self.mover.joints]

    def find_torques(self, data: MjData) -> dict[int, float]:
        """Torques [N m] or forces [N] by joint id; ``data`` has to be computed forward."""
        mover, dofs = self.mover, self._dofs
        mass = compute_mass_block(mover.model, data, dofs)
        speeds = np.asarray(data.qvel)[dofs]
        parts = self._measure(data)
        torques = np.zeros(len(dofs))
        for jacobian, error in parts:
            # place and turn one by one: a light wrist turns a thousand times more easily than the arm moves, so that in
            # one matrix the place would count as a direction in which nothing can be done
            inertia = np.linalg.pinv(
                jacobian @ np.linalg.solve(mass, jacobian.T), rcond=_WEAK, hermitian=True
            )
            wanted = self.stiffness * error - 2.0 * math.sqrt(self.stiffness) * (jacobian @ speeds)
            torques += jacobian.T @ (inertia @ wanted)
        places = np.asarray(data.qpos)[mover.model.jnt_qposadr[mover.joints]]
        back = _REST * (mover.rest - places) - 2.0 * math.sqrt(_REST) * speeds
        free = _find_free(np.concatenate([jacobian for jacobian, _ in parts]))
        # the motion that is nearest to going back, by energy, of those that leave the tool alone
        torques += mass @ free @ np.linalg.solve(free.T @ mass @ free, free.T @ mass @ back)
        # dry friction holds small errors fast: most of it is made up for, in the direction in which the joint is to go
        loss = np.asarray(mover.model.dof_frictionloss)[dofs]
        torques += loss * np.tanh(torques / np.maximum(_STICK * loss, 1e-9))
        torques += np.asarray(data.qfrc_bias)[dofs]
        return dict(zip(mover.joints.tolist(), torques.tolist(), strict=True))

    def _measure(self, data: MjData) -> list[tuple[Array, Array]]:
        """How the joints move and turn the tool, and how far it is from its target; no turn where it does not count."""
        mover = self.mover
        place, spin = (part[:, self._dofs] for part in compute_site_jacobians(mover.model, data, mover.site))
        here = read_site(data, mover.site)
        found = [(place, mover.target.p - here.p)]
        if mover.weight:
            found.append((spin, mover.measure_turn(here, mover.target)))
        return found


def _find_free(jacobian: Array) -> Array:
    """Motions of the joints that do not move the tool (joints x n)."""
    _, sizes, rows = np.linalg.svd(jacobian)
    rank = int((sizes > _WEAK * sizes[0]).sum()) if len(sizes) else 0
    return np.asarray(rows[rank:].T)
