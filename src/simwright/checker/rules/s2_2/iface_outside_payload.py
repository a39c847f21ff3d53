# SPDX-License-Identifier: Apache-2.0
"""Prims with Ros*API are there without loading payloads.

Why: a bridge or a launch tool lists a robot's interfaces without reading its meshes.  What only a payload
brings is invisible to it.

Fails: a RosTopicAPI prim, or a RosFrameAPI frame, that is defined in the payload's layer.
Passes: the same prim in ros.usda, referenced or sublayered beside the payload.

Reading: a prim below a payload-bearing link is fine if layers outside the payload define it.  Contexts are
asked for by ctx-outside-payload.

Fix: unsafe.  The opinions are hoisted to the layer that holds the payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.payloads import find_payload_loss
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_SPACES = {
    "RosTopicAPI": "ros:topic:",
    "RosServiceAPI": "ros:service:",
    "RosActionAPI": "ros:action:",
    "RosFrameAPI": "ros:frame:",
}


@rule(
    "iface-outside-payload",
    "2.2",
    "must",
    on="api:Ros*",
    fix="unsafe",
    fix_title="hoist the prim to the layer that holds the payload",
)
def iface_outside_payload(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare with the stage opened without payloads."""
    apis = [api for api in node.apis if api.startswith("Ros") and api != "RosContextAPI"]
    if not apis:
        return
    # an API that is not ours, such as a controller's: every ros: property counts
    spaces = tuple(_SPACES[api] for api in apis if api in _SPACES)
    hidden = find_payload_loss(node, snapshot, apis, spaces or ("ros:",))
    if hidden is None:
        return
    lost = {
        "prim": f"the prim with {apis[0]} does not exist",
        "api": f"{hidden.name} is not applied",
        "property": f"{hidden.name} has another value or none",
    }[hidden.what]
    yield Finding(
        f"without payloads {lost}",
        hint="define the prim and its ros: attributes in the layer that holds the payload, or in one it references",
        at=node,
        prop=hidden.name if hidden.what == "property" else "",
        data={"missing": hidden.what},
    )
