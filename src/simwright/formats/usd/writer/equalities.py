# SPDX-License-Identifier: Apache-2.0
"""Points and frames that are held together: joints that close a loop in ``physics.usda`` (REP-0158 1.3).

A note says that the source calls it an equality; how soft it is, is MuJoCo's own affair (see ``vendor``).  Tendons
that are held to each other are said on the tendon prims (see ``tendons``).
"""

from __future__ import annotations

from simwright.formats.usd.writer.joints import write_sides
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.joint import WORLD, EqualityKind

_KINDS = {EqualityKind.CONNECT: "PhysicsSphericalJoint", EqualityKind.WELD: "PhysicsFixedJoint"}


def write_equalities(layout: Layout, sheet: Sheet) -> None:
    """Connects and welds."""
    for equality in layout.asset.equalities:
        kind = _KINDS.get(equality.kind)
        names = (equality.a, equality.b)
        if kind is None or any(name != WORLD and name not in layout.bodies for name in names):
            continue
        path = layout.names.claim(layout.body(equality.a), equality.name or "equality", "_joint")
        layout.equalities[equality.name] = path
        sheet.define(path, kind)
        sheet.name(path, equality.name)
        write_sides(layout, sheet, path, (equality.a, equality.frame_a), (equality.b, equality.frame_b))
        if equality.kind is EqualityKind.CONNECT:
            for side in (0, 1):
                sheet.set(path, f"physics:coneAngle{side}Limit", "float", -1.0)
        sheet.set(path, "physics:excludeFromArticulation", "bool", True, uniform=True)
        sheet.set(path, "physics:collisionEnabled", "bool", True)
        if not equality.enabled:
            sheet.set(path, "physics:jointEnabled", "bool", False)
        sheet.note(path, equality=equality.kind.value)
        if equality.b == WORLD:
            sheet.note(path, turned=True)
