# SPDX-License-Identifier: Apache-2.0
"""Largest speeds of joints, which hold under any action: MuJoCo has no such limit, drives of real robots do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simwright.core.math3d import Array
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import MjData, MjModel, compute_forward, compute_inertia, stop_joints
from simwright.tasks.manifest import ControlMode

# a joint that is slower than this part of its largest speed may be pushed with full force: fingers hold, arms carry
_MOVING = 0.1
# what part of a joint's momentum its drive may take away in a time step; 1 would overshoot where the joint is lighter
_BRAKE = 0.25


class SpeedLimiter:
    """Largest speeds of the actuators of a robot; ``limits`` are those of joints by id [rad/s or m/s].

    Targets of servos move towards what an action asks for at no more than the largest speed.  A motor that is told a
    torque does not push a joint that moves beyond that speed, and brakes one that is faster.  What gravity, contacts
    and the other joints still add is taken away after each time step (:meth:`brake`), so that no step ends with a joint
    beyond its speed: the convention of PhysX.  Forces of actuators are bounded by MuJoCo itself; that brake is not one.

    ``home`` are the coordinates at which the inertia that drives have to brake is measured.
    """

    def __init__(
        self,
        model: MjModel,
        actuators: Sequence[ActuatorInfo],
        limits: Mapping[int, float],
        mode: ControlMode,
        home: Array,
    ) -> None:
        self._model, self._actuators = model, actuators
        joints = [max(actuator.joint, 0) for actuator in actuators]
        self._coordinates = [int(model.jnt_qposadr[joint]) for joint in joints]
        self._dofs = [int(model.jnt_dofadr[joint]) for joint in joints]
        self._gears = np.array([float(model.actuator_gear[actuator.index, 0]) for actuator in actuators])
        self.speeds = np.array([self._find_speed(actuator, limits) for actuator in actuators])
        """Of the length of each transmission; infinite where nothing limits it."""
        rows = [actuator.index for actuator in actuators]
        # the force that MuJoCo computes is affine: a gain times the control, and a bias of length and speed
        self._gain = np.array(model.actuator_gainprm[rows, 0])
        self._bias = np.array(model.actuator_biasprm[rows, :3].T)
        torque = mode is ControlMode.TORQUE
        # torques alone: the forces of servos follow from targets that move slowly enough
        self._bounded = np.isfinite(self.speeds) & torque & (self._gain != 0.0)
        self._most = np.where(self._bounded, self.speeds, 0.0)
        self._divisor = np.where(self._gain != 0.0, self._gain, 1.0)
        rates = [
            np.inf if torque else self._find_rate(*pair, mode)
            for pair in zip(actuators, self.speeds, strict=True)
        ]
        self._rates = float(model.opt.timestep) * np.array(rates)
        self._brake = self._measure_brakes(home)
        # every joint with a limit, driven or not; free and ball joints have none
        self._stopped = np.array([int(model.jnt_dofadr[joint]) for joint in limits], dtype=np.int32)
        self._fastest = np.array(list(limits.values()), dtype=np.float64)
        self._scratch: MjData | None = None

    def _find_speed(self, actuator: ActuatorInfo, limits: Mapping[int, float]) -> float:
        """The largest speed of a joint as its transmission sees it."""
        if actuator.joint < 0 or actuator.kind is ActuatorKind.GENERAL:
            return float(np.inf)
        return float(limits.get(actuator.joint, np.inf) * abs(self._model.actuator_gear[actuator.index, 0]))

    @staticmethod
    def _find_rate(actuator: ActuatorInfo, speed: float, mode: ControlMode) -> float:
        """How fast a target may change; velocities that are commanded have no such limit."""
        if actuator.kind is ActuatorKind.VELOCITY and mode is ControlMode.VELOCITY:
            return float(np.inf)
        # the target of a servo is a control, which may be in another unit than the length of its transmission
        return float(speed * (abs(actuator.scale) if actuator.kind is ActuatorKind.POSITION else 1.0))

    @property
    def is_idle(self) -> bool:
        """Is there nothing to hold between two actions?"""
        return not (len(self._stopped) or self._bounded.any() or np.isfinite(self._rates).any())

    def _measure_brakes(self, home: Array) -> Array:
        """How hard drives may brake [N s/m or N m s/rad]."""
        brakes = np.zeros(len(self._actuators))
        if np.isfinite(self.speeds).any():
            data = compute_forward(self._model, home)
            for number in np.flatnonzero(np.isfinite(self.speeds)).tolist():
                mass = measure_mass(self._model, data, self._actuators[number].index)
                brakes[number] = _BRAKE * mass / float(self._model.opt.timestep)
        return brakes

    def drive(self, targets: Array, goals: Array, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """Targets and controls of the next time step on the way to ``goals``, of one world or of many.

        ``targets`` are those of the last time step; ``qpos`` and ``qvel`` are the state of the model.
        """
        moved = targets + np.clip(goals - targets, -self._rates, self._rates)
        if not self._bounded.any():
            return moved, moved
        lengths, speeds = qpos[..., self._coordinates] * self._gears, qvel[..., self._dofs] * self._gears
        rest = self._bias[0] + self._bias[1] * lengths + self._bias[2] * speeds
        least = np.where(speeds < -_MOVING * self._most, self._brake * (-self._most - speeds), -np.inf)
        most = np.where(speeds > _MOVING * self._most, self._brake * (self._most - speeds), np.inf)
        controls = (np.clip(self._gain * moved + rest, least, most) - rest) / self._divisor
        return moved, np.where(self._bounded, controls, moved)

    def brake(self, worlds: ModelBatch) -> bool:
        """Hold the largest speeds after a time step, in all worlds; tells whether there was anything to do."""
        if not len(self._stopped):
            return False
        speeds = np.abs(worlds.view("qvel")[:, self._stopped])
        # worlds that broke down are no numbers, which compare as false
        fast = np.flatnonzero((speeds > self._fastest).any(axis=1))
        qpos, qvel = worlds.view("qpos"), worlds.view("qvel")
        for world in fast.tolist():
            self._scratch = stop_joints(
                worlds.models[world],
                qpos[world],
                qvel[world],
                self._stopped,
                self._fastest,
                scratch=self._scratch,
            )
        return bool(len(fast))

    def bound_force(self, number: int, control: float, speed: float) -> float:
        """The control of a motor or velocity servo that a controller between commands, within the largest speed."""
        limit = float(self.speeds[number])
        if not np.isfinite(limit):
            return control
        if self._actuators[number].kind is ActuatorKind.VELOCITY:
            return min(max(control, -limit), limit)
        brake = float(self._brake[number] / self._divisor[number])
        if speed > _MOVING * limit:
            return min(control, brake * (limit - speed))
        return max(control, brake * (-limit - speed)) if speed < -_MOVING * limit else control


def measure_mass(model: MjModel, data: MjData, index: int) -> float:
    """What an actuator has to move: the inertia that it feels through its gear [kg or kg m^2]."""
    joint = int(model.actuator_trnid[index, 0])
    gear = float(model.actuator_gear[index, 0]) or 1.0
    return compute_inertia(model, data, int(model.jnt_dofadr[joint])) / gear**2
