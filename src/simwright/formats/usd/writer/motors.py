# SPDX-License-Identifier: Apache-2.0
"""Actuators as prims with ExtendedPhysicsActuatorAPI (REP-0158 4.2.2).

Motors, position and velocity servos on a joint, with an optional lag, are carried exactly; other laws are reported.
"""

from __future__ import annotations

import math

from simwright.core.diag import Reporter
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Motion

_SPACE = "ext_physics:actuator"
_MODES = {"motor": "effort", "position": "position", "velocity": "velocity", "general": "effort"}


def write_motors(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every actuator with a neutral form."""
    dofs = {dof.name: (joint, dof) for joint in layout.asset.joints for dof in joint.dofs}
    lost = []
    for actuator in layout.asset.actuators:
        found = dofs.get(actuator.target)
        if (
            found is None
            or found[0].name not in layout.joints
            or not is_neutral(actuator, len(found[0].dofs))
        ):
            lost.append(actuator)
            continue
        scope = f"{layout.root}/Actuators"
        sheet.define(scope, "Scope")
        path = layout.names.claim(scope, actuator.name)
        sheet.define(path)
        sheet.name(path, actuator.name)
        sheet.apply(path, "ExtendedPhysicsActuatorAPI")
        sheet.relate(path, f"{_SPACE}:targets", [layout.joints[found[0].name]])
        _write_law(sheet, path, actuator, found[1])
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="actuators", first=lost[0].name)


def is_neutral(actuator: Actuator, freedoms: int = 1) -> bool:
    """Can the neutral schema say it?"""
    if actuator.transmission not in ("joint", "joint_in_parent") or freedoms != 1 or any(actuator.gear[1:]):
        return False
    law = actuator.settings
    dynamics = law.get("dynamics_type", "none")
    if dynamics not in ("none", "filter"):
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
    if actuator.settings.get("dynamics_type") == "filter":
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
