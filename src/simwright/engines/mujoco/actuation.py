# SPDX-License-Identifier: Apache-2.0
"""What an actuator does and what it acts on, by its numbers and transmission, never by its place in a list.

A *position* actuator pulls towards its control, a *velocity* actuator towards a speed, a *motor* gives what it is told;
anything else is *general*.  Lengths of transmissions (joint, tendon, site ...) are MuJoCo's ``actuator_length``, so a
tendon that closes a gripper is handled as a joint is.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.engines.layout import Layout
from simwright.engines.mujoco.queries import MjModel, compute_forward
from simwright.formats.mjcf.memory import CompiledAsset, MujocoNames
from simwright.model.asset import Asset
from simwright.model.joint import Motion

_FIXED_GAIN, _AFFINE = 0, (0, 1)
"""mjGAIN_FIXED; mjBIAS_NONE and mjBIAS_AFFINE."""


class ActuatorKind(enum.StrEnum):
    """What the control of an actuator means."""

    POSITION = "position"
    VELOCITY = "velocity"
    MOTOR = "motor"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class ActuatorInfo:
    """One actuator.  ``joint`` is the id of the joint it drives, -1 for other transmissions.

    ``low`` and ``high`` bound the control (infinite where nothing does); ``scale`` is control per unit of length of its
    transmission: 1 for a plain position actuator, 255 / stroke for a gripper that is told a byte.
    """

    index: int
    name: str
    kind: ActuatorKind
    transmission: str
    joint: int
    low: float
    high: float
    scale: float = 1.0
    offset: float = 0.0


def list_actuators(model: MjModel, count: int | None = None) -> list[ActuatorInfo]:
    """The first ``count`` actuators of a model (all by default)."""
    return [_describe(model, index) for index in range(model.nu if count is None else count)]


def hold_controls(model: MjModel, qpos: Array) -> Array:
    """Controls that keep a robot where it is: positions of its transmissions for position actuators, 0 for others."""
    data = compute_forward(model, qpos)
    ctrl = np.zeros(model.nu)
    for actuator in list_actuators(model):
        if actuator.kind is ActuatorKind.POSITION:
            wanted = actuator.scale * float(data.actuator_length[actuator.index]) + actuator.offset
            ctrl[actuator.index] = min(max(wanted, actuator.low), actuator.high)
    return ctrl


def make_motor(model: MjModel, actuator: ActuatorInfo) -> None:
    """Let an actuator of a joint give what it is told [N m or N], bounded by the force it had."""
    import mujoco

    index = actuator.index
    model.actuator_gainprm[index] = 0.0
    model.actuator_gainprm[index, 0] = 1.0
    model.actuator_biasprm[index] = 0.0
    model.actuator_biastype[index] = int(mujoco.mjtBias.mjBIAS_NONE)
    # the old bounds were positions: a motor's control is a force
    limited = bool(model.actuator_forcelimited[index])
    model.actuator_ctrllimited[index] = limited
    if limited:
        model.actuator_ctrlrange[index] = model.actuator_forcerange[index]


def _describe(model: MjModel, index: int) -> ActuatorInfo:
    import mujoco

    trn = mujoco.mjtTrn
    kinds = {
        trn.mjTRN_JOINT: "joint",
        trn.mjTRN_JOINTINPARENT: "joint",
        trn.mjTRN_TENDON: "tendon",
        trn.mjTRN_SITE: "site",
        trn.mjTRN_SLIDERCRANK: "slidercrank",
        trn.mjTRN_BODY: "body",
    }
    transmission = kinds.get(trn(int(model.actuator_trntype[index])), "other")
    joint = int(model.actuator_trnid[index, 0]) if transmission == "joint" else -1
    low, high = (float(v) for v in model.actuator_ctrlrange[index])
    if not model.actuator_ctrllimited[index]:
        # the range of an unlimited actuator is whatever the file happened to say
        low, high = -np.inf, np.inf
    kind, scale, offset = _classify(model, index)
    return ActuatorInfo(
        index, model.actuator(index).name, kind, transmission, joint, low, high, scale, offset
    )


def _classify(model: MjModel, index: int) -> tuple[ActuatorKind, float, float]:
    """Kind, and what control holds a length: ``ctrl = scale * length + offset``."""
    import mujoco

    gain, bias = model.actuator_gainprm[index], model.actuator_biasprm[index]
    if model.actuator_gaintype[index] != mujoco.mjtGain.mjGAIN_FIXED or gain[0] == 0.0:
        return ActuatorKind.GENERAL, 1.0, 0.0
    if model.actuator_biastype[index] == mujoco.mjtBias.mjBIAS_NONE:
        return ActuatorKind.MOTOR, 1.0, 0.0
    if model.actuator_biastype[index] != mujoco.mjtBias.mjBIAS_AFFINE:
        return ActuatorKind.GENERAL, 1.0, 0.0
    if bias[1] * gain[0] < 0.0:
        # at rest: gain * ctrl + bias0 + bias1 * length = 0
        return ActuatorKind.POSITION, float(-bias[1] / gain[0]), float(-bias[0] / gain[0])
    if bias[1] == 0.0 and bias[2] * gain[0] < 0.0:
        return ActuatorKind.VELOCITY, 1.0, 0.0
    return ActuatorKind.GENERAL, 1.0, 0.0


@dataclass(frozen=True, slots=True)
class Servos:
    """Actuators that follow targets: ``control = (effort / gear - b0 - b1 position - b2 velocity) / gain``."""

    dofs: npt.NDArray[np.int64]
    """Their entries in velocities of the layout."""
    columns: npt.NDArray[np.int64]
    """Their columns in MuJoCo's controls."""
    law: Array
    """Rows of effort, b0, position and velocity factors."""


