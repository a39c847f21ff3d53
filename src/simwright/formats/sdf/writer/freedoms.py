# SPDX-License-Identifier: Apache-2.0
"""The freedoms of a joint, cut into what SDFormat has one joint for, and the ``<axis>`` of each.

The child moves in the parent by ``near @ D1(q1) @ D2(q2) ... @ ~far``.  A freedom that counts from a reference is, at
zero, already moved by ``Z``; about its own axis that commutes, so ``Z`` goes to the parent's frame for the first
freedom of a piece and to the child's frame for its last.

An axis has its direction in the joint frame, limits and dynamics; ``<mimic>`` (1.11) is added when all joints are
written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, IDENTITY_QUAT, Pose
from simwright.formats.parts.numbers import tidy
from simwright.formats.sdf.writer.context import SdfWriteContext, WrittenAxis, add, refer
from simwright.formats.sdf.writer.messages import JOINT_REDUCED, JOINT_REVERSED, VERSION_TOO_OLD
from simwright.formats.xml import Element
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Mimic, Motion

_SQUARE = 1e-9
_SAME_POINT = 1e-12


@dataclass(slots=True, eq=False)
class JointEnds:
    """A joint as it is written: from ``parent`` to ``child``, with its frames on both."""

    parent: str
    child: str
    near: Pose
    far: Pose
    dofs: list[Dof]


@dataclass(slots=True, eq=False)
class JointPiece:
    """One joint of SDFormat.  ``before`` leads from the frame of the parent to its own, ``after`` on from there."""

    kind: str
    name: str
    dofs: list[Dof] = field(default_factory=list)
    before: Pose = IDENTITY
    after: Pose = IDENTITY


def find_joint_ends(context: SdfWriteContext, joint: Joint) -> JointEnds:
    """The two ends; turned round where the child is the world."""
    if joint.child != WORLD:
        return JointEnds(joint.parent, joint.child, joint.parent_frame, joint.child_frame, joint.dofs)
    loose = any(dof.motion in (Motion.BALL, Motion.FREE) for dof in joint.dofs)
    but = "; the coordinates of a ball turn the other way" if loose else ""
    context.reporter.report(JOINT_REVERSED, joint.source, name=joint.name, but=but)
    # Seen from the other end the freedoms come in reverse and turn the other way.
    dofs = [replace(dof, axis=-dof.axis) for dof in reversed(joint.dofs)]
    return JointEnds(WORLD, joint.parent, joint.child_frame, joint.parent_frame, dofs)


def split_joint(context: SdfWriteContext, joint: Joint, dofs: list[Dof]) -> list[JointPiece]:
    """The pieces from the parent to the child."""
    if not dofs:
        return [JointPiece("fixed", joint.public_name)]
    if is_pair(dofs):
        return [_make_pair(joint, dofs)]
    if joint.gear is not None:
        context.reporter.report(JOINT_REDUCED, joint.source, name=joint.name, what="the gear")
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


def _make_pair(joint: Joint, dofs: list[Dof]) -> JointPiece:
    if joint.kind is JointKind.GEARBOX and joint.gear is not None:
        kind = "gearbox"
    else:
        # universal asks for axes at right angles, revolute2 for any two.
        kind = "universal" if abs(float(dofs[0].axis @ dofs[1].axis)) <= _SQUARE else "revolute2"
    point = Pose(dofs[0].anchor, np.array(IDENTITY_QUAT))
    first, last = (dof.transform(np.zeros(1)) for dof in dofs)
    return JointPiece(kind, joint.public_name, dofs, _chain(first, point), _chain(~point, last))


def _make_piece(dof: Dof, name: str) -> JointPiece:
    if dof.motion is Motion.BALL:
        point = Pose(dof.anchor, np.array(IDENTITY_QUAT))
        return JointPiece("ball", name, [dof], point, ~point)
    point = Pose(dof.anchor, np.array(IDENTITY_QUAT)) if dof.motion is Motion.HINGE else IDENTITY
    return JointPiece(_name_kind(dof), name, [dof], point, _chain(~point, dof.transform(np.zeros(1))))


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


MIMIC = (1, 11)


def write_axis(context: SdfWriteContext, node: Element, tag: str, dof: Dof, joint: Joint) -> Element | None:
    """One freedom; a ball has an axis only for its damping."""
    if dof.motion is Motion.BALL:
        if dof.damping:
            axis = add(node, tag)
            add(axis, "xyz", [0.0, 0.0, 1.0])
            add(add(axis, "dynamics"), "damping", float(dof.damping))
        return None
    axis = add(node, tag)
    add(axis, "xyz", tidy(dof.axis))
    _add_values(axis, "limit", _list_limits(dof))
    _add_values(axis, "dynamics", _list_dynamics(dof))
    for owner in (joint.name, joint.path):
        # Written here and not with the rest: it is a child of the axis.
        kept = context.kept.get(owner, {}).get("initial_position")
        if kept is not None and kept.origin not in context.spent:
            context.spent.add(kept.origin)
            add(axis, "initial_position", kept.value)
    return axis


def _list_limits(dof: Dof) -> dict[str, float]:
    effort = dof.effort_limit
    # SDFormat has one limit for the joint; without it that of the drive is the nearest.
    if effort is None and dof.drive is not None and math.isfinite(dof.drive.max_force):
        effort = dof.drive.max_force
    values = {
        "lower": dof.lower if math.isfinite(dof.lower) else None,
        "upper": dof.upper if math.isfinite(dof.upper) else None,
        "effort": effort,
        "velocity": dof.velocity_limit,
        "stiffness": dof.limit_stiffness,
        "dissipation": dof.limit_damping,
    }
    return {tag: float(v) for tag, v in values.items() if v is not None and math.isfinite(v)}


def _list_dynamics(dof: Dof) -> dict[str, float]:
    values = {
        "damping": dof.damping,
        "friction": dof.friction,
        "spring_reference": dof.spring_ref,
        "spring_stiffness": dof.stiffness,
    }
    return {tag: float(v) for tag, v in values.items() if v is not None}


def _add_values(parent: Element, tag: str, values: dict[str, float]) -> None:
    if values:
        node = add(parent, tag)
        for name, value in values.items():
            add(node, name, value)


def write_mimics(context: SdfWriteContext) -> None:
    """``follower = multiplier * leader + offset``; polynomials have no place."""
    lost: list[Mimic] = []
    old: list[Mimic] = []
    for mimic in context.asset.mimics:
        follower, leader = context.dofs.get(mimic.follower), context.dofs.get(mimic.leader)
        name = refer(follower.model, leader.model, leader.joint) if follower and leader else None
        if not mimic.enabled or any(mimic.polynomial):
            continue
        if follower is None or leader is None or name is None:
            lost.append(mimic)
        elif not context.allows(MIMIC):
            old.append(mimic)
        else:
            _write_mimic(follower, leader, name, mimic)
    context.lose(
        "mimic(s) of joints", lost, "SDFormat has those of joints of the same model or one inside it"
    )
    if old:
        version = ".".join(map(str, context.version))
        words: dict[str, Any] = {"what": "mimics", "needed": "1.11", "version": version}
        context.report(VERSION_TOO_OLD, old, **words)


def _write_mimic(follower: WrittenAxis, leader: WrittenAxis, name: str, mimic: Mimic) -> None:
    node = add(follower.node, "mimic", joint=name)
    # "axis" is the default.
    if leader.node.tag != "axis":
        node.set("axis", leader.node.tag)
    add(node, "multiplier", float(mimic.multiplier))
    add(node, "offset", float(mimic.offset))
    add(node, "reference", 0.0)
