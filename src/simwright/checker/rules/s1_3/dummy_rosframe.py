# SPDX-License-Identifier: Apache-2.0
"""Frames that only mark a place have RosFrameAPI.

Why: without it the frame is a prim that no ROS bridge publishes.

Fails: an empty Xform called `tool0` or `camera_optical_frame` without the API.
Passes: the same with RosFrameAPI.

Fix: unsafe.  Whether the frame should be published is a choice.

Reading: only empty Xforms whose name is that of a frame; scopes and groups are not meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import looks_like_frame
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "dummy-rosframe",
    "1.3",
    "should",
    on="type:Xform",
    heuristic=True,
    fix="unsafe",
    fix_title="apply RosFrameAPI",
)
def dummy_rosframe(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Empty Xforms that are named as frames are, and do not have the schema that publishes them."""
    # by name first: it is the cheapest question
    if not looks_like_frame(node.name) or node.children or node.prototype is not None:
        return
    if any(api == "RosFrameAPI" or api.startswith("Physics") for api in node.apis):
        return
    # what looks empty may be an unloaded part
    if node.prim.HasAuthoredPayloads():
        return
    yield Finding(
        f"{node.name} looks like a frame but has no RosFrameAPI, so it is not published",
        hint='add "RosFrameAPI" to its apiSchemas',
        at=node,
    )
