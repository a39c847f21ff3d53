# SPDX-License-Identifier: Apache-2.0
"""What the file does not hold and its table cannot say: what depends on options, attributes of solvers."""

from __future__ import annotations

from typing import Any

from simwright.formats.gltf.draft import Draft
from simwright.formats.gltf.messages import EXTRAS_LOST
from simwright.formats.holds import report_lost
from simwright.resolve import mjc, newton, physx
from simwright.resolve.table import PrimType

_KEYS = frozenset(
    {"armature", "damping", "friction", "effort_limit", "velocity_limit", "stiffness", "spring_ref", "ref"}
)
_CARRIED = frozenset(
    name
    for rows in (mjc.ROWS, newton.ROWS, physx.ROWS)
    for row in rows
    if row.prim is PrimType.JOINT and (row.key in _KEYS or row.key.endswith("_position"))
    for name in row.attributes
)
"""Attributes of solvers whose value is in the physics block."""


def report_losses(draft: Draft) -> None:
    """Joints that hold nothing, contact materials without their colliders, then attributes of solvers."""
    asset, reporter = draft.asset, draft.reporter
    lost: list[Any] = [] if draft.options.collision else asset.physics_materials
    if lost:
        what, advice = f"{len(lost)} contact material(s)", "--collision writes them with the colliders"
        report_lost(reporter, "glTF 2.0", what, lost, moves=True, advice=advice)
    lost = draft.tree.dangling
    if lost:
        what = f"{len(lost)} joint(s) to bodies that do not exist"
        report_lost(reporter, "glTF 2.0", what, lost, moves=True, advice="correct the names")
    spaces: dict[str, list[str]] = {}
    for space, element, attribute, _ in asset.extras:
        if attribute not in _CARRIED:
            spaces.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in spaces.items():
        reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
