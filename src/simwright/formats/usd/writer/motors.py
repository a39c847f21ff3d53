# SPDX-License-Identifier: Apache-2.0
"""Actuators as prims with ExtendedPhysicsActuatorAPI (REP-0158 4.2.2).

Motors, position and velocity servos on a joint, with an optional lag, are said exactly.
"""

from __future__ import annotations

import math

from simwright.core.units import DEGREE
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Motion

SINGLE = ("angular", "linear")
"""Axis words of joints with one freedom."""
_SPACE = "ext_physics:actuator"
_LAGS = ("filter", "filterexact")
"""A first-order lag, stepped in two ways."""
_MODES = {"motor": "effort", "position": "position", "velocity": "velocity", "general": "effort"}


def write_motors(layout: Layout, sheet: Sheet) -> None:
    """Every actuator with a neutral form; the others are MuJoCo's (see ``motors_mjc``)."""
    dofs = {dof.name: dof for joint in layout.asset.joints for dof in joint.dofs}
    for actuator in layout.asset.actuators:
        if not is_neutral(layout, actuator):
            continue
        path = claim_motor(layout, sheet, actuator)
        sheet.define(path)
        sheet.apply(path, "ExtendedPhysicsActuatorAPI")
        sheet.relate(path, f"{_SPACE}:targets", [layout.freedoms[actuator.target][0]])
        _write_law(sheet, path, actuator, dofs[actuator.target])


def claim_motor(layout: Layout, sheet: Sheet, actuator: Actuator) -> str:
    """The path of an actuator, named."""
    scope = f"{layout.root}/Actuators"
    sheet.define(scope, "Scope")
    path = layout.actuators[actuator.name] = layout.names.claim(scope, actuator.name)
    sheet.name(path, actuator.name)
    if actuator.transmission == "joint_in_parent":
        sheet.note(path, transmission=actuator.transmission)
    return path


def is_neutral(layout: Layout, actuator: Actuator) -> bool:
    """Can the neutral schema say it?  It drives a revolute or prismatic joint by a plain law."""
    word = layout.freedoms.get(actuator.target, ("", ""))[1]
    is_joint = actuator.transmission in ("joint", "joint_in_parent") and word in SINGLE
    if not is_joint or any(actuator.gear[1:]):
        return False
    law = actuator.settings
    dynamics = law.get("dynamics_type", "none")
    if dynamics not in ("none", *_LAGS):
        return False
    if actuator.kind == "general":
        return law.get("gain_type") == "fixed" and law.get("bias_type") == "none"
    return actuator.kind in _MODES


def _write_law(sheet: Sheet, path: str, actuator: Actuator, dof: Dof) -> None:
    unit = DEGREE if dof.motion is Motion.HINGE else 1.0
    mode = _MODES[actuator.kind]
    sheet.set(path, f"{_SPACE}:controlMode", "token", mode, uniform=True)
    values = {"gear": actuator.gear[0]}
    if actuator.kind == "general":
        values["gain"] = float(actuator.settings["gain"][0])
    if actuator.kind == "position":
        values["stiffness"] = actuator.stiffness * unit
    if actuator.kind in ("position", "velocity"):
        values["damping"] = actuator.damping * unit
    if actuator.settings.get("dynamics_type") in _LAGS:
        values["timeConstant"] = float(actuator.settings["dynamics"][0])
    command = 1.0 if mode == "effort" else unit
    for word, limits, factor in (
        ("control", actuator.control_range, command),
        ("effort", actuator.force_range, 1.0),
    ):
        for end, value in zip(("Lower", "Upper"), limits or (), strict=False):
            if math.isfinite(value):
                values[f"{word}{end}"] = value / factor
    for name, value in values.items():
        sheet.set(path, f"{_SPACE}:{name}", "float", value)
    table = actuator.settings.get("effort_table")
    if table:
        space = "ext_physics:clamp_position"
        sheet.apply(path, "ExtendedPhysicsPositionBasedClampingAPI")
        sheet.set(path, f"{space}:lookupPositions", "float[]", [p / unit for p in table["positions"]])
        sheet.set(path, f"{space}:lookupEfforts", "float[]", table["efforts"])
