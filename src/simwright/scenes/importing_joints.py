# SPDX-License-Identifier: Apache-2.0
"""Joints of an asset as joints of the arrays: kinds, axes, stops, drives and initial coordinates."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, quat_conjugate, vec3
from simwright.core.units import DEGREE
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.runtime.kinds import JointType, TargetMode
from simwright.scenes.builder import Builder, as_seven
from simwright.scenes.builder_config import FREE_DOF, NO_LIMIT, DofConfig
from simwright.scenes.importing_messages import DRIVE_ACCELERATION, JOINT_APPROXIMATED, JOINT_CONE

_MAX_AXES = 3
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
        """Arguments of ``Builder.add_joint``."""
        return {
            "parent": self.parent,
            "child": self.child,
            "parent_xform": as_seven(self.parent_frame),
            "child_xform": as_seven(self.child_frame),
            "label": self.label,
            "filter_parent": self.filter_parent,
            "enabled": self.enabled,
        }


class JointMaker:
    """Adds joints to a builder; ``dialect`` is the format whose words SAP Warp reads, empty for all of them."""

    def __init__(self, builder: Builder, reporter: Reporter, dialect: str = "") -> None:
        self._builder = builder
        self._reporter = reporter
        self._dialect = dialect

    def add(self, joint: Joint, seat: Seat) -> int:
        """Add one joint and its initial coordinates; gives its index."""
        builder = self._builder
        dofs, seat = self._move_anchor(joint, seat)
        given, motions = seat.arguments(), [dof.motion for dof in dofs]
        if joint.kind is JointKind.DISTANCE:
            index = builder.add_joint(JointType.DISTANCE, linear=_distance_axes(joint), **given)
        elif not dofs:
            index = builder.add_joint(JointType.FIXED, **given)
        elif motions == [Motion.FREE]:
            index = builder.add_joint(JointType.FREE, **given)
        elif motions == [Motion.BALL]:
            if dofs[0].swing is not None:
                self._reporter.report(JOINT_CONE, joint.source, name=joint.name)
            index = builder.add_joint(JointType.BALL, angular=[self._describe(dofs[0], joint)], **given)
        elif motions == [Motion.HINGE] and joint.kind is not JointKind.D6:
            index = builder.add_joint(JointType.REVOLUTE, angular=[self._describe(dofs[0], joint)], **given)
        elif motions == [Motion.SLIDE] and joint.kind is not JointKind.D6:
            index = builder.add_joint(JointType.PRISMATIC, linear=[self._describe(dofs[0], joint)], **given)
        else:
            dofs = self._order_axes(joint, dofs)
            slides = [self._describe(dof, joint) for dof in dofs if dof.motion is Motion.SLIDE]
            hinges = [self._describe(dof, joint) for dof in dofs if dof.motion is Motion.HINGE]
            index = builder.add_joint(JointType.D6, linear=slides, angular=hinges, **given)
        self._set_state(index, dofs)
        return index

    def reverse(self, joint: Joint) -> Joint:
        """The same joint seen from its child: frames exchanged, motions inverted and in the opposite order."""
        motions = {dof.motion for dof in joint.dofs}
        if Motion.SLIDE in motions and len(motions) > 1:
            self._approximate(
                joint,
                "its reverse with slides before hinges",
                "it leads from child to parent and both slides and turns",
            )
        return dataclasses.replace(
            joint,
            parent=joint.child,
            child=joint.parent,
            parent_frame=joint.child_frame,
            child_frame=joint.parent_frame,
            dofs=[_reverse_dof(dof) for dof in reversed(joint.dofs)],
        )

    def _approximate(self, joint: Joint, as_what: str, why: str) -> None:
        self._reporter.report(JOINT_APPROXIMATED, joint.source, name=joint.name, as_what=as_what, why=why)

    def _move_anchor(self, joint: Joint, seat: Seat) -> tuple[list[Dof], Seat]:
        """Freedoms turn about the frame's origin: an anchor they share moves both frames."""
        turning = [dof for dof in joint.dofs if dof.motion in (Motion.HINGE, Motion.BALL)]
        if any(dof.pitch for dof in turning):
            self._approximate(joint, "a hinge", "the arrays have no screw joints")
        if joint.gear is not None:
            self._approximate(joint, "free hinges", "the arrays have no gearboxes")
        anchors = [dof.anchor for dof in turning]
        if not any(np.any(anchor) for anchor in anchors):
            return joint.dofs, seat
        if any(not np.allclose(anchor, anchors[0]) for anchor in anchors):
            self._approximate(joint, "a joint with one anchor", "its axes do not meet in one point")
        shift = Pose.of(anchors[0])
        dofs = [dataclasses.replace(dof, anchor=vec3()) for dof in joint.dofs]
        parent_frame, child_frame = seat.parent_frame @ shift, seat.child_frame @ shift
        return dofs, dataclasses.replace(seat, parent_frame=parent_frame, child_frame=child_frame)

    def _order_axes(self, joint: Joint, dofs: list[Dof]) -> list[Dof]:
        """The freedoms of a D6: slides first, then hinges."""
        simple = [dof for old in dofs for dof in _split_dof(old)]
        slides = [dof for dof in simple if dof.motion is Motion.SLIDE]
        hinges = [dof for dof in simple if dof.motion is Motion.HINGE]
        ordered = [*slides[:_MAX_AXES], *hinges[:_MAX_AXES]]
        if len(ordered) < len(simple) or (slides and hinges and simple != ordered):
            self._approximate(
                joint,
                f"a D6 of {len(slides[:_MAX_AXES])} slides and {len(hinges[:_MAX_AXES])} hinges",
                "its freedoms come in another order or are more than three of a kind",
            )
        return ordered

    def _describe(self, dof: Dof, joint: Joint) -> DofConfig:
        """One axis; what the asset does not say is the builder's default."""
        if dof.drive is not None and dof.drive.acceleration:
            self._reporter.report(DRIVE_ACCELERATION, joint.source, name=joint.name)
        if self._dialect == "urdf":
            return _describe_sap_urdf(dof)
        config = self._builder.default_joint.with_values(
            {
                "armature": dof.armature,
                "friction": dof.friction,
                "damping": dof.damping,
                "spring_ke": dof.stiffness,
                "spring_ref": dof.spring_ref,
                "effort_limit": dof.effort_limit,
                "velocity_limit": dof.velocity_limit,
                "limit_ke": dof.limit_stiffness,
                "limit_kd": dof.limit_damping,
            }
        )
        config.axis = _triple(dof.axis)
        _set_stops(config, dof)
        _set_drive(config, dof)
        return config

    def _set_state(self, index: int, dofs: list[Dof]) -> None:
        """Write authored initial positions and velocities."""
        builder = self._builder
        at_q, at_qd = builder.joint_q_start[index], builder.joint_qd_start[index]
        for dof in dofs:
            if dof.position is not None and dof.motion is not Motion.FREE:
                position = np.atleast_1d(np.asarray(dof.position, dtype=np.float64))
                values = [float(position[0]) - dof.ref]
                if dof.motion is Motion.BALL:
                    w, x, y, z = position.tolist()
                    values = [x, y, z, w]
                builder.joint_q[at_q : at_q + len(values)] = values
            if dof.velocity is not None and dof.motion is not Motion.FREE:
                rates = np.atleast_1d(np.asarray(dof.velocity, dtype=np.float64)).tolist()
                builder.joint_qd[at_qd : at_qd + len(rates)] = rates
            at_q += dof.positions
            at_qd += dof.velocities


