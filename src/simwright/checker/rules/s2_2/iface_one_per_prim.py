# SPDX-License-Identifier: Apache-2.0
"""A prim has one ROS interface.

Why: a prim has one name, one type and one role.  Two interfaces on it cannot be switched, moved or overridden
apart from each other.

Fails: `prepend apiSchemas = ["RosTopicAPI", "RosServiceAPI"]`.
Passes: two child prims, one with each.  A camera's image and camera_info sit on two children of its optical
frame.

Fix: unsafe.  Each further interface moves to a child prim.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import KINDS
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "iface-one-per-prim",
    "2.2",
    "must",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
    fix="unsafe",
    fix_title="split the interfaces over child prims",
)
def iface_one_per_prim(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Count interface APIs."""
    # frames and contexts on the same prim are fine: they are not interfaces
    applied = [api for api in KINDS if node.has(api)]
    if len(applied) > 1:
        yield Finding(
            f"{len(applied)} interfaces are on one prim: {', '.join(applied)}",
            hint="keep one here and make a child prim for each of the others",
            at=node,
            data={"apis": applied},
        )
