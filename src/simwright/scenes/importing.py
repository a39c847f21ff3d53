# SPDX-License-Identifier: Apache-2.0
"""From an asset to the builder: bodies and joints branch by branch, then all that hangs on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, pose_to_seven, quat_rotate
from simwright.model.asset import Asset, Body
from simwright.model.branches import Branch, Step, plan_branches
from simwright.model.filtering import find_filtered_pairs
from simwright.model.flat_joints import Seat, carry_velocity
from simwright.model.inertia import Inertial, combine
from simwright.model.joint import WORLD, Joint
from simwright.model.places import Places
from simwright.runtime.kinds import JointType
from simwright.scenes.builder import IDENTITY_SEVEN, Builder
from simwright.scenes.importing_custom import add_attributes
from simwright.scenes.importing_joints import JointMaker, drive_both
from simwright.scenes.importing_mass import free_derived
from simwright.scenes.importing_messages import EQUIPMENT_LOST, report_lost
from simwright.scenes.importing_names import AssetNames
from simwright.scenes.importing_options import ImportOptions, choose_parts
from simwright.scenes.importing_poses import pose_joints
from simwright.scenes.importing_relations import add_equalities, set_mimics, set_motors
from simwright.scenes.importing_sap import imitate_sap, order_shapes
from simwright.scenes.importing_shapes import ShapeMaker

_OPTIONS = ImportOptions()


@dataclass(slots=True, eq=False, kw_only=True)
class Imported(Places):
    """Builder indices of what came in, by the names of the asset."""

    asset: Asset


def import_asset(
    builder: Builder,
    asset: Asset,
    options: ImportOptions = _OPTIONS,
    *,
    reporter: Reporter | None = None,
    prefix: str = "",
) -> Imported:
    """Add an asset to the world that is being built; ``prefix`` keeps labels apart that are there already."""
    reporter = Reporter() if reporter is None else reporter
    parts = choose_parts(asset, options)
    free_derived(parts)
    if builder.compat == "sap":
        imitate_sap(parts)
    filling = _Filling(builder, parts, options, reporter, prefix)
    plan = plan_branches(parts, options.joint_ordering, only_enabled=options.only_load_enabled_joints)
    if builder.compat != "sap" and parts.provenance.format == "usd":
        pose_joints(parts, plan, reporter)
    for branch in plan.branches:
        filling.add_branch(branch)
    filling.add_shapes()
    for joint in plan.loops:
        filling.add_loop(joint)
    found = filling.found
    set_motors(builder, parts, found.joints, reporter)
    set_mimics(builder, parts, found.joints, reporter)
    add_equalities(builder, parts, found.bodies, options.xform, reporter)
    filling.add_filters()
    add_attributes(builder, parts, found.by_frequency(), reporter)
    _take_gravity(builder, parts, options)
    report_lost(reporter, "tendons", parts.tendons)
    report_lost(reporter, "contact pairs", parts.contact_pairs)
    for what in ("sensors", "cameras", "lights", "keyframes"):
        report_lost(reporter, what, getattr(parts, what), EQUIPMENT_LOST)
    return found


class _Filling:
    """Adds the parts of one asset to one builder."""

    def __init__(
        self, builder: Builder, asset: Asset, options: ImportOptions, reporter: Reporter, prefix: str
    ) -> None:
        self._builder = builder
        self._asset = asset
        self._options = options
        self._sap = builder.compat == "sap"
        self._format = asset.provenance.format
        self._joints = JointMaker(builder, reporter, self._format if self._sap else "")
        config = builder.default_shape.with_values(options.config)
        self._shapes = ShapeMaker(builder, asset, options, config, reporter)
        self._names = AssetNames(builder, asset, prefix)
        self._bodies = {body.name: body for body in asset.bodies}
        self._first_shape = builder.shape_count
        self.found = Imported(asset=asset)

    def add_branch(self, branch: Branch) -> None:
        """The bodies and joints of one articulation."""
        follow = self._options.bodies_follow_joint_ordering
        for step in branch.order_bodies(self._bodies, follow_joints=follow):
            self._add_body(self._bodies[step.body], is_root=step.parent == WORLD)
        indices = [self._add_step(step) for step in branch.steps]
        declared = branch.declared
        label = self._names.name_articulation(declared, self._bodies[branch.steps[0].body])
        number = self._builder.add_articulation(indices, label)
        if declared is not None:
            self.found.articulations[declared.name] = number

    def _add_body(self, body: Body, *, is_root: bool) -> None:
        pose = self._options.xform @ body.pose
        turn = self._options.xform.q
        rates = [
            (0.0, 0.0, 0.0) if rate is None else tuple(quat_rotate(turn, rate).tolist())
            for rate in (body.linear_velocity, body.angular_velocity)
        ]
        as_origin = self._sap and self._format == "urdf"
        self.found.bodies[body.name] = self._builder.add_body(
            self._names.name_body(body),
            IDENTITY_SEVEN if as_origin else pose_to_seven(pose),
            self._weigh(body),
            locked=body.inertial is not None,
            kinematic=body.kinematic and is_root,
            velocity=(*rates[0], *rates[1]),
            gravity_scale=body.gravity_scale,
        )

    def _weigh(self, body: Body) -> Inertial | None:
        """What the file says, or the shells on the body; solids weigh as they are added."""
        if body.inertial is not None:
            return body.inertial
        shells = [
            shape
            for shape in self._asset.shapes_of(body.name)
            if shape.collision and shape.enabled and shape.settings.get("mass_model") == "shell"
        ]
        return combine(self._shapes.weigh(shape, body) for shape in shells) if shells else None

    def _add_step(self, step: Step) -> int:
        if step.joint is None:
            return self._hold(step.body)
        joint = self._joints.reverse(step.joint) if step.reversed else step.joint
        return self._add_joint(joint)

    def _hold(self, name: str) -> int:
        """The joint of a body that nothing in the file holds."""
        builder, child, body = self._builder, self.found.bodies[name], self._bodies[name]
        floating = self._options.floating
        if floating is None:
            floating = self._format != "urdf"
        place = pose_to_seven(self._options.xform @ body.pose)
        label = self._names.name_base(body, floating=floating)
        if not floating:
            return builder.add_joint(JointType.FIXED, -1, child, parent_xform=place, label=label)
        index = builder.add_joint(JointType.FREE, -1, child, label=label)
        start = builder.joint_q_start[index]
        builder.joint_q[start : start + 7] = place
        carry_velocity(builder, index, child, IDENTITY)
        return index

    def _add_joint(self, joint: Joint) -> int:
        label = self._names.name_joint(joint)
        seat = Seat.of(joint, self.found.bodies, self._options.xform, label)
        index = self._joints.add(joint, seat)
        if self._options.force_position_velocity_actuation:
            drive_both(self._builder, index)
        if seat.parent < 0 and joint.velocities == 6 and len(joint.dofs) == 1:
            carry_velocity(self._builder, index, seat.child, seat.parent_frame)
        self.found.joints[joint.name] = index
        return index

    def add_loop(self, joint: Joint) -> None:
        """A joint that closes a loop belongs to no articulation."""
        self._add_joint(self._joints.reverse(joint) if joint.child == WORLD else joint)

    def add_shapes(self) -> None:
        """Shapes, then sites."""
        shapes = order_shapes(self._asset, self.found.bodies) if self._sap else self._asset.shapes
        for shape in shapes:
            body = self.found.bodies.get(shape.body, -1)
            index = self._shapes.add_shape(shape, body, self._names.name_shape(shape))
            if index is not None:
                self.found.shapes[shape.name] = index
        for site in self._asset.sites:
            body = self.found.bodies.get(site.body, -1)
            self.found.sites[site.name] = self._shapes.add_site(site, body, self._names.name_shape(site))

    def add_filters(self) -> None:
        """Pairs that never touch, beside those that follow from bodies and joints."""
        builder, shapes = self._builder, self.found.shapes
        if not self._options.enable_self_collisions:
            builder.filter_groups.append(list(range(self._first_shape, builder.shape_count)))
            return
        for a, b in find_filtered_pairs(self._asset):
            if a in shapes and b in shapes:
                builder.filter_pair(shapes[a], shapes[b])


def _take_gravity(builder: Builder, asset: Asset, options: ImportOptions) -> None:
    """Gravity of the file, unless the scene says its own; SAP Warp takes that of stages always."""
    gravity = asset.environment.gravity
    if builder.compat == "sap":
        if gravity is not None and asset.provenance.format == "usd":
            builder.gravity = -float(np.linalg.norm(gravity))
    elif gravity is not None and not builder.gravity_said:
        builder.gravity = tuple(quat_rotate(options.xform.q, gravity).tolist())
