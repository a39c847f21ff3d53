# SPDX-License-Identifier: Apache-2.0
"""The freedoms of a joint, cut into what SDFormat has one joint for.

The child moves in the parent by ``near @ D1(q1) @ D2(q2) ... @ ~far``.  A freedom that counts from a reference is, at
zero, already moved by ``Z``; about its own axis that commutes, so ``Z`` goes to the parent's frame for the first
freedom of a piece and to the child's frame for its last.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from simwright.core.math3d import IDENTITY, IDENTITY_QUAT, Pose
from simwright.formats.sdf.writer.draft import Draft
from simwright.formats.sdf.writer.messages import JOINT_REDUCED, JOINT_REVERSED
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion

_SQUARE = 1e-9
_SAME_POINT = 1e-12


@dataclass(slots=True, eq=False)
class Ends:
    """A joint as it is written: from ``parent`` to ``child``, with its frames on both."""

    parent: str
    child: str
    near: Pose
    far: Pose
    dofs: list[Dof]


@dataclass(slots=True, eq=False)
class Piece:
    """One joint of SDFormat.  ``before`` leads from the frame of the parent to its own, ``after`` on from there."""

    kind: str
    name: str
    dofs: list[Dof] = field(default_factory=list)
    before: Pose = IDENTITY
    after: Pose = IDENTITY


def settle_ends(draft: Draft, joint: Joint) -> Ends:
    """The two ends; turned round where the child is the world."""
    if joint.child != WORLD:
        return Ends(joint.parent, joint.child, joint.parent_frame, joint.child_frame, joint.dofs)
    loose = any(dof.motion in (Motion.BALL, Motion.FREE) for dof in joint.dofs)
    but = "; the coordinates of a ball turn the other way" if loose else ""
    draft.reporter.report(JOINT_REVERSED, joint.source, name=joint.name, but=but)
    dofs = [replace(dof, axis=-dof.axis) for dof in reversed(joint.dofs)]
    return Ends(WORLD, joint.parent, joint.child_frame, joint.parent_frame, dofs)


def cut_joint(draft: Draft, joint: Joint, dofs: list[Dof]) -> list[Piece]:
    """The pieces from the parent to the child."""
    if not dofs:
        return [Piece("fixed", joint.public_name)]
    if is_pair(dofs):
        return [_make_pair(joint, dofs)]
    if joint.gear is not None:
        draft.reporter.report(JOINT_REDUCED, joint.source, name=joint.name, what="the gear")
    single = len(dofs) == 1
    names = [
        joint.public_name if single else dof.name or f"{joint.public_name}_{i}" for i, dof in enumerate(dofs)
    ]
    return [_make_piece(dof, name) for dof, name in zip(dofs, names, strict=True)]


def is_pair(dofs: list[Dof]) -> bool:
    """Two hinges through one point?"""
    if [dof.motion for dof in dofs] != [Motion.HINGE, Motion.HINGE] or any(dof.pitch for dof in dofs):
        return False
    return bool(np.all(np.abs(dofs[0].anchor - dofs[1].anchor) <= _SAME_POINT))


def _make_pair(joint: Joint, dofs: list[Dof]) -> Piece:
    if joint.kind is JointKind.GEARBOX and joint.gear is not None:
        kind = "gearbox"
    else:
        kind = "universal" if abs(float(dofs[0].axis @ dofs[1].axis)) <= _SQUARE else "revolute2"
    point = Pose(dofs[0].anchor, np.array(IDENTITY_QUAT))
    first, last = (dof.transform(np.zeros(1)) for dof in dofs)
    return Piece(kind, joint.public_name, dofs, _chain(first, point), _chain(~point, last))


def _make_piece(dof: Dof, name: str) -> Piece:
    if dof.motion is Motion.BALL:
        point = Pose(dof.anchor, np.array(IDENTITY_QUAT))
        return Piece("ball", name, [dof], point, ~point)
    point = Pose(dof.anchor, np.array(IDENTITY_QUAT)) if dof.motion is Motion.HINGE else IDENTITY
    return Piece(_name_kind(dof), name, [dof], point, _chain(~point, dof.transform(np.zeros(1))))


def _chain(a: Pose, b: Pose) -> Pose:
    """The product; exact where one of them does nothing."""
    if a.is_identity():
        return b
    return a if b.is_identity() else a @ b


def _name_kind(dof: Dof) -> str:
    if dof.motion is Motion.SLIDE:
        return "prismatic"
    if dof.pitch:
        return "screw"
    return "revolute" if dof.is_limited else "continuous"
