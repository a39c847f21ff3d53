# SPDX-License-Identifier: Apache-2.0
"""What an action means: positions, velocities or torques of actuators, or a motion of the tools.

Every mode but ``pose`` and ``osc`` takes one number per actuator, in the robot's own order, whatever the actuators are:
where an actuator does not take what the mode gives (a motor told a position), a controller here stands between, step by
step.  Actuators that drive no joint (a tendon that closes a gripper) take their own control in the modes for joints.
``pose`` and ``osc`` move tools: by targets of servos, or softly by torques (:mod:`simwright.tasks.inverse`).  Actions
do not exceed the largest speeds of joints that the robot's file or manifest gives
(:class:`SpeedLimiter`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind, list_actuators, make_motor
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import MjData, MjModel, compute_forward, compute_inertia, stop_joints
from simwright.tasks.compose import Composed
from simwright.tasks.inverse import ToolImpedance, ToolMover
from simwright.tasks.manifest import ControlMode, GripControls

# natural frequency of a position controller for motors [rad/s]
_FREQUENCY = 25.0
# largest velocity command where nothing says otherwise [rad/s or m/s]
_FASTEST = 3.0
# largest motion of the tool in one action [m]; a tenth of a radian per 0.02 m
_STEP = 0.05
_TURN = 0.25


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

    def plan(self, targets: Array, goals: Array, steps: int) -> Array | None:
        """Controls of the next time steps on the way to ``goals`` (worlds x steps x numbers), as :meth:`drive` does.

        None where they follow from the state, which only each time step gives.
        """
        if self._bounded.any():
            return None
        planned = np.empty((len(targets), steps, targets.shape[1]))
        for number in range(steps):
            targets = targets + np.clip(goals - targets, -self._rates, self._rates)
            planned[:, number] = targets
        return planned

    def find_fast(self, velocities: Array) -> npt.NDArray[np.intp]:
        """The worlds in which a joint is faster than it may be; ``velocities`` (worlds x ... x nv) are the model's."""
        speeds = np.abs(velocities[..., self._stopped])
        # worlds that broke down are no numbers, which compare as false
        return np.flatnonzero((speeds > self._fastest).any(axis=tuple(range(1, speeds.ndim))))

    def brake(self, worlds: ModelBatch) -> npt.NDArray[np.intp]:
        """Hold the largest speeds after a time step, in all worlds; gives the worlds where there was anything to do."""
        fast = self.find_fast(worlds.view("qvel"))
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
        return fast

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


@dataclass(frozen=True, slots=True)
class ToolArm:
    """A tool that actions can move: what moves it, and the gripper at it."""

    mover: ToolMover | None = None
    grip: GripControls | None = None

    @property
    def size(self) -> int:
        """How many numbers move it: place, turn and gripper."""
        return 7 if self.grip else 6


