# SPDX-License-Identifier: Apache-2.0
"""A Camera prim carries no ROS API: its interface is a prim of its own.

Why: a USD camera looks along -Z, a ROS optical frame along +Z.  Interfaces on the camera itself force every
simulator to turn the data silently, and each does it in its own way.

Fails: `def Camera "front" (prepend apiSchemas = ["RosTopicAPI"])`, also with RosFrameAPI.
Passes: the same API on a child Xform that is rotated 180 degrees about X; a Camera that has nothing to do with ROS.

Fix: unsafe.  A child optical frame is made and takes over APIs and attributes; paths and frame names change.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "optical-decouple",
    "2.8",
    "must",
    on="isa:Camera",
    fix="unsafe",
    fix_title="make a child optical frame and move the ROS APIs to it",
)
def optical_decouple(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per camera, naming all of its ROS APIs."""
    # RosFrameAPI too: a frame on the camera has the camera's axes
    found = [api for api in node.apis if api.startswith("Ros")]
    if found:
        yield Finding(
            f"{', '.join(found)} on a Camera: camera and ROS interface must be separate prims",
            hint="move it to a child Xform (for instance camera_optical_frame) with xformOp:orient = (0, 1, 0, 0)",
            data={"apis": found},
        )
