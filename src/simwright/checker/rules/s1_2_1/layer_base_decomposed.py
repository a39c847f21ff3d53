# SPDX-License-Identifier: Apache-2.0
"""Mesh data is not in the layer that defines the links.

Why: split into geometry, materials and a bare tree of links, meshes are stored once, shared, and loaded only by
tools that draw them.

Fails: a layer with the link Xforms and, below them, meshes with all their points.
Passes: base.usda with the links, and geometries.usdc with the meshes it refers to.

Reading: what a layer holds counts, not its name.  Primitives (Cube, Sphere ...) are small enough to stay with the
links, and a small prop in one file is not reported.  Materials are checked by layer-materials.

Fix: unsafe.  The mesh data is moved to a crate layer and comes back by payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import find_asset, find_link_tree
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things
from simwright.checker.rule import Finding, rule


@rule(
    "layer-base-decomposed",
    "1.2.1",
    "must",
    on="layer",
    heuristic=True,
    fix="unsafe",
    fix_title="move the mesh data to a layer of its own",
)
def layer_base_decomposed(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Link tree and mesh arrays in one layer."""
    if not facts.has_meshes:
        return
    tree = find_link_tree(facts, snapshot)
    # without links it is a mesh library, which is where mesh data belongs
    if not tree or find_asset(snapshot, facts).is_small_prop(snapshot.settings.heavy_elements):
        return
    yield Finding(
        f"{facts.name} places {count_things(len(tree), 'Xform')} and holds mesh data: {facts.amount}",
        hint="move the meshes to geometries.usdc and bring them in by payload",
        at=facts.heaviest,
        layer=facts.layer,
    )