def name_controls(model: MjModel, names: MujocoNames) -> tuple[str, ...]:
    """Names of the controls, in MuJoCo's order: those of the asset, and of drives by their dof.

    An actuator with several controls (MuJoCo 4) has one entry per control: ``name[0]``, ``name[1]`` ...
    """
    ours = {made: name for name, made in (*names.drives.items(), *names.actuators.items())}
    found = []
    for number in range(int(getattr(model, "nactuator", model.nu))):
        name = str(model.actuator(number).name)
        count = int(model.actuator_ctrlnum[number]) if hasattr(model, "actuator_ctrlnum") else 1
        name = ours.get(name, name)
        found += [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]
    return tuple(found)


def find_servos(layout: Layout, asset: Asset, compiled: CompiledAsset) -> Servos:
    """Drives, and actuators of the asset that push one hinge or slide by a fixed gain and an affine bias."""
    model, names = compiled.model, compiled.names
    by_target = {
        actuator.target: names.actuators[actuator.name]
        # of several actuators on one dof the first is the servo
        for actuator in reversed(asset.actuators)
        if actuator.transmission == "joint" and actuator.name in names.actuators
    }
    dofs, columns, laws = [], [], []
    for freedom in layout.freedoms:
        if freedom.motion not in (Motion.HINGE, Motion.SLIDE):
            continue
        name = names.drives.get(freedom.name) or by_target.get(freedom.name)
        if name is None:
            continue
        row = model.actuator(name).id
        # one list of reasons why an actuator follows no target
        gain, bias = model.actuator_gainprm[row], model.actuator_biasprm[row]
        affine = int(model.actuator_biastype[row]) in _AFFINE
        if int(model.actuator_gaintype[row]) != _FIXED_GAIN or not affine or not gain[0]:
            continue
        gear = float(model.actuator_gear[row, 0])
        if not gear:
            continue
        dofs.append(freedom.v)
        columns.append(int(model.actuator_ctrladr[row]) if hasattr(model, "actuator_ctrladr") else row)
        laws.append(np.array((1.0 / gear, -bias[0], -bias[1] * gear, -bias[2] * gear)) / gain[0])
    law = np.array(laws).reshape(-1, 4).T
    return Servos(np.array(dofs, dtype=np.int64), np.array(columns, dtype=np.int64), law)
