# SPDX-License-Identifier: Apache-2.0
"""The neutral physics layer has no vendor extension.

Why: every engine reads this layer.  A vendor's schema in it is unknown to all others, and some reject the stage.

Fails: physics.usda with NewtonMassAPI, `mjc:armature` or PhysxRigidBodyAPI.
Passes: the same in newton.usda, mujoco.usda, physx.usda.

Reading: the neutral physics layer is the one that makes bodies, joints or colliders, whatever its name.

Fix: unsafe.  The opinions are moved to a layer per vendor.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import join_words, tally_names
from simwright.checker.rule import Finding, rule


@rule(
    "isol-physics-no-vendor",
    "1.4",
    "must not",
    on="layer",
    fix="unsafe",
    fix_title="move the opinions to a vendor layer",
)
def isol_physics_no_vendor(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Vendor schemas and attributes in the physics layer."""
    # other layers with vendor words are reported by proprietary-confined
    if not facts.is_neutral_physics:
        return
    opinions = facts.of(Domain.VENDOR)
    if opinions:
        yield Finding(
            f"the neutral physics layer {facts.name} is extended by {join_words(sorted(facts.vendors))}:"
            f" {tally_names((opinion.what for opinion in opinions), 6)}",
            hint="leave only core UsdPhysics here",
            at=opinions[0].path,
            layer=facts.layer,
            data={"count": len(opinions)},
        )
