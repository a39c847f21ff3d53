# SPDX-License-Identifier: Apache-2.0
"""``<joint>``: origin, axis, limits, dynamics, mimic, safety and calibration.

A joint's frame lies at ``origin`` in the parent link and is the frame of the child link.  Revolute,
continuous and prismatic joints have one dof called like the joint; ``planar`` slides along two axes
perpendicular to its ``axis`` and turns about it; ``floating`` is free.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, quat_between, quat_rotate, vec3
from simwright.core.names import NameScope
from simwright.formats.urdf.reader import DUPLICATE_NAME, UrdfReader
from simwright.formats.xml import Element
from simwright.model.joint import Dof, Joint, JointKind, Mimic, Motion

JOINT_TYPE = declare(
    "urdf-joint-type",
    Level.ERROR,
    "joint {joint!r} has type {type!r}",
    hint="it is read as fixed; URDF has revolute, continuous, prismatic, fixed, floating and planar",
    doc="A joint is of a type that URDF does not have.",
)
JOINT_LINK = declare(
    "urdf-joint-link",
    Level.ERROR,
    "the {role} of joint {joint!r} is {link!r}, which is not a link of the robot",
    hint="check the name; the joint is left out",
    doc="A joint names a parent or child link that does not exist.",
)
AXIS_ZERO = declare(
    "urdf-axis-zero",
    Level.ERROR,
    "the axis of joint {joint!r} is {axis}",
    hint="give it a direction; 1 0 0 is used",
    doc="A joint axis of length zero has no direction.",
)
AXIS_LENGTH = declare(
    "urdf-axis-length",
    Level.INFO,
    "the axis of joint {joint!r} has length {length:g}; it is normalised",
    doc="A joint axis should be a unit vector.",
)
LIMIT_MISSING = declare(
    "urdf-limit-missing",
    Level.ERROR,
    "{type} joint {joint!r} has no <limit>",
    hint="write lower, upper, effort and velocity, or make it continuous; no limit is used",
    doc="Revolute and prismatic joints must have a <limit>.",
)
LIMIT_ORDER = declare(
    "urdf-limit-order",
    Level.ERROR,
    "joint {joint!r} has lower {lower:g} above upper {upper:g}",
    hint="exchange them; no limit is used",
    doc="The lower position limit of a joint is above its upper one.",
)
LIMIT_LOCKED = declare(
    "urdf-limit-locked",
    Level.WARNING,
    "joint {joint!r} cannot move: lower and upper are both {value:g}",
    hint="write its range, make it continuous, or make it fixed",
    doc="Both position limits are equal; absent limits count as zero.",
)
LIMIT_UNUSED = declare(
    "urdf-limit-unused",
    Level.INFO,
    "continuous joint {joint!r} has position limits {lower:g} .. {upper:g}, which are not used",
    hint="make it revolute if they are meant",
    doc="A continuous joint has lower or upper limits.",
)
LIMIT_NEGATIVE = declare(
    "urdf-limit-negative",
    Level.ERROR,
    "joint {joint!r} has {attribute} limit {value:g}",
    hint="limits of effort and velocity are not negative; no limit is used",
    doc="An effort or velocity limit is negative.",
)
DYNAMICS_NEGATIVE = declare(
    "urdf-dynamics-negative",
    Level.ERROR,
    "joint {joint!r} has {attribute} {value:g}",
    hint="it is not negative; zero is used",
    doc="Damping or friction of a joint is negative.",
)
MIMIC_TARGET = declare(
    "urdf-mimic-target",
    Level.ERROR,
    "joint {joint!r} mimics {target!r}, which {reason}",
    hint="name another joint with one degree of freedom; the relation is left out",
    doc="A <mimic> names no joint, itself, or a joint that it cannot follow.",
)

MIMIC_STILL = declare(
    "urdf-mimic-still",
    Level.WARNING,
    "joint {joint!r} mimics {target!r} and cannot move: it is {kind}",
    hint="take the <mimic> out, or give the joint a type that moves",
    doc="A <mimic> on a fixed joint moves nothing, so nothing is lost; robots with locked joints have them.",
)

# continuous is a revolute joint without limits
_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
    "floating": JointKind.FLOATING,
    "planar": JointKind.PLANAR,
}
_JOINT_CHILDREN = {
    "origin",
    "parent",
    "child",
    "axis",
    "limit",
    "dynamics",
    "mimic",
    "safety_controller",
    "calibration",
}


def read_joints(reader: UrdfReader) -> None:
    """Every joint, then the mimic relations between them."""
    links = {body.name for body in reader.asset.bodies}
    names = NameScope()
    # read last, because a joint may follow one that stands further down
    mimics: list[tuple[Joint, Element]] = []
    for element in reader.children(reader.root, "joint"):
        joint = _read_joint(reader, element, names, links)
        if joint is None:
            continue
        reader.asset.joints.append(joint)
        mimic = element.find("mimic")
        if mimic is not None:
            mimics.append((joint, mimic))
    joints = {joint.name: joint for joint in reader.asset.joints}
    for joint, mimic in mimics:
        _read_mimic(reader, joint, mimic, joints)


def _read_joint(reader: UrdfReader, element: Element, names: NameScope, links: set[str]) -> Joint | None:
    written = reader.named(element, "the joint is left out")
    if not written:
        return None
    where = reader.where(element)
    name = names.claim(written)
    # kept under another name: dropping it would leave its child without a joint
    if name != written:
        reader.reporter.report(
            DUPLICATE_NAME, where, what="joint", name=written, consequence=f"this one is read as {name!r}"
        )
    reader.report_unknown(element, _JOINT_CHILDREN)
    ends = {role: _read_link_name(reader, element, role) for role in ("parent", "child")}
    # a joint to nowhere cannot be kept, one of an unknown type can: fixed
    for role, link in ends.items():
        if link not in links:
            reader.reporter.report(JOINT_LINK, where, role=role, joint=name, link=link)
            return None
    kind = _KINDS.get(element.get("type") or "")
    if kind is None:
        reader.reporter.report(JOINT_TYPE, where, joint=name, type=element.get("type") or "")
        kind = JointKind.FIXED
    joint = Joint(
        name,
        kind,
        ends["parent"],
        ends["child"],
        parent_frame=reader.origin(element),
        dofs=_read_dofs(reader, element, name, kind),
        path=name,
        source=where,
    )
    _read_calibration(reader, element, name)
    return joint


def _read_link_name(reader: UrdfReader, joint: Element, role: str) -> str:
    element = joint.find(role)
    return "" if element is None else reader.required(element, "link", "the joint is left out")


def _read_dofs(reader: UrdfReader, element: Element, name: str, kind: JointKind) -> list[Dof]:
    if kind is JointKind.FIXED:
        return []
    if kind is JointKind.FLOATING:
        return [Dof(Motion.FREE, name=name)]
    axis = _read_axis(reader, element, name)
    if kind is JointKind.PLANAR:
        # URDF does not say which directions in the plane are meant; this is the shortest turn of x and y
        turn = quat_between((0.0, 0.0, 1.0), axis)
        along = [quat_rotate(turn, unit) for unit in np.eye(3)[:2]]
        dofs = [Dof(Motion.SLIDE, along[0], f"{name}_x"), Dof(Motion.SLIDE, along[1], f"{name}_y")]
        dofs.append(Dof(Motion.HINGE, axis, f"{name}_yaw"))
    else:
        motion = Motion.SLIDE if kind is JointKind.PRISMATIC else Motion.HINGE
        dofs = [Dof(motion, axis, name)]
        _read_limit(reader, element, name, dofs[0])
    for dof in dofs:
        _read_dynamics(reader, element, name, dof)
    _read_safety(reader, element, dofs[0])
    return dofs


def _read_axis(reader: UrdfReader, joint: Element, name: str) -> Array:
    element = joint.find("axis")
    if element is None:
        return vec3(1, 0, 0)
    # URDF's default axis is x
    axis = reader.vector(element, "xyz", 3, (1.0, 0.0, 0.0))
    length = float(np.linalg.norm(axis))
    if length < 1e-12:
        reader.reporter.report(
            AXIS_ZERO, reader.where(element), joint=name, axis=element.get("xyz", "").strip()
        )
        return vec3(1, 0, 0)
    # a smaller difference is rounding, and not worth a word
    if abs(length - 1.0) > 1e-3:
        reader.reporter.report(AXIS_LENGTH, reader.where(element), joint=name, length=length)
    return axis / length


def _read_limit(reader: UrdfReader, joint: Element, name: str, dof: Dof) -> None:
    element = joint.find("limit")
    continuous = joint.get("type") == "continuous"
    if element is None:
        if not continuous:
            where = reader.where(joint)
            reader.reporter.report(LIMIT_MISSING, where, type=joint.get("type"), joint=name)
        return
    where = reader.where(element)
    # URDF: absent limits are zero
    lower, upper = (reader.bound(element, key) or 0.0 for key in ("lower", "upper"))
    if continuous:
        if lower or upper:
            reader.reporter.report(LIMIT_UNUSED, where, joint=name, lower=lower, upper=upper)
    elif lower > upper:
        reader.reporter.report(LIMIT_ORDER, where, joint=name, lower=lower, upper=upper)
    else:
        dof.lower, dof.upper = lower, upper
        if lower == upper:
            reader.reporter.report(LIMIT_LOCKED, where, joint=name, value=lower)
    dof.effort_limit = _read_bound(reader, element, "effort", name)
    dof.velocity_limit = _read_bound(reader, element, "velocity", name)
    # newer parsers of ROS read it; the model has no word for it
    acceleration = reader.bound(element, "acceleration")
    if acceleration is not None:
        reader.asset.extras.keep("urdf", name, "limit.acceleration", acceleration, where)


def _read_bound(reader: UrdfReader, element: Element, attribute: str, name: str) -> float | None:
    """An effort or velocity limit; None where it is absent or infinite."""
    value = reader.bound(element, attribute)
    if value is not None and value < 0:
        where = reader.where(element)
        reader.reporter.report(LIMIT_NEGATIVE, where, joint=name, attribute=attribute, value=value)
        return None
    return None if value is None or math.isinf(value) else value


def _read_dynamics(reader: UrdfReader, joint: Element, name: str, dof: Dof) -> None:
    element = joint.find("dynamics")
    if element is None:
        return
    # None where nothing is said, which is not zero: simulators have defaults of their own
    for attribute in ("damping", "friction"):
        value = reader.optional(element, attribute)
        if value is not None and value < 0:
            where = reader.where(element)
            reader.reporter.report(DYNAMICS_NEGATIVE, where, joint=name, attribute=attribute, value=value)
            value = 0.0
        setattr(dof, attribute, value)


def _read_safety(reader: UrdfReader, joint: Element, dof: Dof) -> None:
    element = joint.find("safety_controller")
    if element is not None:
        for key in ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"):
            value = reader.optional(element, key)
            if value is not None:
                dof.safety[key] = value


def _read_calibration(reader: UrdfReader, joint: Element, name: str) -> None:
    element = joint.find("calibration")
    if element is not None:
        for key in ("rising", "falling", "reference_position"):
            value = reader.optional(element, key)
            if value is not None:
                reader.asset.extras.keep("urdf", name, f"calibration.{key}", value, reader.where(element))


def _read_mimic(reader: UrdfReader, joint: Joint, element: Element, joints: dict[str, Joint]) -> None:
    target = reader.required(element, "joint", "the relation is left out")
    if not target:
        return
    if joint.positions == 0:
        reader.reporter.report(
            MIMIC_STILL, reader.where(element), joint=joint.name, target=target, kind=joint.kind
        )
        return
    # the leader must have one coordinate, and so must who follows it
    reason = ""
    if target == joint.name:
        reason = "is itself"
    elif target not in joints:
        reason = "is not a joint of the robot"
    elif joints[target].positions != 1:
        reason = "has not one degree of freedom"
    elif joint.positions != 1:
        reason = f"a {joint.kind} joint cannot follow"
    where = reader.where(element)
    if reason:
        reader.reporter.report(MIMIC_TARGET, where, joint=joint.name, target=target, reason=reason)
        return
    reader.asset.mimics.append(
        Mimic(
            follower=joint.name,
            leader=target,
            multiplier=reader.number(element, "multiplier", 1.0),
            offset=reader.number(element, "offset", 0.0),
            source=where,
        )
    )
