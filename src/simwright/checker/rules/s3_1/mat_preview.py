# SPDX-License-Identifier: Apache-2.0
"""Every Material that is rendered is defined by a UsdPreviewSurface.

Why: UsdPreviewSurface is the one surface that maps to glTF and that every renderer has.  A material without it
is grey, black or invisible outside the tool that made it.

Fails: a bound Material whose only shader is an MDL module or a MaterialX `ND_...` node.
Passes: a bound Material whose `outputs:surface` leads, also through node graphs, to a Shader with `info:id =
"UsdPreviewSurface"`.  Physics materials and materials that are bound to nothing are not checked.

Fix: unsafe.  A preview surface is started from the other shader's constants and base picture, an approximation.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.material_uses import is_render_bound
from simwright.checker.facts.shading import is_proprietary, read_material
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "mat-preview",
    "3.1",
    "must",
    on="type:Material",
    fix="unsafe",
    fix_title="add a UsdPreviewSurface that comes close and connect it to outputs:surface",
)
# one function: first the cases that other rules report, then the words for what is there instead
def mat_preview(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """What is only connected wrongly is the finding of mat-surface-wired."""
    facts = read_material(node, snapshot)
    if facts.is_preview or (facts.is_empty and any(api.endswith("MaterialAPI") for api in node.apis)):
        return
    # a broken connection is reported by mat-surface-wired
    if facts.connections and facts.surface is None:
        return
    has_stranger = facts.surface is not None and not is_proprietary(facts.surface)
    if (facts.previews and not has_stranger) or not is_render_bound(node, snapshot):
        return
    if has_stranger:
        found = f"outputs:surface leads to {facts.surface_id or 'a shader without info:id'}"
    elif facts.surface is not None:
        found = f"its only surface is {facts.surface_id}"
    elif facts.terminals:
        found = f"it only has outputs:{facts.terminals[0]}"
    else:
        found = "it has no surface at all"
    yield Finding(
        f"the material is bound but not defined by a UsdPreviewSurface: {found}",
        hint='add a Shader with info:id = "UsdPreviewSurface" and connect outputs:surface to its outputs:surface',
        at=node,
        prop="outputs:surface",
    )
