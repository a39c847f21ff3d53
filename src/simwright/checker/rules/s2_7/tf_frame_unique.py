# SPDX-License-Identifier: Apache-2.0
"""Every TF frame of a robot has an id of its own, made of characters that ROS accepts.

Why: all frames of a robot go to one /tf topic, and nested namespaces are not added to frame ids.  Two frames
with one id become one frame with two parents: transforms jump between the two places.

Fails: a left and a right gripper, both with a body called `finger`; a body whose name is not ASCII.
Passes: the second one says `ros:frame:id = "right_finger"` with RosFrameAPI.

Fix: unsafe.  An id can be derived from the prim's path, but other software may know the old one.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.lineage import find_robot, list_copies
from simwright.checker.facts.names import TfFrame
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.names import is_identifier


@rule(
    "tf-frame-unique",
    "2.7",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="author a ros:frame:id that is derived from the prim's path",
)
def tf_frame_unique(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Group implicit and explicit frames by robot and id."""
    if not snapshot.contexts and not snapshot.frames:
        return
    groups: dict[tuple[int, str], list[TfFrame]] = {}
    for frame in snapshot.names.frames:
        if not is_identifier(frame.node.name) and not frame.node.authored("ros:frame:id"):
            yield _name_unusable(frame)
        # robots have namespaces, and a bridge sends each robot's TF apart
        for robot in _robots(frame.node, snapshot):
            groups.setdefault((id(robot), frame.id), []).append(frame)
    # a pair inside an instanced part clashes once for every instance
    reported: set[tuple[str, str]] = set()
    for (_, name), frames in groups.items():
        if len(frames) > 1 and (name, frames[1].node.path) not in reported:
            reported.add((name, frames[1].node.path))
            yield _id_taken(name, frames)


def _robots(node: PrimNode, snapshot: StageSnapshot) -> list[PrimNode | None]:
    """The robot a frame belongs to, once for every time that it is there."""
    copies = list_copies(node, snapshot)
    return [find_robot(copy, snapshot) for copy in copies] or [find_robot(node, snapshot)]


def _name_unusable(frame: TfFrame) -> Finding:
    return Finding(
        f"the prim name {frame.node.name!r} is not a ROS name, so simulators will invent a frame id for it",
        hint=f'rename the prim, or apply RosFrameAPI with ros:frame:id = "{frame.id}"',
        at=frame.node,
    )


def _id_taken(name: str, frames: list[TfFrame]) -> Finding:
    first, second = frames[0].node, frames[1].node
    if first is second:
        message = f"the frame id {name!r} is there {len(frames)} times: every instance of the prim brings it"
        hint = "take the frame out of the instanced asset, or do not instance it and author ros:frame:id"
    else:
        others = f" and {len(frames) - 2} more" if len(frames) > 2 else ""
        message = f"the frame id {name!r} is taken by {first.path} already{others}"
        hint = f'apply RosFrameAPI and author string ros:frame:id = "..." with an id other than {name!r}'
    prop = "ros:frame:id" if second.authored("ros:frame:id") else ""
    paths = list(dict.fromkeys(frame.node.path for frame in frames[1:]))
    return Finding(
        message, hint, at=second, prop=prop, data={"id": name, "count": len(frames), "paths": paths}
    )
