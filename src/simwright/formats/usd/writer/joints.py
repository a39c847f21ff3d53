# SPDX-License-Identifier: Apache-2.0
"""Joints and equalities in ``physics.usda``: frames, limits in degrees, drives per degree (REP-0158 1.3).

What UsdPhysics has no attribute for (names of freedoms, what the source called the joint) is noted on the prim where it
is not what a reader would take it for, so that the way back gives the same joints.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Pose, quat_conjugate, quat_rotate
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.joint_prims import JointPrim, find_joint_prim, find_nearest_prim
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.formats.usd.writer.messages import JOINT_REORDERED, NOTED
from simwright.formats.usd.writer.plan import WritePlan, list_written
from simwright.model.joint import WORLD, Dof, Drive, EqualityKind, Joint, JointKind, Motion
from simwright.model.servo import make_drive

_AXES = tuple(f"{kind}{letter}" for kind in ("trans", "rot") for letter in "XYZ")
_READ_AS = {
    "PhysicsFixedJoint": JointKind.FIXED,
    "PhysicsRevoluteJoint": JointKind.REVOLUTE,
    "PhysicsPrismaticJoint": JointKind.PRISMATIC,
    "PhysicsSphericalJoint": JointKind.BALL,
    "PhysicsDistanceJoint": JointKind.DISTANCE,
    "PhysicsJoint": JointKind.D6,
}
"""What a joint of this type is read as."""
SINGLE = ("angular", "linear")
"""Axis words of joints with one freedom."""
FREE = "free"
"""The axis word of a body that nothing holds."""


def write_joints(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Every joint; a body that nothing holds needs none, its freedom is noted on the body."""
    loops = {joint.name for joint in plan.tree.loops}
    for joint in list_written(plan):
        _report_noted(joint, reporter)
        # UsdPhysics needs no joint for a free body, and engines would make a constraint of one
        if joint.kind is JointKind.FLOATING and joint.parent == WORLD:
            _note_free(plan, layer, joint)
            continue
        form = find_joint_prim(joint)
        if form is None:
            _write_stack(plan, layer, joint, reporter)
            continue
        path = plan.joints[joint.name]
        _write_joint(plan, layer, joint, form, path=path, is_loop=joint.name in loops)
        layer.note(path, **_describe(plan, joint, form))
        for word, dof in form.axes or [(dof.motion.value, dof) for dof in joint.dofs]:
            plan.freedoms[dof.name] = (path, word)


def _report_noted(joint: Joint, reporter: Reporter) -> None:
    noted = {
        "the screw pitch": any(dof.pitch for dof in joint.dofs),
        "the gear": joint.gear is not None,
        "the largest turn": any(dof.motion is Motion.BALL and dof.is_limited for dof in joint.dofs),
    }
    for what, is_noted in noted.items():
        if is_noted:
            reporter.report(NOTED, joint.source, what=what, name=joint.name)


def _note_free(plan: WritePlan, layer: LayerWriter, joint: Joint) -> None:
    """The name and frames of a floating joint, on the body that it leaves free."""
    path = plan.bodies[joint.child]
    dof = joint.dofs[0] if joint.dofs else None
    free: dict[str, Any] = {"name": joint.name}
    if dof is not None and dof.name != joint.name:
        free["dof"] = dof.name
    if joint.ros_name:
        free["ros_name"] = joint.ros_name
    if joint.collide:
        free["collide"] = True
    for key, frame in (("frame0", joint.parent_frame), ("frame1", joint.child_frame)):
        if not frame.is_close(IDENTITY, 0.0):
            free[key] = [*frame.p, *frame.q]
    layer.note(path, **{f"{FREE}_{key}": value for key, value in free.items()})
    if dof is not None:
        plan.freedoms[dof.name] = (path, FREE)
    del plan.joints[joint.name]


