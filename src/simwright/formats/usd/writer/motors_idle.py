# SPDX-License-Identifier: Apache-2.0
"""Motors on joints that do not move: no schema lets an actuator drive a fixed joint, so they are noted.

Robot descriptions lock joints (a gripper that is held shut) and keep their transmissions.
"""

from __future__ import annotations

import json
from dataclasses import fields

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOTED
from simwright.formats.usd.writer.motors import claim_motor
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Actuator

_ELSEWHERE = ("path", "source")


def write_idle_motors(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """A scope with a note for each."""
    for actuator in layout.asset.actuators:
        if is_idle(layout, actuator):
            path = claim_motor(layout, sheet, actuator)
            sheet.define(path, "Scope")
            values = {f.name: getattr(actuator, f.name) for f in fields(actuator) if f.name not in _ELSEWHERE}
            sheet.note(path, motor=json.dumps(values, sort_keys=True))
            what = f"idle motor {actuator.name!r}"
            reporter.report(NOTED, actuator.source, what=what, name=actuator.target)


def is_idle(layout: Layout, actuator: Actuator) -> bool:
    """Is it on a joint of the asset that has no freedom?"""
    return (
        actuator.transmission in ("joint", "joint_in_parent")
        and actuator.target not in layout.freedoms
        and any(joint.name == actuator.target and not joint.dofs for joint in layout.asset.joints)
    )
