# SPDX-License-Identifier: Apache-2.0
"""The asset is divided into functional layers.

Why: geometry, looks, physics and ROS interfaces are changed at different times by different people.  In layers of
their own they can be updated, replaced and loaded one by one.

Fails: one robot.usda with meshes, materials, joints and topics.
Passes: robot.usda that refers to base.usda, physics.usda and ros.usda.

Reading: a small prop without joints and without ROS interfaces is fine as one file.

Fix: unsafe.  The opinions are moved to one layer per domain; the composed stage stays the same, the files do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import find_assets
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import join_words
from simwright.checker.rule import Finding, rule


@rule("layer-functional", "1.2.1", "should", on="stage", fix="unsafe", fix_title="split the layer by domain")
def layer_functional(snapshot: StageSnapshot) -> Iterator[Finding]:
    """A single layer with several domains."""
    asset = find_assets(snapshot)[0]
    facts = asset.entry
    if (
        len(asset.layers) > 1
        or facts.layer.anonymous
        or asset.is_small_prop(snapshot.settings.heavy_elements)
    ):
        return
    held: list[str] = [domain.value for domain in Domain if domain in facts.features]
    if facts.has_geometry:
        held.insert(0, "geometry")
    if facts.render_materials:
        held.insert(0, "materials")
    # geometry with its materials alone is a finished visual asset, but two domains change at different times
    if len(held) > 1:
        yield Finding(
            f"the whole asset is one layer: it holds {join_words(held)}",
            hint="keep geometry, materials, physics and ROS in layers of their own, referenced by the entry layer",
            data={"domains": held},
        )
