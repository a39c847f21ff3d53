# SPDX-License-Identifier: Apache-2.0
"""``<joint>`` with its axes: all nine types, gearboxes, screws and mimics (SDFormat specification, joint).

Both joint frames are the joint's own frame seen from its two links, so every coordinate is zero in the pose the file
describes.  A parent or child may be a link, a frame, a nested model or ``world``.

The direction of an ``<axis>`` is given in the joint frame, or in the frame ``expressed_in`` names.  Up to 1.4 it is
given in the model frame; 1.5 and 1.6 have ``use_parent_model_frame`` for that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.errors import UnknownNameError
from simwright.core.math3d import IDENTITY, Array, Pose, vec3
from simwright.formats.sdf.context import LinkPlacement, SdfReadContext
from simwright.formats.sdf.document import CLOSES_LOOP, ENDLESS, SdfDocument
from simwright.formats.sdf.poses import SdfFrame, describe_scope, frame_of, scope_of
from simwright.formats.sdf.sensors import read_sensor
from simwright.formats.sdf.tree import NamedElement
from simwright.formats.xml import RATIO_WORD, ROTOR_WORD, Element, spell
from simwright.model.asset import Asset
from simwright.model.joint import INF, WORLD, Dof, Gear, Joint, JointKind, Mimic, Motion
from simwright.model.kinematics import build_tree
from simwright.model.servo import has_rotor

UNKNOWN_LINK = declare(
    "sdf-unknown-link",
    Level.ERROR,
    "the {end} of joint {joint!r} is {name!r}, which does not exist in {scope}",
    hint="{near}; the joint is left out",
    doc="A joint names a parent or child that is not a link, frame or nested model.",
)
UNKNOWN_JOINT_TYPE = declare(
    "sdf-unknown-joint-type",
    Level.ERROR,
    "joint {joint!r} has the type {kind!r}",
    hint="{near}; the joint is read as fixed",
    doc="A joint whose type SDFormat does not have.",
)
SAME_LINK = declare(
    "sdf-joint-same-link",
    Level.ERROR,
    "joint {joint!r} joins {link} with itself",
    hint="it is left out; name two different links",
    doc="Parent and child of a joint are the same link, or are both attached to it.",
)
STATIC_JOINT = declare(
    "sdf-static-joint",
    Level.INFO,
    "joint {joint!r} is left out: both its ends are static",
    doc="Static models do not move, so a joint between two of their links does nothing.",
    loss=True,
)
BAD_PITCH = declare(
    "sdf-bad-thread-pitch",
    Level.ERROR,
    "joint {joint!r} has a thread_pitch of zero",
    hint="use screw_thread_pitch [m per revolution]; the joint is read without a pitch",
    doc="thread_pitch is in radians per metre, so zero would mean an endless pitch.",
)
BAD_RATIO = declare(
    "sdf-bad-gear-ratio",
    Level.ERROR,
    "joint {joint!r} has a gearbox_ratio of zero",
    hint="write the ratio of the two angles; 1 is used",
    doc="A gearbox whose ratio is zero couples nothing.",
)
UNKNOWN_LEADER = declare(
    "sdf-unknown-leader",
    Level.ERROR,
    "joint {joint!r} mimics {name!r}, which {problem}",
    hint="{near}; the mimic is left out",
    doc="A mimic names a joint or an axis that does not exist.",
)

_MOTIONS: dict[str, tuple[JointKind, tuple[Motion, ...]]] = {
    "fixed": (JointKind.FIXED, ()),
    "revolute": (JointKind.REVOLUTE, (Motion.HINGE,)),
    "continuous": (JointKind.REVOLUTE, (Motion.HINGE,)),
    "prismatic": (JointKind.PRISMATIC, (Motion.SLIDE,)),
    "ball": (JointKind.BALL, ()),
    "screw": (JointKind.SCREW, (Motion.HINGE,)),
    "universal": (JointKind.UNIVERSAL, (Motion.HINGE, Motion.HINGE)),
    "revolute2": (JointKind.UNIVERSAL, (Motion.HINGE, Motion.HINGE)),
    "gearbox": (JointKind.GEARBOX, (Motion.HINGE, Motion.HINGE)),
}
_AXES = ("axis", "axis2")
_CARRIED = {
    "parent", "child", "pose", "axis", "axis2", "sensor", "thread_pitch", "screw_thread_pitch",
    "gearbox_ratio", "gearbox_reference_body",
}  # fmt: skip
_KNOWN = {"physics", "frame", "plugin"}


def read_joint(context: SdfReadContext, item: NamedElement) -> None:
    """Read one joint into the asset; its mimic waits until all joints are known."""
    document, element = item.document, item.element
    # One function: the two ends first, then the type, which decides what else is read.
    parent, child = (_find_end(context, item, tag) for tag in ("parent", "child"))
    if parent is None or child is None:
        return
    (parent_body, parent_pose), (child_body, child_pose) = (_body(context, end) for end in (parent, child))
    if parent_body == child_body:
        _report_same(context, item, parent_body)
        return
    where = document.where(element)
    pose = context.graph.pose(frame_of(item))
    kind, motions = _read_kind(context, item)
    joint = Joint(item.key, kind, parent_body, child_body, path=item.scoped, source=where)
    joint.closes_loop = element.get(CLOSES_LOOP) == "true"
    joint.parent_frame = ~parent_pose @ pose
    joint.child_frame = _child_frame(item, child, child_pose, pose)
    # A joint with one freedom lends it its name: controllers and mimics know it by that.
    names = [item.key] if len(motions) == 1 else [f"{item.key}_{tag}" for tag in _AXES]
    joint.dofs = [
        read_dof(context, item, tag, motion, name)
        for tag, motion, name in zip(_AXES, motions, names, strict=False)
    ]
    if kind is JointKind.BALL:
        joint.dofs = [Dof(Motion.BALL, name=item.key)]
        # A ball turns about no axis, but an <axis> is the only element with a damping.
        joint.dofs[0].damping = document.amount(element, "axis", "dynamics", "damping")
    elif kind is JointKind.SCREW:
        joint.dofs[0].pitch = _read_pitch(context, item)
    elif kind is JointKind.GEARBOX:
        joint.gear = _read_gear(context, item)
    context.asset.joints.append(joint)
    context.joint_items.append(item)
    _read_sensors(context, item, child, joint)
    # Whatever else the axis of a ball says is kept.
    carried = _CARRIED if kind is not JointKind.BALL else _CARRIED - set(_AXES)
    if len(joint.dofs) == 1 and has_rotor(joint.dofs[0]):
        carried = carried | _read_rotor(item, joint.dofs[0])
    context.keep_rest(document, element, item.key, carried, {*_KNOWN, *_AXES})


def _read_rotor(item: NamedElement, dof: Dof) -> set[str]:
    """The inertia that Drake reflects to the joint: of the rotor, times the square of the ratio.  Gives their tags."""
    document = item.document
    tags = {spell(child): child.tag for child in document.children(item.element) if child.prefix}
    rotor, ratio = (
        document.amount(item.element, tags[word]) if word in tags else None
        for word in (ROTOR_WORD, RATIO_WORD)
    )
    if rotor is not None and rotor < 0.0:
        element = document.child(item.element, tags[ROTOR_WORD])
        document.report_number(element, f"{rotor:g}", "a number that is not negative", "0")
    elif rotor:
        dof.armature = rotor * (1.0 if ratio is None else ratio) ** 2
    return {tags[word] for word in (ROTOR_WORD, RATIO_WORD) if word in tags}


def read_mimics(context: SdfReadContext) -> None:
    """Read ``<mimic>`` of every axis: ``follower = multiplier * (leader - reference) + offset``."""
    for item in context.joint_items:
        for number, tag in enumerate(_AXES):
            axis = item.document.child(item.element, tag)
            for element in [] if axis is None else item.document.children(axis, "mimic"):
                document = item.document
                leader = _find_leader(context, item, element.get("joint", ""), element.get("axis", "axis"))
                follower = context.asset.joint(item.key).dofs
                if leader is None or number >= len(follower):
                    continue
                multiplier = document.finite(element, "multiplier", default=1.0)
                reference = document.finite(element, "reference")
                # The reference is the leader's position at which the follower is at the offset.
                offset = document.finite(element, "offset") - multiplier * reference
                mimic = Mimic(follower[number].name, leader.name, multiplier, offset)
                mimic.source = document.where(element)
                context.asset.mimics.append(mimic)


def mark_loops(asset: Asset) -> None:
    """Mark the joints that close a loop, where the file does not say which.

    A gearbox usually couples two links that hang on hinges of their own, so it gives way first.
    """
    # All are set aside first, so that they do not hold each other.
    gearboxes = [j for j in asset.joints if j.kind is JointKind.GEARBOX and not j.closes_loop]
    for joint in gearboxes:
        joint.closes_loop = True
    for joint in gearboxes:
        joint.closes_loop = _is_held(asset, joint)
    # The others in the order of the file: the last joint that closes a circle is marked.
    for joint in build_tree(asset).loops:
        joint.closes_loop = True


def _is_held(asset: Asset, joint: Joint) -> bool:
    """Are both ends connected without this joint (and the gearboxes still set aside)?"""
    links: dict[str, list[str]] = {}
    for other in asset.joints:
        if not other.closes_loop:
            links.setdefault(other.parent, []).append(other.child)
            links.setdefault(other.child, []).append(other.parent)
    seen, queue = {joint.parent}, [joint.parent]
    while queue:
        for neighbour in links.get(queue.pop(), []):
            if neighbour not in seen:
                seen.add(neighbour)
                queue.append(neighbour)
    return joint.child in seen


def _find_end(context: SdfReadContext, item: NamedElement, tag: str) -> SdfFrame | None:
    scope = scope_of(item.model)
    frame = context.graph.joint_end(item, tag, scope)
    if frame is None:
        name = item.document.text(item.element, tag)
        near = UnknownNameError("link", name, scope.names).hint
        data: dict[str, Any] = {
            "end": tag,
            "joint": item.key,
            "name": name,
            "scope": describe_scope(scope),
            "near": near,
        }
        context.reporter.report(UNKNOWN_LINK, item.document.where(item.element), **data)
    return frame


def _body(context: SdfReadContext, frame: SdfFrame) -> tuple[str, Pose]:
    """Name and pose of the body a frame moves with; the world for static links."""
    link = context.graph.link_of(frame)
    if link is None or link.model.static:
        return WORLD, IDENTITY
    return link.key, context.graph.pose(frame_of(link))


def _child_frame(item: NamedElement, child: SdfFrame, child_pose: Pose, pose: Pose) -> Pose:
    """The joint frame on the child link, as written where it is written there."""
    joint = frame_of(item)
    # Exact: the product of a pose and its inverse would round it.
    if joint.base is child and child.tag == "link" and child.item is not None and not child.item.model.static:
        return joint.raw
    return ~child_pose @ pose


def _report_same(context: SdfReadContext, item: NamedElement, body: str) -> None:
    where = item.document.where(item.element)
    if body == WORLD:
        context.reporter.report(STATIC_JOINT, where, joint=item.key)
    else:
        context.reporter.report(SAME_LINK, where, joint=item.key, link=f"link {body!r}")


def _read_kind(context: SdfReadContext, item: NamedElement) -> tuple[JointKind, tuple[Motion, ...]]:
    text = (item.element.get("type") or "").strip()
    if text not in _MOTIONS:
        near = UnknownNameError("joint type", text, _MOTIONS).hint
        where = item.document.where(item.element)
        context.reporter.report(UNKNOWN_JOINT_TYPE, where, joint=item.key, kind=text, near=near)
    return _MOTIONS.get(text, _MOTIONS["fixed"])


def _read_pitch(context: SdfReadContext, item: NamedElement) -> float:
    """Advance per angle [m/rad].

    ``screw_thread_pitch`` is metres per turn, right-handed; the older ``thread_pitch`` radians per metre,
    left-handed.
    """
    document = item.document
    modern = document.amount(item.element, "screw_thread_pitch")
    if modern is not None:
        return modern / (2.0 * math.pi)
    # The sign differs too: libsdformat documents the old element as left-handed.
    old = document.finite(item.element, "thread_pitch", default=1.0)
    if old == 0.0:
        context.reporter.report(BAD_PITCH, document.where(item.element), joint=item.key)
        return 0.0
    return -1.0 / old


def _read_gear(context: SdfReadContext, item: NamedElement) -> Gear:
    """SDFormat has ``angle2 = -gearbox_ratio * angle1``; the model has it the other way round."""
    document = item.document
    ratio = document.finite(item.element, "gearbox_ratio", default=1.0)
    if ratio == 0.0:
        context.reporter.report(BAD_RATIO, document.where(item.element), joint=item.key)
        ratio = 1.0
    name = document.text(item.element, "gearbox_reference_body")
    what = f"the gearbox_reference_body of joint {item.key!r}"
    graph, where = context.graph, document.where(item.element)
    reference = (
        # "world" is not a frame of a model, so the graph does not know it by that name.
        graph.world if name == "world" else graph.refer(name, scope_of(item.model), graph.world, where, what)
    )
    return Gear(1.0 / ratio, _body(context, reference)[0])


def _read_sensors(context: SdfReadContext, item: NamedElement, child: SdfFrame, joint: Joint) -> None:
    """Sensors of a joint sit in the joint frame on its child link."""
    link = context.graph.link_of(child)
    if link is None:
        # A joint whose child is the world carries its sensors on the parent.
        link = context.graph.link_of(_find_end(context, item, "parent") or child)
    if link is None:
        return
    for sensor in item.document.children(item.element, "sensor"):
        local = ~_body(context, frame_of(link))[1] @ context.graph.pose(frame_of(item))
        body = WORLD if link.model.static else link.key
        read_sensor(context, item.document, sensor, LinkPlacement(body, item, local), target=joint.name)


def _find_leader(context: SdfReadContext, item: NamedElement, name: str, axis: str) -> Dof | None:
    frame = context.graph.find(name, scope_of(item.model))
    key = frame.item.key if frame is not None and frame.tag == "joint" and frame.item else ""
    joint = next((joint for joint in context.asset.joints if joint.name == key), None) if key else None
    number = _AXES.index(axis) if axis in _AXES else -1
    if joint is not None and 0 <= number < len(joint.dofs):
        return joint.dofs[number]
    problem = "is not a joint of the model" if joint is None else f"has no {axis!r}"
    near = UnknownNameError("joint", name, [other.name for other in item.model.joints]).hint
    data: dict[str, Any] = {"joint": item.key, "name": name, "problem": problem, "near": near}
    context.reporter.report(UNKNOWN_LEADER, item.document.where(item.element), **data)
    return None


ZERO_AXIS = declare(
    "sdf-zero-axis",
    Level.ERROR,
    "the axis of joint {joint!r} has no direction",
    hint="write a unit vector; 0 0 1 is used",
    doc="The xyz of a joint axis is the zero vector.",
)
NO_AXIS = declare(
    "sdf-no-axis",
    Level.WARNING,
    "joint {joint!r} is {kind} but has no <{tag}>",
    hint="0 0 1 is used; write the axis",
    doc="A joint that moves along an axis does not give it.",
)
LIMITS_SWAPPED = declare(
    "sdf-limits-swapped",
    Level.ERROR,
    "joint {joint!r} has the lower limit {lower:g} above the upper limit {upper:g}",
    hint="swap them; the joint is read without limits",
    doc="The lower limit of a joint axis is larger than the upper one.",
)

_AXIS_CARRIED = {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"}
_LIMIT_CARRIED = {"lower", "upper", "effort", "velocity", "stiffness", "dissipation"}
_DYNAMICS_CARRIED = {"damping", "friction", "spring_reference", "spring_stiffness"}


def read_dof(context: SdfReadContext, item: NamedElement, tag: str, motion: Motion, name: str) -> Dof:
    """One freedom of a joint from its ``<axis>`` or ``<axis2>``."""
    document = item.document
    axis = document.child(item.element, tag)
    dof = Dof(motion, name=name)
    if axis is None:
        where = document.where(item.element)
        kind = item.element.get("type", "")
        context.reporter.report(NO_AXIS, where, joint=item.key, kind=kind, tag=tag)
        return dof
    dof.axis = _read_direction(context, item, axis)
    _read_limits(context, item, axis, dof)
    dynamics = document.child(axis, "dynamics")
    if dynamics is not None:
        dof.damping = document.amount(dynamics, "damping")
        dof.friction = document.amount(dynamics, "friction")
        dof.stiffness = document.amount(dynamics, "spring_stiffness")
        dof.spring_ref = document.amount(dynamics, "spring_reference")
        context.keep_rest(document, dynamics, item.key, _DYNAMICS_CARRIED)
    context.keep_rest(document, axis, item.key, _AXIS_CARRIED, {"initial_position"})
    return dof


def _read_direction(context: SdfReadContext, item: NamedElement, axis: Element) -> Array:
    document = item.document
    xyz = document.values(axis, "xyz", 3, (0.0, 0.0, 1.0))
    length = float(np.linalg.norm(xyz))
    # A zero vector has no direction; anything longer is only not normalized.
    if length < 1e-12:
        context.reporter.report(ZERO_AXIS, document.where(axis), joint=item.key)
        return vec3(0.0, 0.0, 1.0)
    xyz = xyz / length
    scope = scope_of(item.model)
    joint = frame_of(item)
    name = _find_expression(document, axis)
    if not name:
        return xyz
    what = f"the axis of joint {item.key!r}"
    frame = context.graph.refer(name, scope, joint, document.where(axis), what)
    if frame is joint:
        return xyz
    turned: Array = context.graph.pose(joint).rotation.T @ context.graph.pose(frame).rotation @ xyz
    return turned


def _find_expression(document: SdfDocument, axis: Element) -> str:
    """The name of the frame the direction is given in; empty for the joint frame."""
    # The specification changed the default frame with 1.5, and the element that chose it went with 1.7.
    if document.version < (1, 5):
        return "__model__"
    if document.version < (1, 7) and document.flag(axis, "use_parent_model_frame"):
        return "__model__"
    xyz = document.child(axis, "xyz")
    return "" if xyz is None else (xyz.get("expressed_in") or "").strip()


def _read_limits(context: SdfReadContext, item: NamedElement, axis: Element, dof: Dof) -> None:
    document = item.document
    limit = document.child(axis, "limit")
    if limit is None:
        return
    # A continuous joint has no limits, whatever its axis says.
    if item.element.get("type") != "continuous":
        lower = _unlimited(document.value(limit, "lower"), -INF)
        upper = _unlimited(document.value(limit, "upper"), INF)
        if lower > upper:
            where = document.where(limit)
            context.reporter.report(LIMITS_SWAPPED, where, joint=item.key, lower=lower, upper=upper)
        else:
            dof.lower, dof.upper = lower, upper
    dof.effort_limit = _enforced(document.value(limit, "effort"))
    dof.velocity_limit = _enforced(document.value(limit, "velocity"))
    dof.limit_stiffness = document.amount(limit, "stiffness")
    dof.limit_damping = document.amount(limit, "dissipation")
    context.keep_rest(document, limit, item.key, _LIMIT_CARRIED)


def _unlimited(value: float | None, endless: float) -> float:
    """SDFormat up to 1.9 writes 1e16 for "no limit"."""
    return endless if value is None or abs(value) >= ENDLESS else value


def _enforced(value: float | None) -> float | None:
    """A negative or infinite effort or velocity limit is not enforced."""
    return None if value is None or value < 0.0 or math.isinf(value) or value >= ENDLESS else value
