# SPDX-License-Identifier: Apache-2.0
"""What relates elements that are in the builder already: motors, mimics, equalities."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Actuator, Asset
from simwright.model.joint import WORLD, EqualityKind, Joint, Mimic
from simwright.runtime.kinds import JointType, TargetMode
from simwright.scenes.builder import Builder, as_seven
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
    owners = {dof.name or joint.name: joint for joint in asset.joints for dof in joint.dofs}
    by_follower = {mimic.follower: mimic for mimic in asset.mimics if mimic.enabled}
    for mimic in by_follower.values():
        leader, offset, multiplier = _follow_chain(mimic, by_follower)
        ends = [owners.get(name) for name in (mimic.follower, leader)]
        indices = [joints.get(joint.name) if joint is not None else None for joint in ends]
        why = "its relation is not linear; the linear part is used" if any(mimic.polynomial) else ""
        follower, found = indices
        if follower is None or found is None:
            why = "one of them is not in the scene"
        elif follower == found:
            why = "it leads back to itself"
        elif any(joint is not None and joint.velocities != 1 for joint in ends):
            why = "only joints with one freedom can"
        else:
            builder.joint_mimic_joint[follower] = found
            builder.joint_mimic_coeffs[follower] = (offset, multiplier)
        if why:
            reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)


def _follow_chain(mimic: Mimic, by_follower: dict[str, Mimic]) -> tuple[str, float, float]:
    """The first independent leader, and the relation to it; the follower itself for a circle."""
    leader, offset, multiplier = mimic.leader, mimic.offset, mimic.multiplier
    for _ in by_follower:
        above = by_follower.get(leader)
        if above is None:
            return leader, offset, multiplier
        offset += multiplier * above.offset
        multiplier *= above.multiplier
        leader = above.leader
    return mimic.follower, offset, multiplier


def add_equalities(
    builder: Builder, asset: Asset, bodies: dict[str, int], base: Pose, reporter: Reporter
) -> None:
    """Connects become ball joints and welds fixed joints that close loops."""
    lost = []
    for equality in asset.equalities:
        ends = {name: bodies.get(name, -1) for name in (equality.a, equality.b)}
        known = all(name == WORLD or name in bodies for name in ends)
        if equality.kind not in (EqualityKind.CONNECT, EqualityKind.WELD) or not known or len(ends) < 2:
            lost.append(equality)
            continue
        if not equality.enabled:
            continue
        parent, child, on_parent, on_child = equality.a, equality.b, equality.frame_a, equality.frame_b
        if child == WORLD:
            parent, child, on_parent, on_child = child, parent, on_child, on_parent
        builder.add_joint(
            JointType.BALL if equality.kind is EqualityKind.CONNECT else JointType.FIXED,
            ends[parent],
            ends[child],
            parent_xform=as_seven((base if parent == WORLD else IDENTITY) @ on_parent),
            child_xform=as_seven(on_child),
            label=equality.source.prim or f"{asset.name}/{equality.name}",
            filter_parent=False,
        )
    report_lost(reporter, "equalities", lost)
