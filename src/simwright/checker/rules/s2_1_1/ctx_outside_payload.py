# SPDX-License-Identifier: Apache-2.0
"""Contexts are there without loading payloads.

Why: a tool that lists or renames the robots of a scene opens it without payloads.  A context that only a
payload brings is not seen, and every name below it is wrong.

Fails: a robot whose RosContextAPI is authored in the payload's layer.
Passes: RosContextAPI and its attributes in the entry layer, or in a referenced or sublayered ros.usda, beside
a payload of geometry.

Reading: a prim below a payload-bearing ancestor is fine if layers outside the payload define it.

Fix: unsafe.  The opinions are hoisted to the layer that holds the payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.payloads import find_payload_loss
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "ctx-outside-payload",
    "2.1.1",
    "must",
    on="api:RosContextAPI",
    fix="unsafe",
    fix_title="hoist the context to the layer that holds the payload",
)
def ctx_outside_payload(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare with the stage opened without payloads."""
    hidden = find_payload_loss(node, snapshot, ("RosContextAPI",), ("ros:context:",))
    if hidden is None:
        return
    # the first thing that is missing explains all later ones
    lost = {
        "prim": "the context's prim does not exist",
        "api": "RosContextAPI is not applied",
        "property": f"{hidden.name} has another value or none",
    }[hidden.what]
    yield Finding(
        f"without payloads {lost}",
        hint="author the context in the layer that holds the payload arc, or in one it references",
        at=node,
        prop=hidden.name if hidden.what == "property" else "",
        data={"missing": hidden.what},
    )
