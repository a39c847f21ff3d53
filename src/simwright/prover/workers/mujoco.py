# SPDX-License-Identifier: Apache-2.0
"""MuJoCo: a compiled model as plain data; as a worker, of MJCF and of what its own USD reader makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from .seen import (
    Configuration,
    Evaluated,
    Moment,
    MotionOrder,
    Moved,
    Seen,
    SeenActuator,
    SeenFreedom,
    WorldSettings,
    bound,
    find_position,
    find_speed,
    label_of,
    name_of,
    pack_inertia,
    record,
    rotate,
    serve,
)

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


class MujocoRobot:
    """A compiled model that is asked."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.engine = f"MuJoCo {mujoco.__version__}"

    def save(self) -> bytes:
        """All of the model, as MuJoCo writes it to a file."""
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        return buffer.tobytes()

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        model, seen = self.model, Seen(self.engine)
        for joint in range(model.njnt):
            seen.freedoms += _describe_joint(model, joint)
            if mujoco.mjtJoint(model.jnt_type[joint]) == mujoco.mjtJoint.mjJNT_FREE:
                seen.floating.append(_find_name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint]))
        for body in range(1, model.nbody):
            name = _find_name(model, mujoco.mjtObj.mjOBJ_BODY, body)
            turn = rotate(model.body_iquat[body])
            seen.masses[name] = float(model.body_mass[body])
            tensor = turn @ np.diag(model.body_inertia[body]) @ turn.T
            seen.inertias[name] = pack_inertia(model.body_ipos[body], tensor)
        seen.actuators = [_describe_actuator(model, actuator) for actuator in range(model.nu)]
        seen.mimics = _list_mimics(model)
        seen.filters = _list_filters(model)
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        model, data = self.model, mujoco.MjData(self.model)
        _place(model, data, configuration)
        # armature of tendons and motors would be in the matrix, and no other engine has any
        for armature in (model.tendon_armature, model.actuator_armature):
            armature[:] = 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_comVel(model, data)
        full, bias = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        mujoco.mj_fullM(model, data, full)
        mujoco.mj_rne(model, data, 0, bias)
        poses = {
            _find_name(model, mujoco.mjtObj.mjOBJ_BODY, body): [*data.xpos[body], *data.xquat[body]]
            for body in range(1, model.nbody)
        }
        # without armature in the model, freedoms of bodies that hang on the world alone would keep it (dof_M0)
        matrix: list[list[float]] = (full - np.diag(model.dof_armature)).tolist()
        return Evaluated(poses, matrix, bias.tolist())

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion; drives that are no servos get no command."""
        model, data = self.model, mujoco.MjData(self.model)
        model.opt.timestep = order.step
        _place(model, data, order.start)
        for number in range(model.nu):
            data.ctrl[number] = _find_command(model, number, order.targets)
        alone = [
            model.jnt_qposadr[joint] if width == 1 else None
            for joint in range(model.njnt)
            for width in [_KINDS[mujoco.mjtJoint(model.jnt_type[joint])][1]]
            for _ in range(width)
        ]
        bodies = {_find_name(model, mujoco.mjtObj.mjOBJ_BODY, body): body for body in range(1, model.nbody)}

        def read() -> Moment:
            mujoco.mj_kinematics(model, data)
            joints = [None if at is None else float(data.qpos[at] - model.qpos0[at]) for at in alone]
            followed = {name: bodies[name] for name in order.bodies if name in bodies}
            return joints, {name: [*data.xpos[at], *data.xquat[at]] for name, at in followed.items()}

        return record(order, lambda count: mujoco.mj_step(model, data, count), read)

    def list_zeros(self) -> dict[str, float]:
        """Coordinates of joints of one freedom in the reference pose, where they are not zero."""
        model, found = self.model, {}
        for joint in range(model.njnt):
            zero = float(model.qpos0[model.jnt_qposadr[joint]])
            if _KINDS[mujoco.mjtJoint(model.jnt_type[joint])][1] == 1 and zero:
                found[_find_name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)] = zero
        return found


def _list_filters(model: Any) -> list[list[str]]:
    """Pairs of bodies that never touch: those that are excluded, and a body and its parent, as MuJoCo leaves it."""
    ends = [(int(signature) >> 16, int(signature) & 0xFFFF) for signature in model.exclude_signature]
    if not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT:
        # what is fixed to the world may touch what moves on it
        parents = ((int(model.body_parentid[body]), body) for body in range(1, model.nbody))
        ends += [(parent, body) for parent, body in parents if model.body_weldid[parent]]
    pairs = {
        tuple(sorted(_find_name(model, mujoco.mjtObj.mjOBJ_BODY, body) for body in pair)) for pair in ends
    }
    return sorted(list(pair) for pair in pairs)


def open_file(file: Path, world: WorldSettings) -> MujocoRobot:
    """Read and compile; the file has its own gravity and ground."""
    del world
    return MujocoRobot(mujoco.MjSpec.from_file(str(file)).compile())


def _find_command(model: Any, number: int, targets: Configuration) -> float:
    """What makes a servo go to a target: its length there; zero for other motors."""
    on_joint = mujoco.mjtTrn(model.actuator_trntype[number]) in (
        mujoco.mjtTrn.mjTRN_JOINT,
        mujoco.mjtTrn.mjTRN_JOINTINPARENT,
    )
    joint = int(model.actuator_trnid[number][0])
    # a motor that brakes only has a gain on the velocity
    if not on_joint or model.actuator_biasprm[number][1] == 0.0:
        return 0.0
    zero = float(model.qpos0[model.jnt_qposadr[joint]])
    name = _find_name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
    body = _find_name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint])
    return float(model.actuator_gear[number][0]) * (find_position(targets, name, body) + zero)


def _list_mimics(model: Any) -> dict[str, list[Any]]:
    """Equalities of two joints."""
    found: dict[str, list[Any]] = {}
    for number in range(model.neq):
        follower, leader = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
        kind = mujoco.mjtEq(model.eq_type[number])
        if kind == mujoco.mjtEq.mjEQ_JOINT and leader >= 0 and model.eq_active0[number]:
            name, other = (_find_name(model, mujoco.mjtObj.mjOBJ_JOINT, row) for row in (follower, leader))
            found[name] = [other, float(model.eq_data[number][1])]
    return found


def _describe_joint(model: Any, joint: int) -> list[SeenFreedom]:
    kind, width = _KINDS[mujoco.mjtJoint(model.jnt_type[joint])]
    body = _find_name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint])
    found = []
    for dof in range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + width):
        freedom = SeenFreedom(
            _find_name(model, mujoco.mjtObj.mjOBJ_JOINT, joint),
            body,
            kind,
            armature=float(model.dof_armature[dof]),
            friction=float(model.dof_frictionloss[dof]),
            passive_damping=float(np.ravel(model.dof_damping[dof])[0]),
            passive_stiffness=float(np.ravel(model.jnt_stiffness[joint])[0]),
            label=label_of(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) or ""),
        )
        if model.jnt_limited[joint] and kind in ("hinge", "slide"):
            low, high = model.jnt_range[joint] - model.qpos0[model.jnt_qposadr[joint]]
            freedom.limit = (bound(low), bound(high))
        elif (place := _find_held(model, joint)) is not None:
            freedom.limit = (place, place)
        if model.jnt_actfrclimited[joint]:
            freedom.max_force = bound(max(abs(model.jnt_actfrcrange[joint])))
        found.append(freedom)
    return found


def _find_held(model: Any, joint: int) -> float | None:
    """Where an equality holds a joint, from the reference pose: MuJoCo refuses limits without width."""
    for number in range(model.neq):
        kind, alone = mujoco.mjtEq(model.eq_type[number]), int(model.eq_obj2id[number]) < 0
        if kind == mujoco.mjtEq.mjEQ_JOINT and alone and int(model.eq_obj1id[number]) == joint:
            return float(model.eq_data[number][0]) if model.eq_active0[number] else None
    return None


def _describe_actuator(model: Any, actuator: int) -> SeenActuator:
    transmission = mujoco.mjtTrn(model.actuator_trntype[actuator])
    bias = mujoco.mjtBias(model.actuator_biastype[actuator])
    simple = (
        mujoco.mjtDyn(model.actuator_dyntype[actuator]) == mujoco.mjtDyn.mjDYN_NONE
        and mujoco.mjtGain(model.actuator_gaintype[actuator]) == mujoco.mjtGain.mjGAIN_FIXED
        and bias in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)
    )
    affine = bias != mujoco.mjtBias.mjBIAS_NONE
    forces, controls = model.actuator_forcerange[actuator], model.actuator_ctrlrange[actuator]
    return SeenActuator(
        _find_name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, actuator),
        _find_name(model, _TARGETS[transmission], model.actuator_trnid[actuator][0])
        if transmission in _TARGETS
        else "",
        transmission.name.removeprefix("mjTRN_").lower(),
        [float(value) for value in model.actuator_gainprm[actuator][:3]],
        [float(value) if affine else 0.0 for value in model.actuator_biasprm[actuator][:3]],
        [float(value) for value in model.actuator_gear[actuator]],
        simple,
        _pack_pair(forces) if model.actuator_forcelimited[actuator] else None,
        _pack_pair(np.ravel(controls)) if np.ravel(model.actuator_ctrllimited)[actuator] else None,
    )


def _pack_pair(values: Any) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _place(model: Any, data: Any, configuration: Configuration) -> None:
    data.qpos[:] = model.qpos0
    for joint in range(model.njnt):
        if _KINDS[mujoco.mjtJoint(model.jnt_type[joint])][1] == 1:
            name = _find_name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
            body = _find_name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[joint])
            data.qpos[model.jnt_qposadr[joint]] += find_position(configuration, name, body)
            data.qvel[model.jnt_dofadr[joint]] = find_speed(configuration, name, body)


def _find_name(model: Any, kind: Any, number: int) -> str:
    return name_of(mujoco.mj_id2name(model, kind, int(number)) or "")


if __name__ == "__main__":
    serve(open_file)
