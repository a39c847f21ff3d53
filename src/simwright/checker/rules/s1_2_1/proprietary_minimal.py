# SPDX-License-Identifier: Apache-2.0
"""What a neutral schema can express is not written with a vendor's attributes.

Why: other engines do not read a vendor's attributes.  An armature or a mimic joint that only one engine finds is
lost to all others.

Fails: `newton:armature`, `mjc:damping` or NewtonMimicAPI.
Passes: `ext_physics:joint:armature`, ExtendedPhysicsMimicAPI; vendor attributes without a neutral equivalent, or beside
it in the vendor's layer.

Reading: what is "necessary" cannot be computed.  Reported is what has a known neutral equivalent, also inside a
vendor layer, once per name and layer.

Fix: unsafe.  The neutral word is written too, and the engine's moved to its own layer, so that it sees what it saw.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.actuation import list_translatable
from simwright.checker.facts.layers import LayerFacts, Opinion
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.vendors import find_neutral
from simwright.checker.rule import Finding, rule


@rule(
    "proprietary-minimal",
    "1.2.1",
    "must",
    on="layer",
    heuristic=True,
    fix="unsafe",
    fix_title="say it with the neutral schema too",
)
def proprietary_minimal(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Vendor names with a neutral equivalent."""
    uses: dict[str, list[Opinion]] = {}
    for opinion in list_translatable(facts, snapshot):
        # the instance name of a multiple-apply API does not matter for its meaning
        name = opinion.what.partition(":")[0] if opinion.kind == "api" else opinion.what
        if find_neutral(name):
            uses.setdefault(name, []).append(opinion)
    for name, opinions in uses.items():
        times = f" ({len(opinions)} times)" if len(opinions) > 1 else ""
        neutral = find_neutral(name)
        yield Finding(
            f"{name} has a neutral equivalent, {neutral}{times}",
            hint=f"author {neutral} in the neutral layers; {name} may repeat it in the engine's own layer",
            at=opinions[0].path,
            layer=facts.layer,
            data={
                "vendor": opinions[0].vendor,
                "name": name,
                "neutral": neutral,
                "count": len(opinions),
            },
        )
