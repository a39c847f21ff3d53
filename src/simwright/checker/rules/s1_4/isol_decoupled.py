# SPDX-License-Identifier: Apache-2.0
"""Physical properties and engine parameters are in different layers.

Why: mass and joint limits are true in every engine, solver iterations only in one.  In one layer they cannot be
taken apart.

Fails: a layer with PhysicsMassAPI and `physxRigidBody:` or `mjc:` attributes.
Passes: physics.usda and physx.usda.

Reading: a vendor layer may override values of neutral attributes, as long as it applies no neutral schema.

Fix: unsafe.  The engine parameters are moved to a layer per vendor.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things, join_words
from simwright.checker.rule import Finding, rule


@rule(
    "isol-decoupled",
    "1.4",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the engine parameters to a vendor layer",
)
def isol_decoupled(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Layers with both."""
    physics = facts.counts[Domain.PHYSICS] + facts.counts[Domain.EXTENDED]
    engine = facts.of(Domain.VENDOR)
    # a vendor layer may tune neutral values for its engine, as long as it applies no neutral schema
    if not physics or not engine or facts.is_vendor:
        return
    both = facts.list_prims(Domain.VENDOR) & facts.list_prims(Domain.PHYSICS, Domain.EXTENDED)
    yield Finding(
        f"{facts.name} holds {count_things(physics, 'physical opinion')}"
        f" and {count_things(len(engine), 'engine parameter')}"
        f" ({join_words(sorted(facts.vendors))}), both on {count_things(len(both), 'prim')}",
        hint=f"keep physics here, and move the engine parameters to {min(facts.vendors)}.usda",
        at=engine[0].path,
        layer=facts.layer,
        data={"physics": physics, "engine": len(engine), "prims": len(both)},
    )
