# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's connect and weld equalities, which sit on joints: they close loops and belong to no tree.

A connect holds a point: it is a ball joint whose anchor is that of ``physics:body0``; the other body is held
where that point is at the start, unless ``body0`` names a site, which then meets the other site.  A weld is a
fixed joint with both frames as authored.  Softness (solref, solimp, torqueScale) stays in the extras.
Joint equalities are mimics.
"""

from __future__ import annotations

from simwright.core.diag import Level, declare
from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.usd.scan import JOINT_TYPES, Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion

EQUALITY_MISPLACED = declare(
    "usd-equality-misplaced",
    Level.ERROR,
    "{api} is applied to {type} {name!r}, which is no joint; it has no effect",
    hint="apply connect to a PhysicsSphericalJoint, weld to a PhysicsFixedJoint",
    doc="The equality schemas of MuJoCo extend joints; the joint names the two bodies.",
)
EQUALITY_KIND = declare(
    "usd-equality-kind",
    Level.WARNING,
    "{api} is applied to joint {name!r} of type {type}; it is read as a {kind} joint",
    hint="use a {wanted}, so that other tools see the same constraint",
    doc="A connect holds a point and a weld a frame, whatever the joint says.",
)

_CONNECT = "MjcEqualityConnectAPI"
_WELD = "MjcEqualityWeldAPI"
_APIS = frozenset({_CONNECT, _WELD, "MjcEqualityJointAPI"})
_KINDS = {
    _WELD: (JointKind.FIXED, "PhysicsFixedJoint"),
    _CONNECT: (JointKind.BALL, "PhysicsSphericalJoint"),
}


def read_equalities(source: Source, scan: Scan) -> None:
    """Make closing joints of connects and welds."""
    joints: dict[str, Joint] | None = None
    for found in scan.all.values():
        applied = found.apis & _APIS
        if not applied:
            continue
        if found.type not in JOINT_TYPES:
            source.reporter.report(
                EQUALITY_MISPLACED,
                source.where(found),
                api=min(applied),
                type=found.type or "prim",
                name=found.prim.GetName(),
            )
            continue
        joints = joints or {joint.path: joint for joint in source.asset.joints}
        joint = joints.get(found.path)
        if joint is not None:
            _close(source, scan, found, joint)


def _close(source: Source, scan: Scan, found: Found, joint: Joint) -> None:
    api = next((api for api in _KINDS if api in found.apis), None)
    if api is None:
        return
    kind, wanted = _KINDS[api]
    joint.closes_loop = True
    if joint.kind is not kind:
        source.reporter.report(
            EQUALITY_KIND,
            source.where(found),
            api=api,
            name=joint.name,
            type=found.type,
            kind=kind.value,
            wanted=wanted,
        )
        joint.kind = kind
        joint.dofs = [Dof(Motion.BALL, name=joint.name)] if kind is JointKind.BALL else []
    if (
        kind is JointKind.BALL
        and not _names_site(source, scan, found)
        and "equality" not in source.note(found)
    ):
        _move_anchor(source, scan, found, joint)


def _names_site(source: Source, scan: Scan, found: Found) -> bool:
    targets = source.get_targets(found, "physics:body0")
    return any(site.path in targets for site in scan.sites)


def _move_anchor(source: Source, scan: Scan, found: Found, joint: Joint) -> None:
    """Put the point on ``body1`` where the point on ``body0`` is."""
    poses = {frame.name: frame.pose for frame in source.bodies.values()}
    parent, child = (poses.get(name, IDENTITY) for name in (joint.parent, joint.child))
    targets = source.get_targets(found, "physics:body0")
    target = scan.all.get(targets[0]) if targets else None
    first = source.body_of(target.owner).name if target else WORLD
    if first == joint.child:
        anchor = (child @ joint.child_frame).p
        joint.parent_frame = Pose((~parent).apply(anchor), joint.parent_frame.q)
    else:
        anchor = (parent @ joint.parent_frame).p
        joint.child_frame = Pose((~child).apply(anchor), joint.child_frame.q)
