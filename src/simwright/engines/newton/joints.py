# SPDX-License-Identifier: Apache-2.0
"""Joints: the model's ordered freedoms as Newton's joint types, limits, gains and initial coordinates."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Array, Pose, quat_conjugate, vec3
from simwright.core.units import DEGREE
from simwright.engines.newton.frames import as_transform, as_xyzw
from simwright.engines.newton.messages import (
    DRIVE_ACCELERATION,
    JOINT_APPROXIMATED,
    JOINT_CONE,
    SPRING_LOST,
)
from simwright.model.joint import Dof, Joint, JointKind, Motion

_MAX_AXES = 3
_PASSIVE_STIFFNESS = "mujoco:dof_passive_stiffness"
_SPRING_REFERENCE = "mujoco:dof_springref"
_REFERENCE = "mujoco:dof_ref"
_RIGID = 1e8
"""Stiffness of a stop that does not give, per metre or degree."""


@dataclasses.dataclass(frozen=True, slots=True)
class Seat:
    """Where a joint goes: builder indices (-1 is the world), frames, label and contact of its bodies."""

    parent: int
    child: int
    parent_frame: Pose
    child_frame: Pose
    label: str
    filter_parent: bool
    enabled: bool = True

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments that every ``add_joint_*`` takes."""
        return {
            "child": self.child,
            "parent": self.parent,
            "parent_xform": as_transform(self.parent_frame),
            "child_xform": as_transform(self.child_frame),
            "label": self.label,
            "collision_filter_parent": self.filter_parent,
            "enabled": self.enabled,
        }


def reverse_joint(joint: Joint, reporter: Reporter) -> Joint:
    """The same joint seen from its child: frames exchanged, motions inverted and in the opposite order."""
    motions = {dof.motion for dof in joint.dofs}
    if Motion.SLIDE in motions and len(motions) > 1:
        reporter.report(
            JOINT_APPROXIMATED,
            joint.source,
            name=joint.name,
            as_what="its reverse with slides before hinges",
            why="it leads from child to parent and both slides and turns",
        )
    return dataclasses.replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        parent_frame=joint.child_frame,
        child_frame=joint.parent_frame,
        dofs=[_reverse_dof(dof) for dof in reversed(joint.dofs)],
    )


def _reverse_dof(dof: Dof) -> Dof:
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        return dataclasses.replace(dof, axis=-dof.axis)
    position = None if dof.position is None else np.asarray(dof.position, dtype=np.float64)
    if position is not None and dof.motion is Motion.BALL:
        position = quat_conjugate(position)
    return dataclasses.replace(dof, position=position if dof.motion is Motion.BALL else None)


def add_joint(builder: Any, joint: Joint, seat: Seat, reporter: Reporter) -> int:
    """Add one joint and its initial coordinates; gives its index."""
    dofs, seat = _move_anchor(joint, seat, reporter)
    given = seat.arguments()
    motions = [dof.motion for dof in dofs]
    if joint.kind is JointKind.DISTANCE:
        low, high = joint.distance or (0.0, math.inf)
        given |= {"min_distance": low if low > 0.0 else -1.0}
        given |= {"max_distance": high if math.isfinite(high) else -1.0}
        index = builder.add_joint_distance(**given)
    elif not dofs:
        index = builder.add_joint_fixed(**given)
    elif motions == [Motion.FREE]:
        index = builder.add_joint_free(**given)
    elif motions == [Motion.BALL]:
        index = _add_ball(builder, joint, dofs[0], given, reporter)
    elif motions == [Motion.HINGE] and joint.kind is not JointKind.D6:
        index = builder.add_joint_revolute(axis=_build_axis(builder, dofs[0], reporter, joint), **given)
    elif motions == [Motion.SLIDE] and joint.kind is not JointKind.D6:
        index = builder.add_joint_prismatic(axis=_build_axis(builder, dofs[0], reporter, joint), **given)
    else:
        index, dofs = _add_generic(builder, joint, dofs, given, reporter)
    _set_state(builder, index, dofs)
    return int(index)