# what a reader would take the prim for, compared with what the joint is
def _describe(plan: WritePlan, joint: Joint, form: JointPrim) -> dict[str, Any]:
    """What the prim does not say of the joint."""
    note: dict[str, Any] = {}
    if joint.kind is not _READ_AS[form.type]:
        note["kind"] = joint.kind.value
    if form.type == "PhysicsJoint" and joint.kind is not JointKind.FLOATING:
        words = [word for word, _ in form.axes]
        names = [dof.name for _, dof in form.axes]
        if words != sorted(words, key=_AXES.index):
            note["axes"] = words
        usual = [f"{joint.name}_{word}" for word in words] if len(words) > 1 else [joint.name]
        if names != usual:
            note["dofs"] = names
    elif joint.dofs and joint.dofs[0].name != joint.name:
        note["dofs"] = [dof.name for dof in joint.dofs]
    return note | _describe_dofs(plan, joint, joint.dofs) | _describe_turn(joint, form)


def find_turn(joint: Joint, form: JointPrim) -> Pose:
    """The frame that is written, seen from the joint's own."""
    return ~joint.parent_frame @ form.parent_frame


def _describe_turn(joint: Joint, form: JointPrim) -> dict[str, Any]:
    """Coordinates of balls are counted in the joint frame, so its turn is noted."""
    turn = find_turn(joint, form)
    has_ball = any(dof.motion is Motion.BALL for dof in joint.dofs)
    return {"frame": [*turn.p, *turn.q]} if has_ball and not turn.is_close(IDENTITY, 0.0) else {}


def _describe_dofs(plan: WritePlan, joint: Joint, dofs: list[Dof]) -> dict[str, Any]:
    note: dict[str, Any] = {}
    references = [plan.references.get(dof.name, 0.0) for dof in dofs]
    if any(references):
        note["references"] = references
    if any(dof.pitch for dof in dofs):
        note["pitches"] = [dof.pitch for dof in dofs]
    if any(dof.motion is Motion.BALL and dof.is_limited for dof in dofs):
        note["turns"] = [value for dof in dofs for value in (dof.lower, dof.upper)]
    if joint.gear is not None:
        note |= {"gear": joint.gear.ratio, "gear_reference": joint.gear.reference}
    return note


def _write_stack(plan: WritePlan, layer: LayerWriter, joint: Joint, reporter: Reporter) -> None:
    """The nearest generic joint, and the freedoms as they are, noted in its frame."""
    path, form = plan.joints[joint.name], find_nearest_prim(joint)
    words = [word for word, _ in form.axes]
    reporter.report(JOINT_REORDERED, joint.source, name=joint.name, words=", ".join(words))
    _write_joint(plan, layer, joint, form, path=path, is_loop=False)
    back = find_turn(joint, form)
    taken = {id(dof): word for word, dof in reversed(form.axes)}
    layer.note(
        path,
        kind=joint.kind.value,
        axes=words,
        **_describe_stack(joint.dofs, taken, back),
        **_describe_dofs(plan, joint, joint.dofs),
        **_describe_turn(joint, form),
    )
    for dof in joint.dofs:
        plan.freedoms[dof.name] = (path, taken.get(id(dof), dof.motion.value))


# seven lists of one length, by which a reader tells whether a note is whole
def _describe_stack(dofs: list[Dof], words: dict[int, str], back: Pose) -> dict[str, Any]:
    """The freedoms in the written frame, as flat lists: notes hold no lists of lists."""
    swings = [dof.swing or (math.inf, math.inf) for dof in dofs]
    return {
        "dofs": [dof.name for dof in dofs],
        "stack": [dof.motion.value for dof in dofs],
        "stack_words": [words.get(id(dof), "") for dof in dofs],
        "stack_axes": [v for dof in dofs for v in quat_rotate(quat_conjugate(back.q), dof.axis)],
        "stack_anchors": [v for dof in dofs for v in (~back).apply(dof.anchor)],
        "stack_limits": [v for dof in dofs for v in (dof.lower, dof.upper)],
        "stack_swings": [v for swing in swings for v in swing],
    }


