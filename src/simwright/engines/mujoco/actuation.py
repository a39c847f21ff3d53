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

from simwright.core.math3d import Array
from simwright.engines.mujoco.queries import MjModel, compute_forward


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