def _move_anchor(joint: Joint, seat: Seat, reporter: Reporter) -> tuple[list[Dof], Seat]:
    """Freedoms turn about the frame's origin in Newton: an anchor they share moves both frames."""
    turning = [dof for dof in joint.dofs if dof.motion in (Motion.HINGE, Motion.BALL)]
    if any(dof.pitch for dof in turning):
        reporter.report(
            JOINT_APPROXIMATED,
            joint.source,
            name=joint.name,
            as_what="a hinge",
            why="Newton has no screw joints",
        )
    if joint.gear is not None:
        reporter.report(
            JOINT_APPROXIMATED,
            joint.source,
            name=joint.name,
            as_what="free hinges",
            why="Newton has no gearboxes",
        )
    anchors = [dof.anchor for dof in turning]
    if not any(np.any(anchor) for anchor in anchors):
        return joint.dofs, seat
    if any(not np.allclose(anchor, anchors[0]) for anchor in anchors):
        reporter.report(
            JOINT_APPROXIMATED,
            joint.source,
            name=joint.name,
            as_what="a joint with one anchor",
            why="its axes do not meet in one point",
        )
    shift = Pose.of(anchors[0])
    dofs = [dataclasses.replace(dof, anchor=vec3()) for dof in joint.dofs]
    parent_frame, child_frame = seat.parent_frame @ shift, seat.child_frame @ shift
    return dofs, dataclasses.replace(seat, parent_frame=parent_frame, child_frame=child_frame)


def _add_ball(builder: Any, joint: Joint, dof: Dof, given: dict[str, Any], reporter: Reporter) -> int:
    if dof.swing is not None:
        reporter.report(JOINT_CONE, joint.source, name=joint.name)
    return int(
        builder.add_joint_ball(armature=dof.armature, friction=dof.friction, damping=dof.damping, **given)
    )


def _add_generic(
    builder: Any, joint: Joint, dofs: list[Dof], given: dict[str, Any], reporter: Reporter
) -> tuple[int, list[Dof]]:
    """A D6: slides first, then hinges; gives the freedoms in that order."""
    simple = [dof for old in dofs for dof in _split_dof(old)]
    slides = [dof for dof in simple if dof.motion is Motion.SLIDE]
    hinges = [dof for dof in simple if dof.motion is Motion.HINGE]
    ordered = [*slides[:_MAX_AXES], *hinges[:_MAX_AXES]]
    if len(ordered) < len(simple) or (slides and hinges and simple != ordered):
        reporter.report(
            JOINT_APPROXIMATED,
            joint.source,
            name=joint.name,
            as_what=f"a D6 of {len(slides[:_MAX_AXES])} slides and {len(hinges[:_MAX_AXES])} hinges",
            why="its freedoms come in another order or are more than three of a kind",
        )
    index = builder.add_joint_d6(
        linear_axes=[_build_axis(builder, dof, reporter, joint) for dof in slides[:_MAX_AXES]],
        angular_axes=[_build_axis(builder, dof, reporter, joint) for dof in hinges[:_MAX_AXES]],
        **given,
    )
    return int(index), ordered


def _split_dof(dof: Dof) -> list[Dof]:
    """A ball or free motion among others, as hinges and slides along the axes."""
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        return [dof]
    kinds = [Motion.HINGE] if dof.motion is Motion.BALL else [Motion.SLIDE, Motion.HINGE]
    return [
        dataclasses.replace(dof, motion=kind, axis=axis, position=None, velocity=None)
        for kind in kinds
        for axis in np.eye(3)
    ]