def _write_joint(
    plan: WritePlan, layer: LayerWriter, joint: Joint, form: JointPrim, *, path: str, is_loop: bool
) -> None:
    layer.define(path, form.type)
    layer.name(path, joint.name)
    write_sides(plan, layer, path, (joint.parent, form.parent_frame), (joint.child, form.child_frame))
    if form.axis:
        layer.set(path, "physics:axis", "token", form.axis, uniform=True)
    # articulations are trees: one joint of each loop has to be left out of them
    if is_loop or joint.closes_loop:
        layer.set(path, "physics:excludeFromArticulation", "bool", True, uniform=True)
    if not joint.enabled:
        layer.set(path, "physics:jointEnabled", "bool", False)
    if joint.collide:
        layer.set(path, "physics:collisionEnabled", "bool", True)
    for name, value in (("breakForce", joint.break_force), ("breakTorque", joint.break_torque)):
        if math.isfinite(value):
            layer.set(path, f"physics:{name}", "float", value)
    _write_range(layer, joint, form, path)
    if form.type == "PhysicsJoint":
        _write_limits(layer, joint, form, path)
    for word, dof in form.axes:
        if dof.drive is not None and dof.motion in (Motion.HINGE, Motion.SLIDE):
            write_drive(layer, path, word, dof, dof.drive)


def write_sides(
    plan: WritePlan, layer: LayerWriter, path: str, first: tuple[str, Pose], second: tuple[str, Pose]
) -> None:
    """The two bodies of a joint and its frame on each; the world is not named."""
    for number, (body, frame) in enumerate((first, second)):
        # an empty relationship is the world, whose frame is that of the stage
        if body != WORLD:
            layer.relate(path, f"physics:body{number}", [plan.bodies[body]])
        layer.set(path, f"physics:localPos{number}", "point3f", frame.p)
        layer.set(path, f"physics:localRot{number}", "quatf", frame.q)


def _write_range(layer: LayerWriter, joint: Joint, form: JointPrim, path: str) -> None:
    """Limits of joints that have attributes of their own; infinite ones are said (REP-0158 1.3)."""
    if form.type in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        dof = form.axes[0][1]
        unit = _unit(dof)
        layer.set(path, "physics:lowerLimit", "float", dof.lower / unit)
        layer.set(path, "physics:upperLimit", "float", dof.upper / unit)
    elif form.type == "PhysicsSphericalJoint":
        for number, cone in enumerate(joint.dofs[0].swing or (math.inf, math.inf)):
            # -1 is "free" for cones and distances; infinity is "free" for hinges and slides
            degrees = cone / DEGREE if math.isfinite(cone) else -1.0
            layer.set(path, f"physics:coneAngle{number}Limit", "float", degrees)
    elif form.type == "PhysicsDistanceJoint" and joint.distance is not None:
        low, high = joint.distance
        layer.set(path, "physics:minDistance", "float", low)
        layer.set(path, "physics:maxDistance", "float", high if math.isfinite(high) else -1.0)


def _write_limits(layer: LayerWriter, joint: Joint, form: JointPrim, path: str) -> None:
    """A generic joint is free along what has no limit, so all other axes are locked: low above high."""
    free = dict(form.axes)
    for word in _AXES:
        dof = free.get(word)
        if dof is None:
            # low above high is how UsdPhysicsLimitAPI locks an axis
            _write_limit(layer, path, word, 1.0, -1.0)
        elif dof.motion in (Motion.HINGE, Motion.SLIDE) and dof.is_limited:
            unit = _unit(dof)
            _write_limit(layer, path, word, dof.lower / unit, dof.upper / unit)
    if joint.distance is not None:
        low, high = joint.distance
        _write_limit(layer, path, "distance", low, high if math.isfinite(high) else -1.0)


