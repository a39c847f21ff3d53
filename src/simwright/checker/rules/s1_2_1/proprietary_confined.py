# SPDX-License-Identifier: Apache-2.0
"""Simulator-specific content is in a proprietary layer of its own.

Why: users of other simulators leave that layer out, and meet no schema or graph that their tool does not know.

Fails: `physxJoint:armature` in physics.usda, or an OmniGraph in the entry layer.
Passes: the same in isaac.usda, a layer with nothing but a vendor's opinions.

Reading: a layer is a vendor's if it defines no shapes and applies no neutral feature schema; values of neutral
attributes may be overridden in it.  The entry layer is never one, since it is always loaded.  Vendor keys in
customLayerData change nothing for other tools: a warning.

Fix: unsafe.  The opinions are moved to a layer per vendor.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.vendors import vendor_of_key
from simwright.checker.facts.wording import tally_names
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "proprietary-confined",
    "1.2.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the opinions to a vendor layer",
)
def proprietary_confined(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Vendor opinions in a layer that is not a vendor's, once per vendor."""
    if facts.is_vendor:
        return
    opinions = facts.of(Domain.VENDOR)
    for vendor in sorted({opinion.vendor for opinion in opinions}):
        mine = [opinion for opinion in opinions if opinion.vendor == vendor]
        yield Finding(
            f"{facts.name} is not a proprietary layer, but holds {vendor} content: {tally_names(o.what for o in mine)}",
            hint=f"move it to {vendor}.usda, a layer that holds nothing else",
            at=mine[0].path,
            layer=facts.layer,
            data={"vendor": vendor, "count": len(mine)},
        )
    # metadata composes nothing, so other tools are not disturbed: milder
    keys = [key for key in facts.layer.customLayerData if vendor_of_key(key)]
    if keys:
        yield Finding(
            f"{facts.name} has vendor settings in customLayerData: {tally_names(keys)}",
            hint="remove them, or keep them in the vendor's layer",
            layer=facts.layer,
            words=keys[0],
            level=Level.WARNING,
        )
