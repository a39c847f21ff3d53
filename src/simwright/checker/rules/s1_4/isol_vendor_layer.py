# SPDX-License-Identifier: Apache-2.0
"""Engine parameters are only in proprietary layers, never in the baseline.

Why: the baseline is what everybody loads.  A parameter in it reaches engines it was not made for.

Fails: `mjc:solref` in the geometry layer, or in the payload of the entry layer.
Passes: a vendor layer beside the baseline, also one behind a variant.

Reading: the baseline is every layer but the vendors' own.  One finding per vendor tells how many parameters there
are and in which layers; proprietary-confined reports each layer.

Fix: unsafe.  The parameters are moved to a layer per vendor.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, Opinion
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things, join_words
from simwright.checker.rule import Finding, rule


@rule(
    "isol-vendor-layer",
    "1.4",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="move the parameters to a vendor layer",
)
def isol_vendor_layer(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Vendor attributes per vendor, over all layers that are not a vendor's."""
    held: dict[str, list[tuple[LayerFacts, Opinion]]] = {}
    for facts in snapshot.layers:
        if not facts.is_vendor:
            for opinion in facts.of(Domain.VENDOR):
                # parameters only; schemas are counted by proprietary-confined
                if opinion.kind == "property":
                    held.setdefault(opinion.vendor, []).append((facts, opinion))
    for vendor, uses in sorted(held.items()):
        layers = list(dict.fromkeys(facts.name for facts, _ in uses))
        facts, first = uses[0]
        yield Finding(
            f"the baseline holds {count_things(len(uses), f'{vendor} parameter')}, in {join_words(layers)}",
            hint=f"keep them in {vendor}.usda, which only {vendor} users load",
            at=first.path,
            layer=facts.layer,
            data={"vendor": vendor, "count": len(uses), "layers": layers},
        )
