# SPDX-License-Identifier: Apache-2.0
"""A compiled MuJoCo model as plain data; for the reference and for what MuJoCo's own USD reader makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from .seen import Actuator, Configuration, Freedom, Seen, bound, find_position, name_of

_KINDS = {
    mujoco.mjtJoint.mjJNT_FREE: ("free", 6),
    mujoco.mjtJoint.mjJNT_BALL: ("ball", 3),
    mujoco.mjtJoint.mjJNT_SLIDE: ("slide", 1),
    mujoco.mjtJoint.mjJNT_HINGE: ("hinge", 1),
}
_TARGETS = {
    mujoco.mjtTrn.mjTRN_JOINT: mujoco.mjtObj.mjOBJ_JOINT,
    mujoco.mjtTrn.mjTRN_JOINTINPARENT: mujoco.mjtObj.mjOBJ_JOINT,
    mujoco.mjtTrn.mjTRN_SLIDERCRANK: mujoco.mjtObj.mjOBJ_SITE,
    mujoco.mjtTrn.mjTRN_SITE: mujoco.mjtObj.mjOBJ_SITE,
    mujoco.mjtTrn.mjTRN_TENDON: mujoco.mjtObj.mjOBJ_TENDON,
    mujoco.mjtTrn.mjTRN_BODY: mujoco.mjtObj.mjOBJ_BODY,
}


def describe(model: Any, configurations: Sequence[Configuration]) -> Seen:
    """Everything that is compared.  Changes the model: armature is taken out, other engines' matrices have none."""
    seen = Seen(f"MuJoCo {mujoco.__version__}")
    for joint in range(model.njnt):
        seen.freedoms += _describe_joint(model, joint)
        if mujoco.mjtJoint(model.jnt_type[joint]) == mujoco.mjtJoint.mjJNT_FREE:
            seen.floating.append(_find_name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint]))
    for body in range(1, model.nbody):
        seen.masses[_find_name(model, mujoco.mjtObj.mjOBJ_BODY, body)] = float(model.body_mass[body])
    seen.actuators = [_describe_actuator(model, actuator) for actuator in range(model.nu)]
    for armature in (model.dof_armature, model.tendon_armature, model.actuator_armature):
        armature[:] = 0.0
    seen.mass_matrices = [_read_mass_matrix(model, positions) for positions in ({}, *configurations)]
    return seen


def _describe_joint(model: Any, joint: int) -> list[Freedom]:
    kind, width = _KINDS[mujoco.mjtJoint(model.jnt_type[joint])]
    body = _find_name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint])
    found = []
    for dof in range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + width):
        freedom = Freedom(
            _find_name(model, mujoco.mjtObj.mjOBJ_JOINT, joint),
            body,
            kind,
            armature=float(model.dof_armature[dof]),
            friction=float(model.dof_frictionloss[dof]),
            passive_damping=float(np.ravel(model.dof_damping[dof])[0]),
            passive_stiffness=float(np.ravel(model.jnt_stiffness[joint])[0]),
        )
        if model.jnt_limited[joint] and kind in ("hinge", "slide"):
            low, high = model.jnt_range[joint] - model.qpos0[model.jnt_qposadr[joint]]
            freedom.limit = (bound(low), bound(high))
        if model.jnt_actfrclimited[joint]:
            freedom.max_force = bound(max(abs(model.jnt_actfrcrange[joint])))
        found.append(freedom)
    return found


def _describe_actuator(model: Any, actuator: int) -> Actuator:
    transmission = mujoco.mjtTrn(model.actuator_trntype[actuator])
    bias = mujoco.mjtBias(model.actuator_biastype[actuator])
    simple = (
        mujoco.mjtDyn(model.actuator_dyntype[actuator]) == mujoco.mjtDyn.mjDYN_NONE
        and mujoco.mjtGain(model.actuator_gaintype[actuator]) == mujoco.mjtGain.mjGAIN_FIXED
        and bias in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)
    )
    affine = bias != mujoco.mjtBias.mjBIAS_NONE
    forces, controls = model.actuator_forcerange[actuator], model.actuator_ctrlrange[actuator]
    return Actuator(
        _find_name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, actuator),
        _find_name(model, _TARGETS[transmission], model.actuator_trnid[actuator][0])
        if transmission in _TARGETS
        else "",
        transmission.name.removeprefix("mjTRN_").lower(),
        [float(value) for value in model.actuator_gainprm[actuator][:3]],
        [float(value) if affine else 0.0 for value in model.actuator_biasprm[actuator][:3]],
        [float(value) for value in model.actuator_gear[actuator]],
        simple,
        tuple(float(v) for v in forces) if model.actuator_forcelimited[actuator] else None,
        tuple(float(v) for v in np.ravel(controls)[:2])
        if np.ravel(model.actuator_ctrllimited)[actuator]
        else None,
    )


def _read_mass_matrix(model: Any, positions: Configuration) -> list[list[float]]:
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0
    for joint in range(model.njnt):
        if _KINDS[mujoco.mjtJoint(model.jnt_type[joint])][1] == 1:
            name = _find_name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
            body = _find_name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint])
            data.qpos[model.jnt_qposadr[joint]] += find_position(positions, name, body)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    return full.tolist()


def _find_name(model: Any, kind: Any, number: int) -> str:
    return name_of(mujoco.mj_id2name(model, kind, int(number)) or "")
