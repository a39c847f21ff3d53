# SPDX-License-Identifier: Apache-2.0
"""What the writers of ``instances.usda`` have before them."""

from __future__ import annotations

from dataclasses import dataclass

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.meshes import Library
from simwright.formats.usd.writer.messages import GEOMETRY_LEFT_OUT
from simwright.formats.usd.writer.prototypes import Prototypes
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Shape


@dataclass(slots=True, eq=False)
class Desk:
    """The layer, where everything goes, and the shared meshes and prototypes."""

    layout: Layout
    sheet: Sheet
    library: Library
    prototypes: Prototypes
    reporter: Reporter

    def refuse(self, shape: Shape, why: str) -> None:
        """Say that a shape is left out."""
        kind = shape.geometry.kind
        self.reporter.report(GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why)
