# SPDX-License-Identifier: Apache-2.0
"""A joint of the model as URDF joints, each with one freedom about the origin of the link it leads to.

The pose of the child in the parent is ``near @ D1(q1) @ D2(q2) ... @ ~far``.  A freedom may be seen from any frame
``G`` on its axis: ``D(q) = G @ M(q) @ ~G``, where ``M`` moves about the origin.  The last one takes ``G = ~far`` where
that lies on its axis, so that the frame of the link is that of the body; otherwise a fixed joint follows.
A reference coordinate is turned into the origin, so that coordinates keep their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import (
    IDENTITY,
    IDENTITY_QUAT,
    Array,
    Pose,
    quat_between,
    quat_conjugate,
    quat_from_axis_angle,
    quat_rotate,
    vec3,
)
from simwright.formats.urdf.writer.draft import Draft, Mount
from simwright.formats.urdf.writer.messages import BALL_EXPANDED, JOINT_EXPANDED
from simwright.model.asset import Body
from simwright.model.joint import Dof, Joint, JointKind, Motion

_ON_AXIS = 1e-11
"""How far from an axis a point on it may lie [m]."""
_LETTERS = "xyz"


@dataclass(slots=True, eq=False)
class _Piece:
    """One URDF joint to be: a hinge, a slide, or all freedoms at once."""

    name: str
    motion: Motion
    axis: Array
    anchor: Array
    dof: Dof | None
    ref: float = 0.0
    pitch: float = 0.0


def expand_joint(
    draft: Draft, joint: Joint, frames: tuple[Pose, Pose], dofs: list[Dof], ends: tuple[str, Body]
) -> list[Mount]:
    """The chain of URDF joints from a link to the link of a body."""
    (near, far), (parent, body) = frames, ends
    child = draft.links[body.name]
    if not dofs:
        name = draft.claim("joint", joint.public_name)
        return [Mount(name, "fixed", parent, child, near @ ~far, joint=joint, body=body)]
    if _is_planar(joint, dofs, far):
        name = draft.claim("joint", joint.public_name)
        return [Mount(name, "planar", parent, child, near, dofs[2].axis, joint, dofs[2], body=body)]
    pieces = [piece for number, dof in enumerate(dofs) for piece in _cut(draft, joint, dof, number)]
    mounts: list[Mount] = []
    frame = near
    leader = ""
    for number, piece in enumerate(pieces):
        is_last = number == len(pieces) - 1
        ends_here = is_last and _fits(piece, ~far)
        seat = ~far if ends_here else Pose(piece.anchor, np.array(IDENTITY_QUAT))
        axis = quat_rotate(quat_conjugate(seat.q), piece.axis)
        mount = _make_mount(draft, joint, piece, (parent, frame @ seat, axis))
        mount.child = child if ends_here else _claim_between(draft, mount.name)
        mount.body = body if ends_here else None
        if piece.pitch:
            mount.follows = (leader, piece.pitch, -piece.pitch * piece.ref)
            mount.origin = frame @ seat
        leader, parent, frame = mount.name, mount.child, ~seat
        mounts.append(mount)
    if parent != child:
        name = draft.claim("joint", f"{child}_fixed")
        mounts.append(Mount(name, "fixed", parent, child, frame @ ~far, joint=joint, body=body))
    _report(draft, joint, dofs, mounts)
    return mounts


def _is_planar(joint: Joint, dofs: list[Dof], far: Pose) -> bool:
    """Is it just what URDF calls planar?  Two slides in the plane as readers take them, and a turn about its normal."""
    if joint.kind is not JointKind.PLANAR or [d.motion for d in dofs] != [
        Motion.SLIDE,
        Motion.SLIDE,
        Motion.HINGE,
    ]:
        return False
    if not far.is_identity(1e-12) or any(d.is_limited or d.ref or np.any(d.anchor) for d in dofs):
        return False
    turn = quat_between((0.0, 0.0, 1.0), dofs[2].axis)
    plane = [quat_rotate(turn, unit) for unit in np.eye(3)[:2]]
    return all(np.allclose(dof.axis, axis, atol=1e-12) for dof, axis in zip(dofs, plane, strict=False))


def _cut(draft: Draft, joint: Joint, dof: Dof, number: int) -> list[_Piece]:
    single = len(joint.dofs) == 1
    name = joint.public_name if single else dof.name or f"{joint.public_name}_{number}"
    if dof.motion is Motion.BALL:
        draft.reporter.report(BALL_EXPANDED, joint.source, name=joint.name)
        rows = zip(_LETTERS, np.eye(3), strict=True)
        return [_Piece(f"{name}_{letter}", Motion.HINGE, axis, dof.anchor, None) for letter, axis in rows]
    if dof.motion is Motion.FREE:
        return [_Piece(name, Motion.FREE, vec3(0, 0, 1), vec3(), dof)]
    anchor = dof.anchor if dof.motion is Motion.HINGE else vec3()
    pieces = [_Piece(name, dof.motion, dof.axis, anchor, dof, dof.ref)]
    if dof.pitch:
        pieces.append(_Piece(f"{name}_advance", Motion.SLIDE, dof.axis, anchor, None, dof.ref, dof.pitch))
    return pieces


def _fits(piece: _Piece, seat: Pose) -> bool:
    """Is a frame on the axis of a hinge?  A slide is the same from everywhere."""
    if piece.motion is Motion.SLIDE:
        return True
    if piece.motion is Motion.FREE:
        return seat.is_identity(1e-12)
    return float(np.linalg.norm(np.cross(seat.p - piece.anchor, piece.axis))) <= _ON_AXIS


def _make_mount(draft: Draft, joint: Joint, piece: _Piece, place: tuple[str, Pose, Array]) -> Mount:
    parent, origin, axis = place
    if piece.motion is Motion.FREE:
        word, turned = "floating", IDENTITY
    elif piece.motion is Motion.SLIDE:
        word, turned = "prismatic", Pose.of(-piece.ref * axis)
    else:
        limited = piece.dof is not None and piece.dof.is_limited
        word = "revolute" if limited else "continuous"
        turned = Pose.of(q=quat_from_axis_angle(axis, -piece.ref))
    name = draft.claim("joint", piece.name)
    mount = Mount(name, word, parent, "", origin, joint=joint, dof=piece.dof)
    if piece.ref:
        mount.origin = origin @ turned
    if piece.motion is not Motion.FREE:
        mount.axis = axis
    if piece.dof is not None and piece.dof.name:
        draft.dofs[piece.dof.name] = mount
    return mount


def _claim_between(draft: Draft, joint: str) -> str:
    link = draft.claim("link", f"{joint}_link")
    draft.bare_links.append(link)
    return link


def _report(draft: Draft, joint: Joint, dofs: list[Dof], mounts: list[Mount]) -> None:
    if len(mounts) > 1 and not any(dof.motion is Motion.BALL for dof in dofs):
        if len(dofs) > 1:
            why = f"it has {len(dofs)} freedoms"
        elif dofs[0].pitch:
            why = "a screw turns and advances, the second follows the first"
        else:
            why = "its axis does not pass through the frame of its child"
        draft.reporter.report(JOINT_EXPANDED, joint.source, name=joint.name, count=len(mounts), why=why)
