# SPDX-License-Identifier: Apache-2.0
"""Joints that a robot's own parts hold: tried out by moving each a little, with contacts and without."""

from __future__ import annotations

import numpy as np

from simwright.engines.mujoco.queries import SLIDE, leave_out_contacts
from simwright.tasks.compose import PREFIX
from simwright.tasks.manifest import ControlMode
from simwright.tasks.rollout import SimRollout

# how far a joint is told to go [rad], [m], and how long it gets [s]
_TURN, _SHIFT, _TIME = 0.15, 0.02, 0.5
# of the way without contacts; what goes less is held, or creeps
_HELD = 0.8


def find_held_joints(rollout: SimRollout) -> dict[str, float]:
    """Joints that carry a tool and do not go as far as they would without contacts: what part of it."""
    if rollout.mode is not ControlMode.POSITION:
        return {}
    found: dict[str, float] = {}
    joints = {joint for arm in rollout.controller.arms if arm.mover for joint in arm.mover.joints.tolist()}
    for number, actuator in enumerate(rollout.actuators):
        if actuator.joint not in joints:
            continue
        with leave_out_contacts(rollout.model):
            free = _try(rollout, number)
        share = _try(rollout, number) / free if free > 0 else 1.0
        if share < _HELD:
            found[rollout.model.joint(actuator.joint).name.removeprefix(PREFIX)] = max(share, 0.0)
    return found


def _try(rollout: SimRollout, number: int) -> float:
    """How far a joint gets when its actuator is told to go on by a little, towards the side with more room."""
    model, actuator = rollout.model, rollout.actuators[number]
    rollout.reset(seed=0)
    action = rollout.controller.hold()
    low, high = (bound[number] for bound in rollout.controller.bounds)
    address = int(model.jnt_qposadr[actuator.joint])
    start = float(rollout.qpos[address])
    step = abs(actuator.scale) * (_SHIFT if model.jnt_type[actuator.joint] == SLIDE else _TURN)
    side = 1.0 if high - action[number] >= action[number] - low else -1.0
    action[number] = np.clip(action[number] + side * step, low, high)
    for _ in range(max(1, round(_TIME / rollout.composed.period))):
        rollout.step(action)
    sign = side if actuator.scale >= 0 else -side
    return sign * (float(rollout.qpos[address]) - start)
