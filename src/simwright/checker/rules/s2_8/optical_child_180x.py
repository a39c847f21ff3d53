# SPDX-License-Identifier: Apache-2.0
"""The optical frame is a child of the camera, rotated 180 degrees about X, at the same place and scale.

Why: that rotation is the one agreed bridge between USD's camera axes and ROS's optical axes.  Anything else
makes images and point clouds appear turned in RViz.

Fails: a child with RosFrameAPI and no rotation, with 90 degrees, or with 180 degrees about another axis; an
optical frame beside its camera instead of below it; a scaled one.
Passes: `quatf xformOp:orient = (0, 1, 0, 0)`, `rotateX = 180`, a matrix: what counts is the result.  Xforms between
camera and optical frame count as part of it.

Fix: unsafe.  The orientation is set; if the data was turned elsewhere to make up for it, that must go too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simwright.checker.facts.sensors import TOLERANCE, OpticalFrame, find_optics
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_RIGHT = "write quatf xformOp:orient = (0, 1, 0, 0) as the only rotation between camera and optical frame"


@rule(
    "optical-child-180x",
    "2.8",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="set the orientation of the optical frame to (0, 1, 0, 0)",
)
def optical_child_180x(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Judge the computed transform from camera to optical frame."""
    done: set[str] = set()
    for frame in find_optics(snapshot).frames:
        if frame.node.path not in done:
            done.add(frame.node.path)
            yield from _judge(frame)


def _judge(frame: OpticalFrame) -> Iterator[Finding]:
    camera = frame.camera.path
    if not frame.below:
        yield Finding(
            f"the optical frame is not below its camera {camera}",
            hint="move the frame below the camera; as its child it needs xformOp:orient = (0, 1, 0, 0)",
            at=frame.node,
            data={"camera": camera},
        )
        return
    # all three axes: optical-face-z only asks for the view and the roll
    if frame.turn_error > TOLERANCE:
        degrees = math.degrees(frame.turn_error)
        yield Finding(
            f"the rotation from camera {camera} is {degrees:.4g} degrees off 180 degrees about X",
            hint=_RIGHT,
            at=frame.node,
            prop="xformOp:orient",
            data={"error_degrees": degrees, "camera": camera},
        )
    if any(abs(length - 1) > TOLERANCE for length in frame.scale):
        yield Finding(
            f"the optical frame is scaled by ({', '.join(f'{length:.4g}' for length in frame.scale)}) in its camera",
            hint="remove the scale: a frame has none",
            at=frame.node,
            prop="xformOp:scale",
            data={"camera": camera},
        )
    if frame.offset > TOLERANCE:
        yield Finding(
            f"the optical frame is {frame.offset:.4g} m away from its camera {camera}",
            hint="move the camera instead, and leave the optical frame at its origin",
            at=frame.node,
            prop="xformOp:translate",
            # an offset shifts every image by the same amount, a wrong rotation makes it useless
            level=Level.WARNING,
            data={"camera": camera},
        )
