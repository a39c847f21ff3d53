# SPDX-License-Identifier: Apache-2.0
"""Layers with schemas and relationships are text.

Why: joints, APIs and interfaces are read, reviewed and merged by people; in a binary file nobody sees a change.

Fails: physics.usdc, or a robot.usd that is binary inside, with joints.
Passes: physics.usda, also as physics.usd with text inside; geometries.usdc with meshes and material bindings.

Reading: what the bytes are counts, not the extension.  Bindings to materials, proxies, skeletons and collections
belong to geometry and are fine in a crate.  Files inside a .usdz package are checked like other files; the package
itself is not.

Fix: unsafe.  The layer is written as .usda, and the arcs that name it change; mesh data goes to geometries.usdc.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things, join_words, tally_domains
from simwright.checker.rule import Finding, rule

# relationships that go with meshes and are written by modelling tools
_GEOMETRY_RELATIONS = ("material:binding", "proxyPrim", "skel:", "collection:", "prototypes", "coordSys:")


@rule(
    "layer-enc-ascii",
    "1.2.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="write the layer as .usda and rename it in all arcs",
)
def layer_enc_ascii(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Binary layers with feature opinions or with relationships that are not geometry's own."""
    # the encoding is read from the bytes: a .usd file may be either
    if facts.layer.anonymous or facts.encoding != "usdc":
        return
    opinions = facts.of(*facts.features)
    relations = facts.list_relations(lambda name: not name.startswith(_GEOMETRY_RELATIONS))
    held = [tally_domains(opinions)] if opinions else []
    if relations:
        held.append(count_things(len(relations), "relationship"))
    if held:
        yield Finding(
            f"{facts.name} is binary and holds {join_words(held)}",
            hint="write these opinions to a .usda layer; only heavy data belongs in a crate",
            at=opinions[0].path if opinions else relations[0],
            layer=facts.layer,
        )
