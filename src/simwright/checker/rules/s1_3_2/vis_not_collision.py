# SPDX-License-Identifier: Apache-2.0
"""No collider is governed by visual_representation.

Why: choosing another look must not change the contacts; the fidelity of colliders has a set of its own,
`collision_fidelity`.

Fails: a prim with PhysicsCollisionAPI inside a variant of visual_representation, or in what a variant references.
Passes: colliders below the collision scope, outside the set.

Fix: unsafe.  A collider of the default variant moves to the collision scope; those of other variants are only seen
from then on.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.variant_sets import VISUAL, survey_visuals
from simwright.checker.rule import Finding, rule


@rule(
    "vis-not-collision",
    "1.3.2",
    "must not",
    on="stage",
    fix="unsafe",
    fix_title="move the colliders to the collision scope",
)
def vis_not_collision(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every variant, seen on a private stage; each collider once, where it is said to be one."""
    told: set[tuple[str, str]] = set()
    for one in survey_visuals(snapshot):
        for variant, content in one.variants.items():
            for layer, path in content.colliders:
                # one collider in a shared asset shows up in every variant that references it
                key = (layer.identifier if layer else "", path.pathString)
                if key in told:
                    continue
                told.add(key)
                yield Finding(
                    f"the collider {path.name} comes with the variant {variant} of {VISUAL} on {one.node.path}",
                    hint="move it to the collision scope of the link; collision_fidelity governs colliders",
                    at=path,
                    layer=layer,
                    data={"variant": variant, "holder": one.node.path},
                )
