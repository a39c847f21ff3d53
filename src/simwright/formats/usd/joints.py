# SPDX-License-Identifier: Apache-2.0
"""Joints (UsdPhysicsJoint and its kinds): bodies, frames, freedoms, limits and drives (REP-0158 1.3).

A relationship may name a body, anything below a body, a static prim, or nothing (the world).  A joint that names only
``body0`` is turned round, so the world is always the parent; its axes are turned with it, so that coordinates keep
their sign.  A generic joint (D6) is free along every axis without a limit; a limit whose low is above its high locks
the axis.  Angles are authored in degrees, angular gains per degree.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import (
    DEGREE,
    IDENTITY,
    IDENTITY_QUAT,
    Array,
    Pose,
    multiply_numbers,
    quat_conjugate,
    quat_multiply,
    quat_normalize,
    vec3,
)
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.notes import arrange_dofs, turn_frames
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import WORLD_FRAME, ZERO, BodyFrame, StageReader
from simwright.formats.usd.transforms import decompose
from simwright.formats.usd.units import HUGE, convert_angle, read_bound
from simwright.model.joint import WORLD, Dof, Drive, Joint, JointKind, Motion

LIMIT_INVERTED = declare(
    "usd-limit-inverted",
    Level.ERROR,
    "the lower limit {lower} of joint {name!r} is above its upper limit {upper}; the two are exchanged",
    hint="author lowerLimit <= upperLimit; use a fixed joint to lock",
    doc="A revolute or prismatic joint has its limits the wrong way round.",
    section="1.3",
)
LIMIT_UNREACHABLE = declare(
    "usd-limit-unreachable",
    Level.ERROR,
    "the limits {lower} and {upper} of joint {name!r} leave no position; they are left out",
    hint="author finite limits, or -inf and inf for none",
    doc="A lower limit of plus infinity or an upper limit of minus infinity.",
    section="1.3",
    loss=True,
)
DRIVE_UNUSED = declare(
    "usd-drive-unused",
    Level.WARNING,
    "joint {name!r} has a drive {instance!r}, but no such axis is free; the drive is left out",
    hint="revolute joints have a drive angular, prismatic ones linear, generic ones transX to rotZ",
    doc="A drive is applied to an axis that the joint does not have or that is locked.",
    loss=True,
)
LIMIT_UNUSED = declare(
    "usd-limit-unused",
    Level.WARNING,
    "joint {name!r} of type {type} has a limit {instance!r}, which only generic joints have; it is left out",
    hint="use the joint's own limit attributes",
    doc="PhysicsLimitAPI is applied to a joint that has limit attributes of its own.",
    loss=True,
)

SCHEMA_UNAPPLIED = declare(
    "usd-joint-schema-unapplied",
    Level.WARNING,
    "joint {name!r} authors {attribute}, but {api} is not applied; it has no effect",
    hint="apply {api} to the joint",
    doc="Limits and drives count only where their API schema is applied; else the axis is free.",
)

_Point = tuple[float, float, float]
Motions = tuple[JointKind, list[Dof], tuple[float, float] | None]

_APPLIED = ("limit:", "drive:")
_AXES = {"X": 0, "Y": 1, "Z": 2}
_EXCLUDED = "physics:excludeFromArticulation"
_SWITCHES = frozenset(
    {
        "physics:jointEnabled",
        _EXCLUDED,
        "physics:collisionEnabled",
        "physics:breakForce",
        "physics:breakTorque",
    }
)
"""What all joints have and few author."""
_USUAL = (True, False, False, math.inf, math.inf)
"""The same where nobody authors it, as UsdPhysicsJoint has it."""
_D6_AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def read_motion(reader: StageReader, found: FoundPrim, name: str) -> Motions:
    """Kind, freedoms and distance range of a joint."""
    result: Motions
    _report_unapplied(reader, found, name)
    match found.type:
        case "PhysicsRevoluteJoint":
            result = JointKind.REVOLUTE, [_read_single(reader, found, name, Motion.HINGE)], None
        case "PhysicsPrismaticJoint":
            result = JointKind.PRISMATIC, [_read_single(reader, found, name, Motion.SLIDE)], None
        case "PhysicsSphericalJoint":
            result = JointKind.BALL, [_read_ball(reader, found, name)], None
        case "PhysicsDistanceJoint":
            result = JointKind.DISTANCE, [Dof(Motion.FREE, name=name)], _read_distance(reader, found)
        case "PhysicsFixedJoint":
            result = JointKind.FIXED, [], None
        case _:
            return _read_generic(reader, found, name)
    for instance in found.instances_of("PhysicsLimitAPI"):
        where = reader.where(found)
        reader.reporter.report(LIMIT_UNUSED, where, name=name, type=found.type, instance=instance)
    return result


def _report_unapplied(reader: StageReader, found: FoundPrim, name: str) -> None:
    """Name each limit or drive whose attributes stand there without their schema, once."""
    outline = found.opinions.outline
    missing = outline.unapplied
    if missing is None:
        missing = outline.unapplied = _find_unapplied(found)
    for api, attribute in missing.items():
        where = reader.where(found, attribute)
        reader.reporter.report(SCHEMA_UNAPPLIED, where, name=name, attribute=attribute, api=api)


def _find_unapplied(found: FoundPrim) -> dict[str, str]:
    """Schemas that are missing, each with the first attribute that wants it."""
    missing: dict[str, str] = {}
    for attribute in sorted(a for a in found.opinions.outline.names if a.startswith(_APPLIED)):
        family, instance, *rest = attribute.split(":")
        api = f"Physics{family.capitalize()}API:{instance}"
        if "physics" in rest[:-1] and api not in found.apis:
            missing.setdefault(api, attribute)
    return missing


def _read_single(reader: StageReader, found: FoundPrim, name: str, motion: Motion) -> Dof:
    lower = reader.get_number(found, "physics:lowerLimit", -math.inf)
    upper = reader.get_number(found, "physics:upperLimit", math.inf)
    if lower > upper:
        where = reader.where(found, "physics:lowerLimit")
        reader.reporter.report(LIMIT_INVERTED, where, name=name, lower=lower, upper=upper)
        lower, upper = upper, lower
    # FLT_MAX stands for infinity; as a lower limit it leaves nothing
    if lower >= HUGE or upper <= -HUGE:
        where = reader.where(found, "physics:lowerLimit")
        reader.reporter.report(LIMIT_UNREACHABLE, where, name=name, lower=lower, upper=upper)
        lower, upper = -math.inf, math.inf
    factor = DEGREE if motion is Motion.HINGE else reader.units.length
    instance = "angular" if motion is Motion.HINGE else "linear"
    dof = Dof(
        motion,
        axis=_unit(_AXES[reader.get_choice(found, "physics:axis", _AXES, "X")]),
        name=name,
        lower=read_bound(lower, factor),
        upper=read_bound(upper, factor),
    )
    _attach_drives(reader, found, name, {instance: dof})
    return dof


def _read_ball(reader: StageReader, found: FoundPrim, name: str) -> Dof:
    cones = [reader.get_number(found, f"physics:coneAngle{i}Limit", -1.0) for i in (0, 1)]
    swing = None
    if any(cone >= 0.0 for cone in cones):
        # a negative cone angle means "free" (UsdPhysics), and the other may still be limited
        first, second = (convert_angle(cone) if cone >= 0.0 else math.inf for cone in cones)
        swing = (first, second)
    axis = _unit(_AXES[reader.get_choice(found, "physics:axis", _AXES, "X")])
    _attach_drives(reader, found, name, {})
    return Dof(Motion.BALL, axis=axis, name=name, swing=swing)


def _read_distance(reader: StageReader, found: FoundPrim) -> tuple[float, float]:
    """Negative means "no limit"."""
    low = reader.get_number(found, "physics:minDistance", -1.0)
    high = reader.get_number(found, "physics:maxDistance", -1.0)
    length = reader.units.length
    return (
        low * length if low >= 0.0 else 0.0,
        read_bound(high, length) if high >= 0.0 else math.inf,
    )


def _read_generic(reader: StageReader, found: FoundPrim, name: str) -> Motions:
    dofs: dict[str, Dof] = {}
    limited = set(found.instances_of("PhysicsLimitAPI"))
    for number, axis in enumerate(_D6_AXES):
        angular = number >= 3
        lower, upper = -math.inf, math.inf
        if axis not in limited and reader.lock_unlimited_axes:
            continue
        if axis in limited:
            low, high = _read_limit(reader, found, axis)
            # UsdPhysicsLimitAPI: low above high locks the axis; it is not an error here
            if low > high:
                continue
            factor = DEGREE if angular else reader.units.length
            lower, upper = read_bound(low, factor), read_bound(high, factor)
        motion = Motion.HINGE if angular else Motion.SLIDE
        dof = Dof(motion, axis=_unit(number % 3), lower=lower, upper=upper, name=f"{name}_{axis}")
        dofs[axis] = dof
    if reader.lock_unlimited_axes:
        _report_locked(reader, found, name, limited)
    distance = None
    if "distance" in limited:
        low, high = _read_limit(reader, found, "distance")
        length = reader.units.length
        distance = (max(low, 0.0) * length, read_bound(high, length) if high >= 0.0 else math.inf)
    _attach_drives(reader, found, name, dofs)
    # a generic joint with one free axis is driven and followed like a hinge or slide
    if len(dofs) == 1:
        next(iter(dofs.values())).name = name
    return (JointKind.D6 if dofs else JointKind.FIXED), list(dofs.values()), distance


def _report_locked(reader: StageReader, found: FoundPrim, name: str, limited: set[str]) -> None:
    locked = [axis for axis in _D6_AXES if axis not in limited]
    if locked:
        reader.reporter.report(AXES_LOCKED, reader.where(found), name=name, axes=", ".join(locked))


def _read_limit(reader: StageReader, found: FoundPrim, axis: str) -> tuple[float, float]:
    return (
        reader.get_number(found, f"limit:{axis}:physics:low", -math.inf),
        reader.get_number(found, f"limit:{axis}:physics:high", math.inf),
    )


def _attach_drives(reader: StageReader, found: FoundPrim, name: str, dofs: dict[str, Dof]) -> None:
    for instance in found.instances_of("PhysicsDriveAPI"):
        dof = dofs.get(instance)
        if dof is None:
            where = reader.where(found)
            reader.reporter.report(DRIVE_UNUSED, where, name=name, instance=instance)
        else:
            dof.drive = _read_drive(reader, found, instance, dof.motion is Motion.HINGE)


def _read_drive(reader: StageReader, found: FoundPrim, instance: str, angular: bool) -> Drive:
    """Gains of an acceleration drive have no mass in them; angular ones are per degree in either case."""
    prefix = f"drive:{instance}:physics:"

    def read(key: str, default: float) -> float:
        return reader.get_number(found, prefix + key, default)

    units = reader.units
    acceleration = reader.get_text(found, f"{prefix}type", "force") == "acceleration"
    if angular:
        # torques per degree: a stiffness of 1 N m/deg is 57.3 N m/rad
        gain, step, force = units.inertia / DEGREE, DEGREE, units.inertia
        # an acceleration drive is multiplied by the inertia in the engine, so no mass unit is in its gains
        gain = 1.0 / DEGREE if acceleration else gain
    else:
        gain, step, force = units.mass, units.length, units.force
        gain = 1.0 if acceleration else gain
    return Drive(
        stiffness=read("stiffness", 0.0) * gain,
        damping=read("damping", 0.0) * gain,
        target_position=read("targetPosition", 0.0) * step,
        target_velocity=read("targetVelocity", 0.0) * step,
        max_force=read_bound(read("maxForce", math.inf), force),
        acceleration=acceleration,
    )


def _unit(index: int) -> Array:
    axis = np.zeros(3)
    axis[index] = 1.0
    return axis


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
    "joint {name!r} connects {body} with itself; it is left out",
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

JOINT_UNPLACED = declare(
    "usd-joint-unplaced",
    Level.INFO,
    "joint {name!r} holds {body!r} to the world without saying where; it is held where it stands, {distance:.3g} m "
    "from the origin",
    hint="author physics:localPos and localRot of the side without a body",
    doc="The side of a joint that is the world has an identity pose, and the body stands elsewhere. Read literally, a "
    "simulator would pull it to the origin of the stage; Newton and we hold it.",
    section="1.3",
)
TURN_ZERO = declare(
    "usd-joint-turn-zero",
    Level.ERROR,
    "physics:localRot{number} of joint {name!r} is (0, 0, 0, 0), which is not a rotation; it is read as none",
    hint="author (1, 0, 0, 0) for no rotation",
    doc="A quaternion of length zero turns nothing, and engines make different things of it.",
    section="1.3",
)
AXES_LOCKED = declare(
    "usd-axes-locked",
    Level.WARNING,
    "generic joint {name!r} has no limit along {axes}; these axes are locked, as Newton reads them; by UsdPhysics "
    "they would be free",
    hint="apply PhysicsLimitAPI to the axes that move; lock_unlimited_axes=False reads them as UsdPhysics does",
    doc="Newton moves a generic joint along its limited axes only; by UsdPhysics it is free along all others.",
)
GENERIC_HOLDS_BASE = declare(
    "usd-generic-holds-base",
    Level.WARNING,
    "generic joint {name!r} holds articulated body {body!r} to the world and limits no axis; it is taken as fixed",
    hint="use PhysicsFixedJoint for a fixed base; delete the joint for a floating one",
    doc="A generic joint without limits leaves all axes free, so it would say nothing; robots have it as their base.",
    section="1.3",
)

# a millimetre: below, it is rounding of exporters that a solver closes in a step
_APART = 1e-3
_SINGLE, _DOUBLE = 1e-6, 1e-12
"""What single and double precision leave between frames that meet [m, rad]."""


@dataclass(frozen=True, slots=True, eq=False)
class _UsdJointEnd:
    """One end of a joint: the body and the joint's frame on it."""

    body: BodyFrame
    frame: Pose
    path: str = ""

    @property
    def anchor(self) -> _Point:
        """The joint's point in the asset frame."""
        return self.body.pose.move(self.frame.p.tolist())


