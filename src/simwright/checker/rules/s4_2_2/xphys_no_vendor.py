# SPDX-License-Identifier: Apache-2.0
"""Physics that has a neutral ExtendedPhysics* form is not written with a vendor's prefix.

Why: `newton:armature` is read by one engine, `ext_physics:joint:armature` by all that support the concept.

Fails: `float newton:armature` or NewtonMimicAPI in a layer that is not a vendor's own (an error); inside a vendor
layer the same is a warning.
Passes: `float ext_physics:joint:armature`; parameters that only one engine has, in its own layer; the same value a
second time in the layer of an engine that reads no other word.

Fix: unsafe.  The neutral word is written too (some differ in unit or sign), and the engine's moved to its own layer.

Reading: vendor layers are allowed (1.4), so inside one it is a warning, and only where a neutral form exists.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.actuation import find_neutral_form, list_translatable
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "xphys-no-vendor",
    "4.2.2",
    "must not",
    on="layer",
    fix="unsafe",
    fix_title="write the neutral ExtendedPhysics* form too, and the vendor's in its own layer",
)
def xphys_no_vendor(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every opinion with a known neutral equivalent in the registry."""
    if not facts.counts[Domain.VENDOR]:
        return
    is_vendor_layer = facts.is_vendor
    for opinion in list_translatable(facts, snapshot):
        neutral = find_neutral_form(opinion)
        # what core UsdPhysics can express is counted by xphys-lifecycle
        if neutral and not neutral.startswith(("physics:", "Physics")):
            only = "; no neutral layer has it" if is_vendor_layer else ""
            yield Finding(
                f"{opinion.what} is specific to {opinion.vendor}; its neutral form is {neutral}{only}",
                hint=f"write {neutral} in a neutral layer",
                at=opinion.path,
                level=Level.WARNING if is_vendor_layer else None,
                data={"vendor": opinion.vendor, "neutral": neutral},
            )
