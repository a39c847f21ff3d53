# SPDX-License-Identifier: Apache-2.0
"""From an asset to the builder: bodies and joints branch by branch, then all that hangs on them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Array, Pose, pose_to_seven, quat_rotate
from simwright.model.asset import Articulation, Asset, Body, Shape, Site
from simwright.model.branches import Branch, BranchPlan, BranchStep, plan_branches
from simwright.model.filtering import find_filtered_pairs
from simwright.model.flat_joints import ElementIndices, JointPlacement, carry_velocity, drive_both
from simwright.model.inertia import UNSHAPED, Inertial, combine
from simwright.model.joint import WORLD, Joint, JointKind, Motion
from simwright.model.kinematics import compute_joint_pose, measure_gap, measure_joint_pose, solve_coordinates
from simwright.model.mass import body_inertials
from simwright.runtime.kinds import JointType, TargetMode
from simwright.scenes.builder import IDENTITY_SEVEN, Builder
from simwright.scenes.importing_custom import add_attributes
from simwright.scenes.importing_elements import (
    JointImporter,
    ShapeImporter,
    add_equalities,
    set_mimics,
    set_motors,
)
from simwright.scenes.importing_messages import (
    EQUIPMENT_LOST,
    POSE_OVERRULED,
    POSE_UNREACHABLE,
    list_names,
    report_lost,
)
from simwright.scenes.importing_options import ImportOptions, choose_parts, imitate_sap, order_shapes

_OPTIONS = ImportOptions()
_SAME = 1e-9
_APART = 1e-4
"""Bodies nearer to their place than this are there [m]."""
_TURNED = 1e-3
"""The same for turns [rad]."""
_ZERO = 1e-6
"""Coordinates that are rounding of single precision [m, rad]."""


@dataclass(slots=True, eq=False, kw_only=True)
class ImportedAsset(ElementIndices):
    """Builder indices of what came in, by the names of the asset."""

    asset: Asset


@dataclass(frozen=True, slots=True, eq=False)
class ScenePart:
    """An asset in a scene: what it is called there, where its world stands, and labels of its bodies and joints."""

    name: str
    asset: Asset
    pose: Pose
    bodies: Mapping[str, str]
    joints: Mapping[str, str]


def import_asset(
    builder: Builder,
    asset: Asset,
    options: ImportOptions = _OPTIONS,
    *,
    reporter: Reporter | None = None,
    prefix: str = "",
) -> ImportedAsset:
    """Add an asset to the world that is being built; ``prefix`` keeps labels apart that are there already."""
    reporter = Reporter() if reporter is None else reporter
    # a copy: everything below may change it
    parts = choose_parts(asset, options)
    free_derived(parts)
    if builder.compat == "sap":
        imitate_sap(parts)
    filling = _AssetImport(builder, parts, options, reporter, prefix)
    plan = plan_branches(parts, options.joint_ordering, only_enabled=options.only_load_enabled_joints)
    # only stages have no coordinates of their own; SAP Warp leaves them at zero
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


class _AssetImport:
    """Adds the parts of one asset to one builder."""

    def __init__(
        self, builder: Builder, asset: Asset, options: ImportOptions, reporter: Reporter, prefix: str
    ) -> None:
        self._builder = builder
        self._asset = asset
        self._options = options
        self._sap = builder.compat == "sap"
        self._format = asset.provenance.format
        self._joints = JointImporter(builder, reporter, self._format if self._sap else "")
        # what the scene says for this asset, under what the file says
        self._config = builder.default_shape.with_values(options.config)
        self._shapes = ShapeImporter(builder, asset, options, self._config, reporter)
        self._names = AssetLabels(builder, asset, prefix)
        self._bodies = {body.name: body for body in asset.bodies}
        self._first_shape = builder.shape_count
        self._trees: dict[int, tuple[int, bool]] = {}
        """Bodies by number: the branch that each is in, and whether the file declares that as an articulation."""
        self.found = ImportedAsset(asset=asset)

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
        for step in branch.steps:
            self._trees[self.found.bodies[step.body]] = number, declared is not None

    def _add_body(self, body: Body, *, is_root: bool) -> None:
        pose = self._options.xform @ body.pose
        turn = self._options.xform.q
        rates = [
            (0.0, 0.0, 0.0) if rate is None else tuple(quat_rotate(turn, rate).tolist())
            for rate in (body.linear_velocity, body.angular_velocity)
        ]
        # measured: SAP Warp's URDF import leaves every link at the origin until coordinates are edited
        as_origin = self._sap and self._format == "urdf"
        self.found.bodies[body.name] = self._builder.add_body(
            self._names.name_body(body),
            IDENTITY_SEVEN if as_origin else pose_to_seven(pose),
            self._weigh(body),
            # a stated mass is all of it: shapes add to a body only where the file leaves the mass to them
            locked=body.inertial is not None,
            kinematic=body.kinematic and is_root,
            velocity=(*rates[0], *rates[1]),
            gravity_scale=body.gravity_scale,
        )

    def _weigh(self, body: Body) -> Inertial | None:
        """What the file says, or the shells on the body; solids weigh as they are added."""
        if body.inertial is not None:
            return self._weigh_sap(body, body.inertial) if self._sap else body.inertial
        # the builder weighs solids; walls need the surface, which it does not know
        shells = [
            shape
            for shape in self._asset.shapes_of(body.name)
            if shape.collision and shape.enabled and shape.settings.get("mass_model") == "shell"
        ]
        return combine(self._shapes.weigh(shape, body) for shape in shells) if shells else None

    def _weigh_sap(self, body: Body, held: Inertial) -> Inertial:
        """What SAP Warp takes for a body of a stage with a mass, no inertia and no collider: a ball of the density."""
        alone = not any(shape.collision for shape in self._asset.shapes_of(body.name))
        guessed = np.allclose(held.inertia, held.mass * UNSHAPED * np.eye(3), rtol=1e-6, atol=0.0)
        density = self._config.density
        if self._format != "usd" or not (alone and guessed) or density <= 0.0:
            return held
        radius = (3.0 * held.mass / (4.0 * math.pi * density)) ** (1.0 / 3.0)
        # measured: the offset of the centre of mass is added although its tensors are about that centre
        spread = 0.4 * radius**2 + float(held.com @ held.com)
        return Inertial(held.mass, held.com, held.mass * spread * np.eye(3))

    def _add_step(self, step: BranchStep) -> int:
        if step.joint is None:
            return self._hold(step.body)
        joint = self._joints.reverse(step.joint) if step.reversed else step.joint
        return self._add_joint(joint)

    def _hold(self, name: str) -> int:
        """The joint of a body that nothing in the file holds."""
        builder, child, body = self._builder, self.found.bodies[name], self._bodies[name]
        floating = self._options.floating
        if floating is None:
            # the convention of each format: URDF robots are bolted down unless somebody says otherwise
            floating = self._format != "urdf"
        place = pose_to_seven(self._options.xform @ body.pose)
        label = self._names.name_base(body, floating=floating)
        if not floating:
            return builder.add_joint(JointType.FIXED, -1, child, parent_xform=place, label=label)
        # the frame of the joint is the world's, so that joint_q is the pose itself
        index = builder.add_joint(JointType.FREE, -1, child, label=label)
        start = builder.joint_q_start[index]
        builder.joint_q[start : start + 7] = place
        carry_velocity(builder, index, child, IDENTITY)
        return index

    def _add_joint(self, joint: Joint) -> int:
        label = self._names.name_joint(joint)
        placement = JointPlacement.of(joint, self.found.bodies, self._options.xform, label)
        index = self._joints.add(joint, placement)
        if self._options.force_position_velocity_actuation:
            drive_both(self._builder, index, TargetMode)
        # of a free joint between two bodies the asset says no velocity
        if placement.parent < 0 and joint.velocities == 6 and len(joint.dofs) == 1:
            carry_velocity(self._builder, index, placement.child, placement.parent_frame)
        self.found.joints[joint.name] = index
        return index

    def add_loop(self, joint: Joint) -> None:
        """A joint that closes a loop belongs to no articulation."""
        self._add_joint(self._joints.reverse(joint) if joint.child == WORLD else joint)

    def add_shapes(self) -> None:
        """Shapes, then sites; in ``compat="sap"`` as SAP Warp orders them."""
        asset, found = self._asset, self.found
        # arrays are compared entry by entry with SAP Warp's: the order has to be its own
        ordered: list[Shape | Site] = [*asset.shapes, *asset.sites]
        if self._sap:
            ordered = order_shapes(asset, found.bodies)
        for element in ordered:
            body, label = found.bodies.get(element.body, -1), self._names.name_shape(element)
            if isinstance(element, Site):
                found.sites[element.name] = self._shapes.add_site(element, body, label)
                continue
            index = self._shapes.add_shape(element, body, label)
            if index is not None:
                found.shapes[element.name] = index

    def add_filters(self) -> None:
        """Pairs that never touch, beside those that follow from bodies and joints."""
        builder, shapes = self._builder, self.found.shapes
        asset = self._asset
        if not self._options.enable_self_collisions:
            # groups instead of n^2 pairs; written out when the arrays are made
            builder.filter_groups += self._list_own_shapes()
            asset = dataclasses.replace(asset, articulations=[])
        for a, b in find_filtered_pairs(asset):
            if a in shapes and b in shapes:
                builder.filter_pair(shapes[a], shapes[b])

    def _list_own_shapes(self) -> list[list[int]]:
        """Shapes of what joints hold together, robot by robot: floors and things of a stage are no part of one."""
        # SAP Warp takes the articulations of a stage, and all that moves in other files
        whole = self._sap and self._format != "usd"
        declared = self._sap and self._format == "usd"
        trees = {
            body: 0 if whole else tree for body, (tree, said) in self._trees.items() if said or not declared
        }
        groups: dict[int, list[int]] = {}
        for shape in range(self._first_shape, self._builder.shape_count):
            body = self._builder.shape_body[shape]
            if body in trees:
                groups.setdefault(trees[body], []).append(shape)
        return list(groups.values())


def _take_gravity(builder: Builder, asset: Asset, options: ImportOptions) -> None:
    """Gravity of the file, unless the scene says its own; SAP Warp takes that of stages always."""
    gravity = asset.environment.gravity
    if builder.compat == "sap":
        # measured: a PhysicsScene overwrites the builder's gravity by its magnitude, whatever its direction
        if gravity is not None and asset.provenance.format == "usd":
            builder.gravity = -float(np.linalg.norm(gravity))
    elif gravity is not None and not builder.gravity_said:
        builder.gravity = tuple(quat_rotate(options.xform.q, gravity).tolist())


def free_derived(asset: Asset) -> None:
    """Bodies that weigh exactly what their colliders do have no mass of their own.

    Readers of formats whose rules derive masses from colliders (OpenUSD, MJCF) have applied those rules already.
    """
    # URDF and SDF state masses, or none
    if asset.provenance.format not in ("usd", "mjcf"):
        return
    stated = {body.name: body.inertial for body in asset.bodies}
    for body in asset.bodies:
        body.inertial = None
    derived = body_inertials(asset)
    for body in asset.bodies:
        held = stated[body.name]
        # equal to the last digits: then it was derived, and the scene's density counts instead
        body.inertial = None if held is None or _is_same(held, derived[body.name]) else held


def _is_same(a: Inertial, b: Inertial) -> bool:
    size = float(np.abs(b.inertia).max())
    return bool(
        a.mass > 0.0
        and abs(a.mass - b.mass) <= _SAME * a.mass
        and np.all(np.abs(a.com - b.com) <= _SAME * (1.0 + np.abs(b.com)))
        and np.all(np.abs(a.inertia - b.inertia) <= _SAME * size)
    )


class AssetLabels:
    """Gives the labels of one asset; those of SAP Warp where the builder is to agree with it."""

    def __init__(self, builder: Builder, asset: Asset, prefix: str) -> None:
        self._builder = builder
        self._stage = asset.provenance.format == "usd"
        self._sap = builder.compat == "sap"
        self._robot = asset.name
        self._prefix = "" if self._sap else prefix

    def name_body(self, body: Body) -> str:
        """The label of a body."""
        return self._full(body.name, body.path)

    def name_joint(self, joint: Joint) -> str:
        """The label of a joint."""
        return self._full(joint.name, joint.path)

    def name_shape(self, shape: Shape | Site) -> str:
        """The label of a shape or site; empty leaves it to the builder."""
        if self._sap and not self._stage:
            return ""
        # measured: SAP Warp numbers shapes of URDF and MJCF files, and calls those of stages by path
        return self._full(shape.name, shape.path)

    def name_base(self, body: Body, *, floating: bool) -> str:
        """The label of the joint between the world and a root; empty leaves it to the builder."""
        if self._stage:
            kind = "free_joint" if floating else "fixed_joint"
            return "" if self._sap else f"{self._full(body.name, body.path)}_{kind}"
        base = "floating_base" if floating else "fixed_base"
        label = f"{self._prefix}{self._robot}/{base}"
        taken = label in self._builder.joint_label and not self._sap
        return f"{self._prefix}{self._robot}/{body.name}_{base}" if taken else label

    def name_articulation(self, declared: Articulation | None, root: Body) -> str:
        """The label of an articulation: the robot's, or the path of its root."""
        if self._stage:
            path = (declared.path or declared.name) if declared is not None else root.path or root.name
            return f"{self._prefix}{path.lstrip('/')}" if self._prefix else path
        label = f"{self._prefix}{self._robot}"
        taken = label in self._builder.articulation_label and not self._sap
        return f"{label}/{root.name}" if taken else label

    def _full(self, name: str, path: str) -> str:
        if self._stage:
            return f"{self._prefix}{path.lstrip('/') or name}" if self._prefix else path or name
        return f"{self._prefix}{self._robot}/{name}"