def _write_limit(layer: LayerWriter, path: str, word: str, low: float, high: float) -> None:
    layer.apply(path, f"PhysicsLimitAPI:{word}")
    layer.set(path, f"limit:{word}:physics:low", "float", low)
    layer.set(path, f"limit:{word}:physics:high", "float", high)


def write_drive(layer: LayerWriter, path: str, word: str, dof: Dof, drive: Drive) -> None:
    """A drive; angular gains are per degree."""
    unit = _unit(dof)
    space = f"drive:{word}:physics"
    layer.apply(path, f"PhysicsDriveAPI:{word}")
    layer.set(path, f"{space}:type", "token", "acceleration" if drive.acceleration else "force", uniform=True)
    # per radian to per degree: times the radians in a degree; positions are divided by them
    layer.set(path, f"{space}:stiffness", "float", drive.stiffness * unit)
    layer.set(path, f"{space}:damping", "float", drive.damping * unit)
    if drive.target_position:
        layer.set(path, f"{space}:targetPosition", "float", drive.target_position / unit)
    layer.set(path, f"{space}:targetVelocity", "float", drive.target_velocity / unit)
    if math.isfinite(drive.max_force):
        layer.set(path, f"{space}:maxForce", "float", drive.max_force)


def write_servos(plan: WritePlan, layer: LayerWriter) -> None:
    """A drive for each servo that is alone on its joint.

    Engines know drives, and no actuators but their own.  The actuator is written as well, and says what a drive cannot:
    its name, its range of commands.  A note tells readers that the two are one.
    """
    targets = Counter(actuator.target for actuator in plan.asset.actuators)
    dofs = {dof.name: dof for joint in plan.asset.joints for dof in joint.dofs}
    for actuator in plan.asset.actuators:
        path, word = plan.freedoms.get(actuator.target, ("", ""))
        if word not in SINGLE or targets[actuator.target] > 1:
            continue
        dof = dofs[actuator.target]
        drive = make_drive(actuator, dof)
        if drive is None or dof.drive is not None:
            continue
        if actuator.kind == "position":
            # MuJoCo starts with commands of zero, counted as the source counts, and clamps them to their range
            gear, command = actuator.gear[0], -actuator.gear[0] * plan.references.get(dof.name, 0.0)
            low, high = actuator.control_range or (-math.inf, math.inf)
            drive.target_position = min(max(command, low), high) / gear
        write_drive(layer, path, word, dof, drive)
        layer.note(path, drive_of=actuator.name)


def _unit(dof: Dof) -> float:
    """Radians in a degree for a hinge, else one."""
    return DEGREE if dof.motion is Motion.HINGE else 1.0


_EQUALITY_TYPES = {EqualityKind.CONNECT: "PhysicsSphericalJoint", EqualityKind.WELD: "PhysicsFixedJoint"}


def write_equalities(plan: WritePlan, layer: LayerWriter) -> None:
    """Connects and welds."""
    for equality in plan.asset.equalities:
        kind = _EQUALITY_TYPES.get(equality.kind)
        names = (equality.a, equality.b)
        if kind is None or any(name != WORLD and name not in plan.bodies for name in names):
            continue
        path = plan.names.claim(plan.body(equality.a), equality.name or "equality", "_joint")
        plan.equalities[equality.name] = path
        layer.define(path, kind)
        layer.name(path, equality.name)
        write_sides(plan, layer, path, (equality.a, equality.frame_a), (equality.b, equality.frame_b))
        if equality.kind is EqualityKind.CONNECT:
            for side in (0, 1):
                layer.set(path, f"physics:coneAngle{side}Limit", "float", -1.0)
        layer.set(path, "physics:excludeFromArticulation", "bool", True, uniform=True)
        layer.set(path, "physics:collisionEnabled", "bool", True)
        if not equality.enabled:
            layer.set(path, "physics:jointEnabled", "bool", False)
        layer.note(path, equality=equality.kind.value)
        if equality.b == WORLD:
            layer.note(path, turned=True)
