# SPDX-License-Identifier: Apache-2.0
"""Bodies, joints and ROS prims have their schemas without loading payloads.

Why: a prim that is there but only becomes a body or an interface when a payload is loaded looks like plain scenery
to tools that read the tree without payloads.

Fails: `def Xform "link"` in the entry layer, whose PhysicsRigidBodyAPI comes from its payload.
Passes: the API in the entry layer, or in a referenced physics.usda.

Reading: prims that are missing altogether are reported by payload-no-kinematics.

Fix: unsafe.  The payload becomes a reference, and the mesh data in it a payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.payloads import compare_payloads
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import join_words
from simwright.checker.rule import Finding, rule


@rule(
    "payload-topology-loaded",
    "1.2.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="turn the payload into a reference",
)
def payload_topology_loaded(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Schemas that a prim only has with payloads."""
    for late in compare_payloads(snapshot).late:
        verb = "comes" if len(late.what) == 1 else "come"
        yield Finding(
            f"{join_words(late.what)} {verb} from a payload",
            hint="author it in a layer that is always loaded: local, referenced or sublayered",
            at=late.node,
        )
