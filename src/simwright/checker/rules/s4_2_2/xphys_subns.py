# SPDX-License-Identifier: Apache-2.0
"""After ext_physics: comes a concept, then the property.

Why: the concept keeps schemas from taking each other's names: `ext_physics:damping` could be a joint's, a contact's
or a motor's.

Fails: `float ext_physics:armature`.
Passes: `float ext_physics:joint:armature`.

Fix: none.  Only the author knows the concept.

Reading: the REP's example `ext_physics::mimic` is a typing error; two colons in a row are no property name.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.schemas import known_properties
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("xphys-subns", "4.2.2", "must", on="layer")
def xphys_subns(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """A name of three parts or more."""
    for opinion in facts.of(Domain.EXTENDED):
        # ext_physics:concept:name has two colons
        if opinion.kind != "property" or opinion.what.count(":") > 1:
            continue
        tail = opinion.what.rpartition(":")[2]
        known = [
            name
            for name in known_properties()
            if name.startswith("ext_physics:") and name.endswith(f":{tail}")
        ]
        yield Finding(
            f"{opinion.what} names no concept",
            hint=f"write {' or '.join(known) if known else f'ext_physics:<concept>:{tail}'}",
            at=opinion.path,
        )
