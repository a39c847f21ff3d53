# SPDX-License-Identifier: Apache-2.0
"""ExtendedPhysicsActuatorAPI: one command, any number of target joints (REP-0158 4.2.2).

Angles are degrees.  Each target gets an actuator; those of one prim share its command, which their settings
name.
"""

from __future__ import annotations

import math

from simwright.core.diag import Level, declare
from simwright.core.units import DEGREE
from simwright.formats.usd.mimic import choose_dof
from simwright.formats.usd.motors import (
    Law,
    Motors,
    RefusedError,
    Scale,
    build_actuator,
    find_scale,
    make_law,
    read_table,
    scale_law,
)
from simwright.formats.usd.motors_mjc import add_settings
from simwright.formats.usd.scan import Found
from simwright.formats.usd.source import Source
from simwright.formats.usd.units import read_bound
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Motion

ACTUATOR_DISABLED = declare(
    "usd-actuator-disabled",
    Level.INFO,
    "actuator {name!r} is switched off; it is left out, its attributes are kept as extras",
    doc="ext_physics:actuator:enabled is false.",
    section="4.2.2",
    loss=True,
)

_SPACE = "ext_physics:actuator"
_MODES = ("effort", "velocity", "position")


def read_extended_motors(motors: Motors, found: Found, name: str) -> list[Actuator]:
    """An actuator per target; none where it is switched off."""
    source, prim = motors.source, found.prim
    if not source.get_flag(prim, f"{_SPACE}:enabled", True):
        source.reporter.report(ACTUATOR_DISABLED, source.where(prim), name=name)
        return []
    targets = source.get_targets(prim, f"{_SPACE}:targets")
    if not targets and found.path in motors.joints:
        targets = [found.path]
    if not targets:
        raise RefusedError("it has no target")
    dofs = [_find_dof(motors, target) for target in targets]
    if len({dof.motion for dof in dofs}) > 1:
        raise RefusedError("its targets are of different kinds")
    result = []
    for dof in dofs:
        actuator = _read_motor(source, found, name if len(dofs) == 1 else f"{name}_{dof.name}", dof)
        add_settings(motors, found, actuator)
        if source.note(found).get("transmission") == "joint_in_parent":
            actuator.transmission = "joint_in_parent"
        if len(dofs) > 1:
            actuator.settings["command"] = name
        result.append(actuator)
    return result


def _find_dof(motors: Motors, target: str) -> Dof:
    joint = motors.joints.get(target)
    dof = None if joint is None else choose_dof(joint)
    if dof is None:
        raise RefusedError(f"its target {target} is no revolute or prismatic joint that was read")
    return dof


def _read_motor(source: Source, found: Found, name: str, dof: Dof) -> Actuator:
    degree = 1.0 if dof.motion is Motion.SLIDE else DEGREE
    mode = source.get_text(found, f"{_SPACE}:controlMode", "effort")
    if mode not in _MODES:
        raise RefusedError(f"its control mode {mode!r} is none of {', '.join(_MODES)}")
    scale = find_scale(source, dof)
    law, command = scale_law(_read_law(source, found, mode, degree), scale)
    actuator = build_actuator(source, found, name, dof.name, law)
    actuator.gear = (source.get_number(found, f"{_SPACE}:gear", 1.0),)
    command *= 1.0 if mode == "effort" else degree
    actuator.control_range = _read_bounds(source, found, "control", command)
    actuator.force_range = _read_bounds(source, found, "effort", scale.effort)
    if "ExtendedPhysicsPositionBasedClampingAPI" in found.apis:
        step = Scale(scale.effort, scale.step * degree)
        table = read_table(source, found, name, "ext_physics:clamp_position", step)
        if table is not None:
            actuator.settings["effort_table"] = table
    return actuator


def _read_law(source: Source, found: Found, mode: str, degree: float) -> Law:
    """The law in radians or stage lengths."""

    def read(key: str, default: float) -> float:
        return source.get_number(found, f"{_SPACE}:{key}", default)

    lag = read("timeConstant", 0.0)
    if mode == "effort":
        return make_law(read("gain", 1.0), lag=lag)
    damping = read("damping", 0.0) / degree
    if mode == "velocity":
        return make_law(damping, (0.0, 0.0, -damping), lag)
    stiffness = read("stiffness", 0.0) / degree
    return make_law(stiffness, (0.0, -stiffness, -damping), lag)


def _read_bounds(source: Source, found: Found, word: str, factor: float) -> tuple[float, float] | None:
    low = source.get_number(found, f"{_SPACE}:{word}Lower", -math.inf)
    high = source.get_number(found, f"{_SPACE}:{word}Upper", math.inf)
    low, high = read_bound(low, factor), read_bound(high, factor)
    return (low, high) if math.isfinite(low) or math.isfinite(high) else None
