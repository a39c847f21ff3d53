# SPDX-License-Identifier: Apache-2.0
"""override_frame_id names only frames that cannot be in the stage.

Why: the frame of a message follows from where its prim is.  Overriding it by another frame of the same stage
tells consumers that the data were taken elsewhere; that link is moved, and the data are wrong.

Fails: `string ros:topic:override_frame_id = "base_link"` where base_link is a link of the robot.
Passes: `"map"`, `"odom"` or `"earth"`, which no prim stands for.

Reading: how simulators prefix frames is not said, so the id is also compared without a leading slash and
without a namespace in front.

Fix: unsafe.  Without the override the message gets the frame of its prim.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared
from simwright.checker.facts.names import TfFrame, is_frame_id
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "ros:topic:override_frame_id"


@rule(
    "topic-override-frame",
    "2.4",
    "must",
    on="api:RosTopicAPI",
    fix="unsafe",
    fix_title="remove the override",
)
def topic_override_frame(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare with every implicit and explicit frame of the stage."""
    value = node.authored(_NAME)
    if value is None:
        return
    faults = list(check_declared(node, _NAME, "string"))
    yield from faults
    if faults or not isinstance(value, str) or not value:
        return
    frames = snapshot.shared("frames by id", _index_frames)
    # simulators differ in whether they prefix frame ids with the namespace
    frame = frames.get(value) or frames.get(value.rpartition("/")[2])
    if frame is not None:
        yield Finding(
            f"{_NAME} is {value!r}, but {frame.node.path} is that frame",
            hint="place the interface below the prim with the right frame, and remove the override",
            at=node,
            prop=_NAME,
            data={"value": value, "frame": frame.node.path},
        )
    elif not is_frame_id(value):
        yield Finding(
            f"{_NAME} is {value!r}, which tf2 does not take as a frame id",
            hint="use letters, digits and underscores without a leading slash, for example map",
            at=node,
            prop=_NAME,
            data={"value": value},
        )


def _index_frames(snapshot: StageSnapshot) -> dict[str, TfFrame]:
    # reversed, so that explicit frames, which come first, win
    return {frame.id: frame for frame in reversed(snapshot.names.frames)}
