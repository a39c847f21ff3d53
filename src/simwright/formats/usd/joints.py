# SPDX-License-Identifier: Apache-2.0
"""Joints (UsdPhysicsJoint and its kinds): which bodies they hold, and by which frames.

A relationship may name a body, anything below a body, a static prim, or nothing (the world).  A joint that
names only ``body0`` is turned round, so the world is always the parent; its axes are turned with it, so
that coordinates keep their sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import (
    IDENTITY,
    IDENTITY_QUAT,
    Pose,
    quat_conjugate,
    quat_multiply,
    quat_normalize,
)
from simwright.formats.usd.dofs import read_motion
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.noted_joints import arrange_dofs, turn_frames
from simwright.formats.usd.placement import decompose
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import WORLD_FRAME, ZERO, BodyFrame, Source
from simwright.formats.usd.units import read_bound
from simwright.model.joint import WORLD, Joint, JointKind

JOINT_TARGET_MISSING = declare(
    "usd-joint-target-missing",
    Level.ERROR,
    "joint {name!r} names {target} in {relationship}, which does not exist; the joint is left out",
    hint="correct the relationship, or clear it to mean the world",
    doc="A body relationship of a joint points to a prim that is not on the stage.",
    section="1.3",
    loss=True,
)
JOINT_TARGETS_MANY = declare(
    "usd-joint-targets-many",
    Level.WARNING,
    "{relationship} of joint {name!r} has {count} targets; the first, {target}, is used",
    hint="a joint side names one prim",
    doc="A body relationship of a joint has more than one target.",
)
JOINT_ON_ITSELF = declare(
    "usd-joint-on-itself",
    Level.ERROR,
    "joint {name!r} holds {body} against itself; it is left out",
    hint="name two different bodies, or leave one relationship empty for the world",
    doc="Both sides of a joint resolve to the same body, or both to the world.",
    section="1.3",
    loss=True,
)
JOINT_APART = declare(
    "usd-joint-frames-apart",
    Level.WARNING,
    "the two anchors of joint {name!r} are {distance:.3g} m apart",
    hint="make physics:localPos0 and localPos1 meet where the bodies stand",
    doc="A joint that holds a point together has two different points as the stage stands; a simulator will "
    "pull the bodies at the start.",
)

_APART = 1e-3
_SINGLE, _DOUBLE = 1e-6, 1e-12
"""What single and double precision leave between frames that meet [m, rad]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One end of a joint: the body and the joint's frame on it."""

    body: BodyFrame
    frame: Pose

    @property
    def anchor(self) -> tuple[float, float, float]:
        """The joint's point in the asset frame."""
        return self.body.pose.move(self.frame.p.tolist())


def read_joints(source: Source, scan: Scan) -> None:
    """Add every joint that has two ends."""
    names = name_prims(scan.joints, noted=source.noted)
    for found in scan.joints:
        joint = _read_joint(source, scan, found, names[found.path])
        if joint is not None:
            source.joints[found.path] = joint.name
            source.asset.joints.append(joint)


def _read_joint(source: Source, scan: Scan, found: Found, name: str) -> Joint | None:
    first = _read_side(source, scan, found, name, 0)
    second = _read_side(source, scan, found, name, 1)
    if first is None or second is None:
        return None
    if first.body.name == second.body.name:
        body = f"body {first.body.name!r}" if first.body.name else "the world"
        source.reporter.report(JOINT_ON_ITSELF, source.where(found), name=name, body=body)
        return None
    turned = second.body.name == WORLD
    parent, child = (second, first) if turned else (first, second)
    units = source.units
    kind, dofs, distance = read_motion(source, found, name)
    frames = (parent.frame, child.frame)
    if source.noted:
        note = source.note(found)
        arrange_dofs(note, dofs)
        frames = turn_frames(note, dofs, frames)
    if turned:
        for dof in dofs:
            dof.axis = -dof.axis
        dofs.reverse()
    joint = Joint(
        name=name,
        kind=kind,
        parent=parent.body.name,
        child=child.body.name,
        parent_frame=frames[0],
        child_frame=frames[1],
        dofs=dofs,
        enabled=source.get_flag(found, "physics:jointEnabled", True),
        closes_loop=source.get_flag(found, "physics:excludeFromArticulation", False),
        collide=source.get_flag(found, "physics:collisionEnabled", False),
        break_force=read_bound(source.get_number(found, "physics:breakForce", math.inf), units.force),
        break_torque=read_bound(source.get_number(found, "physics:breakTorque", math.inf), units.inertia),
        distance=distance,
        ros_name=str(source.get_authored(found, "ros:joint:name") or ""),
        path=found.path,
        source=source.where(found),
    )
    _check_anchors(source, joint, parent, child)
    if not source.exact and kind is not JointKind.DISTANCE:
        _let_meet(joint, parent.body.pose, child.body.pose)
    return joint