def read_joints(reader: StageReader, scan: StageScan) -> None:
    """Add every joint that has two ends."""
    names = name_prims(scan.joints, noted=reader.noted)
    for found in scan.joints:
        # points that hold the axis of a joint for MuJoCo: the joint is there as well
        if reader.note(found).get("stands_for") == "loop":
            continue
        joint = _read_joint(reader, scan, found, names[found.path])
        if joint is not None:
            reader.joints[found.path] = joint.name
            reader.asset.joints.append(joint)


def _read_joint(reader: StageReader, scan: StageScan, found: FoundPrim, name: str) -> Joint | None:
    first = _read_side(reader, scan, found, name, 0)
    second = _read_side(reader, scan, found, name, 1)
    if first is None or second is None:
        return None
    if first.body.name == second.body.name:
        body = f"body {first.body.name!r}" if first.body.name else "the world"
        reader.reporter.report(JOINT_ON_ITSELF, reader.where(found), name=name, body=body)
        return None
    # the model has the world as parent; UsdPhysics lets either side be empty
    turned = second.body.name == WORLD
    parent, child = (second, first) if turned else (first, second)
    kind, dofs, distance = read_motion(reader, found, name)
    if parent.body.name == WORLD:
        if kind is JointKind.D6 and _holds_base(reader, scan, found, child):
            reader.reporter.report(GENERIC_HOLDS_BASE, reader.where(found), name=name, body=child.body.name)
            kind, dofs = JointKind.FIXED, []
        if kind not in _LOOSE:
            parent = _hold_where_it_stands(reader, scan, found, dofs, (parent, child))
    frames = _read_noted(reader, found, dofs, (parent.frame, child.frame))
    enabled, closes_loop, collide, break_force, break_torque = _read_switches(reader, found)
    if turned:
        for dof in dofs:
            # with parent and child exchanged the relative motion is inverted; so is the order of stacked
            # freedoms
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
        enabled=enabled,
        closes_loop=closes_loop,
        collide=collide,
        break_force=break_force,
        break_torque=break_torque,
        distance=distance,
        generic=found.type == "PhysicsJoint",
        ros_name=str(reader.get_authored(found, "ros:joint:name") or ""),
        path=found.path,
        source=reader.where(found),
    )
    anchors = parent.anchor, child.anchor
    _check_anchors(reader, joint, anchors)
    # notes of doubles give the frames exactly
    if not reader.exact:
        _let_meet(joint, parent, child, anchors)
    return joint


