# SPDX-License-Identifier: Apache-2.0
"""The default variant of visual_representation is mesh_medium.

Why: whoever loads the asset without choosing gets meshes that a real-time engine can draw.

Fails: a set whose selection is `mesh_high`, or none, or that has no variant `mesh_medium`.
Passes: `variants = { string visual_representation = "mesh_medium" }` and a variant of that name.

Fix: safe where the selection is missing, so unsafe in general: another default may be meant.

Reading: what counts is the asset's own selection, not one made in the session.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.variant_sets import VISUAL, default_selection, find_sets
from simwright.checker.rule import Finding, rule

_MEDIUM = "mesh_medium"


@rule(
    "vis-default-medium",
    "1.3.2",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="select mesh_medium",
)
def vis_default_medium(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every prim that has the set."""
    for node in find_sets(snapshot, VISUAL):
        names = node.prim.GetVariantSet(VISUAL).GetVariantNames()
        # a selection in the session layer is the viewer's, and gone on the next machine
        chosen = default_selection(node, VISUAL, snapshot)
        if _MEDIUM not in names:
            there = ", ".join(names) or "none"
            yield Finding(
                f"the set {VISUAL} has no variant mesh_medium (variants: {there})",
                hint="add the variant mesh_medium with the meshes for real-time use, and select it",
                at=node,
            )
        elif chosen != _MEDIUM:
            found = f'selects "{chosen}"' if chosen else "selects nothing"
            yield Finding(
                f"the set {VISUAL} {found} by default",
                hint=f'author variants = {{ string {VISUAL} = "mesh_medium" }}',
                at=node,
                data={"selection": chosen},
            )
