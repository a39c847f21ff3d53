# SPDX-License-Identifier: Apache-2.0
"""Joints as the source had them, where notes on the prims say so (see ``simwright.usd.notes``).

Notes give freedoms their names and order, also where no generic joint has it, say what the source called a joint, and
hold what UsdPhysics has no word for: screws, gears, floating joints, equalities, reference coordinates.  A note
that does not fit what the prim says now is not used: the prim was edited.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from simwright.core.math3d import IDENTITY, Pose, quat_rotate, vec3
from simwright.formats.usd.found import Found
from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source
from simwright.model.joint import (
    WORLD,
    Dof,
    Equality,
    EqualityKind,
    Gear,
    Joint,
    JointKind,
    Mimic,
    Motion,
)

_KINDS = {kind.value: kind for kind in JointKind}
_EQUALITIES = {kind.value: kind for kind in EqualityKind}
_MOTIONS = {motion.value: motion for motion in (Motion.HINGE, Motion.SLIDE, Motion.BALL)}
_LETTERS = {"X": 0, "Y": 1, "Z": 2}
_FREEDOMS = 6


def arrange_dofs(note: dict[str, Any], dofs: list[Dof]) -> None:
    """Order and name the freedoms of a joint as noted."""
    names = texts(note.get("dofs"))
    axes = texts(note.get("axes"))
    if axes:
        words = {_word(dof): dof for dof in dofs}
        if sorted(words) != sorted(axes) or len(words) != len(dofs):
            return
        dofs[:] = _read_stack(note, words) or [words[word] for word in axes]
    if len(names) == len(dofs):
        for dof, name in zip(dofs, names, strict=True):
            dof.name = name


def turn_frames(note: dict[str, Any], dofs: list[Dof], frames: tuple[Pose, Pose]) -> tuple[Pose, Pose]:
    """The source's own joint frames, where the written ones are turned; axes and anchors turn along."""
    turn = read_pose(note.get("frame"))
    if turn is None:
        return frames
    for dof in dofs:
        dof.axis, dof.anchor = quat_rotate(turn.q, dof.axis), turn.apply(dof.anchor)
    return frames[0] @ ~turn, frames[1] @ ~turn


def _read_stack(note: dict[str, Any], words: dict[str, Dof]) -> list[Dof]:
    """The freedoms of a stack that no generic joint has; limits and drives are those of the axis each was given."""
    motions, places = texts(note.get("stack")), texts(note.get("stack_words"))
    axes, anchors = (numbers(note.get(f"stack_{key}"), finite=True) for key in ("axes", "anchors"))
    limits, swings = (numbers(note.get(f"stack_{key}")) for key in ("limits", "swings"))
    count = len(motions)
    sizes = (len(places), len(axes), len(anchors), len(limits), len(swings))
    if sizes != (count, 3 * count, 3 * count, 2 * count, 2 * count):
        return []
    dofs = []
    for number, (motion, place) in enumerate(zip(motions, places, strict=True)):
        first = 3 * number
        if motion not in _MOTIONS or not any(axes[first : first + 3]):
            return []
        dof = Dof(
            _MOTIONS[motion], axis=vec3(*axes[first : first + 3]), anchor=vec3(*anchors[first : first + 3])
        )
        dof.lower, dof.upper = limits[2 * number : 2 * number + 2]
        swing = (swings[2 * number], swings[2 * number + 1])
        dof.swing = swing if any(map(math.isfinite, swing)) else None
        known = words.get(place)
        if known is not None and dof.motion is not Motion.BALL:
            dof.lower, dof.upper, dof.drive = known.lower, known.upper, known.drive
        dofs.append(dof)
    return dofs


def _word(dof: Dof) -> str:
    letter = next(letter for letter, number in _LETTERS.items() if abs(dof.axis[number]) == 1.0)
    return f"rot{letter}" if dof.motion is Motion.HINGE else f"trans{letter}"


def restore_joints(source: Source, scan: Scan) -> dict[str, float]:
    """Kinds, equalities and floating joints; gives the coordinates that freedoms start at."""
    if not source.noted:
        return {}
    asset = source.asset
    notes = {found.path: source.note(found) for found in scan.joints}
    references: dict[str, float] = {}
    kept = []
    for joint in asset.joints:
        note = notes.get(joint.path, {})
        if note.get("equality") in _EQUALITIES and joint.closes_loop:
            asset.equalities.append(_make_equality(source, scan.all[joint.path], joint, note))
            continue
        kept.append(joint)
        _restore_dofs(joint, note)
        starts = numbers(note.get("references"), finite=True)
        if len(starts) == len(joint.dofs):
            references |= {dof.name: by for dof, by in zip(joint.dofs, starts, strict=True) if by}
        if note.get("kind") in _KINDS:
            _restore_kind(joint, _KINDS[note["kind"]])
    asset.joints = kept
    for found in scan.bodies:
        _restore_free(source, found)
    return references