def _read_switches(reader: StageReader, found: FoundPrim) -> tuple[bool, bool, bool, float, float]:
    """Whether it is enabled, closes a loop and lets its bodies touch; the force and the torque that break it."""
    # most joints say nothing of it
    if found.authored is not None and _SWITCHES.isdisjoint(found.authored):
        return _USUAL
    return (
        reader.get_flag(found, "physics:jointEnabled", True),
        reader.get_flag(found, _EXCLUDED, False),
        reader.get_flag(found, "physics:collisionEnabled", False),
        read_bound(reader.get_number(found, "physics:breakForce", math.inf), reader.units.force),
        read_bound(reader.get_number(found, "physics:breakTorque", math.inf), reader.units.inertia),
    )


def _holds_base(reader: StageReader, scan: StageScan, found: FoundPrim, child: _UsdJointEnd) -> bool:
    """Does a generic joint limit and drive nothing, on a body that is in an articulation?"""
    if any(api.startswith(("PhysicsLimitAPI", "PhysicsDriveAPI")) for api in found.apis):
        return False
    # freedoms that were named on writing are meant
    if reader.noted and "dofs" in reader.note(found):
        return False
    return any(
        root.path in (found.path, child.path) or child.path.startswith(f"{root.path}/")
        for root in scan.articulations
    )


