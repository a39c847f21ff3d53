# SPDX-License-Identifier: Apache-2.0
"""Motors that drive nothing, kept by notes (see ``writer.motors_idle``)."""

from __future__ import annotations

import json
import math
from typing import Any

from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.asset import Actuator


def restore_idle_motors(source: Source, scan: Scan) -> None:
    """Add the noted motors whose joint is there and still fixed."""
    if not source.noted:
        return
    fixed = {joint.name for joint in source.asset.joints if not joint.dofs}
    fixed |= {joint.ros_name for joint in source.asset.joints if not joint.dofs and joint.ros_name}
    taken = {actuator.name for actuator in source.asset.actuators}
    for path, note in scan.notes.items():
        if "motor" not in note:
            continue
        actuator = _make_motor(source, scan.all[path], note["motor"])
        if actuator is not None and actuator.target in fixed and actuator.name not in taken:
            source.asset.actuators.append(actuator)


def _make_motor(source: Source, found: Found, note: Any) -> Actuator | None:
    """The motor of a note; None where it is not one that Simwright writes."""
    try:
        words = json.loads(note) if isinstance(note, str) else {}
        gear = tuple(float(v) for v in words["gear"])
        control, force = (_read_range(words[key]) for key in ("control_range", "force_range"))
        stiffness, damping = float(words["stiffness"]), float(words["damping"])
        name, kind, target, transmission = (
            str(words[key]) for key in ("name", "kind", "target", "transmission")
        )
        settings = dict(words["settings"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not all(math.isfinite(v) for v in (*gear, stiffness, damping)):
        return None
    return Actuator(
        name, kind, target, transmission, gear, stiffness, damping, control, force, settings,
        path=found.path, source=source.where(found),
    )  # fmt: skip


def _read_range(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = (float(v) for v in value)
    return low, high
