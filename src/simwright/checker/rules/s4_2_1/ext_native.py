# SPDX-License-Identifier: Apache-2.0
"""Extension schemas do not repeat what core OpenUSD has an attribute for.

Why: a value that is authored twice can have two different values.  A camera schema with a focal length of its own
leaves the reader to choose between two.

Fails: `float sensor:camera:focalLength` on a Camera, which has focalLength; `float ext_physics:body:mass`.
Passes: attributes that only the extension knows, such as `sensor:camera:readoutTime`.

Fix: none.  Only the author knows which of the two values is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.extensions import EXTENSION_APIS, list_properties
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.schemas import known_properties
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.submission_words import find_native


@rule("ext-native", "4.2.1", "must", on=("layer", *EXTENSION_APIS), heuristic=True)
def ext_native(subject: PrimNode | LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Names are compared by their last part; what the registry has accepted is fine."""
    for prop in list_properties(subject, snapshot):
        # a relationship holds no value that could contradict another
        native = None if prop.is_relationship or prop.name in known_properties() else find_native(prop.name)
        if native:
            owner, attribute = native
            yield prop.make_finding(
                f"{prop.name} repeats {attribute} of {owner}",
                f"use {attribute} of {owner}, and remove this attribute from the extension",
            )
