# SPDX-License-Identifier: Apache-2.0
"""RosFrameAPI is on an Xform.

Why: a frame needs a transform and nothing else.  A Scope has none, a Camera looks the other way round than an
optical frame, a Mesh may be replaced or unloaded.

Fails: `def Scope "tool0" (prepend apiSchemas = ["RosFrameAPI"])`.
Passes: `def Xform "tool0" (prepend apiSchemas = ["RosFrameAPI"])`, also where the Xform is a rigid body.

Fix: none.  Usually a child Xform takes the frame over, but only the author knows its pose.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("frame-explicit", "2.7", "must", on="api:RosFrameAPI")
def frame_explicit(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """REP-0158 says UsdGeomXform, so other kinds of Xformable do not do."""
    if node.is_a("Xform"):
        return
    found = f"a {node.type}" if node.type else "a prim without a type"
    yield Finding(
        f"RosFrameAPI is on {found}, it must be on an Xform",
        hint="write def Xform, or add a child Xform and apply RosFrameAPI to that",
        data={"type": node.type},
    )
