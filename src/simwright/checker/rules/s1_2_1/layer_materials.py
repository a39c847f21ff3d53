# SPDX-License-Identifier: Apache-2.0
"""Materials are in a layer of their own.

Why: looks are made by other people and tools than meshes and joints.  In their own layer they can be exchanged,
and a simulator that does not draw need not load them.

Fails: a layer with meshes or links, and Material and Shader prims beside them.
Passes: materials.usda with Material and Shader prims; physics.usda with a Material that only has PhysicsMaterialAPI.

Reading: physical materials belong to the physics layer.  A library of materials may be binary.  A small prop in one
file is not reported.

Fix: unsafe.  The prims are moved to a layer of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import find_asset
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things, join_words
from simwright.checker.rule import Finding, rule


@rule(
    "layer-materials",
    "1.2.1",
    "must",
    on="layer",
    heuristic=True,
    fix="unsafe",
    fix_title="move the materials to materials.usda",
)
def layer_materials(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Materials beside something else."""
    beside = [word for word, there in _list_company(facts) if there]
    if not facts.render_materials or not beside:
        return
    if find_asset(snapshot, facts).is_small_prop(snapshot.settings.heavy_elements):
        return
    yield Finding(
        f"{facts.name} defines {count_things(len(facts.render_materials), 'material prim')}"
        f" beside {join_words(beside)}",
        hint="move Material, NodeGraph and Shader prims to materials.usda and refer to it",
        # the outermost material prim is the scope that would be moved
        at=min(facts.render_materials, key=lambda path: path.pathElementCount),
        layer=facts.layer,
    )


def _list_company(facts: LayerFacts) -> list[tuple[str, bool]]:
    features = sorted(domain.value for domain in facts.features)
    return [
        ("geometry", facts.has_geometry),
        ("the link tree", bool(facts.placed)),
        *((name, True) for name in features),
    ]
