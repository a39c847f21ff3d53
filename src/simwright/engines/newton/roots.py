# SPDX-License-Identifier: Apache-2.0
"""What holds the roots of an import, and where its articulations stand, as the caller chooses."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import NOWHERE, Reporter
from simwright.core.errors import UsageError
from simwright.core.math3d import IDENTITY, Pose, pose_to_seven
from simwright.engines.newton.choices import Choices
from simwright.model.asset import Articulation, Asset


def check_roots(builder: Any, choices: Choices, xform: Pose | None) -> None:
    """Refuse choices that contradict each other, before anything is added."""
    if choices.floating is not None and choices.base_joint is not None:
        raise UsageError("floating and base_joint both say what holds the root", hint="give one of them")
    if choices.floating is True and choices.parent_body != -1:
        raise UsageError("a free joint leads to the world, not to parent_body", hint="use base_joint")
    if choices.override_root_xform and xform is None:
        raise UsageError("override_root_xform places the root at xform, which is not given")
    if not -1 <= choices.parent_body < builder.body_count:
        raise UsageError(f"there is no body {choices.parent_body} in the builder for parent_body")
    if choices.parent_body != -1:
        find_articulation(builder, choices.parent_body)


def find_articulation(builder: Any, body: int) -> int:
    """The articulation of a body, which has to be the last one: joints of an articulation stand side by side."""
    holders = (builder.joint_articulation[j] for j, child in enumerate(builder.joint_child) if child == body)
    found = next((int(number) for number in holders if number >= 0), -1)
    if found < 0:
        raise UsageError(
            f"parent_body {body} is in no articulation", hint="give it a joint and an articulation"
        )
    if found != builder.articulation_count - 1:
        raise UsageError(
            f"parent_body {body} is in articulation {found}, which is not the last one",
            hint="import what hangs on a robot right after the robot",
        )
    return found


def hold_root(builder: Any, child: int, choices: Choices, base: Pose) -> int:
    """The joint of a body that nothing in the asset holds; gives its index."""
    parent, label = choices.parent_body, builder.body_label[child]
    place = builder.body_q[child] if parent == -1 else pose_to_seven(base)
    if choices.base_joint is not None:
        given = {"label": f"{label}_base_joint", **choices.base_joint}
        return int(builder.add_joint(parent=parent, child=child, parent_xform=place, **given))
    if choices.floating is False or parent != -1:
        return int(builder.add_joint_fixed(parent, child, parent_xform=place, label=f"{label}_fixed_joint"))
    return int(builder.add_joint_free(child, label=f"{label}_free_joint"))


def close_articulation(builder: Any, joints: list[int], label: str, parent_body: int) -> int:
    """Make the joints an articulation, or a part of that of ``parent_body``; gives its index."""
    if parent_body == -1:
        builder.add_articulation(joints, label=label)
        return int(builder.articulation_count) - 1
    found = find_articulation(builder, parent_body)
    for joint in joints:
        builder.joint_articulation[joint] = found
    builder.articulation_end[found] = max(builder.articulation_end[found], max(joints) + 1)
    return found


def find_root_poses(asset: Asset, stage: Any) -> dict[str, Pose]:
    """Where the root of every articulation stands, its axes up as those of the asset: its body, or its prim."""
    if stage is None:
        return {found.name: _find_body_pose(asset, found) or IDENTITY for found in asset.articulations}
    from simwright.formats.usd.units import read_units
    from simwright.usd.xform import read_world

    units = read_units(stage, NOWHERE, Reporter())
    poses = {}
    for articulation in asset.articulations:
        pose = _find_body_pose(asset, articulation)
        prim = stage.GetPrimAtPath(articulation.path) if pose is None and articulation.path else None
        if prim:
            world = read_world(prim).pose
            pose = units.turn @ Pose(world.p * units.length, world.q)
        poses[articulation.name] = (pose or units.turn) @ ~units.turn
    return poses


def _find_body_pose(asset: Asset, articulation: Articulation) -> Pose | None:
    for body in asset.bodies:
        if body.name == articulation.root or (body.path and body.path == articulation.path):
            return body.pose
    return None