_LOOSE = (JointKind.DISTANCE, JointKind.FLOATING)
"""Joints whose body may stand anywhere."""


def _hold_where_it_stands(
    reader: StageReader,
    scan: StageScan,
    found: FoundPrim,
    dofs: list[Dof],
    ends: tuple[_UsdJointEnd, _UsdJointEnd],
) -> _UsdJointEnd:
    """The world side of a joint; one that nobody placed is where the child stands, not at the origin.

    Tools copy robots into environments that stand elsewhere and leave the empty side of the base joint as it was.
    """
    parent, child = ends
    # a joint that closes a loop is held by its two frames alone
    if reader.get_flag(found, _EXCLUDED, False):
        return parent
    number = 0 if not reader.get_targets(found, "physics:body0") else 1
    if reader.get_targets(found, f"physics:body{number}"):
        return parent
    local = _read_frame(reader, found, number)
    here = child.body.pose @ child.frame
    placed = any(local.p) or abs(abs(local.q[0]) - 1.0) > _DOUBLE
    if placed or _can_reach(reader, scan, found, dofs, ~parent.frame @ here):
        return parent
    where, distance = reader.where(found), math.dist(parent.anchor, here.p)
    reader.reporter.report(JOINT_UNPLACED, where, name=found.name, body=child.body.name, distance=distance)
    return _UsdJointEnd(parent.body, here)