def _restore_dofs(joint: Joint, note: dict[str, Any]) -> None:
    pitches, turns = numbers(note.get("pitches"), finite=True), numbers(note.get("turns"))
    if len(pitches) == len(joint.dofs):
        for dof, pitch in zip(joint.dofs, pitches, strict=True):
            dof.pitch = pitch
    if len(turns) == 2 * len(joint.dofs):
        for number, dof in enumerate(joint.dofs):
            if dof.motion is Motion.BALL:
                dof.lower, dof.upper = turns[2 * number], turns[2 * number + 1]
    for key in (
        "armature",
        "friction",
        "damping",
        "stiffness",
        "spring_ref",
        "effort_limit",
        "velocity_limit",
    ):
        values = numbers(note.get(f"dof_{key}"))
        if len(values) == len(joint.dofs):
            for dof, value in zip(joint.dofs, values, strict=True):
                setattr(dof, key, value if math.isfinite(value) else None)
    _restore_gear(joint, note)


def _restore_gear(joint: Joint, note: dict[str, Any]) -> None:
    ratio = note.get("gear")
    if isinstance(ratio, float) and math.isfinite(ratio) and len(joint.dofs) > 1:
        joint.gear = Gear(ratio, str(note.get("gear_reference", WORLD)))


def _restore_kind(joint: Joint, kind: JointKind) -> None:
    """What the source called it, if it still has such freedoms."""
    if kind is JointKind.FLOATING:
        if joint.velocities == _FREEDOMS and not any(dof.is_limited for dof in joint.dofs):
            joint.kind, joint.dofs = kind, [Dof(Motion.FREE, name=joint.name)]
        return
    motions = [dof.motion for dof in joint.dofs]
    expected: dict[JointKind, Sequence[list[Motion]]] = {
        JointKind.UNIVERSAL: ([Motion.HINGE] * 2,),
        JointKind.GEARBOX: ([Motion.HINGE] * 2,),
        JointKind.PLANAR: ([Motion.SLIDE, Motion.SLIDE, Motion.HINGE],),
        JointKind.SCREW: ([Motion.HINGE],),
        JointKind.REVOLUTE: ([Motion.HINGE],),
        JointKind.PRISMATIC: ([Motion.SLIDE],),
        JointKind.D6: (motions,),
    }
    if motions in expected.get(kind, ()):
        joint.kind = kind


def _make_equality(source: Source, found: Found, joint: Joint, note: dict[str, Any]) -> Equality:
    """The constraint that a closing joint stands for.  The world is a joint's parent, whichever side it was."""
    first, second = (joint.parent, joint.parent_frame), (joint.child, joint.child_frame)
    if note.get("turned"):
        first, second = second, first
    return Equality(
        name=joint.name,
        kind=_EQUALITIES[note["equality"]],
        a=first[0],
        b=second[0],
        frame_a=first[1],
        frame_b=second[1],
        torque_scale=source.get_number(found, "mjc:torqueScale", 1.0),
        enabled=joint.enabled,
        source=joint.source,
    )


def _restore_free(source: Source, found: Found) -> None:
    """The floating joint of a body that nothing else holds."""
    note, frame = source.note(found), source.bodies[found.path]
    if "free_name" not in note or any(
        j.child == frame.name and not j.closes_loop for j in source.asset.joints
    ):
        return
    first, second = (read_pose(note.get(f"free_frame{side}")) or IDENTITY for side in (0, 1))
    pose = ~first @ frame.pose @ second
    dof = Dof(Motion.FREE, name=str(note.get("free_dof", note["free_name"])))
    dof.position = [float(v) for v in (*pose.p, *pose.q)]
    for key in ("armature", "friction", "damping", "stiffness"):
        value = note.get(f"free_{key}")
        if isinstance(value, int | float) and math.isfinite(value):
            setattr(dof, key, float(value))
    source.asset.joints.append(
        Joint(
            name=str(note["free_name"]),
            kind=JointKind.FLOATING,
            parent=WORLD,
            child=frame.name,
            parent_frame=first,
            child_frame=second,
            dofs=[dof],
            collide=bool(note.get("free_collide", False)),
            ros_name=str(note.get("free_ros_name", "")),
            path=found.path,
            source=source.where(found),
        )
    )


def read_noted_mimics(source: Source, found: Found) -> None:
    """Rules between freedoms that no schema relates: names by threes, numbers by six."""
    note = source.note(found)
    names, values = texts(note.get("mimics")), numbers(note.get("mimic_values"), finite=True)
    if len(values) != 2 * len(names) or len(names) % 3:
        return
    known = {dof.name for joint in source.asset.joints for dof in joint.dofs}
    for row in range(len(names) // 3):
        follower, leader, name = names[3 * row : 3 * row + 3]
        if not {follower, leader} <= known:
            continue
        enabled, offset, multiplier, *higher = values[6 * row : 6 * row + 6]
        polynomial = tuple(higher) if any(higher) else ()
        where = source.where(found)
        source.asset.mimics.append(
            Mimic(follower, leader, multiplier, offset, polynomial, bool(enabled), name, where)
        )


def texts(value: Any) -> list[str]:
    """A noted array of texts."""
    return [str(v) for v in value] if hasattr(value, "__len__") and not isinstance(value, str) else []


def numbers(value: Any, *, finite: bool = False) -> list[float]:
    """A noted array of numbers; none where the note holds something else."""
    if not hasattr(value, "__len__") or isinstance(value, str):
        return []
    if not all(isinstance(v, int | float) and (math.isfinite(v) or not finite) for v in value):
        return []
    return [float(v) for v in value]


def read_pose(value: Any) -> Pose | None:
    """A noted pose: position and quaternion; None where the note holds something else."""
    values = numbers(value, finite=True)
    return Pose.of(values[:3], values[3:]) if len(values) == 7 and any(values[3:]) else None