def _build_axis(builder: Any, dof: Dof, reporter: Reporter, joint: Joint) -> Any:
    """Newton's description of one axis; what the model does not say is the builder's default."""
    default = builder.default_joint_cfg
    drive = dof.drive
    values = {
        "armature": dof.armature,
        "friction": dof.friction,
        "damping": dof.damping,
        "effort_limit": dof.effort_limit,
        "velocity_limit": dof.velocity_limit,
        "limit_ke": dof.limit_stiffness,
        "limit_kd": dof.limit_damping,
    }
    for name, value in values.items():
        if value is None:
            values[name] = getattr(default, name)
    if math.inf in (values["limit_ke"], values["limit_kd"]):
        rigid = _RIGID / DEGREE if dof.motion is Motion.HINGE else _RIGID
        values |= {"limit_ke": min(rigid, values["limit_ke"] or 0.0), "limit_kd": 0.0}
    if drive is not None:
        if drive.acceleration:
            reporter.report(DRIVE_ACCELERATION, joint.source, name=joint.name)
        limit = math.inf if dof.effort_limit is None else dof.effort_limit
        values |= {
            "target_pos": drive.target_position - dof.ref,
            "target_vel": drive.target_velocity,
            "target_ke": drive.stiffness,
            "target_kd": drive.damping,
            "effort_limit": min(drive.max_force, limit),
        }
    return type(default)(
        axis=tuple(float(v) for v in dof.axis),
        limit_lower=dof.lower - dof.ref,
        limit_upper=dof.upper - dof.ref,
        actuator_mode=_choose_mode(dof),
        **values,
    )


def _choose_mode(dof: Dof) -> Any:
    import newton

    modes = newton.JointTargetMode
    if dof.drive is None:
        return modes.NONE
    if dof.drive.stiffness != 0.0:
        return modes.POSITION
    return modes.VELOCITY if dof.drive.damping != 0.0 else modes.EFFORT


def drive_both(builder: Any, index: int) -> None:
    """Let freedoms that have both gains be driven by position and velocity targets."""
    import newton

    modes, start = newton.JointTargetMode, builder.joint_qd_start[index]
    for at in range(start, start + sum(builder.joint_dof_dim[index])):
        if builder.joint_target_mode[at] == int(modes.POSITION) and builder.joint_target_kd[at] != 0.0:
            builder.joint_target_mode[at] = int(modes.POSITION_VELOCITY)


def _set_state(builder: Any, index: int, dofs: list[Dof]) -> None:
    """Write authored initial positions and velocities."""
    at_q, at_qd = builder.joint_q_start[index], builder.joint_qd_start[index]
    for dof in dofs:
        if dof.position is not None and dof.motion is not Motion.FREE:
            position = np.atleast_1d(np.asarray(dof.position, dtype=np.float64))
            values = as_xyzw(position) if dof.motion is Motion.BALL else (float(position[0]) - dof.ref,)
            builder.joint_q[at_q : at_q + len(values)] = values
        if dof.velocity is not None and dof.motion is not Motion.FREE:
            rates: Array = np.atleast_1d(np.asarray(dof.velocity, dtype=np.float64))
            builder.joint_qd[at_qd : at_qd + len(rates)] = rates.tolist()
        at_q += dof.positions
        at_qd += dof.velocities


def set_springs(builder: Any, index: int, joint: Joint, reporter: Reporter) -> None:
    """Passive springs and references are custom attributes of Newton's MuJoCo solver."""
    at = builder.joint_qd_start[index]
    for dof in joint.dofs:
        single = dof.motion in (Motion.HINGE, Motion.SLIDE)
        for key, value in (
            (_PASSIVE_STIFFNESS, dof.stiffness),
            (_SPRING_REFERENCE, dof.spring_ref if single else None),
            (_REFERENCE, dof.ref if single and dof.ref else None),
        ):
            if value is not None and builder.has_custom_attribute(key):
                values = builder.custom_attributes[key].values
                values |= {at + number: float(value) for number in range(dof.velocities)}
        at += dof.velocities
    if any(dof.stiffness for dof in joint.dofs) and not builder.has_custom_attribute(_PASSIVE_STIFFNESS):
        reporter.report(SPRING_LOST, joint.source, name=joint.name)
