# SPDX-License-Identifier: Apache-2.0
"""Initial state and keyframes in the vendor layers (REP-0158 1.4).

MuJoCo's schema has keyframes: coordinates of all joints in their order.  Where a joint starts is said in the
words of Newton.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.attributes import write_plain
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED, SETTING_LOST
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Keyframe
from simwright.model.joint import Dof, Motion
from simwright.resolve import newton
from simwright.resolve.table import PrimType


def write_keyframes(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every keyframe as an MjcKeyframe prim."""
    dofs = [dof for joint in layout.asset.joints for dof in joint.dofs]
    lost = [key for key in layout.asset.keyframes if not _fits(key, dofs)]
    for keyframe in layout.asset.keyframes:
        if keyframe in lost:
            continue
        scope = f"{layout.root}/Keyframes"
        sheet.define(scope, "Scope")
        path = layout.names.claim(scope, keyframe.name)
        layout.keyframes[keyframe.name] = path
        sheet.define(path, "MjcKeyframe")
        sheet.name(path, keyframe.name)
        if keyframe.positions:
            sheet.set(path, "mjc:qpos", "double[]", _collect(dofs, keyframe.positions, _neutral))
        if keyframe.velocities:
            sheet.set(path, "mjc:qvel", "double[]", _collect(dofs, keyframe.velocities, _still))
        if keyframe.controls:
            _write_controls(layout, sheet, path, keyframe)
        if keyframe.time:
            write_plain(sheet, path, "mjc:time", keyframe.time)
    if lost:
        reporter.report(NOT_CARRIED, count=len(lost), what="keyframes", first=lost[0].name)


def write_states(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Where hinges and slides start, and how fast, in the words of Newton."""
    lost = []
    rows = {row.key: row for row in newton.ROWS if row.prim is PrimType.JOINT}
    for joint in layout.asset.joints:
        for dof in joint.dofs:
            path, word = layout.freedoms.get(dof.name, ("", ""))
            for key, usual in (("position", dof.neutral()), ("velocity", np.zeros(dof.velocities))):
                value = getattr(dof, key)
                if value is None or np.array_equal(np.atleast_1d(value), usual):
                    continue
                row = rows.get(f"{word}_{key}")
                if row is None:
                    if not (dof.motion is Motion.FREE and key == "position"):
                        lost.append(joint)
                    continue
                angular = dof.motion is Motion.HINGE
                for name, raw in row.write(float(np.ravel(value)[0]), angular=angular).items():
                    sheet.set(path, name, "float", raw, custom=True)
    if lost:
        what = "the initial state of balls and free bodies"
        reporter.report(SETTING_LOST, lost[0].source, what=what, count=len(lost), first=lost[0].name)


def _fits(keyframe: Keyframe, dofs: list[Dof]) -> bool:
    sizes = {dof.name: (dof.positions, dof.velocities) for dof in dofs}
    tables = (keyframe.positions, keyframe.velocities)
    return all(
        name in sizes and np.size(value) == sizes[name][number]
        for number, table in enumerate(tables)
        for name, value in table.items()
    )


def _collect(dofs: list[Dof], table: dict[str, Any], default: Any) -> list[float]:
    parts = [np.atleast_1d(table.get(dof.name, default(dof))) for dof in dofs]
    return [float(v) for part in parts for v in part]


def _neutral(dof: Dof) -> Any:
    """Where a freedom is that a keyframe says nothing of."""
    if dof.motion is Motion.FREE and dof.position is not None:
        return dof.position
    return dof.neutral()


def _still(dof: Dof) -> Any:
    return np.zeros(dof.velocities)


def _write_controls(layout: Layout, sheet: Sheet, path: str, keyframe: Keyframe) -> None:
    """Controls in the order of the actuators; an actuator with several has ``name[0]`` and so on."""
    names = [actuator.name for actuator in layout.asset.actuators if actuator.name in layout.actuators]
    slots = []
    for name in names:
        several = [
            f"{name}[{i}]" for i in range(len(keyframe.controls)) if f"{name}[{i}]" in keyframe.controls
        ]
        slots += several or [name]
    sheet.set(path, "mjc:ctrl", "double[]", [keyframe.controls.get(slot, 0.0) for slot in slots])
    if any("[" in slot for slot in slots):
        sheet.note(path, controls=slots)
