# SPDX-License-Identifier: Apache-2.0
"""``<joint>``: all nine types, loops as they are.

A joint stands in the innermost model that holds both its ends.  Joints with other freedoms become chains, with links
between them that weigh next to nothing, which is reported.  Points and frames that are held together are joints too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Pose, quat_angle
from simwright.formats.sdf.document import CLOSES_LOOP
from simwright.formats.sdf.writer.axes import write_axis
from simwright.formats.sdf.writer.draft import Axis, Draft, Mounting, Room, Seat, add, add_pose, refer
from simwright.formats.sdf.writer.freedoms import Piece, cut_joint, settle_ends
from simwright.formats.sdf.writer.inertials import INVENTED, add_inertial, make_light
from simwright.formats.sdf.writer.messages import (
    EQUALITY_AS_JOINT,
    JOINT_EXPANDED,
    JOINT_REDUCED,
    LOOP_OPEN,
    VERSION_TOO_OLD,
)
from simwright.formats.sdf.writer.plan import strip_scope
from simwright.formats.xml import Element
from simwright.model.joint import WORLD, Dof, Equality, EqualityKind, Joint, JointKind, Motion

SHARE = 1e-8
"""What a link between freedoms weighs, as a share of the body they lead to."""
_APART = 1e-6
WORLD_JOINTS = (1, 10)
SCREW_PITCH = (1, 10)
_AXES = ("axis", "axis2")


class JointWriter:
    """Writes joints; keeps what has to be said about them."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._homeless: list[Any] = []
        self._looped = {id(joint) for joint in draft.tree.loops}

    def write_all(self) -> None:
        """Every joint in the order of the asset, then constraints that are joints."""
        draft = self._draft
        for joint in draft.asset.joints:
            if joint.enabled and id(joint) not in draft.folded and not self._is_dangling(joint):
                self.write(joint)
        held = [e for e in draft.asset.equalities if self._write_equality(e)]
        if held:
            draft.report(EQUALITY_AS_JOINT, held)
        if self._homeless:
            version = ".".join(map(str, draft.version))
            draft.report(
                VERSION_TOO_OLD, self._homeless, what="joints between models", needed="1.10", version=version
            )

    def _is_dangling(self, joint: Joint) -> bool:
        seats = self._draft.seats
        ends = (joint.parent, joint.child)
        if joint.kind is JointKind.DISTANCE or ends[0] == ends[1]:
            return True
        return any(end != WORLD and end not in seats for end in ends)

    def write(self, joint: Joint) -> None:
        """One joint: nothing for a body that moves freely."""
        draft = self._draft
        ends = settle_ends(draft, joint)
        if any(dof.motion is Motion.FREE for dof in ends.dofs):
            return
        pieces = cut_joint(draft, joint, ends.dofs)
        child = draft.seats[ends.child]
        room = self._find_room(joint, ends.parent, child)
        if room is None:
            return
        start = IDENTITY if ends.parent == WORLD else draft.poses[ends.parent]
        if not self._is_closed(joint, pieces, start @ ends.near, draft.poses[ends.child] @ ends.far):
            return
        parent, frame = self._name_end(room, ends.parent), ends.near
        for piece in pieces[:-1]:
            frame = frame @ piece.before
            name = self._add_between(room, start @ frame, piece.name, ends.child)
            node = self._add_joint(room, joint, piece, (parent, name), IDENTITY)
            self._keep(joint, room, node, IDENTITY)
            parent, start, frame = name, start @ frame, piece.after
        last = pieces[-1]
        if len(pieces) > 1:
            draft.reporter.report(
                JOINT_EXPANDED, joint.source, name=joint.name, count=len(pieces), share=SHARE
            )
        draft.expanded.update([id(joint)] if len(pieces) > 1 else [])
        place = ends.far if last.after.is_identity() else ends.far @ ~last.after
        name = self._name_end(room, ends.child)
        node = self._add_joint(room, joint, last, (parent, name), place)
        if id(joint) in self._looped:
            node.set(CLOSES_LOOP, "true")
        self._keep(joint, room, node, child.offset @ place)

    def _find_room(self, joint: Joint | Equality, parent: str, child: Seat) -> Room | None:
        """The innermost model with both ends; a joint to the world belongs to its child."""
        if parent == WORLD:
            return child.room
        first, second = self._draft.seats[parent].room.path(), child.room.path()
        shared = [a for a, b in zip(first, second, strict=False) if a is b]
        room = shared[-1]
        if room.is_world and not self._draft.allows(WORLD_JOINTS):
            self._homeless.append(joint)
            return None
        return room

    def _name_end(self, room: Room, body: str) -> str:
        if body == WORLD:
            return "world"
        seat = self._draft.seats[body]
        name = refer(room, seat.room, seat.name)
        assert name is not None, "both ends are in the room of a joint"
        return name

    def _add_between(self, room: Room, pose: Pose, word: str, child: str) -> str:
        draft = self._draft
        name = draft.claim(room.names, "link", f"{word}_link")
        link = add(room.node, "link", name=name)
        add_pose(link, ~room.base @ pose)
        inertial = draft.inertials.get(child)
        mass = inertial.mass if inertial is not None and inertial.mass > 0.0 else INVENTED
        add_inertial(link, make_light(mass * SHARE))
        return name

    def _add_joint(
        self, room: Room, joint: Joint, piece: Piece, ends: tuple[str, str], place: Pose
    ) -> Element:
        draft = self._draft
        name = strip_scope(piece.name, _scope_of(room, draft))
        name = draft.claim(room.names, "joint", f"{name}_joint" if name in room.names else name)
        node = add(room.node, "joint", name=name, type=piece.kind)
        add_pose(node, place)
        add(node, "parent", ends[0])
        add(node, "child", ends[1])
        for tag, dof in zip(_AXES, piece.dofs, strict=False):
            axis = write_axis(draft, node, tag, dof, joint)
            if axis is not None and dof.name:
                draft.dofs[dof.name] = Axis(room, name, axis)
        if piece.kind == "gearbox":
            self._write_gear(room, joint, node)
        elif piece.kind == "screw":
            self._write_pitch(node, piece.dofs[0])
        return node

    def _keep(self, joint: Joint, room: Room, node: Element, frame: Pose) -> None:
        self._draft.mountings[joint.name] = Mounting(room, str(node.get("name")), node, frame)

    def _write_gear(self, room: Room, joint: Joint, node: Element) -> None:
        """The model has ``angle1 = -ratio * angle2``, SDFormat the other way round."""
        gear = joint.gear
        assert gear is not None
        add(node, "gearbox_ratio", 1.0 / gear.ratio)
        if gear.reference == WORLD:
            return
        seat = self._draft.seats.get(gear.reference)
        name = refer(room, seat.room, seat.name) if seat is not None else None
        if name is None:
            self._draft.reporter.report(
                JOINT_REDUCED, joint.source, name=joint.name, what="the reference of the gear"
            )
        else:
            add(node, "gearbox_reference_body", name)

    def _write_pitch(self, node: Element, dof: Dof) -> None:
        """Metres for each turn; before 1.10 radians for each metre of a left-handed thread."""
        if self._draft.version >= SCREW_PITCH:
            add(node, "screw_thread_pitch", dof.pitch * 2.0 * math.pi)
        else:
            add(node, "thread_pitch", -1.0 / dof.pitch)

    def _is_closed(self, joint: Joint, pieces: list[Piece], one: Pose, other: Pose) -> bool:
        """A joint of the tree is closed by the way its links are placed; a loop may not be."""
        if id(joint) not in self._looped:
            return True
        for piece in pieces:
            one = one @ piece.before @ piece.after
        distance, angle = float(np.linalg.norm(one.p - other.p)), quat_angle(one.q, other.q)
        if any(dof.motion is Motion.BALL for dof in joint.dofs):
            angle = 0.0
        if distance <= _APART and angle <= _APART:
            return True
        self._draft.reporter.report(LOOP_OPEN, joint.source, name=joint.name, distance=distance, angle=angle)
        return False

    def _write_equality(self, equality: Equality) -> bool:
        """Points held together are a ball joint, frames held together a fixed one."""
        kinds = {EqualityKind.CONNECT: JointKind.BALL, EqualityKind.WELD: JointKind.FIXED}
        if equality.kind not in kinds or not equality.enabled:
            return False
        names = {WORLD, *self._draft.seats}
        if equality.a == equality.b or not {equality.a, equality.b} <= names:
            return False
        kind = kinds[equality.kind]
        joint = Joint(
            equality.name or f"{equality.a}_{equality.b}",
            kind,
            equality.a,
            equality.b,
            equality.frame_a,
            equality.frame_b,
            [Dof(Motion.BALL, name=equality.name)] if kind is JointKind.BALL else [],
            closes_loop=True,
            source=equality.source,
        )
        self._looped.add(id(joint))
        self.write(joint)
        return joint.name in self._draft.mountings


def _scope_of(room: Room, draft: Draft) -> str:
    """The scope that names of the source have before them inside a model."""
    path = [inner.name for inner in room.path() if not inner.is_world]
    return "::".join(path if draft.top.is_world else path[1:])
