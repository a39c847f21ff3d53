# SPDX-License-Identifier: Apache-2.0
"""Controllers are on logical prims, outside the bodies.

Why: a controller spans a mechanism, it is not part of one link.  On a link it moves with the link's asset, its
variants and its payload, and invites tools to guess its scope from where it is.

Fails: RosControlDiffDriveAPI on base_link, or on an Xform below it.
Passes: the API on `/robot/Controllers/diff_drive`.

Fix: unsafe.  The prim moves to <robot>/Controllers; relationships to it must be followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.lineage import find_body
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "ctrl-decoupled",
    "4.2.3",
    "should",
    on="api:RosControl*",
    fix="unsafe",
    fix_title="move the controller to a prim below <robot>/Controllers",
)
def ctrl_decoupled(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """The prim is not a body and has none above it."""
    # a fixed base is a body too: the controller would go with its variants and payload
    body = find_body(node, snapshot)
    if body is None:
        return
    place = "on a rigid body" if body is node else f"below the rigid body {body.path}"
    yield Finding(
        f"the controller is {place}",
        hint="put it on a prim of its own below the robot's root, for instance <robot>/Controllers/name",
        data={"body": body.path},
    )
