# SPDX-License-Identifier: Apache-2.0
"""The universal surface output does not lead to a renderer's own shader.

Why: converters and lightweight viewers read `outputs:surface` and know UsdPreviewSurface only.  An MDL, OSL or
MaterialX shader in its place is a material they cannot read.

Fails: `token outputs:surface.connect = </M/omni.outputs:out>` where `omni` is an MDL shader.
Passes: that shader on `outputs:mdl:surface`, and a UsdPreviewSurface on `outputs:surface`.

Fix: unsafe.  The connection moves to the renderer's terminal and a preview surface takes its place, which
changes what other renderers show.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.shading import is_proprietary, read_material
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "mat-no-replace",
    "3.1",
    "must not",
    on="type:Material",
    fix="unsafe",
    fix_title="move the shader to its renderer's terminal and put a UsdPreviewSurface on outputs:surface",
)
def mat_no_replace(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Look at what outputs:surface resolves to; terminals of render contexts are free."""
    facts = read_material(node, snapshot)
    # an unknown shader that is nobody's is reported by mat-preview
    if facts.surface is None or facts.is_preview or not is_proprietary(facts.surface):
        return
    context = _name_context(facts.surface_id)
    yield Finding(
        f"{facts.surface_id} is connected to the universal outputs:surface",
        hint=f"connect it to outputs:{context}:surface instead, and a UsdPreviewSurface to outputs:surface",
        at=node,
        prop="outputs:surface",
    )


def _name_context(surface_id: str) -> str:
    if surface_id.startswith(("ND_", "MTLX")):
        return "mtlx"
    language = surface_id.partition(" ")[0].lower()
    return language if language in ("mdl", "osl", "glslfx") else "<renderer>"
