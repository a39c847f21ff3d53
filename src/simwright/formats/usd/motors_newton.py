# SPDX-License-Identifier: Apache-2.0
"""NewtonActuator prims: one joint, one control law (PD, PID or a network), clampings and a delay.

Newton's actuators count in radians.  Their PD law is ``const + kp * (target - q) + kd * (target_velocity - v)``;
with a gain kp it is a position servo, with kd alone a velocity servo, with neither a motor.
"""

from __future__ import annotations

import math

from simwright.formats.usd.mimic import choose_dof
from simwright.formats.usd.motors import (
    ACTUATOR_TARGETS,
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
from simwright.formats.usd.scan import Found
from simwright.formats.usd.source import Source
from simwright.model.asset import Actuator
from simwright.model.joint import Dof

_CONTROLS = {
    "NewtonPDControlAPI": "pd",
    "NewtonPIDControlAPI": "pid",
    "NewtonNeuralControlAPI": "neural",
}
_DC_MOTOR = (
    ("max_effort", "maxMotorEffort", "effort"),
    ("saturation_effort", "saturationEffort", "effort"),
    ("velocity_limit", "velocityLimit", "step"),
)
_DRIVEN = frozenset({"PhysicsRevoluteJoint", "PhysicsPrismaticJoint"})


def read_newton_motor(motors: Motors, found: Found, name: str) -> Actuator:
    """The actuator of a prim."""
    source, prim = motors.source, found.prim
    dof = _find_dof(motors, found, name)
    controls = [word for api, word in _CONTROLS.items() if api in found.apis]
    if len(controls) != 1:
        raise RefusedError(f"it has {len(controls)} control laws ({', '.join(controls) or 'none'})")
    scale = find_scale(source, dof)
    if controls[0] == "neural":
        model = source.get(prim, "newton:modelPath")
        if model is None or not model.path:
            raise RefusedError("its network has no newton:modelPath")
        actuator = Actuator(name, "general", dof.name, path=found.path, source=source.where(prim))
        actuator.settings["model_path"] = str(model.resolvedPath or model.path)
    else:
        law, _ = scale_law(_read_law(source, found), scale)
        actuator = build_actuator(source, found, name, dof.name, law)
    actuator.settings["control"] = controls[0]
    if controls[0] == "pid":
        _add_integral(source, found, actuator, scale)
    _add_clampings(source, found, actuator, scale)
    if "NewtonActuatorDelayAPI" in found.apis:
        actuator.settings["delay_steps"] = int(source.get_number(prim, "newton:delaySteps", 1))
    return actuator


def _find_dof(motors: Motors, found: Found, name: str) -> Dof:
    source = motors.source
    targets = source.get_targets(found, "newton:targets")
    if not targets:
        raise RefusedError("it has no target")
    if len(targets) > 1:
        source.reporter.report(
            ACTUATOR_TARGETS,
            source.where(found, "newton:targets"),
            relationship="newton:targets",
            name=name,
            count=len(targets),
            target=targets[0],
        )
    joint, target = motors.joints.get(targets[0]), motors.scan.all.get(targets[0])
    dof = None if joint is None else choose_dof(joint)
    if dof is None or target is None or target.type not in _DRIVEN:
        raise RefusedError(f"its target {targets[0]} is no revolute or prismatic joint that was read")
    return dof


def _read_law(source: Source, found: Found) -> Law:
    kp, kd, constant = (source.get_number(found, f"newton:{key}", 0.0) for key in ("kp", "kd", "constEffort"))
    if kp:
        return make_law(kp, (constant, -kp, -kd))
    if kd:
        return make_law(kd, (constant, 0.0, -kd))
    return make_law(1.0, (constant,))


def _add_integral(source: Source, found: Found, actuator: Actuator, scale: Scale) -> None:
    """The integral part, which makes the law general; its gains stay beside it."""
    gain = source.get_number(found, "newton:ki", 0.0) * scale.effort / scale.step
    if not gain:
        return
    limit = source.get_number(found, "newton:integralMax", math.inf)
    actuator.kind, actuator.settings["mjcf"] = "general", "pid"
    actuator.settings["integral_gain"] = gain
    if math.isfinite(limit):
        actuator.settings["integral_limit"] = limit * scale.step


def _add_clampings(source: Source, found: Found, actuator: Actuator, scale: Scale) -> None:
    prim = found.prim
    if "NewtonMaxEffortClampingAPI" in found.apis:
        limit = source.get_number(prim, "newton:maxEffort", math.inf) * scale.effort
        actuator.force_range = (-limit, limit) if math.isfinite(limit) else None
    if "NewtonDCMotorClampingAPI" in found.apis:
        actuator.settings["dc_motor"] = {
            key: source.get_number(prim, f"newton:{attribute}", math.inf) * getattr(scale, unit)
            for key, attribute, unit in _DC_MOTOR
        }
    if "NewtonPositionBasedClampingAPI" in found.apis:
        table = read_table(source, found, actuator.name, "newton", scale)
        if table is not None:
            actuator.settings["effort_table"] = table
