# SPDX-License-Identifier: Apache-2.0
"""Joints and equalities in ``physics.usda``: frames, limits in degrees, drives per degree (REP-0158 1.3).

What UsdPhysics has no attribute for (names of freedoms, what the source called the joint) is noted on the prim where it
is not what a reader would take it for, so that the way back gives the same joints.

A prim has a type, two frames, and an axis word for each freedom.  Axes of UsdPhysics are X, Y or Z of the joint
frame, so frames are turned where an axis is another one; the motion stays the same.  Hinges of a generic joint turn
about X, then Y, then Z: a stack of freedoms fits if one frame can be found in which its axes come in that order.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import (
    DEGREE,
    IDENTITY,
    Array,
    Pose,
    quat_between,
    quat_conjugate,
    quat_from_matrix,
    quat_rotate,
)
from simwright.core.names import make_identifier
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.formats.usd.writer.messages import JOINT_REORDERED, NOTED
from simwright.formats.usd.writer.plan import WritePlan, list_written
from simwright.model.joint import WORLD, Dof, Drive, EqualityKind, Joint, JointKind, Motion
from simwright.model.servo import make_drive

_LETTERS = "XYZ"
# frames are composed in double precision; axes that are off by more are another mechanism
_LEAST_WIDTH = 1e-7
"""Of a range of MuJoCo [deg, m]."""
_EXACT = 1e-9


@dataclass(slots=True, eq=False)
class JointPrim:
    """``axes`` gives the word of each freedom: angular, linear, or transX ... rotZ of a generic joint."""

    type: str
    parent_frame: Pose
    child_frame: Pose
    axis: str = ""
    axes: list[tuple[str, Dof]] = field(default_factory=list)


def find_joint_prim(joint: Joint) -> JointPrim | None:
    """The UsdPhysics form of a joint; None where one prim cannot say it."""
    parent, child = joint.parent_frame, joint.child_frame
    match joint.kind:
        case JointKind.FIXED:
            return JointPrim("PhysicsFixedJoint", parent, child)
        case JointKind.DISTANCE:
            return JointPrim("PhysicsDistanceJoint", parent, child)
    is_single = len(joint.dofs) == 1 and joint.distance is None and joint.kind is not JointKind.D6
    if is_single and joint.dofs[0].motion is not Motion.FREE:
        return find_single(joint, joint.dofs[0])
    return _find_generic(joint)


def find_nearest_prim(joint: Joint) -> JointPrim:
    """The generic joint that is nearest to a stack that fits none: each freedom gets an axis that is still free.

    Its frame is along the first axes.  A freedom that finds no axis (a second hinge about the same one) has no word.
    """
    hinges = [dof for dof in joint.dofs if dof.motion is not Motion.SLIDE]
    frame = _span([_unit_axis(dof) for dof in joint.dofs if dof.motion is not Motion.BALL])
    shift = Pose.of(hinges[0].anchor if hinges else np.zeros(3), quat_from_matrix(frame))
    form = JointPrim("PhysicsJoint", joint.parent_frame @ shift, joint.child_frame @ shift)
    taken: set[str] = set()
    for dof in joint.dofs:
        letters = _LETTERS if dof.motion is Motion.BALL else _LETTERS[int(np.argmax(_unit_axis(dof) @ frame))]
        kind = "trans" if dof.motion is Motion.SLIDE else "rot"
        words = [f"{kind}{letter}" for letter in letters if f"{kind}{letter}" not in taken]
        form.axes += [(word, dof) for word in words]
        taken.update(words)
    return form


def _unit_axis(dof: Dof) -> Array:
    unit: Array = np.asarray(dof.axis, dtype=np.float64) / np.linalg.norm(dof.axis)
    return unit


def _span(axes: list[Array]) -> Array:
    """A right-handed frame whose first axes are the given ones, each made square to those before it."""
    basis: list[Array] = []
    for candidate in (*axes, *np.eye(3)):
        rest = candidate - sum((float(candidate @ a) * a for a in basis), np.zeros(3))
        if len(basis) < 3 and np.linalg.norm(rest) > 0.1:
            basis.append(rest / np.linalg.norm(rest))
    if np.linalg.det(np.array(basis)) < 0.0:
        basis[1], basis[2] = basis[2], basis[1]
    return np.array(basis).T


def find_single(joint: Joint, dof: Dof) -> JointPrim:
    """A joint with one freedom."""
    if dof.motion is Motion.BALL:
        # without cones a ball has no axis worth turning the frame for
        letter, turn = _align(dof.axis) if dof.swing else ("Z", IDENTITY)
        kind, word = "PhysicsSphericalJoint", ""
    else:
        letter, turn = _align(dof.axis)
        hinge = dof.motion is Motion.HINGE
        kind, word = ("PhysicsRevoluteJoint", "angular") if hinge else ("PhysicsPrismaticJoint", "linear")
    shift = Pose.of(dof.anchor) @ turn
    form = JointPrim(kind, joint.parent_frame @ shift, joint.child_frame @ shift, letter)
    form.axes = [(word, dof)] if word else []
    return form


_HALF_TURNS = {
    "X": Pose.of(q=(0.0, 0.0, 1.0, 0.0)),
    "Y": Pose.of(q=(0.0, 1.0, 0.0, 0.0)),
    "Z": Pose.of(q=(0.0, 0.0, 1.0, 0.0)),
}
"""Turns that point an axis the other way.  Single precision holds them as they are; of a quarter turn it keeps a
quaternion that is too long by 7e-8 once Newton (1.7) has made it a unit again, and a chain of them adds up."""


def _align(axis: Array) -> tuple[str, Pose]:
    """The letter of an axis and the turn of the frame that makes it so."""
    unit = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    values = unit.tolist()
    for number, letter in enumerate(_LETTERS):
        if all(abs(value - (place == number)) <= 1e-12 for place, value in enumerate(values)):
            return letter, IDENTITY
        if all(abs(value + (place == number)) <= 1e-12 for place, value in enumerate(values)):
            return letter, _HALF_TURNS[letter]
    return "Z", Pose.of(q=quat_between((0.0, 0.0, 1.0), unit))


# one function: a list of reasons why no generic joint has these freedoms
def _find_generic(joint: Joint) -> JointPrim | None:
    free = any(dof.motion is Motion.FREE for dof in joint.dofs)
    if free:
        return JointPrim("PhysicsJoint", joint.parent_frame, joint.child_frame, axes=_list_free(joint))
    if any(dof.motion is Motion.BALL for dof in joint.dofs):
        return None
    motions = [dof.motion for dof in joint.dofs]
    # a generic joint slides before it turns
    if motions != sorted(motions, key=lambda motion: motion is Motion.HINGE):
        return None
    anchors = [dof.anchor for dof in joint.dofs if dof.motion is Motion.HINGE]
    if any(not np.allclose(anchor, anchors[0], rtol=0.0, atol=_EXACT) for anchor in anchors):
        return None
    turn = _find_frame(joint.dofs)
    if turn is None:
        return None
    shift = Pose.of(anchors[0] if anchors else np.zeros(3), quat_from_matrix(turn))
    form = JointPrim("PhysicsJoint", joint.parent_frame @ shift, joint.child_frame @ shift)
    form.axes = [(_word(dof, turn), dof) for dof in joint.dofs]
    return form


def _list_free(joint: Joint) -> list[tuple[str, Dof]]:
    dof = joint.dofs[0]
    return [(f"{kind}{letter}", dof) for kind in ("trans", "rot") for letter in _LETTERS]


def _find_frame(dofs: list[Dof]) -> Array | None:
    """A rotation whose columns are the axes in an order that a generic joint has; None if there is none."""
    axes: list[Array] = []
    for dof in dofs:
        unit = np.asarray(dof.axis, dtype=np.float64) / np.linalg.norm(dof.axis)
        if not any(abs(abs(float(unit @ other)) - 1.0) < _EXACT for other in axes):
            axes.append(unit)
    for frame in _list_frames(axes):
        words = [_word(dof, frame) for dof in dofs]
        hinges = [word for word in words if word.startswith("rot")]
        # the identity is tried first, so that frames stay as they are where they can
        if all(words) and len(set(words)) == len(words) and hinges == sorted(hinges):
            return frame
    return None


def _list_frames(axes: list[Array]) -> list[Array]:
    """The given frame, then all right-handed frames along the axes."""
    frames = [np.eye(3)]
    basis = list(axes)
    for candidate in np.eye(3):
        rest = candidate - sum((float(candidate @ a) * a for a in basis), np.zeros(3))
        if len(basis) < 3 and np.linalg.norm(rest) > 0.1:
            basis.append(rest / np.linalg.norm(rest))
    if len(basis) != 3 or not np.allclose(np.array(basis) @ np.array(basis).T, np.eye(3), atol=_EXACT):
        return frames
    for order in permutations(basis):
        for signs in product((1.0, -1.0), repeat=3):
            frame = np.array(order).T * np.array(signs)
            if np.linalg.det(frame) > 0.0:
                frames.append(frame)
    return frames


def _word(dof: Dof, frame: Array) -> str:
    """``transX`` ... ``rotZ`` of a freedom in a frame; empty if it is along none of the axes."""
    unit = np.asarray(dof.axis, dtype=np.float64) / np.linalg.norm(dof.axis)
    kind = "rot" if dof.motion is Motion.HINGE else "trans"
    for number, letter in enumerate(_LETTERS):
        if abs(float(unit @ frame[:, number]) - 1.0) < _EXACT:
            return f"{kind}{letter}"
    return ""


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
        if _is_divided(plan, joint, loops):
            _write_parts(plan, layer, joint)
            continue
        form = find_joint_prim(joint)
        if form is None:
            _write_stack(plan, layer, joint, reporter)
            continue
        path = plan.joints[joint.name]
        _write_joint(plan, layer, joint, form, path=path, is_loop=joint.name in loops)
        layer.note(path, **{**_describe(plan, joint, form), **_describe_part(plan, joint, form)})
        for word, dof in form.axes or [(dof.motion.value, dof) for dof in joint.dofs]:
            plan.freedoms[dof.name] = (path, word)


def _is_divided(plan: WritePlan, joint: Joint, loops: set[str]) -> bool:
    """Is each freedom a prim of its own?  Readers of MuJoCo (4.0.0) and Newton (1.7) want parallel joints for it."""
    motions = {dof.motion for dof in joint.dofs}
    is_tree = not joint.closes_loop and joint.name not in loops
    is_plain = joint.gear is None and joint.distance is None and motions <= {Motion.HINGE, Motion.SLIDE}
    return plan.is_divided and is_tree and is_plain and len(joint.dofs) > 1


def _write_parts(plan: WritePlan, layer: LayerWriter, joint: Joint) -> None:
    """A prim for each freedom, all between the same two bodies; the joint is known by the first of them."""
    home = plan.joints.pop(joint.name)
    for dof in joint.dofs:
        form = find_single(joint, dof)
        # the place of the joint is free for a freedom with its name
        taken = joint.name in plan.joints or make_identifier(dof.name) != home.rpartition("/")[2]
        path = plan.names.claim(home.rpartition("/")[0], dof.name, "_joint") if taken else home
        plan.joints.setdefault(joint.name, path)
        _write_joint(plan, layer, replace(joint, name=dof.name), form, path=path, is_loop=False)
        turn = find_turn(joint, form)
        part = {"part_of": joint.name, "part_kind": joint.kind.value, "frame": [*turn.p, *turn.q]}
        layer.note(path, **part, **_describe_dofs(plan, joint, [dof]))
        plan.freedoms[dof.name] = (path, form.axes[0][0])


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


def _describe_part(plan: WritePlan, joint: Joint, form: JointPrim) -> dict[str, Any]:
    """What a joint of a chain is a part of (see ``chains``)."""
    if joint.name not in plan.chains.parts:
        return {}
    whole, kind = plan.chains.parts[joint.name]
    turn = find_turn(joint, form)
    return {"chain_of": whole, "part_kind": kind, "frame": [*turn.p, *turn.q]}


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
    _write_range(plan, layer, joint, form, path)
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


def _write_range(plan: WritePlan, layer: LayerWriter, joint: Joint, form: JointPrim, path: str) -> None:
    """Limits of joints that have attributes of their own; infinite ones are said (REP-0158 1.3)."""
    if form.type in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        dof = form.axes[0][1]
        low, high = (end / _unit(dof) for end in (dof.lower, dof.upper))
        if plan.is_for_mujoco and low == high:
            # MuJoCo's reader (4.0) refuses a range without width; that of a joint that cannot move gets the least one
            high = max(float(np.nextafter(np.float32(low), np.float32(np.inf))), low + _LEAST_WIDTH)
        layer.set(path, "physics:lowerLimit", "float", low)
        layer.set(path, "physics:upperLimit", "float", high)
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


def write_springs(plan: WritePlan, layer: LayerWriter) -> None:
    """Springs of joints that nothing else drives as drives, in assets for PhysX, which has no other word for them."""
    if not plan.is_for_physx:
        return
    driven = {
        actuator.target for actuator in plan.asset.actuators if actuator.kind in ("position", "velocity")
    }
    for joint in list_written(plan):
        for dof in joint.dofs:
            path, word = plan.freedoms.get(dof.name, ("", ""))
            if dof.stiffness and dof.drive is None and word in SINGLE and dof.name not in driven:
                spring = Drive(stiffness=dof.stiffness, target_position=dof.spring_ref or 0.0)
                write_drive(layer, path, word, dof, spring)
                layer.note(path, stands_for="spring")


def _unit(dof: Dof) -> float:
    """Radians in a degree for a hinge, else one."""
    return DEGREE if dof.motion is Motion.HINGE else 1.0


_LEVER = 0.1
"""How far from the anchor the two points are that hold the axis of a hinge [m]."""


def write_loop_points(plan: WritePlan, layer: LayerWriter) -> None:
    """Hinges that close loops as two points on their axis, in assets for MuJoCo alone.

    Its reader (4.0.0) makes constraints of spherical and fixed joints only.
    """
    if not plan.is_for_mujoco:
        return
    closing = {joint.name for joint in plan.tree.loops}
    for joint in list_written(plan):
        is_loop = joint.closes_loop or joint.name in closing
        if not is_loop or [dof.motion for dof in joint.dofs] != [Motion.HINGE] or joint.dofs[0].pitch:
            continue
        dof, home = joint.dofs[0], plan.joints[joint.name].rpartition("/")[0]
        for side, sign in (("a", 1.0), ("b", -1.0)):
            point = Pose.of(dof.anchor + dof.axis * (sign * _LEVER))
            path = plan.names.claim(home, f"{joint.name}_{side}", "_joint")
            layer.define(path, "PhysicsSphericalJoint")
            ends = (joint.parent, joint.parent_frame @ point), (joint.child, joint.child_frame @ point)
            write_sides(plan, layer, path, *ends)
            layer.set(path, "physics:excludeFromArticulation", "bool", True, uniform=True)
            layer.set(path, "physics:collisionEnabled", "bool", joint.collide)
            layer.note(path, stands_for="loop")
            if not joint.enabled:
                layer.set(path, "physics:jointEnabled", "bool", False)


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
