# SPDX-License-Identifier: Apache-2.0
"""Joints as MuJoCo's: freedoms with their axes, stops, losses, springs and drives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.engines.messages import DRIVE_NOT_SUPPORTED, JOINT_DISABLED, VELOCITY_LIMIT, Teller
from simwright.engines.world import OneWorld
from simwright.runtime.kinds import BodyFlag, JointType, TargetMode
from simwright.runtime.rotation import rotate

NO_LIMIT = 1e9
"""Stops and bounds beyond this are none."""
_NO_BOUND = 1e6
_KINEMATIC = 1e10
"""Inertia of freedoms that nothing but their own velocity moves."""
_FLOATS = (JointType.FREE, JointType.DISTANCE)


@dataclass(slots=True)
class Seats:
    """MuJoCo's joints by joint of the arrays, and its actuators by freedom; filled with names, then with numbers."""

    joints: dict[int, list[str]] = field(default_factory=dict)
    drives: dict[int, str] = field(default_factory=dict)


def add_joints(spec: Any, bodies: dict[int, Any], world: OneWorld, teller: Teller) -> Seats:
    """The joints of articulations with their drives."""
    seats = Seats()
    for body, joint in world.list_carriers().items():
        if not world.joint_enabled[joint]:
            teller.tell(JOINT_DISABLED, joint)
        seats.joints[joint] = _add_joint(bodies[body], world, joint)
        _add_drives(spec, world, joint, seats, teller)
    limited = np.flatnonzero(world.joint_velocity_limit < _NO_BOUND * (1 - 1e-6))
    if len(limited):
        first = int(np.searchsorted(world.joint_qd_start, limited[0], side="right")) - 1
        teller.tell(VELOCITY_LIMIT, first, count=len(limited), engine="MuJoCo")
    return seats


def _add_joint(body: Any, world: OneWorld, joint: int) -> list[str]:
    import mujoco

    kinds = mujoco.mjtJoint
    frame, kind = world.joint_X_c[joint], JointType(int(world.joint_type[joint]))
    slides = int(world.joint_dof_dim[joint][0])
    if kind in _FLOATS:
        body.add_joint(name=f"j{joint}", type=kinds.mjJNT_FREE)
        return [f"j{joint}"]
    if kind is JointType.BALL:
        body.add_joint(name=f"j{joint}", type=kinds.mjJNT_BALL, pos=frame[:3])
        return [f"j{joint}"]
    names = []
    for number, dof in enumerate(world.dofs_of(joint)):
        low, high = float(world.joint_limit_lower[dof]), float(world.joint_limit_upper[dof])
        limited = low > -NO_LIMIT or high < NO_LIMIT
        names.append(f"j{joint}.{number}")
        body.add_joint(
            name=names[-1],
            type=kinds.mjJNT_SLIDE if number < slides else kinds.mjJNT_HINGE,
            pos=frame[:3],
            axis=rotate(frame[3:], world.joint_axis[dof]),
            limited=mujoco.mjtLimited.mjLIMITED_TRUE if limited else mujoco.mjtLimited.mjLIMITED_FALSE,
            range=(max(low, -1e10), min(high, 1e10)) if limited and low < high else (low, low + 1e-9),
        )
    return names


def _add_drives(spec: Any, world: OneWorld, joint: int, seats: Seats, teller: Teller) -> None:
    """One actuator for each driven freedom: ``control - ke q - kd qd``, cut at the effort limit."""
    import mujoco

    kind = JointType(int(world.joint_type[joint]))
    driven = [dof for dof in world.dofs_of(joint) if world.joint_target_mode[dof] != TargetMode.NONE]
    if kind in _FLOATS and driven:
        teller.tell(DRIVE_NOT_SUPPORTED, joint)
        return
    names = seats.joints[joint]
    for dof in driven:
        number = dof - world.dofs_of(joint).start
        ke, kd = find_gains(world, dof)
        actuator = spec.add_actuator(
            name=f"a{dof}",
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            target=names[0] if kind is JointType.BALL else names[number],
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        )
        actuator.gainprm[0] = 1.0
        actuator.biasprm[1], actuator.biasprm[2] = -ke, -kd
        if kind is JointType.BALL:
            actuator.gear[:3] = rotate(world.joint_X_c[joint, 3:], np.eye(3)[number])
        bound = float(world.joint_effort_limit[dof])
        if bound < _NO_BOUND * (1 - 1e-6):
            actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
            actuator.forcerange = (-bound, bound if bound > 0.0 else 1e-12)
        seats.drives[dof] = f"a{dof}"


def find_gains(world: OneWorld, dof: int) -> tuple[float, float]:
    """Position and velocity gain of a drive, as its mode has them."""
    mode = TargetMode(int(world.joint_target_mode[dof]))
    ke, kd = float(world.joint_target_ke[dof]), float(world.joint_target_kd[dof])
    if mode in (TargetMode.NONE, TargetMode.EFFORT):
        return 0.0, 0.0
    return (0.0 if mode is TargetMode.VELOCITY else ke), kd


def set_losses(mj: Any, world: OneWorld, seats: Seats) -> None:
    """Armature, friction, damping and springs, freedom by freedom; kinematic bodies keep their velocity."""
    for joint, names in seats.joints.items():
        if not names:
            continue
        first = int(mj.joint(names[0]).dofadr[0])
        dofs = world.dofs_of(joint)
        rows = slice(first, first + len(dofs))
        mj.dof_armature[rows] = world.joint_armature[dofs.start : dofs.stop]
        mj.dof_frictionloss[rows] = world.joint_friction[dofs.start : dofs.stop]
        mj.dof_damping[rows] = world.joint_damping[dofs.start : dofs.stop]
        if world.joint_type[joint] in _FLOATS:
            mj.dof_armature[rows] = 0.0
        else:
            _set_springs(mj, world, joint, names)
        child = int(world.joint_child[joint])
        if world.body_flags[child] & BodyFlag.KINEMATIC:
            mj.dof_armature[rows] = _KINEMATIC
            mj.body_gravcomp[mj.body(f"b{child}").id] = 1.0


def _set_springs(mj: Any, world: OneWorld, joint: int, names: list[str]) -> None:
    for number, dof in enumerate(world.dofs_of(joint)):
        if number >= len(names) or not world.joint_spring_ke[dof]:
            continue
        at = mj.joint(names[number])
        mj.jnt_stiffness[at.id] = world.joint_spring_ke[dof]
        if world.joint_type[joint] != JointType.BALL:
            mj.qpos_spring[int(at.qposadr[0])] = world.joint_spring_ref[dof]
