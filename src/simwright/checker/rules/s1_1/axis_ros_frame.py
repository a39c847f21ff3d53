# SPDX-License-Identifier: Apache-2.0
"""The asset is right-handed: X is forward, Y left, Z up.

Why: drives, odometry and sensors take REP 103 for granted.  A robot that looks along Y, or is mirrored, drives
sideways or turns the wrong way, and nothing in the file says so.

Fails: a mirrored transform (a negative scale on one axis, or a matrix with negative determinant) on or above a
body or frame; wheels of a differential drive whose axes are not along Y, or whose left wheels are on the right.
Passes: mirrored leaf geometry.  Fingers and grippers are not asked for left and right, because no convention says
from where they are seen.

Names are weak evidence: bodies named left and right that stand the other way round, and cameras named front
that look back, are infos.

Fix: none.  Which side is meant is for the author to say.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simwright.checker.facts.bases import (
    Vector,
    Wheels,
    find_base,
    find_joint_frame,
    find_opposite,
    find_position,
    is_sided,
    list_wheels,
    split_name,
)
from simwright.checker.facts.graph import Component, JointEdge
from simwright.checker.facts.kinematics import is_frame, walk_inheritors
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import is_mirrored, read_in, read_transforms
from simwright.checker.facts.wording import show_numbers
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

# left and right of a gripper are as seen from the wrist or from the object: no convention
_GRIPPING = frozenset({"finger", "gripper", "jaw", "knuckle", "pad", "thumb", "fingertip", "claw", "tip"})
_FORWARD = {"front": 1.0, "forward": 1.0, "rear": -1.0, "backward": -1.0}


@rule("axis-ros-frame", "1.1", "must", on="stage", heuristic=True)
def axis_ros_frame(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Mirrors, wheels, names of sides, cameras."""
    yield from _find_mirrors(snapshot)
    for wheels in list_wheels(snapshot):
        if wheels.controller is not None:
            yield from _judge_wheels(wheels, snapshot)
    if snapshot.bodies:
        for component in snapshot.graph.components:
            # a door or a lid has two bodies, and nothing to its left or right
            if len(component.bodies) > 2:
                yield from _judge_sides(component, snapshot)
        for node in snapshot.of_type("Camera"):
            yield from _judge_camera(node, snapshot)


def _find_mirrors(snapshot: StageSnapshot) -> Iterator[Finding]:
    book = read_transforms(snapshot)
    seen: set[int] = set()
    for node, op in (*book.scales, *book.matrices):
        if id(node) in seen:
            continue
        seen.add(id(node))
        # a mirror above leaf geometry alone is fine: renderers turn the winding, and no frame is read from it
        held = node if is_frame(node) else next(filter(is_frame, walk_inheritors(node, snapshot)), None)
        if held is not None and is_mirrored(node, snapshot):
            yield Finding(
                f"{op.name} mirrors, so that the frame of {held.path} is left-handed",
                hint="mirror the points of the leaf geometry instead, and keep frames right-handed",
                at=node,
                prop=op.name,
            )


def _judge_wheels(wheels: Wheels, snapshot: StageSnapshot) -> Iterator[Finding]:
    base = find_base(wheels.component, snapshot)
    frames = {id(edge): find_joint_frame(edge, base, snapshot) for edge in wheels.all}
    for edge in wheels.all:
        frame = frames[id(edge)]
        # 0.9 is about 25 degrees: room for camber and toe, none for a robot that looks along Y
        if frame is not None and abs(float(frame[1][1])) < 0.9 * float(np.linalg.norm(frame[1])):
            yield Finding(
                f"the wheel turns about {show_numbers(np.round(frame[1], 3))} of the base: "
                "a robot that drives along X has wheel axes along Y",
                hint="turn the robot so that X is forward, or correct physics:axis and physics:localRot0",
                at=edge.joint,
                prop="physics:axis",
            )
            return
    left, right = (_mean_y(side, frames) for side in (wheels.left, wheels.right))
    if left is not None and right is not None and left < right - 1e-6:
        yield Finding(
            f"the left wheels are at y = {left:.4g}, the right ones at y = {right:.4g}: Y must point left",
            hint="exchange ros:diff_drive:left_wheels and ros:diff_drive:right_wheels, or turn the robot",
            at=wheels.controller,
            prop="ros:diff_drive:left_wheels",
        )


def _mean_y(side: list[JointEdge], frames: dict[int, tuple[Vector, Vector] | None]) -> float | None:
    values = [frame[0][1] for frame in (frames[id(edge)] for edge in side) if frame is not None]
    return float(np.mean(values)) if values else None


def _judge_sides(component: Component, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Pairs of names that differ in left and right only; reported where most stand the wrong way round."""
    named = {split_name(body.name): body for body in component.bodies if is_sided(body.name)}
    pairs = [
        (body, named[opposite])
        for words, body in named.items()
        if (opposite := find_opposite(words)) in named
        and opposite is not None
        and not _GRIPPING.intersection(words)
    ]
    if not pairs:
        return
    base = find_base(component, snapshot)
    swapped: list[tuple[PrimNode, PrimNode]] = []
    right_way = 0
    for left, right in pairs:
        places = find_position(left, base, snapshot), find_position(right, base, snapshot)
        # pairs within a millimetre are one above the other or one behind the other, and say nothing of sides
        if places[0] is None or places[1] is None or abs(places[0][1] - places[1][1]) < 1e-3:
            continue
        if places[0][1] < places[1][1]:
            swapped.append((left, right))
        else:
            right_way += 1
    # a majority: crossed cables and antennas are named by where they lead, not by where they are
    if len(swapped) > right_way:
        left, right = swapped[0]
        yield Finding(
            f"{left.name} is to the right of {right.name} ({len(swapped)} of {len(swapped) + right_way} such pairs): "
            "does Y point left and X forward?",
            hint="check that the robot looks along X; rename the links if only the names are wrong",
            at=left,
            level=Level.INFO,
        )


def _judge_camera(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    body = snapshot.owning_body(node)
    component = snapshot.graph.of_body.get(body.path) if body is not None else None
    words = {*split_name(node.name), *(split_name(node.parent.name) if node.parent else ())}
    wanted = {_FORWARD[word] for word in words if word in _FORWARD}
    if component is None or len(wanted) != 1:
        return
    found = read_in(node, find_base(component, snapshot), snapshot)
    if found is None:
        return
    # UsdGeomCamera looks along its own -Z
    look = found.pose.apply(np.array((0.0, 0.0, -1.0))) - found.pose.p
    if float(look[0]) * wanted.pop() < -0.5:
        yield Finding(
            f"this camera looks along {show_numbers(np.round(look, 3))} of the base, against its name: "
            "does X point forward?",
            hint="check that the robot looks along X; a camera looks along its own -Z",
            at=node,
            level=Level.INFO,
        )
