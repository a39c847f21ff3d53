# SPDX-License-Identifier: Apache-2.0
"""Joints of an asset as joints of the arrays: kinds, axes, stops, drives and initial coordinates."""

from __future__ import annotations

import math
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, pose_to_seven
from simwright.model.asset import Actuator, Asset
from simwright.model.coupling import list_couplings, plan_closures
from simwright.model.flat_joints import (
    JointPlacement,
    bound_distance,
    bound_stop,
    choose_mode,
    find_single_dofs,
    is_plain,
    list_drive,
    move_anchor,
    order_axes,
    reverse_joint,
    set_servo,
    set_state,
)
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.runtime.kinds import JointType, TargetMode
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import FREE_DOF, NO_LIMIT, DofConfig
from simwright.scenes.importing_messages import (
    DRIVE_ACCELERATION,
    JOINT_APPROXIMATED,
    JOINT_CONE,
    MIMIC_LOST,
    report_lost,
)


class JointImporter:
    """Adds joints to a builder; ``dialect`` is the format whose words SAP Warp reads, empty for all of them."""

    def __init__(self, builder: Builder, reporter: Reporter, dialect: str = "") -> None:
        self._builder = builder
        self._reporter = reporter
        self._dialect = dialect

    def add(self, joint: Joint, placement: JointPlacement) -> int:
        """Add one joint and its initial coordinates; gives its index."""
        # one case for each joint type of the arrays
        builder = self._builder
        dofs, placement = move_anchor(joint, placement, self._approximate, "the arrays have")
        given, motions = _list_arguments(placement), [dof.motion for dof in dofs]
        if joint.kind is JointKind.DISTANCE:
            index = builder.add_joint(JointType.DISTANCE, linear=_distance_axes(joint), **given)
        elif not dofs:
            index = builder.add_joint(JointType.FIXED, **given)
        elif motions == [Motion.FREE]:
            index = builder.add_joint(JointType.FREE, **given)
        elif motions == [Motion.BALL]:
            # a ball of the arrays has no stops at all
            if dofs[0].swing is not None:
                self._reporter.report(JOINT_CONE, joint.source, name=joint.name)
            index = builder.add_joint(JointType.BALL, angular=[self._describe(dofs[0], joint)], **given)
        elif motions == [Motion.HINGE] and joint.kind is not JointKind.D6:
            index = builder.add_joint(JointType.REVOLUTE, angular=[self._describe(dofs[0], joint)], **given)
        elif motions == [Motion.SLIDE] and joint.kind is not JointKind.D6:
            index = builder.add_joint(JointType.PRISMATIC, linear=[self._describe(dofs[0], joint)], **given)
        else:
            # a D6 of the arrays slides first and turns then, whatever the asset says
            slides, hinges = order_axes(joint, dofs, self._approximate)
            dofs = [*slides, *hinges]
            index = builder.add_joint(
                JointType.D6,
                linear=[self._describe(dof, joint) for dof in slides],
                angular=[self._describe(dof, joint) for dof in hinges],
                **given,
            )
        set_state(builder, index, dofs)
        return index

    def reverse(self, joint: Joint) -> Joint:
        """The same joint seen from its child."""
        return reverse_joint(joint, self._approximate)

    def _approximate(self, joint: Joint, as_what: str, why: str) -> None:
        self._reporter.report(JOINT_APPROXIMATED, joint.source, name=joint.name, as_what=as_what, why=why)

    def _describe(self, dof: Dof, joint: Joint) -> DofConfig:
        """One axis; what the asset does not say is the builder's default."""
        if dof.drive is not None and dof.drive.acceleration:
            self._reporter.report(DRIVE_ACCELERATION, joint.source, name=joint.name)
        # measured: defaults of the scene do not count for URDF joints in SAP Warp
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
        if dof.drive is not None:
            config.actuator_mode = int(TargetMode[choose_mode(dof)])
        return config.with_values(list_drive(dof))


def _describe_sap_urdf(dof: Dof) -> DofConfig:
    """What SAP Warp reads of a URDF joint: axis, stops and damping; its defaults for joints do not count."""
    # its damping becomes the velocity gain of a drive without a mode
    config = DofConfig(axis=_triple(dof.axis), target_kd=dof.damping or 0.0)
    _set_stops(config, dof)
    return config


def _set_stops(config: DofConfig, dof: Dof) -> None:
    # stops of the arrays count from where the joint frames meet
    lower, upper = dof.lower - dof.ref, dof.upper - dof.ref
    if dof.motion is Motion.BALL:
        return
    if math.isfinite(lower):
        config.limit_lower = lower
    if math.isfinite(upper):
        config.limit_upper = upper
    # one open end: not the scene's default for that end, which would be a stop nobody said
    if dof.is_limited and not math.isfinite(lower):
        config.limit_lower = -NO_LIMIT
    if dof.is_limited and not math.isfinite(upper):
        config.limit_upper = NO_LIMIT
    config.limit_ke, config.limit_kd = bound_stop(dof, config.limit_ke, config.limit_kd)


def _list_arguments(placement: JointPlacement) -> dict[str, Any]:
    """Arguments of ``Builder.add_joint``."""
    return {
        "parent": placement.parent,
        "child": placement.child,
        "parent_xform": pose_to_seven(placement.parent_frame),
        "child_xform": pose_to_seven(placement.child_frame),
        "label": placement.label,
        "filter_parent": placement.filter_parent,
        "enabled": placement.enabled,
    }


def _distance_axes(joint: Joint) -> list[DofConfig]:
    """The stops of a distance joint stand on its first axis; a negative one is none."""
    low, high = bound_distance(joint)
    first = FREE_DOF.with_values({"limit_lower": low, "limit_upper": high})
    return [first, *[FREE_DOF] * 5]


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z


def set_motors(builder: Builder, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Position and velocity servos become gains of their freedom, plain motors its effort mode."""
    places = find_single_dofs(builder, asset.joints, joints)
    lost: list[Actuator] = []
    for actuator in asset.actuators:
        at = places.get(actuator.target) if is_plain(actuator) else None
        if at is None or actuator.kind not in ("position", "velocity", "motor"):
            lost.append(actuator)
            continue
        if actuator.kind == "motor":
            # a motor has no gains: it gives what it is told
            builder.joint_target_mode[at] = int(TargetMode.EFFORT)
        else:
            set_servo(builder, actuator, at, TargetMode)
        if actuator.force_range is not None:
            builder.joint_effort_limit[at] = max(abs(bound) for bound in actuator.force_range)
    report_lost(reporter, "actuators", lost)


def set_mimics(builder: Builder, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Let followers follow; one that follows a follower follows its leader instead."""
    for coupling in list_couplings(asset):
        mimic, indices = coupling.mimic, coupling.find_indices(joints)
        why = "its relation is not linear; the linear part is used" if coupling.is_bent else ""
        # the last reason counts: one finding says why the relation is not there
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