@dataclass(slots=True)
class ActionController:
    """Turns actions into controls of a composed scene."""

    composed: Composed
    actuators: tuple[ActuatorInfo, ...]
    mode: ControlMode
    arms: tuple[ToolArm, ...] = ()
    """One for each tool, in the order in which actions have them."""
    speed_limits: Mapping[int, float] = field(default_factory=dict)
    """Largest speeds by joint id [rad/s or m/s]."""
    home: Array | None = None
    """Coordinates of the scene where the robot starts."""
    limiter: SpeedLimiter = field(init=False, repr=False)
    _goal: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _target: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _kp: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _kd: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    _impedances: tuple[ToolImpedance, ...] = field(default=(), repr=False)
    _torques: dict[int, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.actuators:
            raise UsageError(
                "the robot has no actuators, so there is nothing to act with",
                hint="name joints in the manifest's sim.actuators",
            )
        if self.mode.moves_tools and not all(arm.mover for arm in self.arms or (ToolArm(),)):
            raise UsageError(f"the control mode {self.mode.value!r} needs a robot with a tool")
        if self.mode is ControlMode.TORQUE:
            self._make_motors({actuator.joint for actuator in self.actuators})
        elif self.mode is ControlMode.OSC:
            self._impedances = tuple(ToolImpedance(arm.mover) for arm in self.arms if arm.mover is not None)
            self._make_motors(self.arm_joints)
            # their kinds are others now
            self.actuators = tuple(list_actuators(self.composed.model, len(self.actuators)))
        count = len(self.actuators)
        self._goal, self._target, self._kp, self._kd = (np.zeros(count) for _ in range(4))
        home = self.composed.model.qpos0 if self.home is None else self.home
        self.limiter = SpeedLimiter(self.composed.model, self.actuators, self.speed_limits, self.mode, home)

    def _make_motors(self, joints: set[int]) -> None:
        """Let the actuators of joints give torques: servos would add their own spring."""
        for actuator in self.actuators:
            if actuator.joint < 0 or actuator.joint not in joints:
                continue
            if actuator.kind not in (ActuatorKind.MOTOR, ActuatorKind.GENERAL):
                make_motor(self.composed.model, actuator)

    @property
    def arm_joints(self) -> set[int]:
        """Joints that carry tools and are driven."""
        return {joint for arm in self.arms if arm.mover for joint in arm.mover.joints.tolist()}

    @property
    def mover(self) -> ToolMover | None:
        """What moves the first tool."""
        return self.arms[0].mover if self.arms else None

    @property
    def grip(self) -> GripControls | None:
        """The gripper of the first tool."""
        return self.arms[0].grip if self.arms else None

    @property
    def is_direct(self) -> bool:
        """Do actions become controls once per action, with nothing to do in between?"""
        return self.takes_batches and self.limiter.is_idle

    @property
    def takes_batches(self) -> bool:
        """Is what happens between two actions the same arithmetic for all worlds (:meth:`SpeedLimiter.drive`)?"""
        if self.mode is ControlMode.TORQUE or self.mode.moves_tools:
            return self.mode is ControlMode.TORQUE
        direct = {ControlMode.VELOCITY: (ActuatorKind.VELOCITY, ActuatorKind.POSITION)}
        kinds = direct.get(self.mode, (ActuatorKind.POSITION,))
        return all(a.kind in kinds or a.joint < 0 or a.kind is ActuatorKind.GENERAL for a in self.actuators)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Least and largest action."""
        if self.mode.moves_tools:
            tool = np.concatenate([[*[_STEP] * 3, *[_TURN] * 3, 1.0][: arm.size] for arm in self.arms])
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
        for arm in self.arms:
            if arm.mover is not None:
                arm.mover.reset(data)

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
        if self.mode.moves_tools:
            self._hold_grippers(still)
            return still
        for number, actuator in enumerate(self.actuators):
            if self.mode is ControlMode.VELOCITY and (
                actuator.joint < 0 or actuator.kind is ActuatorKind.GENERAL
            ):
                still[number] = self._target[number]
        return np.clip(still, low, high)

    def _hold_grippers(self, action: Array) -> None:
        """Write the part of an action that leaves grippers as open as they are told to be."""
        last = -1
        for arm in self.arms:
            last += arm.size
            if arm.grip is not None and (row := self._find_rows(arm.grip)):
                _, opened, closed = arm.grip
                share = (self._target[row[0]] - closed) / (opened - closed) if opened != closed else 0.5
                action[last] = np.clip(2.0 * share - 1.0, -1.0, 1.0)

    def _find_rows(self, grip: GripControls) -> list[int]:
        return [number for number, actuator in enumerate(self.actuators) if actuator.index in grip[0]]

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
            case ControlMode.POSE | ControlMode.OSC:
                self._command_tools(data, action)
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
        for impedance in self._impedances:
            self._torques.update(impedance.find_torques(data))
        for number, actuator in enumerate(self.actuators):
            index = actuator.index
            direct = actuator.kind in (ActuatorKind.POSITION, ActuatorKind.GENERAL)
            told = actuator.kind is ActuatorKind.VELOCITY and self.mode is ControlMode.VELOCITY
            if actuator.joint < 0 or direct or told:
                ctrl[index] = controls[number]
                continue
            if actuator.joint in self._torques:
                ctrl[index] = self._find_control(number, actuator, data)
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

    def _find_control(self, number: int, actuator: ActuatorInfo, data: MjData) -> float:
        """The control of a motor that gives the torque of operational space control."""
        model, index = self.composed.model, actuator.index
        strength = float(model.actuator_gainprm[index, 0] * model.actuator_gear[index, 0]) or 1.0
        value = self._torques[actuator.joint] / strength
        value = self.limiter.bound_force(number, value, float(data.actuator_velocity[index]))
        return min(max(value, actuator.low), actuator.high)

    def _command_tools(self, data: MjData, action: Array) -> None:
        for arm in self.arms:
            told, action = action[: arm.size], action[arm.size :]
            assert arm.mover is not None
            if self.mode is ControlMode.OSC:
                arm.mover.shift_target(data, told[:3], told[3:6])
            else:
                wanted = arm.mover.move(data, told[:3], told[3:6])
                for number, actuator in enumerate(self.actuators):
                    if actuator.joint in wanted:
                        self._goal[number] = actuator.scale * wanted[actuator.joint] + actuator.offset
            if arm.grip is not None:
                _, opened, closed = arm.grip
                # -1 is closed, 1 is open, whatever the controls of the gripper are
                self._goal[self._find_rows(arm.grip)] = closed + 0.5 * (told[6] + 1.0) * (opened - closed)
