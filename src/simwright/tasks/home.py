# SPDX-License-Identifier: Apache-2.0
"""Where a robot starts: a keyframe of its file, what its manifest says, or its zero moved into the limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simwright.core.errors import UnknownNameError
from simwright.core.math3d import Array, Pose
from simwright.engines.mujoco.actuation import hold_controls
from simwright.engines.mujoco.queries import FREE, SLIDE, MjModel
from simwright.tasks.compose import PREFIX, Composed

HOME = "home"


@dataclass(frozen=True, slots=True)
class Home:
    """Coordinates and controls of the whole model at the start; ``origin`` says where they come from."""

    qpos: Array
    ctrl: Array
    origin: str


def find_home(composed: Composed, *, keyframe: str = "", joints: Mapping[str, float] | None = None) -> Home:
    """The start of the robot; what the task adds is at its own zero.

    ``keyframe`` names a keyframe of the robot's file (default: ``home`` if there is one, else the only one there is);
    ``joints`` gives coordinates of single joints [rad or m] and counts over it.
    """
    model = composed.model
    qpos = np.array(model.qpos0)
    ctrl: Array | None = None
    origin = "zero"
    key = _find_key(model, keyframe)
    if key is not None:
        nq, nu = composed.robot_nq, composed.robot_nu
        # the robot is first in the model, so its keyframe is the first part
        qpos[:nq] = _place_base(composed, np.array(model.key_qpos[key]))[:nq]
        ctrl = np.zeros(model.nu)
        ctrl[:nu] = model.key_ctrl[key][:nu]
        origin = f"keyframe {model.key(key).name.removeprefix(PREFIX)!r}"
    for name, value in (joints or {}).items():
        qpos[_find_address(composed, name)] = value
        origin = "manifest"
    # keyframes are believed even where they are outside of the limits; the pre-flight report says so
    if key is None:
        _keep_inside(composed, qpos)
    # keyframes often leave the controls at zero, which would drive the arm away
    if ctrl is None or joints or not np.any(ctrl):
        ctrl = hold_controls(model, qpos)
    return Home(qpos, ctrl, origin)


def _place_base(composed: Composed, qpos: Array) -> Array:
    """Coordinates that the robot's file gives (a keyframe), with floating bases moved to where the robot stands."""
    model, placed = composed.model, np.array(qpos, dtype=np.float64)
    for joint in range(model.njnt):
        address = int(model.jnt_qposadr[joint])
        if address >= composed.robot_nq:
            break
        if model.jnt_type[joint] == FREE and model.body_parentid[model.jnt_bodyid[joint]] == 0:
            pose = composed.base @ Pose.of(placed[address : address + 3], placed[address + 3 : address + 7])
            placed[address : address + 7] = (*pose.p, *pose.q)
    return placed


def _find_key(model: MjModel, wanted: str) -> int | None:
    names = [model.key(index).name.removeprefix(PREFIX) for index in range(model.nkey)]
    if wanted:
        if wanted not in names:
            raise UnknownNameError("keyframe", wanted, names)
        return names.index(wanted)
    if HOME in names:
        return names.index(HOME)
    return 0 if len(names) == 1 else None


def _find_address(composed: Composed, name: str) -> int:
    model = composed.model
    known = {
        model.joint(index).name.removeprefix(PREFIX): int(model.jnt_qposadr[index])
        for index in range(model.njnt)
        if model.jnt_qposadr[index] < composed.robot_nq
    }
    if name not in known:
        raise UnknownNameError("joint of the robot", name, known)
    return known[name]


def _keep_inside(composed: Composed, qpos: Array) -> None:
    """Move single coordinates that start outside their limits to the middle of their range."""
    model = composed.model
    for joint in range(model.njnt):
        address = int(model.jnt_qposadr[joint])
        if address >= composed.robot_nq or model.jnt_type[joint] < SLIDE or not model.jnt_limited[joint]:
            continue
        low, high = model.jnt_range[joint]
        if not low <= qpos[address] <= high:
            qpos[address] = 0.5 * (low + high)
