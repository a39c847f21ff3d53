# SPDX-License-Identifier: Apache-2.0
"""Links, joints and ROS prims are not inside a payload.

Why: ROS tools and web converters read a robot's tree with payloads unloaded.  A robot inside a payload is an empty
prim to them.

Fails: an entry layer whose root prim has the whole robot as its payload.
Passes: links and joints by reference, and payloads of geometry below them.

Reading: compared are the stage with all payloads and with none.  One finding per prim that holds such a payload;
prims that exist anyway but get their APIs from a payload are reported by payload-topology-loaded.

Fix: unsafe.  The payload becomes a reference, and the mesh data in it a payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.payloads import PayloadPrims, compare_payloads, find_payload_spec
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things, join_words
from simwright.checker.rule import Finding, rule


@rule(
    "payload-no-kinematics",
    "1.2.3",
    "must not",
    on="stage",
    fix="unsafe",
    fix_title="turn the payload into a reference",
)
def payload_no_kinematics(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Kinematic prims that are not there without payloads."""
    for hidden in compare_payloads(snapshot).hidden:
        held = [
            count_things(len(nodes), thing)
            for nodes, thing in ((hidden.bodies, "body"), (hidden.joints, "joint"), (hidden.ros, "ROS prim"))
            if nodes
        ]
        finding = Finding(
            f"a payload holds {join_words(held)} ({hidden.first.path} ...)",
            hint="bring links, joints and ROS prims in by reference or sublayer; keep only geometry in payloads",
            at=hidden.holder or hidden.first,
            data={"bodies": len(hidden.bodies), "joints": len(hidden.joints), "ros": len(hidden.ros)},
        )
        _point_at_payload(finding, hidden)
        yield finding


def _point_at_payload(finding: Finding, hidden: PayloadPrims) -> None:
    # the payload arc is what the author has to change, not the hidden body
    spec = find_payload_spec(hidden.holder.prim) if hidden.holder else None
    if spec is not None:
        finding.at, finding.layer, finding.words = spec.path, spec.layer, "payload"
