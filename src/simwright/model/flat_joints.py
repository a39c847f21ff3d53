# SPDX-License-Identifier: Apache-2.0
"""Joints for flat builders, which have one frame on each body, then up to three slides, then up to three hinges.

Two importers fill such builders: that of scenes and that of Newton.  What they have in common is here; what a joint is
called there, and what is said where it has no counterpart, is theirs.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from simwright.core.math3d import DEGREE, Pose, quat_conjugate, quat_rotate, vec3
from simwright.model.elements import Actuator
from simwright.model.joint import WORLD, Dof, Joint, Motion


class FlatBuilder(Protocol):
    """What the importers share of the builders they fill: lists over joints, dofs, coordinates and bodies."""

    joint_q: list[float]
    joint_qd: list[float]
    joint_q_start: list[int]
    joint_qd_start: list[int]
    joint_dof_dim: list[tuple[int, int]]
    joint_target_mode: list[int]
    joint_target_ke: list[float]
    joint_target_kd: list[float]
    body_qd: list[Any]


class TargetModes(Protocol):
    """The enumeration of a builder's target modes (Newton's ``JointTargetMode``): numbers of what drives a dof."""

    @property
    def NONE(self) -> Any: ...  # noqa: D102, N802 - Newton's
    @property
    def POSITION(self) -> Any: ...  # noqa: D102, N802 - Newton's
    @property
    def VELOCITY(self) -> Any: ...  # noqa: D102, N802 - Newton's
    @property
    def POSITION_VELOCITY(self) -> Any: ...  # noqa: D102, N802 - Newton's


Approximate: TypeAlias = Callable[[Joint, str, str], None]
"""Says of a joint as what it goes in instead, and why."""
_MAX_AXES = 3
_RIGID = 1e8
"""Stiffness of a stop that does not give, per metre or degree."""


@dataclasses.dataclass(frozen=True, slots=True)
class JointPlacement:
    """Where a joint goes: builder indices (-1 is the world), frames, label and contact of its bodies."""

    parent: int
    child: int
    parent_frame: Pose
    child_frame: Pose
    label: str
    filter_parent: bool
    enabled: bool = True

    @classmethod
    def of(cls, joint: Joint, bodies: Mapping[str, int], stand: Pose, label: str) -> JointPlacement:
        """The placement of a joint between bodies that are there, of an asset that stands at a pose."""
        on_world = joint.parent == WORLD
        return cls(
            parent=-1 if on_world else bodies[joint.parent],
            child=bodies[joint.child],
            parent_frame=stand @ joint.parent_frame if on_world else joint.parent_frame,
            child_frame=joint.child_frame,
            label=label,
            filter_parent=not (on_world or joint.collide),
            enabled=joint.enabled,
        )


def reverse_joint(joint: Joint, approximate: Approximate) -> Joint:
    """The same joint seen from its child: frames exchanged, motions inverted and in the opposite order."""
    motions = {dof.motion for dof in joint.dofs}
    # builders slide before they turn: the reverse of that order cannot be kept
    if Motion.SLIDE in motions and len(motions) > 1:
        approximate(
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


def _reverse_dof(dof: Dof) -> Dof:
    # same coordinate, opposite direction: limits and drives stay as they are
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        return dataclasses.replace(dof, axis=-dof.axis)
    position = None if dof.position is None else np.asarray(dof.position, dtype=np.float64)
    if position is not None and dof.motion is Motion.BALL:
        position = quat_conjugate(position)
    return dataclasses.replace(dof, position=position if dof.motion is Motion.BALL else None)


def move_anchor(
    joint: Joint, placement: JointPlacement, approximate: Approximate, who: str
) -> tuple[list[Dof], JointPlacement]:
    """Freedoms turn about the frame's origin: an anchor they share moves both frames.

    ``who`` has no screws and no gearboxes ("Newton has").
    """
    turning = [dof for dof in joint.dofs if dof.motion in (Motion.HINGE, Motion.BALL)]
    if any(dof.pitch for dof in turning):
        approximate(joint, "a hinge", f"{who} no screw joints")
    if joint.gear is not None:
        approximate(joint, "free hinges", f"{who} no gearboxes")
    anchors = [dof.anchor for dof in turning]
    # most formats have no anchors: nothing moves
    if not any(np.any(anchor) for anchor in anchors):
        return joint.dofs, placement
    if any(not np.allclose(anchor, anchors[0]) for anchor in anchors):
        approximate(joint, "a joint with one anchor", "its axes do not meet in one point")
    shift = Pose.of(anchors[0])
    dofs = [dataclasses.replace(dof, anchor=vec3()) for dof in joint.dofs]
    # both frames, so that bodies stand where they stood
    parent_frame, child_frame = placement.parent_frame @ shift, placement.child_frame @ shift
    return dofs, dataclasses.replace(placement, parent_frame=parent_frame, child_frame=child_frame)


def order_axes(joint: Joint, dofs: list[Dof], approximate: Approximate) -> tuple[list[Dof], list[Dof]]:
    """The slides and the hinges of a D6."""
    simple = [dof for old in dofs for dof in _split_dof(old)]
    slides = [dof for dof in simple if dof.motion is Motion.SLIDE]
    hinges = [dof for dof in simple if dof.motion is Motion.HINGE]
    kept = slides[:_MAX_AXES], hinges[:_MAX_AXES]
    ordered = [*kept[0], *kept[1]]
    if len(ordered) < len(simple) or (slides and hinges and simple != ordered):
        approximate(
            joint,
            f"a D6 of {len(kept[0])} slides and {len(kept[1])} hinges",
            "its degrees of freedom come in another order, or more than three slide or turn",
        )
    return kept


def _split_dof(dof: Dof) -> list[Dof]:
    """A ball or free motion among others, as hinges and slides along the axes."""
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        return [dof]
    # the same for small motions only
    kinds = [Motion.HINGE] if dof.motion is Motion.BALL else [Motion.SLIDE, Motion.HINGE]
    return [
        dataclasses.replace(dof, motion=kind, axis=axis, position=None, velocity=None)
        for kind in kinds
        for axis in np.eye(3)
    ]


def bound_distance(joint: Joint) -> tuple[float, float]:
    """Least and largest length of a distance joint [m]; a negative one is none."""
    low, high = joint.distance or (0.0, math.inf)
    # Newton's word for no limit is a negative one
    return (low if low > 0.0 else -1.0), (high if math.isfinite(high) else -1.0)


def bound_stop(dof: Dof, stiffness: float, damping: float) -> tuple[float, float]:
    """Stiffness and damping of a stop as numbers: one that does not give has a large stiffness and no damping."""
    # an infinite gain means a stop that does not give
    if math.inf not in (stiffness, damping):
        return stiffness, damping
    rigid = _RIGID / DEGREE if dof.motion is Motion.HINGE else _RIGID
    return min(rigid, stiffness), 0.0


def list_drive(dof: Dof) -> dict[str, float]:
    """Targets, gains and the effort limit of a driven freedom, by the names of the builders; empty without a drive."""
    drive = dof.drive
    if drive is None:
        return {}
    limit = math.inf if dof.effort_limit is None else dof.effort_limit
    return {
        # builders count from where the joint frames meet
        "target_pos": drive.target_position - dof.ref,
        "target_vel": drive.target_velocity,
        "target_ke": drive.stiffness,
        "target_kd": drive.damping,
        "effort_limit": min(drive.max_force, limit),
    }


def choose_mode(dof: Dof) -> str:
    """What drives a freedom, as the builders' enumerations call it: NONE, POSITION, VELOCITY or EFFORT."""
    if dof.drive is None:
        return "NONE"
    # a drive without gains is pushed by effort alone
    if dof.drive.stiffness != 0.0:
        return "POSITION"
    return "VELOCITY" if dof.drive.damping != 0.0 else "EFFORT"


