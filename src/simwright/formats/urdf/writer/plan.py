# SPDX-License-Identifier: Apache-2.0
"""The one tree that URDF wants: a root link, and a joint for every other one; frames are links too.

A robot that floats has its base as the root, or the frame of the base that stands at the origin (base_footprint).
Where something is fixed to the world, or several parts stand side by side, the root is the link ``world``; what floats
beside it hangs on a floating joint.

A joint of the model becomes URDF joints that have one freedom each, about the origin of the link it leads to.
The pose of the child in the parent is ``near @ D1(q1) @ D2(q2) ... @ ~far``.  A freedom may be seen from any frame
``G`` on its axis: ``D(q) = G @ M(q) @ ~G``, where ``M`` moves about the origin.  The last one takes ``G = ~far`` where
that lies on its axis, so that the frame of the link is that of the body; otherwise a fixed joint follows.
A reference coordinate is turned into the origin, so that coordinates keep their meaning.

Sites, optical frames of cameras and places of sensors are links without anything, fixed to theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from simwright.formats.urdf.writer.document import WORLD_LINK, UrdfDocument, UrdfJoint
from simwright.formats.urdf.writer.messages import (
    BALL_EXPANDED,
    BODY_STILL,
    EMPTY,
    FLOATS,
    JOINT_EXPANDED,
    JOINT_REVERSED,
    LOOP_LEFT_OUT,
)
from simwright.model.asset import Body, Camera, Sensor, Site
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion
from simwright.model.kinematics import Edge

# How far from the origin a frame at the origin may be [m, and as much in a quaternion].
_AT_ORIGIN = 1e-9


# one function: what the root is decides what every other link hangs on
def plan_tree(document: UrdfDocument, *, world_used: bool) -> None:
    """Fill ``links`` and ``joints``; ``world_used`` tells that the world has shapes to write."""
    asset, edges = document.asset, document.tree.parents()
    floating = [body for body in asset.bodies if _is_floating(body, edges.get(body.name))]
    loose = {body.name for body in floating}
    anchored = [b for b in asset.bodies if b.name not in loose and _find_parent(edges.get(b.name)) == WORLD]
    # one body that floats alone is the root itself; anything else needs a link that stands for the world
    if anchored or world_used or len(floating) != 1:
        document.links[WORLD] = WORLD_LINK
    if not asset.bodies and not world_used:
        document.reporter.report(EMPTY, name=asset.name)
    for body in asset.bodies:
        document.links[body.name] = document.claim("link", body.name)
    document.joints = _list_joints(document, edges, loose)
    _report_tree(document, floating)


def _list_joints(document: UrdfDocument, edges: dict[str, Edge], loose: set[str]) -> list[UrdfJoint]:
    """The joints that hold each body, those of the model in its order, after those that it does not have."""
    asset = document.asset
    order = {id(joint): number for number, joint in enumerate(asset.joints)}
    rows: list[tuple[int, list[UrdfJoint]]] = []
    for number, body in enumerate(asset.bodies):
        edge = edges.get(body.name)
        if body.name in loose:
            held = _join_floating(document, body, edge)
        elif edge is None:
            held = _fix_to_world(document, body)
        else:
            held = _join_by_edge(document, body, edge)
        # negative for bodies that no joint holds, so that they come first
        place = order[id(edge.joint)] if edge is not None else number - len(asset.bodies)
        rows.append((place, held))
    return [joint for _, held in sorted(rows, key=lambda row: row[0]) for joint in held]


def _find_parent(edge: Edge | None) -> str:
    return WORLD if edge is None else edge.parent


# in URDF a root link floats unless something holds it
def _is_floating(body: Body, edge: Edge | None) -> bool:
    """Nothing holds it: no joint, or one to the world that leaves everything free."""
    if edge is None:
        return body.enabled and not body.kinematic
    return edge.parent == WORLD and [dof.motion for dof in edge.joint.dofs] == [Motion.FREE]


def _join_floating(document: UrdfDocument, body: Body, edge: Edge | None) -> list[UrdfJoint]:
    if WORLD not in document.links:
        return _stand_on_frame(document, body)
    joint = None if edge is None else edge.joint
    name = document.claim("joint", f"{body.name}_free" if joint is None else joint.public_name)
    child = document.links[body.name]
    return [UrdfJoint(name, "floating", WORLD_LINK, child, body.pose, joint=joint, body=body)]


def _stand_on_frame(document: UrdfDocument, body: Body) -> list[UrdfJoint]:
    """Nothing for a base at the origin; else its frame there is the root, so that the base is where it was."""
    # a base away from the origin needs a frame there, because URDF places the root at the origin
    if body.pose.is_identity(_AT_ORIGIN):
        return []
    sites = [site for site in document.asset.sites if site.body == body.name]
    front = next((s for s in sites if (body.pose @ s.pose).is_identity(_AT_ORIGIN)), None)
    if front is None:
        document.report_lost(
            "pose at the start", [body], "place the robot in the simulator, or by a joint to the world"
        )
        return []
    # it is the root link now, and must not be written as a frame again
    document.root_site = front
    link = document.claim("link", front.ros_frame or front.name)
    document.bare_links.append(link)
    name = document.claim("joint", f"{link}_joint")
    return [UrdfJoint(name, "fixed", link, document.links[body.name], body.pose, body=body)]


def _fix_to_world(document: UrdfDocument, body: Body) -> list[UrdfJoint]:
    why = "is moved from outside" if body.kinematic else "is switched off"
    document.reporter.report(BODY_STILL, body.source, name=body.name, why=why)
    name = document.claim("joint", f"{body.name}_fixed")
    return [UrdfJoint(name, "fixed", WORLD_LINK, document.links[body.name], body.pose, body=body)]


def _join_by_edge(document: UrdfDocument, body: Body, edge: Edge) -> list[UrdfJoint]:
    joint = edge.joint
    near, far, dofs = joint.parent_frame, joint.child_frame, list(joint.dofs)
    if edge.reversed:
        # seen from the child the last freedom comes first
        near, far, dofs = far, near, [_invert_dof(dof) for dof in reversed(dofs)]
        if dofs:
            document.reporter.report(JOINT_REVERSED, joint.source, name=joint.name)
    return _expand_joint(document, joint, (near, far), dofs, (document.links[edge.parent], body))


def _invert_dof(dof: Dof) -> Dof:
    """The same freedom seen from the other side."""
    twin = Dof(**{name: getattr(dof, name) for name in dof.__slots__})
    twin.axis = -dof.axis
    return twin


def _report_tree(document: UrdfDocument, floating: list[Body]) -> None:
    tree = document.tree
    # distance joints are reported by the table of holds
    loops = [joint for joint in tree.loops if joint.kind is not JointKind.DISTANCE]
    if loops:
        document.reporter.report(LOOP_LEFT_OUT, loops[0].source, count=len(loops), first=loops[0].name)
    document.report_lost("joint(s) to bodies that do not exist", tree.dangling, "correct the names")
    if WORLD in document.links and floating:
        first_body = floating[0]
        document.reporter.report(FLOATS, first_body.source, count=len(floating), first=first_body.name)


def _add_frame(document: UrdfDocument, name: str, parent: str, pose: Pose) -> str:
    """A link without anything, fixed to another one; gives its name."""
    link = document.claim("link", name)
    document.bare_links.append(link)
    document.joints.append(UrdfJoint(document.claim("joint", f"{link}_joint"), "fixed", parent, link, pose))
    return link


# How far from an axis a point on it may lie [m]: OpenUSD holds frames of joints in single precision, which is 4e-9 at
# 5 cm, and a joint beside its axis becomes two, with a link between them.  More would not be the same robot: 2e-8
# beside the axis of a foot is 4e-7 of its mass matrix.
_ON_AXIS = 4e-9
_AXIS_LETTERS = "xyz"


@dataclass(slots=True, eq=False)
class _SingleJoint:
    """One URDF joint to be: a hinge, a slide, or all freedoms at once."""

    name: str
    motion: Motion
    axis: Array
    anchor: Array
    dof: Dof | None
    ref: float = 0.0
    pitch: float = 0.0


def _expand_joint(
    document: UrdfDocument, joint: Joint, frames: tuple[Pose, Pose], dofs: list[Dof], ends: tuple[str, Body]
) -> list[UrdfJoint]:
    """The chain of URDF joints from a link to the link of a body."""
    (near, far), (parent, body) = frames, ends
    child = document.links[body.name]
    if not dofs:
        name = document.claim("joint", joint.public_name)
        return [UrdfJoint(name, "fixed", parent, child, near @ ~far, joint=joint, body=body)]
    # the only joint with several freedoms that URDF has, besides floating
    if _is_planar(joint, dofs, far):
        name = document.claim("joint", joint.public_name)
        return [UrdfJoint(name, "planar", parent, child, near, dofs[2].axis, joint, dofs[2], body=body)]
    pieces = [piece for number, dof in enumerate(dofs) for piece in _split_dof(document, joint, dof, number)]
    joints: list[UrdfJoint] = []
    frame = near
    leader = ""
    for number, piece in enumerate(pieces):
        is_last = number == len(pieces) - 1
        # the last joint leads to the link of the body where their frames can be one
        ends_here = is_last and _can_end_at(piece, ~far)
        seat = ~far if ends_here else Pose(piece.anchor, np.array(IDENTITY_QUAT))
        axis = quat_rotate(quat_conjugate(seat.q), piece.axis)
        urdf_joint = _make_joint(document, joint, piece, (parent, frame @ seat, axis))
        urdf_joint.child = child if ends_here else _claim_link_between(document, urdf_joint.name)
        urdf_joint.body = body if ends_here else None
        if piece.pitch:
            # the advance of a screw follows its angle, counted from the reference
            urdf_joint.follows = (leader, piece.pitch, -piece.pitch * piece.ref)
            urdf_joint.origin = frame @ seat
        leader, parent, frame = urdf_joint.name, urdf_joint.child, ~seat
        joints.append(urdf_joint)
    if parent != child:
        name = document.claim("joint", f"{child}_fixed")
        joints.append(UrdfJoint(name, "fixed", parent, child, frame @ ~far, joint=joint, body=body))
    _report_expansion(document, joint, dofs, joints)
    return joints


def _is_planar(joint: Joint, dofs: list[Dof], far: Pose) -> bool:
    """Is it just what URDF calls planar?  Two slides in the plane as readers take them, and a turn about its normal."""
    # readers choose x and y in the plane by themselves, so others would be lost
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


def _split_dof(document: UrdfDocument, joint: Joint, dof: Dof, number: int) -> list[_SingleJoint]:
    single = len(joint.dofs) == 1
    name = joint.public_name if single else dof.name or f"{joint.public_name}_{number}"
    if dof.motion is Motion.BALL:
        document.reporter.report(BALL_EXPANDED, joint.source, name=joint.name)
        # three hinges about x, y, z: the same rotations, other coordinates
        rows = zip(_AXIS_LETTERS, np.eye(3), strict=True)
        return [
            _SingleJoint(f"{name}_{letter}", Motion.HINGE, axis, dof.anchor, None) for letter, axis in rows
        ]
    if dof.motion is Motion.FREE:
        return [_SingleJoint(name, Motion.FREE, vec3(0, 0, 1), vec3(), dof)]
    anchor = dof.anchor if dof.motion is Motion.HINGE else vec3()
    pieces = [_SingleJoint(name, dof.motion, dof.axis, anchor, dof, dof.ref)]
    if dof.pitch:
        pieces.append(
            _SingleJoint(f"{name}_advance", Motion.SLIDE, dof.axis, anchor, None, dof.ref, dof.pitch)
        )
    return pieces


def _can_end_at(piece: _SingleJoint, seat: Pose) -> bool:
    """Is a frame on the axis of a hinge?  A slide is the same from everywhere."""
    if piece.motion is Motion.SLIDE:
        return True
    if piece.motion is Motion.FREE:
        return seat.is_identity(1e-12)
    beside = float(np.linalg.norm(np.cross(seat.p - piece.anchor, piece.axis)))
    return beside <= _ON_AXIS


def _make_joint(
    document: UrdfDocument, joint: Joint, piece: _SingleJoint, place: tuple[str, Pose, Array]
) -> UrdfJoint:
    parent, origin, axis = place
    if piece.motion is Motion.FREE:
        word, turned = "floating", IDENTITY
    elif piece.motion is Motion.SLIDE:
        word, turned = "prismatic", Pose.of(-piece.ref * axis)
    else:
        # URDF calls a hinge without limits continuous
        limited = piece.dof is not None and piece.dof.is_limited
        word = "revolute" if limited else "continuous"
        turned = Pose.of(q=quat_from_axis_angle(axis, -piece.ref))
    name = document.claim("joint", piece.name)
    urdf_joint = UrdfJoint(name, word, parent, "", origin, joint=joint, dof=piece.dof)
    if piece.ref:
        urdf_joint.origin = origin @ turned
    if piece.motion is not Motion.FREE:
        urdf_joint.axis = axis
    if piece.dof is not None and piece.dof.name:
        document.dofs[piece.dof.name] = urdf_joint
    return urdf_joint


def _claim_link_between(document: UrdfDocument, joint: str) -> str:
    link = document.claim("link", f"{joint}_link")
    document.bare_links.append(link)
    return link


def _report_expansion(document: UrdfDocument, joint: Joint, dofs: list[Dof], joints: list[UrdfJoint]) -> None:
    if len(joints) > 1 and not any(dof.motion is Motion.BALL for dof in dofs):
        if len(dofs) > 1:
            why = f"it has {len(dofs)} degrees of freedom"
        elif dofs[0].pitch:
            why = "a screw turns and advances, the second follows the first"
        else:
            why = "its axis does not pass through the frame of its child"
        document.reporter.report(JOINT_EXPANDED, joint.source, name=joint.name, count=len(joints), why=why)


OPTICAL = Pose.of(q=(0.0, 1.0, 0.0, 0.0))
"""Half a turn about X: from looking along -Z with +Y up to +Z with -Y up (REP 103)."""


def write_frames(document: UrdfDocument) -> None:
    """Every frame that is not there yet, by name."""
    known = set(document.links.values())
    homeless: list[Site | Camera | Sensor] = []
    for element, name, pose in _list_frames(document):
        parent = document.links.get(element.body)
        if parent is None:
            homeless.append(element)
        # sites are frames by themselves; a camera or sensor may look from one that is there
        elif isinstance(element, Site) or not (name in known or _has_site(document, element, pose)):
            known.add(name)
            _add_frame(document, name, parent, pose)
    document.report_lost(
        "frame(s) in the world", homeless, "the robot floats, so the file has no world", moves=False
    )


def _list_frames(document: UrdfDocument) -> Iterator[tuple[Site | Camera | Sensor, str, Pose]]:
    """Elements that have a frame, with its name and its pose on the body."""
    for site in document.asset.sites:
        if site is not document.root_site:
            yield site, site.ros_frame or site.name, site.pose
    for camera in document.asset.cameras:
        yield camera, _name_optical(camera), camera.pose @ OPTICAL
    for sensor in document.asset.sensors:
        # one at the origin of its link measures in the frame of the link
        if not sensor.pose.is_identity(1e-12):
            yield sensor, _find_frame(document, sensor), sensor.pose


def _name_optical(camera: Camera) -> str:
    return (
        camera.name
        if camera.name.endswith(("_optical_frame", "_optical"))
        else f"{camera.name}_optical_frame"
    )


def _find_frame(document: UrdfDocument, sensor: Sensor) -> str:
    """The frame that the messages of a sensor name, else one called like it."""
    frames = (i.frame_override for i in document.asset.interfaces if i.at == sensor.name and i.frame_override)
    return next(frames, sensor.name)


def _has_site(document: UrdfDocument, element: Camera | Sensor, pose: Pose) -> bool:
    """Does a site stand there already, or a link that is fixed to the same one?"""
    places = [site.pose for site in document.asset.sites if site.body == element.body]
    places += [
        joint.transform(())
        for joint in document.asset.joints
        if joint.kind is JointKind.FIXED and joint.parent == element.body
    ]
    return any(place.is_close(pose, 1e-9) for place in places)
