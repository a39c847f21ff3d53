# SPDX-License-Identifier: Apache-2.0
"""Indicators and status LEDs glow by emissiveColor.

Why: an LED has to look lit in every renderer, without a light that costs frame time.  `emissiveColor` of
UsdPreviewSurface does that.

Fails: a mesh called `status_led` whose material has no `emissiveColor`.
Passes: a material with `color3f inputs:emissiveColor = (0, 1, 0)`, on the mesh or on some faces of it.

Reading: by names only (led, lamp, indicator), so it is heuristic.  Colliders and lights of these names do not count.

Fix: no.  Only the author knows the colour.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.material_uses import find_glowing, find_named
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule

_WORDS = frozenset({"led", "leds", "lamp", "lamps", "indicator", "indicators"})


@rule("light-emissive-led", "3.6", "must", on="stage", heuristic=True)
def light_emissive_led(snapshot: StageSnapshot) -> Iterator[Finding]:
    """The topmost prim of such a name, once."""
    named = find_named(snapshot, _WORDS)
    for place in named:
        if not find_glowing(place.shapes, snapshot):
            yield Finding(
                f"{place.node.name} is called an indicator, but no material on it has an emissiveColor",
                hint="set inputs:emissiveColor on the UsdPreviewSurface of its material",
                at=place.node,
            )
