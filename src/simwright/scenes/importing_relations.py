# SPDX-License-Identifier: Apache-2.0
"""What relates elements that are in the builder already: motors, mimics, equalities."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, pose_to_seven
from simwright.model.asset import Actuator, Asset
from simwright.model.coupling import list_couplings, plan_closures
from simwright.model.joint import Joint
from simwright.runtime.kinds import JointType, TargetMode
from simwright.scenes.builder import Builder
from simwright.scenes.importing_messages import MIMIC_LOST, report_lost

_ONE = (TargetMode.POSITION, TargetMode.VELOCITY)


def set_motors(builder: Builder, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Position and velocity servos become gains of their freedom, plain motors its effort mode."""
    places = _find_dofs(builder, asset.joints, joints)
    lost: list[Actuator] = []
    for actuator in asset.actuators:
        at = places.get(actuator.target) if actuator.transmission == "joint" else None
        plain = tuple(actuator.gear[:1]) == (1.0,) and not any(actuator.gear[1:])
        if at is None or not plain or actuator.kind not in ("position", "velocity", "motor"):
            lost.append(actuator)
            continue
        if actuator.kind == "motor":
            builder.joint_target_mode[at] = int(TargetMode.EFFORT)
        else:
            _set_servo(builder, actuator, at)
        if actuator.force_range is not None:
            builder.joint_effort_limit[at] = max(abs(bound) for bound in actuator.force_range)
    report_lost(reporter, "actuators", lost)


def _set_servo(builder: Builder, actuator: Actuator, at: int) -> None:
    """Gains and mode; a freedom may have a position and a velocity servo."""
    mine = TargetMode.POSITION if actuator.kind == "position" else TargetMode.VELOCITY
    had = builder.joint_target_mode[at]
    if actuator.kind == "position":
        builder.joint_target_ke[at] = actuator.stiffness
    if actuator.kind == "velocity" or had == TargetMode.NONE:
        builder.joint_target_kd[at] = actuator.damping
    both = had in _ONE and had != mine
    builder.joint_target_mode[at] = int(TargetMode.POSITION_VELOCITY if both else mine)


def _find_dofs(builder: Builder, joints: list[Joint], indices: dict[str, int]) -> dict[str, int]:
    """Velocity index of every joint and freedom with one velocity."""
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


def set_mimics(builder: Builder, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Let followers follow; one that follows a follower follows its leader instead."""
    for coupling in list_couplings(asset):
        mimic, indices = coupling.mimic, coupling.find_indices(joints)
        why = "its relation is not linear; the linear part is used" if coupling.is_bent else ""
        if indices is None:
            why = "one of them is not in the scene"
        elif indices[0] == indices[1]:
            why = "it leads back to itself"
        elif any(joint and joint.velocities != 1 for joint in (coupling.follower, coupling.leader)):
            why = "only joints with one freedom can"
        else:
            follower, leader = indices
            builder.joint_mimic_joint[follower] = leader
            builder.joint_mimic_coeffs[follower] = (coupling.offset, coupling.multiplier)
        if why:
            reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)


def add_equalities(
    builder: Builder, asset: Asset, bodies: dict[str, int], base: Pose, reporter: Reporter
) -> None:
    """Connects become ball joints and welds fixed joints that close loops."""
    closures, lost = plan_closures(asset, bodies, base)
    for closure in closures:
        equality = closure.equality
        builder.add_joint(
            JointType.BALL if closure.is_point else JointType.FIXED,
            closure.parent,
            closure.child,
            parent_xform=pose_to_seven(closure.parent_frame),
            child_xform=pose_to_seven(closure.child_frame),
            label=equality.source.prim or f"{asset.name}/{equality.name}",
            filter_parent=False,
        )
    report_lost(reporter, "equalities", lost)
