# SPDX-License-Identifier: Apache-2.0
"""A distributed asset does not use vendor prefixes for values that have a neutral form.

Why: vendor prefixes are for development inside one tool, ext_physics: for incubation across engines, physics: for
what AOUSD has ratified.  A layer with engine-neutral values under a vendor's prefix works in that engine only.

Fails: a physics layer with `physxJoint:armature`, or `newton:inertia`, which core has as physics:diagonalInertia (an
error); a vendor layer that alone has them (a warning).
Passes: a vendor layer that holds parameters of that engine, or repeats for it what a neutral layer says.

Fix: unsafe.  The neutral words are written, and the vendor's moved to its own layer.

Reading: "prohibited in distributed assets" (4.2.2) against "isolated in vendor layers" (1.4): an error in neutral
layers, a warning in vendor layers.  This rule reports once per layer and vendor how many values are left;
xphys-no-vendor names every place.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.actuation import find_neutral_form, list_translatable
from simwright.checker.facts.layers import LayerFacts, Opinion
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "xphys-lifecycle",
    "4.2.2",
    "must not",
    on="layer",
    fix="unsafe",
    fix_title="write values that have a neutral form with it, and move the vendor's to its own layer",
)
def xphys_lifecycle(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Count, per vendor, the properties that say something engine-neutral."""
    found: dict[str, list[Opinion]] = {}
    for opinion in list_translatable(facts, snapshot):
        if opinion.kind == "property" and find_neutral_form(opinion):
            found.setdefault(opinion.vendor, []).append(opinion)
    is_vendor_layer = bool(found) and facts.is_vendor
    for vendor, opinions in found.items():
        # by path, so that the finding does not move when a layer is written again
        first = min(opinions, key=lambda opinion: opinion.path)
        names = sorted({opinion.what for opinion in opinions})
        shown = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        noun = "value" if len(opinions) == 1 else "values"
        layer = "this vendor layer" if is_vendor_layer else "this layer"
        yield Finding(
            f"{layer} says {len(opinions)} engine-neutral {noun} with the prefix of {vendor} ({shown})",
            hint=f"translate before distribution: {first.what} becomes {find_neutral_form(first)}",
            at=first.path,
            level=Level.WARNING if is_vendor_layer else None,
            data={"vendor": vendor, "count": len(opinions)},
        )