def drive_both(builder: Builder, index: int) -> None:
    """Let freedoms that have both gains be driven by position and velocity targets."""
    for at in builder.dofs_of(index):
        if builder.joint_target_mode[at] == TargetMode.POSITION and builder.joint_target_kd[at] != 0.0:
            builder.joint_target_mode[at] = int(TargetMode.POSITION_VELOCITY)


def _describe_sap_urdf(dof: Dof) -> DofConfig:
    """What SAP Warp reads of a URDF joint: axis, stops and damping; its defaults for joints do not count."""
    config = DofConfig(axis=_triple(dof.axis), target_kd=dof.damping or 0.0)
    _set_stops(config, dof)
    return config


def _set_stops(config: DofConfig, dof: Dof) -> None:
    lower, upper = dof.lower - dof.ref, dof.upper - dof.ref
    if dof.motion is Motion.BALL:
        return
    if math.isfinite(lower):
        config.limit_lower = lower
    if math.isfinite(upper):
        config.limit_upper = upper
    if dof.is_limited and not math.isfinite(lower):
        config.limit_lower = -NO_LIMIT
    if dof.is_limited and not math.isfinite(upper):
        config.limit_upper = NO_LIMIT
    if math.inf in (config.limit_ke, config.limit_kd):
        rigid = _RIGID / DEGREE if dof.motion is Motion.HINGE else _RIGID
        config.limit_ke, config.limit_kd = min(rigid, config.limit_ke), 0.0


def _set_drive(config: DofConfig, dof: Dof) -> None:
    drive = dof.drive
    if drive is None:
        return
    config.target_pos, config.target_vel = drive.target_position - dof.ref, drive.target_velocity
    config.target_ke, config.target_kd = drive.stiffness, drive.damping
    limit = math.inf if dof.effort_limit is None else dof.effort_limit
    config.effort_limit = min(drive.max_force, limit)
    mode = TargetMode.VELOCITY if drive.damping != 0.0 else TargetMode.EFFORT
    config.actuator_mode = int(TargetMode.POSITION if drive.stiffness != 0.0 else mode)


def _distance_axes(joint: Joint) -> list[DofConfig]:
    """The stops of a distance joint stand on its first axis; a negative one is none."""
    low, high = joint.distance or (0.0, math.inf)
    first = FREE_DOF.with_values(
        {"limit_lower": low if low > 0.0 else -1.0, "limit_upper": high if math.isfinite(high) else -1.0}
    )
    return [first, *[FREE_DOF] * 5]


def _reverse_dof(dof: Dof) -> Dof:
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        return dataclasses.replace(dof, axis=-dof.axis)
    position = None if dof.position is None else np.asarray(dof.position, dtype=np.float64)
    if position is not None and dof.motion is Motion.BALL:
        position = quat_conjugate(position)
    return dataclasses.replace(dof, position=position if dof.motion is Motion.BALL else None)


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


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
