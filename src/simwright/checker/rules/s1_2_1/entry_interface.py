# SPDX-License-Identifier: Apache-2.0
"""The entry layer is light and brings in the rest by arcs.

Why: a browser, a launch tool or a scene opens the entry layer to learn what the asset is.  It should open fast.

Fails: an entry layer that is the whole asset, or that holds big meshes.
Passes: an entry layer with references, payloads or sublayers that load the features.

Reading: REP-0158 lets the entry load features by payload here, and forbids links, joints and ROS prims in payloads
elsewhere.  Heavy geometry should come by payload, physics and ROS by reference or sublayer, so that they are there
without payloads.  A small prop in one file is not reported.

Fix: unsafe.  What the entry holds is moved to layers that it brings in; heavy data alone, to geometries.usdc.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import find_assets
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "entry-interface",
    "1.2.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="move what it holds to layers that it brings in",
)
def entry_interface(snapshot: StageSnapshot) -> Iterator[Finding]:
    """No arc to another file, or heavy arrays, in the root layer."""
    asset = find_assets(snapshot)[0]
    facts = asset.entry
    # a stage in memory has no files to be divided into
    if facts.layer.anonymous or asset.is_small_prop(snapshot.settings.heavy_elements):
        return
    if not any(arc.asset for arc in facts.arcs if arc.kind in ("reference", "payload", "sublayer")):
        yield Finding(
            f"the entry layer {facts.name} loads nothing: it has no reference, payload or sublayer",
            hint="make the entry a light layer that refers to base, physics and ROS layers, geometry by payload",
        )
    elif facts.is_heavy(snapshot.settings):
        yield Finding(
            f"the entry layer {facts.name} holds {facts.amount}",
            hint="move the data to geometries.usdc and load it by payload",
            at=facts.heaviest,
            layer=facts.layer,
        )
