# SPDX-License-Identifier: Apache-2.0
"""All physics of an asset comes from one layer.

Why: who tunes masses or joints, or leaves physics out, must know the one file that holds them.

Fails: joints in physics.usda and PhysicsMaterialAPI in materials.usda.
Passes: bodies, joints, collision and physical materials in physics.usda; values overridden elsewhere; variants
that switch physics.

Reading: applied Physics APIs and prims of Physics types count, values do not.  Variants may carry them, a
PhysicsScene belongs to whoever composes the stage, and each asset that a scene composes has its own physics layer.

Fix: unsafe.  The opinions are moved to the layer with most of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import AssetLayers, describe_spread, find_assets
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, Opinion
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "layer-physics-file",
    "1.2.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="move the opinions to the physics layer",
)
def layer_physics_file(snapshot: StageSnapshot) -> Iterator[Finding]:
    """More than one layer of an asset that applies or defines physics."""
    for asset in find_assets(snapshot):
        yield from describe_spread("physics", _find_holders(asset))


def _find_holders(asset: AssetLayers) -> list[tuple[LayerFacts, list[Opinion]]]:
    holders = []
    for facts in asset.layers:
        # a joint prim that only references its definition does not define physics here
        arcs = {arc.path for arc in facts.arcs}
        opinions = [
            opinion
            for opinion in facts.of(Domain.PHYSICS)
            if opinion.content.kind != "property"
            # gravity belongs to the stage that composes the asset
            and opinion.content.what != "PhysicsScene"
            and not (facts.has_variants and opinion.at.ContainsPrimVariantSelection())
            and not (arcs and opinion.content.kind == "type" and opinion.at in arcs)
        ]
        if opinions:
            holders.append((facts, opinions))
    return holders