def set_state(builder: FlatBuilder, index: int, dofs: list[Dof]) -> None:
    """Write authored initial positions and velocities into a builder's ``joint_q`` and ``joint_qd``."""
    at_q, at_qd = builder.joint_q_start[index], builder.joint_qd_start[index]
    for dof in dofs:
        # the pose of a floating body is set when its joint is added
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


def carry_velocity(builder: FlatBuilder, joint: int, child: int, parent_frame: Pose) -> None:
    """The velocity of a body that moves freely against the world is that of its joint."""
    rates = [float(v) for v in builder.body_qd[child]]
    if any(rates):
        # rates of free joints are along the axes of the parent frame
        back = quat_conjugate(parent_frame.q)
        start = builder.joint_qd_start[joint]
        turned = (*quat_rotate(back, rates[:3]), *quat_rotate(back, rates[3:]))
        builder.joint_qd[start : start + 6] = [float(v) for v in turned]


def drive_both(builder: FlatBuilder, joint: int, modes: TargetModes) -> None:
    """Let the dofs of a joint that have both gains be driven by position and velocity targets."""
    start = builder.joint_qd_start[joint]
    for at in range(start, start + sum(builder.joint_dof_dim[joint])):
        if builder.joint_target_mode[at] == int(modes.POSITION) and builder.joint_target_kd[at] != 0.0:
            builder.joint_target_mode[at] = int(modes.POSITION_VELOCITY)


def is_plain(actuator: Actuator) -> bool:
    """Does an actuator push the coordinate of a joint as it is, without a gear?  Builders know no other."""
    return (
        actuator.transmission == "joint" and tuple(actuator.gear[:1]) == (1.0,) and not any(actuator.gear[1:])
    )


def find_single_dofs(builder: FlatBuilder, joints: list[Joint], indices: Mapping[str, int]) -> dict[str, int]:
    """Entry in ``joint_qd`` of every joint and dof with one velocity, by name."""
    places: dict[str, int] = {}
    for joint in joints:
        if joint.name not in indices:
            continue
        start = at = builder.joint_qd_start[indices[joint.name]]
        for dof in joint.dofs:
            if dof.velocities == 1:
                places[dof.name or joint.name] = at
            at += dof.velocities
        if joint.velocities == 1:
            places[joint.name] = start
    return places


def set_servo(builder: FlatBuilder, actuator: Actuator, at: int, modes: TargetModes) -> None:
    """Gains and mode of the dof at ``at``, which may have a position and a velocity servo."""
    position, velocity = int(modes.POSITION), int(modes.VELOCITY)
    mine, other = (position, velocity) if actuator.kind == "position" else (velocity, position)
    had = builder.joint_target_mode[at]
    if actuator.kind == "position":
        builder.joint_target_ke[at] = actuator.stiffness
    # the damping of a position servo does not replace the gain of a velocity servo that is there already
    if actuator.kind == "velocity" or had == int(modes.NONE):
        builder.joint_target_kd[at] = actuator.damping
    builder.joint_target_mode[at] = int(modes.POSITION_VELOCITY) if had == other else mine


@dataclass(slots=True, eq=False)
class ElementIndices:
    """Builder indices by the names of the asset."""

    bodies: dict[str, int] = field(default_factory=dict)
    joints: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    articulations: dict[str, int] = field(default_factory=dict)

    def by_frequency(self) -> dict[str, dict[str, int]]:
        """The indices of the elements that each frequency of custom attributes counts over."""
        return {
            "body": self.bodies,
            "shape": self.shapes,
            "joint": self.joints,
            "joint_dof": self.joints,
            "joint_coord": self.joints,
            "articulation": self.articulations,
        }
