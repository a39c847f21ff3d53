# SPDX-License-Identifier: Apache-2.0
"""Driving joints: servos for robots whose file has no actuators, and what a manifest says instead of the file's.

Gains of a servo follow from the robot itself: stiff enough to answer within a quarter of a second and to hold the links
against gravity with little sag, damped critically.  Their damping is stiff for light links, so a robot that gets
servos is integrated implicitly in velocity, unless its file asks for something finer than Euler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.math3d import Array
from simwright.engines.mujoco.queries import SLIDE, MjData, MjModel, compute_forward, compute_inertia
from simwright.tasks.manifest import ActuatorEntry
from simwright.tasks.specs import compile_spec

_FREQUENCY = 20.0
"""Natural frequency of a servo [rad/s]."""
_SAG = 0.02
"""How far gravity and friction may keep a servo from its target [rad or m]."""
_SHARE = 0.05
"""... and how much of the range of a slide at most."""
_LEAST_INERTIA = 1e-4
_POSES = 32


Gains = tuple[float, float, float | None]
"""Stiffness, damping and largest force."""


def override_actuators(spec: Any, entries: Mapping[str, ActuatorEntry], gains: Mapping[str, Gains]) -> None:
    """Drive the joints that a manifest names as it says: the first actuator of a joint changes, others of it go."""
    import mujoco

    for key in spec.keys if entries else ():
        # controls of keyframes are those of other actuators
        key.ctrl, key.act = [], []
    for name, entry in entries.items():
        own = [a for a in spec.actuators if a.target == name and a.trntype == mujoco.mjtTrn.mjTRN_JOINT]
        for actuator in own[1:]:
            spec.delete(actuator)
        kp, kd, force = gains[name]
        stiffness = kp if entry.kp is None else entry.kp
        # a given stiffness on its own is damped as much as the one it replaces
        damping = entry.kd if entry.kd is not None else kd * float(np.sqrt(stiffness / kp))
        actuator = own[0] if own else _add(spec, name)
        _integrate_stiffly(spec)
        _drive(spec, actuator, entry.kind, (stiffness, damping), entry.force or force)


def add_servos(spec: Any, gains: Mapping[str, Gains]) -> int:
    """Servos for every single joint of a robot without actuators, but for joints that follow others; gives how many."""
    if len(spec.actuators):
        return 0
    followers = {equality.name1 for equality in spec.equalities if _is_joint(equality)}
    added = [name for name in gains if name not in followers]
    for name in added:
        kp, kd, force = gains[name]
        _integrate_stiffly(spec)
        _drive(spec, _add(spec, name), "position", (kp, kd), force)
    return len(added)


def _integrate_stiffly(spec: Any) -> None:
    """Euler's method takes the damping of actuators explicitly, which blows up where links are light."""
    import mujoco

    if spec.option.integrator == mujoco.mjtIntegrator.mjINT_EULER:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def _add(spec: Any, joint: str) -> Any:
    import mujoco

    return spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)


def _drive(spec: Any, actuator: Any, kind: str, gains: tuple[float, float], force: float | None) -> None:
    """Make an actuator a position or velocity servo or a motor of its joint, whatever it was."""
    import mujoco

    kp, kd = gains
    actuator.gear = [1, 0, 0, 0, 0, 0]
    actuator.ctrlrange, actuator.ctrllimited, actuator.inheritrange = (
        [0, 0],
        mujoco.mjtLimited.mjLIMITED_FALSE,
        0.0,
    )
    if kind == "position":
        actuator.set_to_position(kp=kp, kv=kd)
        if _is_limited(spec, actuator.target):
            actuator.inheritrange, actuator.ctrllimited = 1.0, mujoco.mjtLimited.mjLIMITED_TRUE
    elif kind == "velocity":
        actuator.set_to_velocity(kv=kd)
    else:
        actuator.set_to_motor()
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE if force else mujoco.mjtLimited.mjLIMITED_FALSE
    if force:
        actuator.forcerange = [-force, force]
        if kind == "motor":
            actuator.ctrlrange, actuator.ctrllimited = [-force, force], mujoco.mjtLimited.mjLIMITED_TRUE


def _is_limited(spec: Any, joint: str) -> bool:
    import mujoco

    found = spec.joint(joint)
    low, high = found.range
    return bool(low < high) and found.limited != mujoco.mjtLimited.mjLIMITED_FALSE


def choose_gains(spec: Any, where: Where) -> dict[str, Gains]:
    """Gains of a servo for each single joint with a name."""
    model = compile_spec(spec.copy(), "the robot", where)
    data: MjData | None = None
    inertia, weight = np.zeros(model.nv), np.zeros(model.nv)
    rng = np.random.default_rng(0)
    for number in range(_POSES):
        data = compute_forward(model, model.qpos0 if number == 0 else _sample(model, rng), data)
        diagonal = [compute_inertia(model, data, dof) for dof in range(model.nv)]
        inertia = np.maximum(inertia, diagonal)
        weight = np.maximum(weight, np.abs(data.qfrc_bias))
    gains: dict[str, Gains] = {}
    for joint in range(model.njnt):
        if model.jnt_type[joint] < SLIDE or not model.joint(joint).name:
            continue
        dof = int(model.jnt_dofadr[joint])
        mass = max(float(inertia[dof]), _LEAST_INERTIA)
        load = float(weight[dof]) + float(model.dof_frictionloss[dof])
        kp = max(mass * _FREQUENCY**2, load / _allow_sag(model, joint))
        low, high = (float(v) for v in model.jnt_actfrcrange[joint])
        force = max(abs(low), abs(high)) if model.jnt_actfrclimited[joint] else None
        gains[model.joint(joint).name] = (kp, 2.0 * float(np.sqrt(kp * mass)), force)
    return gains


def _allow_sag(model: MjModel, joint: int) -> float:
    """How far from its target a servo may stay: for fingers and other short slides, a part of their range."""
    low, high = model.jnt_range[joint]
    short = model.jnt_limited[joint] and model.jnt_type[joint] == SLIDE
    return min(_SAG, max(_SHARE * float(high - low), 1e-4)) if short else _SAG


def _sample(model: MjModel, rng: np.random.Generator) -> Array:
    """A configuration inside the limits."""
    qpos = np.array(model.qpos0)
    for joint in range(model.njnt):
        if model.jnt_type[joint] >= SLIDE:
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
            qpos[model.jnt_qposadr[joint]] = rng.uniform(low, high)
    return qpos


def _is_joint(equality: Any) -> bool:
    import mujoco

    return bool(equality.type == mujoco.mjtEq.mjEQ_JOINT) and bool(equality.name2)
