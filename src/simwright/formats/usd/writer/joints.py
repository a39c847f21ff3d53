# SPDX-License-Identifier: Apache-2.0
"""Joints in ``physics.usda``: frames, limits in degrees, drives per degree (REP-0158 1.3)."""

from __future__ import annotations

import dataclasses
import math

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.freedoms import Form, find_form, find_single
from simwright.formats.usd.writer.layout import Layout, list_written
from simwright.formats.usd.writer.messages import JOINT_IMPLIED, JOINT_REDUCED, JOINT_SPLIT
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.joint import WORLD, Dof, Drive, EqualityKind, Joint, JointKind, Motion

_AXES = tuple(f"{kind}{letter}" for kind in ("trans", "rot") for letter in "XYZ")


def write_joints(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every joint, then the constraints that are joints in UsdPhysics."""
    loops = {joint.name for joint in layout.tree.loops}
    for joint in list_written(layout):
        if joint.kind is JointKind.FLOATING and joint.parent == WORLD:
            reporter.report(JOINT_IMPLIED, joint.source, name=joint.name)
            del layout.joints[joint.name]
            continue
        _report_losses(joint, reporter)
        form = find_form(joint)
        if form is None:
            _write_split(layout, sheet, joint, reporter)
        else:
            _write_joint(
                layout, sheet, joint, form, path=layout.joints[joint.name], is_loop=joint.name in loops
            )
    _write_equalities(layout, sheet)


def _report_losses(joint: Joint, reporter: Reporter) -> None:
    losses = {
        "the screw pitch": any(dof.pitch for dof in joint.dofs),
        "the reference coordinate": any(dof.ref for dof in joint.dofs),
        "the gear": joint.gear is not None,
    }
    for what, is_lost in losses.items():
        if is_lost:
            reporter.report(JOINT_REDUCED, joint.source, what=what, name=joint.name)


def _write_split(layout: Layout, sheet: Sheet, joint: Joint, reporter: Reporter) -> None:
    """One joint per freedom, side by side."""
    reporter.report(JOINT_SPLIT, joint.source, name=joint.name, count=len(joint.dofs))
    home = layout.joints[joint.name].rpartition("/")[0]
    for number, dof in enumerate(joint.dofs):
        single = dataclasses.replace(joint, dofs=[dof], distance=None)
        path = layout.joints[joint.name] if number == 0 else layout.names.claim(home, dof.name, "_joint")
        layout.joints.setdefault(dof.name, path)
        _write_joint(layout, sheet, single, find_single(single, dof), path=path, is_loop=False)


def _write_joint(layout: Layout, sheet: Sheet, joint: Joint, form: Form, *, path: str, is_loop: bool) -> None:
    sheet.define(path, form.type)
    sheet.name(path, joint.name)
    _write_sides(layout, sheet, path, (joint.parent, form.parent_frame), (joint.child, form.child_frame))
    if form.axis:
        sheet.set(path, "physics:axis", "token", form.axis, uniform=True)
    if is_loop or joint.closes_loop:
        sheet.set(path, "physics:excludeFromArticulation", "bool", True, uniform=True)
    if not joint.enabled:
        sheet.set(path, "physics:jointEnabled", "bool", False)
    if joint.collide:
        sheet.set(path, "physics:collisionEnabled", "bool", True)
    for name, value in (("breakForce", joint.break_force), ("breakTorque", joint.break_torque)):
        if math.isfinite(value):
            sheet.set(path, f"physics:{name}", "float", value)
    _write_range(sheet, joint, form, path)
    if form.type == "PhysicsJoint":
        _write_limits(sheet, joint, form, path)
    for word, dof in form.axes:
        if dof.drive is not None and dof.motion is not Motion.FREE:
            write_drive(sheet, path, word, dof, dof.drive)


def _write_sides(
    layout: Layout, sheet: Sheet, path: str, first: tuple[str, Pose], second: tuple[str, Pose]
) -> None:
    for number, (body, frame) in enumerate((first, second)):
        if body != WORLD:
            sheet.relate(path, f"physics:body{number}", [layout.bodies[body]])
        sheet.set(path, f"physics:localPos{number}", "point3f", frame.p)
        sheet.set(path, f"physics:localRot{number}", "quatf", frame.q)


def _write_range(sheet: Sheet, joint: Joint, form: Form, path: str) -> None:
    """Limits of joints that have attributes of their own; infinite ones are said (REP-0158 1.3)."""
    if form.type in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        dof = form.axes[0][1]
        unit = _unit(dof)
        sheet.set(path, "physics:lowerLimit", "float", (dof.lower - dof.ref) / unit)
        sheet.set(path, "physics:upperLimit", "float", (dof.upper - dof.ref) / unit)
    elif form.type == "PhysicsSphericalJoint" and joint.dofs[0].swing is not None:
        for number, cone in enumerate(joint.dofs[0].swing):
            if math.isfinite(cone):
                sheet.set(path, f"physics:coneAngle{number}Limit", "float", cone / DEGREE)
    elif form.type == "PhysicsDistanceJoint" and joint.distance is not None:
        low, high = joint.distance
        sheet.set(path, "physics:minDistance", "float", low)
        sheet.set(path, "physics:maxDistance", "float", high if math.isfinite(high) else -1.0)


def _write_limits(sheet: Sheet, joint: Joint, form: Form, path: str) -> None:
    """A generic joint is free along what has no limit, so all other axes are locked: low above high."""
    free = dict(form.axes)
    for word in _AXES:
        dof = free.get(word)
        if dof is None:
            _write_limit(sheet, path, word, 1.0, -1.0)
        elif dof.motion is not Motion.FREE and dof.is_limited:
            unit = _unit(dof)
            _write_limit(sheet, path, word, (dof.lower - dof.ref) / unit, (dof.upper - dof.ref) / unit)
    if joint.distance is not None:
        low, high = joint.distance
        _write_limit(sheet, path, "distance", low, high if math.isfinite(high) else -1.0)


def _write_limit(sheet: Sheet, path: str, word: str, low: float, high: float) -> None:
    sheet.apply(path, f"PhysicsLimitAPI:{word}")
    sheet.set(path, f"limit:{word}:physics:low", "float", low)
    sheet.set(path, f"limit:{word}:physics:high", "float", high)


def write_drive(sheet: Sheet, path: str, word: str, dof: Dof, drive: Drive) -> None:
    """A drive; angular gains are per degree."""
    unit = _unit(dof)
    space = f"drive:{word}:physics"
    sheet.apply(path, f"PhysicsDriveAPI:{word}")
    sheet.set(path, f"{space}:type", "token", "acceleration" if drive.acceleration else "force", uniform=True)
    sheet.set(path, f"{space}:stiffness", "float", drive.stiffness * unit)
    sheet.set(path, f"{space}:damping", "float", drive.damping * unit)
    if drive.target_position - dof.ref:
        sheet.set(path, f"{space}:targetPosition", "float", (drive.target_position - dof.ref) / unit)
    sheet.set(path, f"{space}:targetVelocity", "float", drive.target_velocity / unit)
    if math.isfinite(drive.max_force):
        sheet.set(path, f"{space}:maxForce", "float", drive.max_force)


def _unit(dof: Dof) -> float:
    """Radians in a degree for a hinge, else one."""
    return DEGREE if dof.motion is Motion.HINGE else 1.0


def _write_equalities(layout: Layout, sheet: Sheet) -> None:
    """Points and frames held together are joints that close a loop."""
    kinds = {EqualityKind.CONNECT: "PhysicsSphericalJoint", EqualityKind.WELD: "PhysicsFixedJoint"}
    for equality in layout.asset.equalities:
        kind = kinds.get(equality.kind)
        if kind is None:
            continue
        path = layout.names.claim(layout.body(equality.a), equality.name or "equality", "_joint")
        sheet.define(path, kind)
        sheet.name(path, equality.name)
        _write_sides(layout, sheet, path, (equality.a, equality.frame_a), (equality.b, equality.frame_b))
        sheet.set(path, "physics:excludeFromArticulation", "bool", True, uniform=True)
        if not equality.enabled:
            sheet.set(path, "physics:jointEnabled", "bool", False)
