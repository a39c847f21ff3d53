# SPDX-License-Identifier: Apache-2.0
"""Targets and forces as MuJoCo's inputs: controls of drives, generalised forces, wrenches on bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.engines.mujoco.build import Built
from simwright.engines.mujoco.coordinates import CoordinateMap
from simwright.engines.mujoco.joints import find_gains
from simwright.runtime.kinds import JointType, TargetMode
from simwright.runtime.rotation import Values, rotate
from simwright.runtime.state import Control, State

_FLOATS = (JointType.FREE, JointType.DISTANCE)
_NO_VELOCITY = (TargetMode.POSITION, TargetMode.EFFORT)


class Forces:
    """Inputs of worlds that share a model."""

    def __init__(self, built: Built, coordinates: CoordinateMap) -> None:
        mj, world = built.mj, built.world
        self._mj, self._world, self._map = mj, world, coordinates
        dofs = sorted(built.seats.drives)
        self._dofs = np.array(dofs, dtype=np.int64)
        self._places = np.array([mj.actuator(built.seats.drives[dof]).id for dof in dofs], dtype=np.int64)
        gains = np.array([find_gains(world, dof) for dof in dofs]).reshape(-1, 2)
        still = np.array([world.joint_target_mode[dof] in _NO_VELOCITY for dof in dofs], dtype=bool)
        self._ke, self._kd = gains[:, 0], np.where(still, 0.0, gains[:, 1])
        self._bodies = np.array([mj.body(f"b{body}").id for body in range(world.body_count)], dtype=np.int64)
        self._single = np.flatnonzero(coordinates.dof_of >= 0)
        self._loose = [
            (joint, int(world.joint_qd_start[joint]))
            for joint in built.seats.joints
            if world.joint_type[joint] in (*_FLOATS, JointType.BALL)
        ]

    def is_applied(self, state: State, control: Control) -> bool:
        """Is there a force beside those of drives?"""
        return bool(np.any(control.joint_f)) or bool(np.any(state.body_f))

    def choose_spec(self, applied: bool) -> int:
        """What a row of inputs holds, in MuJoCo's bits."""
        import mujoco

        bits = mujoco.mjtState
        spec = int(bits.mjSTATE_CTRL)
        if applied:
            spec |= int(bits.mjSTATE_QFRC_APPLIED) | int(bits.mjSTATE_XFRC_APPLIED)
        return spec

    def make(self, given: dict[str, Values], applied: bool) -> Values:
        """Rows of inputs for worlds: controls, then generalised forces, then wrenches."""
        count = len(given["joint_act"])
        nu, nv, nbody = int(self._mj.nu), int(self._mj.nv), int(self._mj.nbody)
        controls = np.zeros((count, nu))
        dofs = self._dofs
        controls[:, self._places] = (
            given["joint_target_pos"][:, dofs] * self._ke
            + given["joint_target_vel"][:, dofs] * self._kd
            + given["joint_act"][:, dofs]
        )
        if not applied:
            return controls
        general, wrenches = np.zeros((count, nv)), np.zeros((count, nbody, 6))
        general[:, self._map.dof_of[self._single]] = given["joint_f"][:, self._single]
        wrenches[:, self._bodies] = given["body_f"]
        for joint, at in self._loose:
            self._apply(joint, given["joint_f"][:, at : at + 6], wrenches)
        return np.concatenate((controls, general, wrenches.reshape(count, -1)), axis=1)

    def _apply(self, joint: int, force: Values, wrenches: Any) -> None:
        """Forces of free joints and torques of balls, on the child, along the axes of the parent frame on the world."""
        world = self._world
        turn = world.joint_X_p[joint, 3:]
        body = self._bodies[int(world.joint_child[joint])]
        if world.joint_type[joint] == JointType.BALL:
            wrenches[:, body, 3:] += rotate(turn, force[:, :3])
            return
        wrenches[:, body, :3] += rotate(turn, force[:, :3])
        wrenches[:, body, 3:] += rotate(turn, force[:, 3:6])