def _can_reach(reader: StageReader, scan: StageScan, found: FoundPrim, dofs: list[Dof], offset: Pose) -> bool:
    """Can a joint that begins at the origin hold its body where that stands, ``offset`` from there?"""
    if any(dof.motion is Motion.FREE for dof in dofs):
        return True
    slides = [dof.axis for dof in dofs if dof.motion is Motion.SLIDE]
    if len(slides) == len(dofs) and not Pose(vec3(), offset.q).is_close(IDENTITY, _APART):
        return False
    far = float(np.linalg.norm(offset.p))
    if far <= _APART:
        return bool(dofs) or offset.is_close(IDENTITY, _SINGLE)
    beside = offset.p - sum((axis * np.dot(axis, offset.p) for axis in slides), vec3())
    # a slide may stand away from its origin; one of several joints would leave the others behind
    return float(np.linalg.norm(beside)) <= _APART and not _is_beside_others(reader, scan, found)


def _is_beside_others(reader: StageReader, scan: StageScan, found: FoundPrim) -> bool:
    """Do other joints hold the same two bodies?"""

    def list_ends(joint: FoundPrim) -> frozenset[str]:
        names = ("physics:body0", "physics:body1")
        return frozenset(path for name in names for path in reader.get_targets(joint, name))

    # counted once: a stage may hold thousands of bodies to the world
    if scan.joint_ends is None:
        scan.joint_ends = Counter(map(list_ends, scan.joints))
    return scan.joint_ends[list_ends(found)] > 1


def _read_side(
    reader: StageReader, scan: StageScan, found: FoundPrim, name: str, number: int
) -> _UsdJointEnd | None:
    """The body and frame that ``body0`` or ``body1`` name; None if the target does not exist."""
    relationship = f"physics:body{number}"
    targets = reader.get_targets(found, relationship)
    local = _read_frame(reader, found, number)
    # some exporters name the pseudo-root for the world
    if not targets or targets[0] == "/":
        return _UsdJointEnd(WORLD_FRAME, reader.units.turn @ local)
    if len(targets) > 1:
        reader.reporter.report(
            JOINT_TARGETS_MANY,
            reader.where(found, relationship),
            name=name,
            relationship=relationship,
            count=len(targets),
            target=targets[0],
        )
    target = scan.all.get(targets[0])
    if target is None:
        where = reader.where(found, relationship)
        reader.reporter.report(
            JOINT_TARGET_MISSING, where, name=name, relationship=relationship, target=targets[0]
        )
        return None
    body = reader.body_of(target.owner)
    # the usual case: the joint names a body, and no matrix has to be taken apart
    if target.path == target.owner and body.is_exact:
        frame = local if body.is_plain else Pose(body.scale * local.p, local.q)
        return _UsdJointEnd(body, frame, target.owner)
    matrix = reader.world_matrix(target)
    world = Pose(matrix[:3, :3] @ local.p + matrix[:3, 3], quat_multiply(decompose(matrix).pose.q, local.q))
    return _UsdJointEnd(body, ~body.pose @ world, target.owner)


