# SPDX-License-Identifier: Apache-2.0
"""What the file does not hold and its table cannot say: shapes without a place, attributes of other tools."""

from __future__ import annotations

from simwright.formats.urdf.writer.draft import Draft
from simwright.formats.urdf.writer.messages import EXTRAS_LOST, GEOMETRY_LEFT_OUT
from simwright.formats.urdf.writer.shapes import list_refused
from simwright.model.joint import WORLD
from simwright.resolve import mjc, newton, physx

_SAID = {name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes}
"""Attributes of OpenUSD schemas whose value is in the model, and written or reported from there."""
_WRITTEN = ("calibration.", "limit.acceleration")
_SPENT = frozenset({"drive", "ext_physics"})


def report_losses(draft: Draft) -> None:
    """Shapes that have no link, then attributes of other solvers."""
    asset = draft.asset
    refused = list_refused(asset)
    for shape in refused:
        draft.reporter.report(
            GEOMETRY_LEFT_OUT,
            shape.source,
            kind="plane",
            name=shape.name,
            why="it has no end",
            advice="give it a size",
        )
    world = [s for s in asset.shapes if s.body == WORLD and WORLD not in draft.links and s.enabled]
    world = [shape for shape in world if shape not in refused]
    touched = any(shape.collision for shape in world)
    draft.lose("shape(s) of the world", world, "fix something to the world, and it has a link", moves=touched)
    _report_extras(draft)


def _report_extras(draft: Draft) -> None:
    lost: dict[str, list[str]] = {}
    motors = {actuator.path for actuator in draft.asset.actuators}
    for space, element, attribute, _ in draft.asset.extras:
        is_written = space == "urdf" and attribute.startswith(_WRITTEN)
        if not (is_written or space in _SPENT or attribute in _SAID or element in motors):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        draft.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
