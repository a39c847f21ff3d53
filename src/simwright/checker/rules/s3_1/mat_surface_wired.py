# SPDX-License-Identifier: Apache-2.0
"""The UsdPreviewSurface of a material is connected to outputs:surface.

Why: a renderer does not find a shader that no output of the Material is connected to; one on `outputs:mdl:surface`
is found by MDL renderers only.

Fails: a Material with a UsdPreviewSurface inside and no connection on `outputs:surface`, or with a connection to
a prim that does not exist.
Passes: `token outputs:surface.connect = </M/preview.outputs:surface>`.

Fix: unsafe.  Connecting the only preview surface inside is nearly always meant, but it changes the look.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.material_uses import is_render_bound
from simwright.checker.facts.shading import read_material
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "mat-surface-wired",
    "3.1",
    "must",
    on="type:Material",
    fix="unsafe",
    fix_title="connect outputs:surface to the UsdPreviewSurface of the material",
)
def mat_surface_wired(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """A connection that ends nowhere is as bad as none; a material without a preview is reported by mat-preview."""
    facts = read_material(node, snapshot)
    is_loose = facts.surface is None and (facts.previews or facts.connections)
    # library materials that nothing uses may be unfinished
    if not is_loose or not is_render_bound(node, snapshot):
        return
    if facts.connections:
        target = facts.connections[0].pathString
        found = f"outputs:surface is connected to {target}, which leads to no shader"
    elif facts.terminals:
        found = f"outputs:surface is not connected, only outputs:{facts.terminals[0]} is"
    else:
        found = "outputs:surface is not connected"
    source = facts.previews[0].GetName() if facts.previews else "<preview>"
    yield Finding(
        found,
        hint=f"write token outputs:surface.connect = <.../{source}.outputs:surface> on the Material",
        at=node,
        prop="outputs:surface",
    )