def _read_noted(
    reader: StageReader, found: FoundPrim, dofs: list[Dof], frames: tuple[Pose, Pose]
) -> tuple[Pose, Pose]:
    """The joint frames that notes tell; names and order of freedoms only in assets of ours."""
    if not reader.annotated:
        return frames
    note = reader.note(found)
    if reader.noted:
        arrange_dofs(note, dofs)
    return turn_frames(note, dofs, frames)


def _read_frame(reader: StageReader, found: FoundPrim, number: int) -> Pose:
    """The joint's frame as authored, in the space of the prim it names."""
    x, y, z = reader.get_finite(found, f"physics:localPos{number}", ZERO)
    turn = reader.get_finite(found, f"physics:localRot{number}", (0.0, 0.0, 0.0, 0.0))
    length = reader.units.length
    if not any(turn) and reader.get_authored(found, f"physics:localRot{number}") is not None:
        where = reader.where(found, f"physics:localRot{number}")
        reader.reporter.report(TURN_ZERO, where, name=found.name, number=number)
    rotation = IDENTITY.q if turn == IDENTITY_QUAT else quat_normalize(turn)
    return Pose(np.array((x * length, y * length, z * length)), rotation)


def _let_meet(joint: Joint, above: _UsdJointEnd, below: _UsdJointEnd, anchors: tuple[_Point, _Point]) -> None:
    """Let frames that meet but for single precision do so in double, which the transforms of bodies have.

    The frame on the parent follows; of a joint that closes a loop, the one on the child.  ``anchors`` are those of the
    two ends, ``above`` at the parent and ``below`` at the child.
    """
    # a distance joint holds its frames apart
    if joint.kind is JointKind.DISTANCE:
        return
    parent, child, (here, anchor) = above.body.pose, below.body.pose, anchors
    # notes may have turned the frames
    if joint.parent_frame is not above.frame or joint.child_frame is not below.frame:
        here = parent.move(joint.parent_frame.p.tolist())
        anchor = child.move(joint.child_frame.p.tolist())
    if joint.closes_loop:
        body, own, other, kept = child, joint.child_frame, parent, joint.parent_frame
        here, anchor = anchor, here
    else:
        body, own, other, kept = parent, joint.parent_frame, child, joint.child_frame
    turn = multiply_numbers(other.q.tolist(), kept.q.tolist())
    now = multiply_numbers(body.q.tolist(), own.q.tolist())
    p, q = own.p, own.q
    if _DOUBLE < math.dist(here, anchor) <= _SINGLE:
        p = np.array((~body).move(anchor))
    w, x, y, z = turn
    if _DOUBLE < 2.0 * min(math.dist(now, turn), math.dist(now, (-w, -x, -y, -z))) <= _SINGLE:
        q = quat_normalize(multiply_numbers(quat_conjugate(body.q).tolist(), turn))
    if p is own.p and q is own.q:
        return
    if joint.closes_loop:
        joint.child_frame = Pose(p, q)
    else:
        joint.parent_frame = Pose(p, q)


def _check_anchors(reader: StageReader, joint: Joint, anchors: tuple[_Point, _Point]) -> None:
    """Joints that let nothing slide hold one point of the parent on one of the child."""
    if joint.kind not in (JointKind.FIXED, JointKind.REVOLUTE, JointKind.BALL) or not joint.enabled:
        return
    distance = math.dist(*anchors)
    if distance > _APART:
        reader.reporter.report(JOINT_APART, joint.source, name=joint.name, distance=distance)


def choose_dof(joint: Joint, axis: str = "") -> Dof | None:
    """The one scalar freedom of a joint, or the one along an axis of a generic joint."""
    dofs = [dof for dof in joint.dofs if dof.motion in (Motion.HINGE, Motion.SLIDE)]
    if len(dofs) == len(joint.dofs) == 1:
        return dofs[0]
    named = [dof for dof in dofs if axis and dof.name == f"{joint.name}_{axis}"]
    return named[0] if named else None