def _read_side(source: Source, scan: Scan, found: Found, name: str, number: int) -> _Side | None:
    """The body and frame that ``body0`` or ``body1`` name; None if the target does not exist."""
    relationship = f"physics:body{number}"
    targets = source.get_targets(found, relationship)
    local = _read_frame(source, found, number)
    if not targets or targets[0] == "/":
        return _Side(WORLD_FRAME, source.units.turn @ local)
    if len(targets) > 1:
        source.reporter.report(
            JOINT_TARGETS_MANY,
            source.where(found, relationship),
            name=name,
            relationship=relationship,
            count=len(targets),
            target=targets[0],
        )
    target = scan.all.get(targets[0])
    if target is None:
        where = source.where(found, relationship)
        source.reporter.report(
            JOINT_TARGET_MISSING, where, name=name, relationship=relationship, target=targets[0]
        )
        return None
    body = source.body_of(target.owner)
    if target.path == target.owner and body.is_exact:
        return _Side(body, local if body.is_plain else Pose(body.scale * local.p, local.q))
    matrix = source.world_matrix(target)
    world = Pose(matrix[:3, :3] @ local.p + matrix[:3, 3], quat_multiply(decompose(matrix).pose.q, local.q))
    return _Side(body, ~body.pose @ world)


def _read_frame(source: Source, found: Found, number: int) -> Pose:
    """The joint's frame as authored, in the space of the prim it names."""
    x, y, z = source.get_finite(found, f"physics:localPos{number}", ZERO)
    turn = source.get_finite(found, f"physics:localRot{number}", (0.0, 0.0, 0.0, 0.0))
    length = source.units.length
    rotation = IDENTITY.q if turn == IDENTITY_QUAT else quat_normalize(turn)
    return Pose(np.array((x * length, y * length, z * length)), rotation)


def _let_meet(joint: Joint, parent: Pose, child: Pose) -> None:
    """Let frames that meet but for single precision do so in double, which the transforms of bodies have.

    The frame on the parent follows; of a joint that closes a loop, the one on the child.
    """
    ends = [(parent, joint.parent_frame), (child, joint.child_frame)]
    if joint.closes_loop:
        ends.reverse()
    (body, own), (other, kept) = ends
    anchor = other.move(kept.p.tolist())
    turn, now = (
        quat_multiply(pose.q.tolist(), frame.q.tolist()) for pose, frame in ((other, kept), (body, own))
    )
    p, q = own.p, own.q
    if _DOUBLE < math.dist(body.move(p.tolist()), anchor) <= _SINGLE:
        p = np.array((~body).move(anchor))
    if _DOUBLE < 2.0 * min(math.dist(now, turn), math.dist(now, -turn)) <= _SINGLE:
        q = quat_normalize(quat_multiply(quat_conjugate(body.q), turn))
    if joint.closes_loop:
        joint.child_frame = Pose(p, q)
    else:
        joint.parent_frame = Pose(p, q)


def _check_anchors(source: Source, joint: Joint, parent: _Side, child: _Side) -> None:
    """Joints that let nothing slide hold one point of the parent on one of the child."""
    if joint.kind not in (JointKind.FIXED, JointKind.REVOLUTE, JointKind.BALL) or not joint.enabled:
        return
    distance = math.dist(parent.anchor, child.anchor)
    if distance > _APART:
        source.reporter.report(JOINT_APART, joint.source, name=joint.name, distance=distance)
