# SPDX-License-Identifier: Apache-2.0
"""Layers with heavy data are binary crates.

Why: text with a million numbers is slow to read, big on disk, and no diff of it means anything.

Fails: a .usda with a mesh of 20,000 points.
Passes: the same mesh in a .usdc; a .usda with primitives, or with a box of eight points.

Reading: heavy means more than `heavy_elements` (10,000) array elements or `heavy_bytes` (256 KiB) in one layer, time
samples included.  REP-0158 gives no number.

Fix: unsafe.  A layer of mesh data alone is written as .usdc, and the arcs that name it change; out of any other layer
mesh data goes to geometries.usdc.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "layer-enc-crate",
    "1.2.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the mesh data to a .usdc",
)
def layer_enc_crate(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Text layers above a threshold."""
    # layers in memory have no encoding to choose
    if facts.layer.anonymous or facts.encoding != "usda" or not facts.is_heavy(snapshot.settings):
        return
    yield Finding(
        f"{facts.name} is text and holds {facts.amount}",
        hint="move the array data to a .usdc layer, and refer to it from here",
        at=facts.heaviest,
        layer=facts.layer,
        data={"elements": facts.elements, "bytes": facts.bytes},
    )
