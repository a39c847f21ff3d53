# SPDX-License-Identifier: Apache-2.0
"""Every variant set has a default selection that exists.

Why: a simulator loads the asset without choosing.  Without a selection nothing of the set is there: no gripper, no
visuals, no colliders.

Fails: a variant set without `variants = {...}`, or with a name that is none of its variants.
Passes: `variants = { string gripper = "parallel" }`, in the layer of the set or in a stronger one of the asset.

Reading: a selection in the session layer or from a fallback table does not count, because it does not come with the
asset.  One in a referenced layer does.

Fix: unsafe.  The first variant is selected; another may be meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Usd

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.variant_sets import find_selection, list_variant_nodes
from simwright.checker.rule import Finding, rule


@rule("variant-default", "1.2.4", "must", on="stage", fix="unsafe", fix_title="select the first variant")
def variant_default(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored selections of every set, in the asset's own layers."""
    for node in list_variant_nodes(snapshot):
        sets: Usd.VariantSets = node.prim.GetVariantSets()
        for name in sets.GetNames():
            variants = list(sets.GetVariantSet(name).GetVariantNames())
            chosen = find_selection(node.prim, name, snapshot)
            if chosen in variants:
                continue
            what = f"selects {chosen!r}, which does not exist" if chosen else "has no default selection"
            yield Finding(
                f"the variant set {name!r} {what} (it has {', '.join(variants) or 'no variants'})",
                hint=f'author variants = {{ string {name} = "{variants[0] if variants else "..."}" }} on the prim',
                at=node,
                data={"set": name, "variants": variants},
            )
