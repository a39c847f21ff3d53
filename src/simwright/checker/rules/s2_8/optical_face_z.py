# SPDX-License-Identifier: Apache-2.0
"""The optical frame looks along +Z where the camera looks, with X to the right and Y down.

Why: REP 103 gives optical frames these axes, and every consumer of camera_info relies on them.  A frame that
faces the other way puts the scene behind the camera; a rolled one turns the picture upside down.

Fails: an optical frame with the camera's own axes (it faces backwards); one that is rotated 180 degrees about Y
(it faces the right way, but X points left and Y up).
Passes: any combination of transform operations that ends at +Z forward, X right, Y down.

Fix: unsafe, as for optical-child-180x: the orientation is set to (0, 1, 0, 0).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simwright.checker.facts.sensors import TOLERANCE, find_optics
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "optical-face-z",
    "2.8",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="set the orientation of the optical frame to (0, 1, 0, 0)",
)
def optical_face_z(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Where the view is right, the roll is looked at."""
    done: set[str] = set()
    for frame in find_optics(snapshot).frames:
        if frame.node.path in done:
            continue
        done.add(frame.node.path)
        message = ""
        if frame.view_error > TOLERANCE:
            degrees = math.degrees(frame.view_error)
            message = (
                f"the optical frame's +Z is {degrees:.4g} degrees away from the view of {frame.camera.path}"
            )
        # with the view off, a roll about it has no meaning
        elif frame.roll_error > TOLERANCE:
            degrees = math.degrees(frame.roll_error)
            message = f"the optical frame is rolled by {degrees:.4g} degrees: X is not right and Y not down"
        if message:
            yield Finding(
                message,
                hint="turn the frame so that +Z is the camera's -Z and X its X: 180 degrees about X",
                at=frame.node,
                prop="xformOp:orient",
                data={"camera": frame.camera.path},
            )
