# SPDX-License-Identifier: Apache-2.0
"""The proprietary part of an asset is as small as it can be.

Why: what is written with a vendor's schema works in one engine.  Everything that has a neutral form should use it.

Fails: 40 newton opinions, 12 of which ExtendedPhysics or UsdPhysics can say.
Passes: vendor opinions that have no neutral equivalent, or repeat one in the vendor's layer.

Reading: how small is small enough cannot be computed.  Reported is, per vendor, how many opinions there are and how
many of them have a neutral equivalent; proprietary-minimal names each of them.

Fix: unsafe.  The values are said in neutral words too, and the engine's words moved to its own layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from simwright.checker.facts.actuation import list_translatable
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, Opinion
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.vendors import find_neutral
from simwright.checker.rule import Finding, rule


@rule(
    "isol-minimize",
    "1.4",
    "must",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="write it with neutral schemas too",
)
def isol_minimize(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Count vendor opinions, and those that could be neutral."""
    uses: Counter[str] = Counter()
    neutral: dict[str, list[tuple[LayerFacts, Opinion]]] = {}
    for facts in snapshot.layers:
        for content, times in facts.tally(Domain.VENDOR).items():
            uses[content.vendor] += times
        for opinion in list_translatable(facts, snapshot):
            if find_neutral(opinion.what):
                neutral.setdefault(opinion.vendor, []).append((facts, opinion))
    # per vendor over all layers: how far an asset is from neutral is one number to follow
    for vendor, held in sorted(neutral.items()):
        facts, first = held[0]
        yield Finding(
            f"{len(held)} of {uses[vendor]} {vendor} opinions have a neutral equivalent",
            hint="write them with neutral schemas; keep only what has no neutral form in this engine's layer",
            at=first.path,
            layer=facts.layer,
            data={"vendor": vendor, "count": uses[vendor], "translatable": len(held)},
        )
