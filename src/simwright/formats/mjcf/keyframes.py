# SPDX-License-Identifier: Apache-2.0
"""Keyframes: coordinates by dof name, controls by actuator name.

An actuator with several controls (MuJoCo 4) has one entry per control, ``name[0]``, ``name[1]`` ...
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.formats.mjcf.actuators import controls_of
from simwright.formats.mjcf.context import Context
from simwright.model.asset import Keyframe
from simwright.model.joint import POSITIONS, VELOCITIES, Motion


def read_keyframes(context: Context) -> None:
    """Keyframes in MuJoCo's order; activations and mocap poses are kept as extras."""
    model = context.model
    for index in range(context.count("key")):
        context.asset.keyframes.append(
            Keyframe(
                name=context.name("key", index),
                positions=_read_joints(context, model.key_qpos[index], "qpos", POSITIONS),
                velocities=_read_joints(context, model.key_qvel[index], "dof", VELOCITIES),
                controls=_read_controls(context, model.key_ctrl[index]),
                time=float(model.key_time[index]),
            )
        )
        if model.na and np.any(model.key_act[index]):
            context.keep("key", index, "act", model.key_act[index])
        if model.nmocap:
            context.keep("key", index, "mpos", model.key_mpos[index])
            context.keep("key", index, "mquat", model.key_mquat[index])


def _read_joints(context: Context, values: Any, address: str, counts: dict[Motion, int]) -> dict[str, Any]:
    model = context.model
    result: dict[str, Any] = {}
    for joint in range(context.count("joint")):
        motion = Motion(str(context.mujoco.mjtJoint(int(model.jnt_type[joint])).name)[6:].lower())
        start, count = int(getattr(model, f"jnt_{address}adr")[joint]), counts[motion]
        part = [float(v) for v in values[start : start + count]]
        result[context.name("joint", joint)] = part[0] if count == 1 else part
    return result


def _read_controls(context: Context, values: Any) -> dict[str, float]:
    result: dict[str, float] = {}
    for actuator in range(context.count("actuator")):
        name, controls = context.name("actuator", actuator), controls_of(context, actuator)
        for number, control in enumerate(controls):
            result[name if len(controls) == 1 else f"{name}[{number}]"] = float(values[control])
    return result
