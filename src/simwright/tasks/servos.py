# SPDX-License-Identifier: Apache-2.0
"""Driving joints: servos for robots whose file has no actuators, and what a manifest says instead of the file's.

Gains of a servo follow from the robot itself: stiff enough to answer within a quarter of a second and to hold the links
against gravity with little sag, damped critically.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import UnknownNameError
from simwright.core.math3d import Array
from simwright.tasks.manifest import ActuatorEntry
from simwright.tasks.specs import compile_spec

_FREQUENCY = 20.0
"""Natural frequency of a servo [rad/s]."""
_SAG = 0.02
"""How far gravity may pull a servo from its target [rad or m]."""
_LEAST_INERTIA = 1e-4
_POSES = 32


def override_actuators(spec: Any, entries: Mapping[str, ActuatorEntry], where: Where) -> None:
    """Drive the joints that a manifest names as it says; their other actuators are removed."""
    if not entries:
        return
    joints = {joint.name: joint for joint in spec.joints}
    for name in entries:
        if name not in joints:
            raise UnknownNameError("joint of the robot", name, joints, where=where)
    for actuator in [a for a in spec.actuators if a.target in entries]:
        spec.delete(actuator)
    gains = _choose_gains(spec, where)
    for name, entry in entries.items():
        kp, kd, force = gains[name]
        _add(
            spec,
            name,
            entry.kind,
            (entry.kp or kp, kd if entry.kd is None else entry.kd),
            entry.force or force,
        )


def add_servos(spec: Any, where: Where) -> int:
    """Servos for every single joint of a robot without actuators, but for joints that follow others; gives how many."""
    if len(spec.actuators):
        return 0
    followers = {equality.name1 for equality in spec.equalities if _is_joint(equality)}
    gains = _choose_gains(spec, where)
    added = [name for name in gains if name not in followers]
    for name in added:
        kp, kd, force = gains[name]
        _add(spec, name, "position", (kp, kd), force)
    return len(added)


def _add(spec: Any, joint: str, kind: str, gains: tuple[float, float], force: float | None) -> None:
    import mujoco

    kp, kd = gains
    actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    if kind == "position":
        actuator.set_to_position(kp=kp, kv=kd)
        actuator.inheritrange = 1.0 if _is_limited(spec, joint) else 0.0
    elif kind == "velocity":
        actuator.set_to_velocity(kv=kd)
    else:
        actuator.set_to_motor()
    if force:
        actuator.forcerange = [-force, force]
        if kind == "motor":
            actuator.ctrlrange = [-force, force]


def _is_limited(spec: Any, joint: str) -> bool:
    low, high = spec.joint(joint).range
    return bool(low < high)


def _choose_gains(spec: Any, where: Where) -> dict[str, tuple[float, float, float | None]]:
    """Stiffness, damping and largest force of a servo for each single joint with a name."""
    import mujoco

    model = compile_spec(spec.copy(), "the robot", where)
    data = mujoco.MjData(model)
    inertia, weight = np.zeros(model.nv), np.zeros(model.nv)
    rng = np.random.default_rng(0)
    for number in range(_POSES):
        data.qpos[:] = model.qpos0 if number == 0 else _sample(model, rng)
        mujoco.mj_forward(model, data)
        inertia = np.maximum(inertia, _measure_inertia(model, data))
        weight = np.maximum(weight, np.abs(data.qfrc_bias))
    gains: dict[str, tuple[float, float, float | None]] = {}
    for joint in range(model.njnt):
        if model.jnt_type[joint] < 2 or not model.joint(joint).name:
            continue
        dof = int(model.jnt_dofadr[joint])
        mass = max(float(inertia[dof]), _LEAST_INERTIA)
        kp = max(mass * _FREQUENCY**2, float(weight[dof]) / _SAG)
        low, high = (float(v) for v in model.jnt_actfrcrange[joint])
        force = max(abs(low), abs(high)) if model.jnt_actfrclimited[joint] else None
        gains[model.joint(joint).name] = (kp, 2.0 * float(np.sqrt(kp * mass)), force)
    return gains


def _measure_inertia(model: Any, data: Any) -> Array:
    """The diagonal of the mass matrix."""
    import mujoco

    diagonal, unit, image = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv)
    for dof in range(model.nv):
        unit[dof] = 1.0
        mujoco.mj_mulM(model, data, image, unit)
        diagonal[dof] = image[dof]
        unit[dof] = 0.0
    return diagonal


def _sample(model: Any, rng: np.random.Generator) -> Array:
    """A configuration inside the limits."""
    qpos = np.array(model.qpos0)
    for joint in range(model.njnt):
        if model.jnt_type[joint] >= 2:
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
            qpos[model.jnt_qposadr[joint]] = rng.uniform(low, high)
    return qpos


def _is_joint(equality: Any) -> bool:
    import mujoco

    return bool(equality.type == mujoco.mjtEq.mjEQ_JOINT) and bool(equality.name2)
