# SPDX-License-Identifier: Apache-2.0
"""What a joint lets move: axes, limits, drives, cones and distances.

A generic joint (D6) is free along every axis without a limit; a limit whose low is above its high locks the
axis.  Angles are authored in degrees, angular gains per degree.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array
from simwright.core.units import DEGREE
from simwright.formats.usd.scan import Found
from simwright.formats.usd.source import Source
from simwright.formats.usd.units import HUGE, convert_angle, read_bound
from simwright.model.joint import Dof, Drive, JointKind, Motion

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

Motions = tuple[JointKind, list[Dof], tuple[float, float] | None]

_APPLIED = ("limit:", "drive:")
_AXES = {"X": 0, "Y": 1, "Z": 2}
_D6_AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def read_motion(source: Source, found: Found, name: str) -> Motions:
    """Kind, freedoms and distance range of a joint."""
    result: Motions
    _report_unapplied(source, found, name)
    match found.type:
        case "PhysicsRevoluteJoint":
            result = JointKind.REVOLUTE, [_read_single(source, found, name, Motion.HINGE)], None
        case "PhysicsPrismaticJoint":
            result = JointKind.PRISMATIC, [_read_single(source, found, name, Motion.SLIDE)], None
        case "PhysicsSphericalJoint":
            result = JointKind.BALL, [_read_ball(source, found, name)], None
        case "PhysicsDistanceJoint":
            result = JointKind.DISTANCE, [Dof(Motion.FREE, name=name)], _read_distance(source, found)
        case "PhysicsFixedJoint":
            result = JointKind.FIXED, [], None
        case _:
            return _read_generic(source, found, name)
    for instance in found.instances_of("PhysicsLimitAPI"):
        where = source.where(found)
        source.reporter.report(LIMIT_UNUSED, where, name=name, type=found.type, instance=instance)
    return result


def _report_unapplied(source: Source, found: Found, name: str) -> None:
    """Name each limit or drive whose attributes stand there without their schema, once."""
    missing = found.opinions.unapplied
    if missing is None:
        missing = found.opinions.unapplied = _find_unapplied(found)
    for api, attribute in missing.items():
        where = source.where(found, attribute)
        source.reporter.report(SCHEMA_UNAPPLIED, where, name=name, attribute=attribute, api=api)


def _find_unapplied(found: Found) -> dict[str, str]:
    """Schemas that are missing, each with the first attribute that wants it."""
    missing: dict[str, str] = {}
    for attribute in sorted(a for a in found.opinions.names if a.startswith(_APPLIED)):
        family, instance, *rest = attribute.split(":")
        api = f"Physics{family.capitalize()}API:{instance}"
        if "physics" in rest[:-1] and api not in found.apis:
            missing.setdefault(api, attribute)
    return missing


def _read_single(source: Source, found: Found, name: str, motion: Motion) -> Dof:
    lower = source.get_number(found, "physics:lowerLimit", -math.inf)
    upper = source.get_number(found, "physics:upperLimit", math.inf)
    if lower > upper:
        where = source.where(found, "physics:lowerLimit")
        source.reporter.report(LIMIT_INVERTED, where, name=name, lower=lower, upper=upper)
        lower, upper = upper, lower
    if lower >= HUGE or upper <= -HUGE:
        where = source.where(found, "physics:lowerLimit")
        source.reporter.report(LIMIT_UNREACHABLE, where, name=name, lower=lower, upper=upper)
        lower, upper = -math.inf, math.inf
    factor = DEGREE if motion is Motion.HINGE else source.units.length
    instance = "angular" if motion is Motion.HINGE else "linear"
    dof = Dof(
        motion,
        axis=_unit(_AXES.get(source.get_text(found, "physics:axis", "X"), 0)),
        name=name,
        lower=read_bound(lower, factor),
        upper=read_bound(upper, factor),
    )
    _attach_drives(source, found, name, {instance: dof})
    return dof


def _read_ball(source: Source, found: Found, name: str) -> Dof:
    cones = [source.get_number(found, f"physics:coneAngle{i}Limit", -1.0) for i in (0, 1)]
    swing = None
    if any(cone >= 0.0 for cone in cones):
        first, second = (convert_angle(cone) if cone >= 0.0 else math.inf for cone in cones)
        swing = (first, second)
    axis = _unit(_AXES.get(source.get_text(found, "physics:axis", "X"), 0))
    _attach_drives(source, found, name, {})
    return Dof(Motion.BALL, axis=axis, name=name, swing=swing)


def _read_distance(source: Source, found: Found) -> tuple[float, float]:
    """Negative means "no limit"."""
    low = source.get_number(found, "physics:minDistance", -1.0)
    high = source.get_number(found, "physics:maxDistance", -1.0)
    length = source.units.length
    return (
        low * length if low >= 0.0 else 0.0,
        read_bound(high, length) if high >= 0.0 else math.inf,
    )


def _read_generic(source: Source, found: Found, name: str) -> Motions:
    dofs: dict[str, Dof] = {}
    limited = set(found.instances_of("PhysicsLimitAPI"))
    for number, axis in enumerate(_D6_AXES):
        angular = number >= 3
        lower, upper = -math.inf, math.inf
        if axis in limited:
            low, high = _read_limit(source, found, axis)
            if low > high:
                continue
            factor = DEGREE if angular else source.units.length
            lower, upper = read_bound(low, factor), read_bound(high, factor)
        motion = Motion.HINGE if angular else Motion.SLIDE
        dof = Dof(motion, axis=_unit(number % 3), lower=lower, upper=upper, name=f"{name}_{axis}")
        dofs[axis] = dof
    distance = None
    if "distance" in limited:
        low, high = _read_limit(source, found, "distance")
        length = source.units.length
        distance = (max(low, 0.0) * length, read_bound(high, length) if high >= 0.0 else math.inf)
    _attach_drives(source, found, name, dofs)
    if len(dofs) == 1:
        next(iter(dofs.values())).name = name
    return (JointKind.D6 if dofs else JointKind.FIXED), list(dofs.values()), distance


def _read_limit(source: Source, found: Found, axis: str) -> tuple[float, float]:
    return (
        source.get_number(found, f"limit:{axis}:physics:low", -math.inf),
        source.get_number(found, f"limit:{axis}:physics:high", math.inf),
    )


def _attach_drives(source: Source, found: Found, name: str, dofs: dict[str, Dof]) -> None:
    for instance in found.instances_of("PhysicsDriveAPI"):
        dof = dofs.get(instance)
        if dof is None:
            where = source.where(found)
            source.reporter.report(DRIVE_UNUSED, where, name=name, instance=instance)
        else:
            dof.drive = _read_drive(source, found, instance, dof.motion is Motion.HINGE)


def _read_drive(source: Source, found: Found, instance: str, angular: bool) -> Drive:
    """Gains of an acceleration drive have no mass in them; angular ones are per degree in either case."""

    def read(key: str, default: float) -> float:
        return source.get_number(found, f"drive:{instance}:physics:{key}", default)

    units = source.units
    acceleration = source.get_text(found, f"drive:{instance}:physics:type", "force") == "acceleration"
    if angular:
        gain, step, force = units.inertia / DEGREE, DEGREE, units.inertia
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
