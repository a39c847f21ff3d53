# SPDX-License-Identifier: Apache-2.0
"""A joint of the model as a UsdPhysics prim: type, two frames, and an axis word for each freedom.

Axes of UsdPhysics are X, Y or Z of the joint frame, so frames are turned where an axis is another one; the motion
stays the same.  Hinges of a generic joint turn about X, then Y, then Z: a stack of freedoms fits if one frame can be
found in which its axes come in that order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations, product

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, quat_between, quat_from_matrix
from simwright.model.joint import Dof, Joint, JointKind, Motion

_LETTERS = "XYZ"
# frames are composed in double precision; axes that are off by more are another mechanism
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
    frame = _span([_unit(dof) for dof in joint.dofs if dof.motion is not Motion.BALL])
    shift = Pose.of(hinges[0].anchor if hinges else np.zeros(3), quat_from_matrix(frame))
    form = JointPrim("PhysicsJoint", joint.parent_frame @ shift, joint.child_frame @ shift)
    taken: set[str] = set()
    for dof in joint.dofs:
        letters = _LETTERS if dof.motion is Motion.BALL else _LETTERS[int(np.argmax(_unit(dof) @ frame))]
        kind = "trans" if dof.motion is Motion.SLIDE else "rot"
        words = [f"{kind}{letter}" for letter in letters if f"{kind}{letter}" not in taken]
        form.axes += [(word, dof) for word in words]
        taken.update(words)
    return form


def _unit(dof: Dof) -> Array:
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


def _align(axis: Array) -> tuple[str, Pose]:
    """The letter of an axis and the turn of the frame that makes it so."""
    unit = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    for number, letter in enumerate(_LETTERS):
        if np.allclose(unit, np.eye(3)[number], rtol=0.0, atol=1e-12):
            return letter, IDENTITY
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