def pose_joints(asset: Asset, plan: BranchPlan, reporter: Reporter) -> None:
    """Give the joints of all branches the coordinates that their bodies' poses mean."""
    poses = {WORLD: IDENTITY} | {body.name: body.pose for body in asset.bodies}
    overruled: list[Joint] = []
    for joint in _list_posed(plan):
        way = measure_joint_pose(joint, poses[joint.parent], poses[joint.child])
        stated = any(dof.position is not None for dof in joint.dofs)
        coordinates = joint.initial() if stated else solve_coordinates(joint, way)
        # what the joint cannot reach is told: the body will stand elsewhere than in the stage
        apart, turned = measure_gap(compute_joint_pose(joint, coordinates), way)
        missed = apart > _APART or turned > _TURNED
        if stated:
            overruled += [joint] if missed else []
            continue
        _set_positions(joint, coordinates)
        if missed:
            degrees = round(math.degrees(turned), 3)
            reporter.report(
                POSE_UNREACHABLE, joint.source, name=joint.name, apart=round(apart, 6), degrees=degrees
            )
    if overruled:
        names = list_names(overruled)
        reporter.report(POSE_OVERRULED, overruled[0].source, count=len(overruled), names=names)


def _list_posed(plan: BranchPlan) -> Iterator[Joint]:
    """Joints of all branches but those with six freedoms: the builder takes the pose of such a body itself."""
    for joint in (step.joint for branch in plan.branches for step in branch.steps):
        if joint is None or joint.kind is JointKind.DISTANCE:
            continue
        if all(dof.motion is not Motion.FREE for dof in joint.dofs):
            yield joint


def _set_positions(joint: Joint, coordinates: Array) -> None:
    """Write coordinates that differ from the neutral ones."""
    neutral, start = joint.neutral(), 0
    for dof in joint.dofs:
        part = slice(start, start + dof.positions)
        # no position is written where the neutral one is meant: the writer would state it
        if np.any(np.abs(coordinates[part] - neutral[part]) > _ZERO):
            dof.position = coordinates[part] if dof.motion is Motion.BALL else float(coordinates[start])
        start += dof.positions
