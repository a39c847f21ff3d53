# SPDX-License-Identifier: Apache-2.0
"""What an action means: positions, velocities or torques of actuators, or a motion of the tool.

Every mode but ``pose`` takes one number per actuator, in the robot's own order, whatever the actuators are: where an
actuator does not take what the mode gives (a motor told a position), a controller here stands between, step by step.
Actuators that drive no joint (a tendon that closes a gripper) take their own control in the modes for joints.  No
action exceeds the largest speeds of joints that the robot's file or manifest gives (:mod:`simwright.tasks.speeds`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind, make_motor
from simwright.engines.mujoco.queries import MjData
from simwright.tasks.compose import Composed
from simwright.tasks.inverse import ToolMover
from simwright.tasks.manifest import ControlMode
from simwright.tasks.speeds import SpeedLimiter, measure_mass

# natural frequency of a position controller for motors [rad/s]
_FREQUENCY = 25.0
# largest velocity command where nothing says otherwise [rad/s or m/s]
_FASTEST = 3.0
# largest motion of the tool in one action [m]; a tenth of a radian per 0.02 m
_STEP = 0.05
_TURN = 0.25


@dataclass(slots=True)
class ActionController:
    """Turns actions into controls of a composed scene."""

    composed: Composed
    actuators: tuple[ActuatorInfo, ...]
    mode: ControlMode
    mover: ToolMover | None = None
    grip: tuple[tuple[int, ...], float, float] | None = None
    """Actuators of the gripper, and their controls open and closed."""
    speed_limits: Mapping[int, float] = field(default_factory=dict)
    """Largest speeds by joint id [rad/s or m/s]."""
    home: Array | None = None
    """Coordinates of the scene where the robot starts."""
    limiter: SpeedLimiter = field(init=False, repr=False)
    _goal: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _target: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _kp: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _kd: Array = field(default_factory=lambda: np.zeros(0), repr=False)

    def __post_init__(self) -> None:
        if not self.actuators:
            raise UsageError(
                "the robot has no actuators, so there is nothing to act with",
                hint="name joints in the manifest's sim.actuators",
            )
        if self.mode is ControlMode.POSE and self.mover is None:
            raise UsageError("the control mode 'pose' needs a robot with a tool")
        if self.mode is ControlMode.TORQUE:
            for actuator in self.actuators:
                # servos would add their own spring to the torque
                if actuator.joint >= 0 and actuator.kind not in (ActuatorKind.MOTOR, ActuatorKind.GENERAL):
                    make_motor(self.composed.model, actuator)
        count = len(self.actuators)
        self._goal, self._target, self._kp, self._kd = (np.zeros(count) for _ in range(4))
        home = self.composed.model.qpos0 if self.home is None else self.home
        self.limiter = SpeedLimiter(self.composed.model, self.actuators, self.speed_limits, self.mode, home)

    @property
    def is_direct(self) -> bool:
        """Do actions become controls once per action, with nothing to do in between?"""
        return self.takes_batches and self.limiter.is_idle

    @property
    def takes_batches(self) -> bool:
        """Is what happens between two actions the same arithmetic for all worlds (:meth:`SpeedLimiter.drive`)?"""
        if self.mode in (ControlMode.TORQUE, ControlMode.POSE):
            return self.mode is ControlMode.TORQUE
        direct = {ControlMode.VELOCITY: (ActuatorKind.VELOCITY, ActuatorKind.POSITION)}
        kinds = direct.get(self.mode, (ActuatorKind.POSITION,))
        return all(a.kind in kinds or a.joint < 0 or a.kind is ActuatorKind.GENERAL for a in self.actuators)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Least and largest action."""
        if self.mode is ControlMode.POSE:
            tool = np.array([_STEP] * 3 + [_TURN] * 3 + ([1.0] if self.grip else []))
            return -tool, tool
        rows = [self._bound(number, actuator) for number, actuator in enumerate(self.actuators)]
        low, high = np.array(rows).T
        return low, high

    def _bound(self, number: int, actuator: ActuatorInfo) -> tuple[float, float]:
        model = self.composed.model
        low, high = actuator.low, actuator.high
        if self.mode is ControlMode.TORQUE:
            low, high = (
                model.actuator_ctrlrange[actuator.index]
                if model.actuator_ctrllimited[actuator.index]
                else (-np.inf, np.inf)
            )
        elif self.mode is ControlMode.VELOCITY and actuator.joint >= 0:
            # a position servo told velocities has its target moved: its own range is one of positions
            low, high = (low, high) if actuator.kind is ActuatorKind.VELOCITY else (-_FASTEST, _FASTEST)
            fastest = float(self.limiter.speeds[number])
            low, high = max(low, -fastest), min(high, fastest)
        elif actuator.joint >= 0 and (actuator.kind is not ActuatorKind.POSITION or not np.isfinite(low)):
            limited = bool(model.jnt_limited[actuator.joint])
            low, high = model.jnt_range[actuator.joint] if limited else (-np.inf, np.inf)
        return float(low), float(high)

    def reset(self, data: MjData) -> None:
        """Hold what is there; called after the robot was put where it starts."""
        model = self.composed.model
        for number, actuator in enumerate(self.actuators):
            self._target[number] = data.ctrl[actuator.index]
            if actuator.joint < 0 or actuator.kind in (ActuatorKind.POSITION, ActuatorKind.GENERAL):
                continue
            self._target[number] = data.actuator_length[actuator.index]
            if actuator.kind is ActuatorKind.MOTOR:
                # controls of motors are multiplied by it
                gain = float(model.actuator_gainprm[actuator.index, 0]) or 1.0
                mass = measure_mass(model, data, actuator.index)
                self._kp[number] = mass * _FREQUENCY**2 / gain
                self._kd[number] = 2.0 * mass * _FREQUENCY / gain
            elif actuator.kind is ActuatorKind.VELOCITY:
                # the command of a velocity servo is a velocity towards the target: its gain is a rate [1/s]
                self._kp[number] = 0.5 * _FREQUENCY
        self._goal[:] = self._target
        if self.mover is not None:
            self.mover.reset(data)

    @property
    def targets(self) -> Array:
        """What the actuators are told to hold: controls, or lengths where a controller stands between."""
        return self._target.copy()

    def hold(self) -> Array:
        """The action that keeps the robot where it is, right after a reset."""
        low, high = self.bounds
        if self.mode is ControlMode.POSITION:
            return np.clip(self._target, low, high)
        still = np.zeros(len(low))
        for number, actuator in enumerate(self.actuators):
            if self.mode is ControlMode.VELOCITY and (
                actuator.joint < 0 or actuator.kind is ActuatorKind.GENERAL
            ):
                still[number] = self._target[number]
        return np.clip(still, low, high)

    def command(self, data: MjData, ctrl: Array, action: Array) -> None:
        """Take an action, which holds for a control period, and write the controls of the first time step."""
        action = np.asarray(action, dtype=np.float64)
        low, high = self.bounds
        if action.shape != low.shape:
            raise UsageError(f"an action of this robot has {len(low)} numbers, not {action.shape}")
        if not np.isfinite(action).all():
            raise UsageError("an action has to be finite")
        action = np.clip(action, low, high)
        match self.mode:
            case ControlMode.POSE:
                self._command_pose(data, action)
            case ControlMode.VELOCITY:
                self._goal[:] = self.integrate(self._goal, action)
            case _:
                self._goal[:] = action
        if self.is_direct:
            # nothing happens between two actions: the controls stay what they are now
            self._target[:] = self._goal
            ctrl[: len(self._goal)] = self._goal

    def update(self, data: MjData, ctrl: Array) -> None:
        """Write the controls of the next time step; ``data`` is what the last one computed."""
        count = len(self.actuators)
        self._target[:], controls = self.limiter.drive(self._target, self._goal, data.qpos, data.qvel)
        if self.takes_batches:
            ctrl[:count] = controls
            return
        for number, actuator in enumerate(self.actuators):
            index = actuator.index
            direct = actuator.kind in (ActuatorKind.POSITION, ActuatorKind.GENERAL)
            told = actuator.kind is ActuatorKind.VELOCITY and self.mode is ControlMode.VELOCITY
            if actuator.joint < 0 or direct or told:
                ctrl[index] = controls[number]
                continue
            error = self._target[number] - float(data.actuator_length[index])
            value = self._kp[number] * error
            if actuator.kind is ActuatorKind.MOTOR:
                joint = self.composed.model.jnt_dofadr[actuator.joint]
                gain = (
                    float(
                        self.composed.model.actuator_gainprm[index, 0]
                        * self.composed.model.actuator_gear[index, 0]
                    )
                    or 1.0
                )
                value += (
                    -self._kd[number] * float(data.actuator_velocity[index])
                    # gravity and Coriolis forces are made up for, so that a motor holds without sagging
                    + float(data.qfrc_bias[joint]) / gain
                )
            value = self.limiter.bound_force(number, value, float(data.actuator_velocity[index]))
            ctrl[index] = min(max(value, actuator.low), actuator.high)

    def integrate(self, targets: Array, velocities: Array) -> Array:
        """Targets after a control period of velocities, inside the joints' limits; of one world or of many.

        Actuators that take a velocity, and those that drive no joint, are told the command itself.
        """
        direct = np.array(
            [a.joint < 0 or a.kind in (ActuatorKind.GENERAL, ActuatorKind.VELOCITY) for a in self.actuators]
        )
        limits = np.array([self._limits(actuator) for actuator in self.actuators])
        # targets integrate, not positions: what the arm sags by does not add up
        moved = np.clip(targets + velocities * self.composed.period, limits[:, 0], limits[:, 1])
        return np.where(direct, velocities, moved)

    def _limits(self, actuator: ActuatorInfo) -> tuple[float, float]:
        model = self.composed.model
        if actuator.joint >= 0 and model.jnt_limited[actuator.joint]:
            low, high = model.jnt_range[actuator.joint]
            return float(low), float(high)
        return -np.inf, np.inf

    def _command_pose(self, data: MjData, action: Array) -> None:
        assert self.mover is not None
        wanted = self.mover.move(data, action[:3], action[3:6])
        for number, actuator in enumerate(self.actuators):
            if actuator.joint in wanted:
                self._goal[number] = actuator.scale * wanted[actuator.joint] + actuator.offset
        if self.grip is not None:
            indices, opened, closed = self.grip
            for number, actuator in enumerate(self.actuators):
                if actuator.index in indices:
                    # -1 is closed, 1 is open, whatever the controls of the gripper are
                    self._goal[number] = closed + 0.5 * (action[6] + 1.0) * (opened - closed)
