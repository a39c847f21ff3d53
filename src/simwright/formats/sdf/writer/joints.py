# SPDX-License-Identifier: Apache-2.0
"""``<joint>``: all nine types, the ``<axis>`` of each freedom, loops as they are.

A joint stands in the innermost model that holds both its ends.  Joints with other freedoms become chains, with links
between them that weigh next to nothing, which is reported.  Points and frames that are held together are joints too.

The freedoms of a joint are cut into what SDFormat has one joint for.  The child moves in the parent by ``near @
D1(q1) @ D2(q2) ... @ ~far``.  A freedom that counts from a reference is, at zero, already moved by ``Z``; about its
own axis that commutes, so ``Z`` goes to the parent's frame for the first freedom of a piece and to the child's frame
for its last.

An axis has its direction in the joint frame, limits and dynamics; ``<mimic>`` (1.11) is added when all joints are
written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, IDENTITY_QUAT, Pose, quat_angle
from simwright.formats.holds import report_lost
from simwright.formats.parts.numbers import tidy
from simwright.formats.sdf.document import CLOSES_LOOP
from simwright.formats.sdf.writer.context import (
    ModelElement,
    SdfWriteContext,
    WrittenAxis,
    WrittenJoint,
    WrittenLink,
    add,
    add_pose,
    refer,
    strip_scope,
)
from simwright.formats.sdf.writer.inertials import add_inertial, make_light
from simwright.formats.sdf.writer.kept import put
from simwright.formats.sdf.writer.messages import (
    EQUALITY_AS_JOINT,
    JOINT_EXPANDED,
    JOINT_REDUCED,
    JOINT_REVERSED,
    LOOP_LEFT_OUT,
    LOOP_OPEN,
    VERSION_TOO_OLD,
)
from simwright.formats.xml import ROTOR_WORD, Element
from simwright.model.inertia import LEAST_MASS
from simwright.model.joint import WORLD, Dof, Equality, EqualityKind, Joint, JointKind, Mimic, Motion
from simwright.model.servo import has_one_axis, has_rotor, pulls_to_position

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
    # SDFormat has one limit for the joint; without it, and without a controller, that of the drive is the nearest.
    is_held = pulls_to_position(dof)
    if effort is None and dof.drive is not None and not is_held and math.isfinite(dof.drive.max_force):
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


SHARE = 1e-8
"""What a link between freedoms weighs, as a share of the body they lead to."""
_APART = 1e-6
WORLD_JOINTS = (1, 10)
SCREW_PITCH = (1, 10)
_AXES = ("axis", "axis2")
_HOLDING = {EqualityKind.CONNECT: JointKind.BALL, EqualityKind.WELD: JointKind.FIXED}


class JointWriter:
    """Writes joints; keeps what has to be said about them."""

    def __init__(self, context: SdfWriteContext) -> None:
        self._context = context
        self._homeless: list[Any] = []
        self._rotors: list[Dof] = []
        self._looped = {id(joint) for joint in context.tree.loops}

    def write_all(self) -> None:
        """Every joint in the order of the asset, then constraints that are joints."""
        context = self._context
        left_out = self._list_left_out()
        skipped = {*context.folded, *map(id, left_out)}
        for joint in context.asset.joints:
            if joint.enabled and id(joint) not in skipped and not self._is_dangling(joint):
                self.write(joint)
        held = [e for e in context.asset.equalities if id(e) not in skipped and self._write_equality(e)]
        if held:
            context.report(EQUALITY_AS_JOINT, held)
        if left_out:
            context.report(LOOP_LEFT_OUT, left_out)
        self._report_rotors()
        if self._homeless:
            version = ".".join(map(str, context.version))
            context.report(
                VERSION_TOO_OLD, self._homeless, what="joints between models", needed="1.10", version=version
            )

    def _report_rotors(self) -> None:
        """Gazebo knows no armature.  What comes from an SDFormat file moves there as it did."""
        if not self._rotors:
            return
        what = f"the armature of {len(self._rotors)} joint{'s' if len(self._rotors) > 1 else ''}"
        advice = f"Drake reads it as <{ROTOR_WORD}>, Gazebo does not"
        report_lost(
            self._context.reporter,
            "SDFormat",
            what,
            self._rotors,
            moves=True,
            advice=advice,
            aspect="joints.dofs.armature",
        )

    def _list_left_out(self) -> list[Joint | Equality]:
        """Joints and constraints that close loops, where the engine that the file is for refuses those."""
        context = self._context
        if context.options.loops:
            return []
        joints = [joint for joint in context.asset.joints if joint.enabled and id(joint) in self._looped]
        return joints + [e for e in context.asset.equalities if e.enabled and e.kind in _HOLDING]

    def _is_dangling(self, joint: Joint) -> bool:
        written_links = self._context.written_links
        ends = (joint.parent, joint.child)
        if joint.kind is JointKind.DISTANCE or ends[0] == ends[1]:
            return True
        return any(end != WORLD and end not in written_links for end in ends)

    def write(self, joint: Joint) -> None:
        """One joint: nothing for a body that moves freely."""
        context = self._context
        ends = find_joint_ends(context, joint)
        # A link without a joint is free in SDFormat.
        if any(dof.motion is Motion.FREE for dof in ends.dofs):
            return
        pieces = split_joint(context, joint, ends.dofs)
        child = context.written_links[ends.child]
        model = self._find_model(joint, ends.parent, child)
        if model is None:
            return
        start = IDENTITY if ends.parent == WORLD else context.poses[ends.parent]
        # Before anything is written: a loop that is open at zero is left out whole.
        if not self._is_closed(joint, pieces, start @ ends.near, context.poses[ends.child] @ ends.far):
            return
        parent, frame = self._name_end(model, ends.parent), ends.near
        for piece in pieces[:-1]:
            # Each piece ends on a link of its own, at the frame of the next one.
            frame = frame @ piece.before
            name = self._add_between(model, start @ frame, piece.name, ends.child)
            node = self._add_joint(model, joint, piece, (parent, name), IDENTITY)
            self._keep(joint, model, node, IDENTITY)
            parent, start, frame = name, start @ frame, piece.after
        last = pieces[-1]
        if len(pieces) > 1:
            context.reporter.report(
                JOINT_EXPANDED, joint.source, name=joint.name, count=len(pieces), share=SHARE
            )
        context.expanded.update([id(joint)] if len(pieces) > 1 else [])
        place = ends.far if last.after.is_identity() else ends.far @ ~last.after
        name = self._name_end(model, ends.child)
        node = self._add_joint(model, joint, last, (parent, name), place)
        # Which joint of a loop is cut is not said by SDFormat; our reader takes the attribute.
        if id(joint) in self._looped:
            node.set(CLOSES_LOOP, "true")
        self._keep(joint, model, node, child.offset @ place)

    def _find_model(self, joint: Joint | Equality, parent: str, child: WrittenLink) -> ModelElement | None:
        """The innermost model with both ends; a joint to the world belongs to its child."""
        if parent == WORLD:
            return child.model
        first, second = self._context.written_links[parent].model.path(), child.model.path()
        shared = [a for a, b in zip(first, second, strict=False) if a is b]
        model = shared[-1]
        if model.is_world and not self._context.allows(WORLD_JOINTS):
            self._homeless.append(joint)
            return None
        return model

    def _name_end(self, model: ModelElement, body: str) -> str:
        if body == WORLD:
            return "world"
        written = self._context.written_links[body]
        name = refer(model, written.model, written.name)
        assert name is not None, "both ends are in the model of a joint"
        return name

    def _add_between(self, model: ModelElement, pose: Pose, word: str, child: str) -> str:
        context = self._context
        name = context.claim(model.names, "link", f"{word}_link")
        link = add(model.node, "link", name=name)
        add_pose(link, ~model.base @ pose)
        inertial = context.inertials.get(child)
        # A share of what it carries: light enough not to be felt, not so light that the solver breaks.
        mass = inertial.mass if inertial is not None and inertial.mass > 0.0 else LEAST_MASS
        add_inertial(link, make_light(mass * SHARE))
        return name

    def _add_joint(
        self, model: ModelElement, joint: Joint, piece: JointPiece, ends: tuple[str, str], place: Pose
    ) -> Element:
        context = self._context
        name = strip_scope(piece.name, _scope_of(model, context))
        name = context.claim(model.names, "joint", f"{name}_joint" if name in model.names else name)
        node = add(model.node, "joint", name=name, type=piece.kind)
        add_pose(node, place)
        add(node, "parent", ends[0])
        add(node, "child", ends[1])
        for tag, dof in zip(_AXES, piece.dofs, strict=False):
            axis = write_axis(context, node, tag, dof, joint)
            if axis is not None and dof.name:
                context.dofs[dof.name] = WrittenAxis(model, name, axis)
        for dof in piece.dofs:
            self._write_rotor(node, dof, alone=len(piece.dofs) == 1)
        if piece.kind == "gearbox":
            self._write_gear(model, joint, node)
        elif piece.kind == "screw":
            self._write_pitch(node, piece.dofs[0])
        return node

    def _keep(self, joint: Joint, model: ModelElement, node: Element, frame: Pose) -> None:
        self._context.written_joints[joint.name] = WrittenJoint(model, str(node.get("name")), node, frame)

    def _write_gear(self, model: ModelElement, joint: Joint, node: Element) -> None:
        """The model has ``angle1 = -ratio * angle2``, SDFormat the other way round."""
        gear = joint.gear
        assert gear is not None
        add(node, "gearbox_ratio", 1.0 / gear.ratio)
        if gear.reference == WORLD:
            return
        written = self._context.written_links.get(gear.reference)
        name = refer(model, written.model, written.name) if written is not None else None
        if name is None:
            self._context.reporter.report(
                JOINT_REDUCED, joint.source, name=joint.name, what="the reference of the gear"
            )
        else:
            add(node, "gearbox_reference_body", name)

    def _write_rotor(self, node: Element, dof: Dof, *, alone: bool) -> None:
        """Armature as the rotor of a motor without a gear, where Drake makes one."""
        if not dof.armature or not has_one_axis(dof):
            return
        is_written = alone and has_rotor(dof)
        if is_written:
            put(node, ROTOR_WORD, float(dof.armature))
        context = self._context
        is_read = context.options.rotors or context.asset.provenance.format == "sdf"
        if not (is_written and is_read):
            self._rotors.append(dof)

    def _write_pitch(self, node: Element, dof: Dof) -> None:
        """Metres for each turn; before 1.10 radians for each metre of a left-handed thread."""
        if self._context.version >= SCREW_PITCH:
            add(node, "screw_thread_pitch", dof.pitch * 2.0 * math.pi)
        else:
            add(node, "thread_pitch", -1.0 / dof.pitch)

    def _is_closed(self, joint: Joint, pieces: list[JointPiece], one: Pose, other: Pose) -> bool:
        """A joint of the tree is closed by the way its links are placed; a loop may not be."""
        if id(joint) not in self._looped:
            return True
        for piece in pieces:
            one = one @ piece.before @ piece.after
        distance, angle = float(np.linalg.norm(one.p - other.p)), quat_angle(one.q, other.q)
        # A ball holds points together, however they are turned.
        if any(dof.motion is Motion.BALL for dof in joint.dofs):
            angle = 0.0
        if distance <= _APART and angle <= _APART:
            return True
        self._context.reporter.report(
            LOOP_OPEN, joint.source, name=joint.name, distance=distance, angle=angle
        )
        return False

    def _write_equality(self, equality: Equality) -> bool:
        """Points held together are a ball joint, frames held together a fixed one."""
        # Other constraints (joints, tendons) are no joints; the table reports them.
        if equality.kind not in _HOLDING or not equality.enabled:
            return False
        names = {WORLD, *self._context.written_links}
        if equality.a == equality.b or not {equality.a, equality.b} <= names:
            return False
        kind = _HOLDING[equality.kind]
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
        return joint.name in self._context.written_joints


def _scope_of(model: ModelElement, context: SdfWriteContext) -> str:
    """The scope that names of the source have before them inside a model."""
    path = [inner.name for inner in model.path() if not inner.is_world]
    return "::".join(path if context.top.is_world else path[1:])
