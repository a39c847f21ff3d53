# SPDX-License-Identifier: Apache-2.0
"""The layer that defines the links holds only the tree of links.

Why: the tree of Xforms is what every other layer builds on.  Free of physics, ROS and vendor data it opens
everywhere, and each feature can be left out.

Fails: base.usda whose links also have PhysicsRigidBodyAPI, or meshes with all their points.
Passes: base.usda with Xforms and references; physics.usda with `over` specs of the same links.

Reading: the base layer is the one that defines and places Xforms, whatever its name.  An asset of one layer is
checked by layer-functional.

Fix: unsafe.  The opinions are moved to overlay layers.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import find_asset, find_link_tree, find_own_features
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import tally_domains
from simwright.checker.rule import Finding, rule


@rule(
    "layer-base-kinematic",
    "1.2.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the opinions to overlay layers",
)
def layer_base_kinematic(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Features and mesh arrays in a layer that defines links."""
    if not facts.features and not facts.has_meshes:
        return
    tree = find_link_tree(facts, snapshot)
    asset = find_asset(snapshot, facts)
    # an asset of one layer gets one finding, by layer-functional, not one per domain
    if not tree or len(asset.layers) == 1:
        return
    opinions = find_own_features(facts, asset)
    if opinions:
        yield Finding(
            f"the base layer {facts.name} defines the link tree ({tree[0].name} ...) with {tally_domains(opinions)}",
            hint="keep only Xforms and references here; move the rest to physics.usda, ros.usda or a vendor layer",
            at=opinions[0].path,
            layer=facts.layer,
        )
    if facts.has_meshes:
        yield Finding(
            f"the base layer {facts.name} holds mesh data: {facts.amount}",
            hint="keep the meshes in geometries.usdc and refer to them from the base layer",
            at=facts.heaviest,
            layer=facts.layer,
        )
