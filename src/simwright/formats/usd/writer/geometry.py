# SPDX-License-Identifier: Apache-2.0
"""``instances.usda``: shapes in their scopes, heavy ones by payload, repeated ones instanced (REP-0158 1.2.3, 3.5)."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.desk import Desk
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.lod import Tiers
from simwright.formats.usd.writer.meshes import Library
from simwright.formats.usd.writer.messages import NOTED
from simwright.formats.usd.writer.parts import Decomposer
from simwright.formats.usd.writer.prototypes import Prototypes
from simwright.formats.usd.writer.sheet import Sheet
from simwright.formats.usd.writer.touchables import Touchables
from simwright.formats.usd.writer.visuals import Visuals
from simwright.model.geometry import Heightfield


def write_geometry(
    layout: Layout, reporter: Reporter, *, tiers: Tiers | None = None, decomposer: Decomposer | None = None
) -> tuple[Sheet, Library]:
    """The layer that puts shapes together, and the library of meshes it loads from.

    ``tiers`` gives visuals levels of detail, ``decomposer`` gives mesh colliders convex parts.  Shapes that cannot be
    written are reported and taken out of the layout.
    """
    sheet = Sheet(layout.root, f"Geometry and looks of {layout.asset.name}, put together.")
    sheet.define(layout.root)
    if layout.materials:
        sheet.define(f"{layout.root}/materials", "Scope")
        sheet.load(f"{layout.root}/materials", "materials.usda")
    desk = Desk(layout, sheet, Library(), Prototypes(layout, sheet), reporter)
    visuals = Visuals(desk, tiers)
    for shape in layout.asset.shapes:
        if shape.name in layout.visuals and not visuals.write(shape):
            del layout.visuals[shape.name]
    Touchables(desk, decomposer).write()
    for shape in layout.asset.shapes:
        if isinstance(shape.geometry, Heightfield) and shape.name in {**layout.visuals, **layout.colliders}:
            reporter.report(NOTED, shape.source, what="the grid of heights", name=shape.name)
    return sheet, desk.library
