# SPDX-License-Identifier: Apache-2.0
"""From an asset to a ``newton.ModelBuilder``: bodies and joints branch by branch, then all that hangs on them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from simwright.core.diag import Reporter, Where
from simwright.core.errors import MissingExtraError, UsageError
from simwright.core.math3d import IDENTITY, Array, Pose, pose_to_seven, quat_between, quat_rotate, vec3
from simwright.engines.newton.choices import NAMES, Choices, choose_parts, list_split, settle_choices
from simwright.engines.newton.equalities import (
    StageParts,
    add_stage_actuators,
    add_stage_equalities,
    find_equalities,
    keep_targets,
    leave_equalities,
    rank_joint,
    sort_prims,
)
from simwright.engines.newton.hulls import approximate
from simwright.engines.newton.joints import (
    add_equalities,
    add_filters,
    add_joint,
    check_roots,
    close_articulation,
    drive_both,
    find_root_poses,
    hold_root,
    report_tendons,
    reverse_joint,
    set_mimics,
    set_motors,
    set_springs,
)
from simwright.engines.newton.looks import StageLooks, open_looks, order_shapes
from simwright.engines.newton.messages import BODY_NOT_KINEMATIC, GRAVITY_SCALE, listen
from simwright.engines.newton.registered import add_attributes, has_registered, read_registered
from simwright.engines.newton.result import Imported
from simwright.engines.newton.shapes import NewtonShapeMaker, report_pictures
from simwright.engines.newton.types import ModelBuilder
from simwright.formats.format import ReadOptions
from simwright.formats.table import find_near, read_asset
from simwright.model.asset import Asset, Body, Shape, Site
from simwright.model.branches import Branch, BranchPlan, BranchStep, plan_branches
from simwright.model.flat_joints import JointPlacement, carry_velocity
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Joint
from simwright.model.mass import body_inertials
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver

if TYPE_CHECKING:
    from pxr import Usd

_GRAVITY_COMPENSATION = "mujoco:gravcomp"


def fill_builder(
    builder: ModelBuilder,
    result: Imported,
    base: Pose,
    choices: Choices,
    parts: StageParts | None,
    *,
    with_mjc: bool,
    split: frozenset[str] = frozenset(),
) -> None:
    """Put everything of ``result.asset`` into a builder, in the order in which elements refer to each other.

    ``split`` are colliders that go on being drawn as they are, whatever they are approximated by.
    """
    reporter = result.reporter
    stage = None if parts is None else parts.stage
    equalities = find_equalities(result.asset, parts)
    asset = result.asset = leave_equalities(result.asset, equalities)
    plan = plan_branches(
        asset,
        choices.joint_ordering,
        only_enabled=choices.only_load_enabled_joints,
        lone_roots=choices.makes_mechanisms,
    )
    fill = _BuilderFiller(builder, result, base, choices, parts)
    # needs the stage: articulations may be declared on prims that are no bodies
    if choices.override_root_xform:
        fill.root_poses = find_root_poses(asset, stage)
    # what is too large for single precision is infinite in Newton
    with np.errstate(over="ignore"):
        fill.add_branches(plan.branches)
    # looks are asked of the stage where they are wanted: they cost most of the time of an import
    looks = open_looks(stage) if choices.load_visual_shapes else None
    fill.add_shapes(looks, split)
    if parts is not None and looks is not None:
        looks.add_splats(builder, parts.splats, result, choices, base)
    fill.add_loops(plan)
    result.equalities = add_equalities(builder, asset, result.bodies, base, reporter)
    set_mimics(builder, asset, result.joints, reporter, partial=choices.allow_partial)
    if parts is not None:
        add_stage_equalities(builder, parts, result, equalities, choices=choices, base=base)
    add_filters(builder, asset, result.shapes)
    add_attributes(builder, asset.custom_attributes, result.by_frequency(), reporter)
    if stage is not None and has_registered(builder):
        read_registered(builder, stage, result, choices, with_mjc=with_mjc)
    made = add_stage_actuators(builder, parts, result, choices)
    # after registered attributes: rows of motors are found by the labels that these bring
    set_motors(builder, asset, result.joints, reporter, made)
    if parts is not None:
        keep_targets(builder, parts, result)
    report_tendons(builder, asset, reporter)
    if not choices.skip_mesh_approximation:
        approximate(builder, result.shapes, asset, reporter, hulled=fill.hulled, split=split)
    if asset.environment.gravity is not None:
        # a root that is put at xform leaves the world, and so gravity, as it is
        stand = find_base(builder, None) if choices.override_root_xform else base
        _set_gravity(builder, stand.rotation @ asset.environment.gravity)
    result.original_bodies = dict(result.path_body_map)
    # shapes that users add later weigh something again
    for index in result.bodies.values():
        builder.body_lock_inertia[index] = False
    # last: it gives every body and joint another index
    if choices.collapse_fixed_joints:
        _collapse(builder, result)


class _BuilderFiller:
    """Adds the parts of one asset to one builder."""

    def __init__(
        self,
        builder: ModelBuilder,
        result: Imported,
        base: Pose,
        choices: Choices,
        parts: StageParts | None = None,
    ) -> None:
        self._builder = builder
        self._parts = parts
        self._stage = None if parts is None else parts.stage
        self._choices = choices
        self._result = result
        self._reporter = result.reporter
        self._base = self._stand = base
        warp = import_warp()
        self._make_vector, self._make_matrix = warp.vec3.from_buffer_copy, warp.mat33.from_buffer_copy
        self.root_poses: dict[str, Pose] = {}
        self.hulled: set[str] = set()
        self._bound: set[str] = set()
        self._orphans: list[Branch] = []
        self._bodies = {body.name: body for body in result.asset.bodies}
        self._inertials = body_inertials(result.asset, float(builder.default_shape_cfg.density))
        # their colliders are the world's
        still = (body for body in result.asset.bodies if not body.enabled)
        self._inertials |= {body.name: Inertial(0.0) for body in still if not self._has_said_mass(body)}

    def _has_said_mass(self, body: Body) -> bool:
        """Is a mass authored on the body itself?  The model has that of its colliders, too."""
        if self._stage is None:
            return True
        said = self._stage.GetPrimAtPath(body.path).GetAttribute("physics:mass")
        return bool(said and said.HasAuthoredValue() and said.Get() > 0.0)

    def add_branches(self, branches: list[Branch]) -> None:
        """Bodies and joints; what one root declares and the world holds is one articulation."""
        joints = [step.joint for branch in branches for step in branch.steps if step.joint is not None]
        touched = {name for joint in joints for name in (joint.parent, joint.child)}
        # where nothing declares an articulation, joints are constraints: only bodies without any are set free
        loose = {body.name for body in self._result.asset.bodies if not self._result.asset.articulations}
        self._bound = touched & loose
        held: list[int] = []
        for number, branch in enumerate(branches):
            after = branches[number + 1] if number + 1 < len(branches) else None
            added = self._add_branch(branch)
            if not added:
                continue
            held += added
            # several bodies on the world below one root
            if (
                after is not None
                and _is_held(branch)
                and _is_held(after)
                and after.declared is branch.declared
            ):
                continue
            self._close(branch, held)
            held = []
        self._add_orphans()

    def _add_branch(self, branch: Branch) -> list[int]:
        """The joints of a branch that have to be in an articulation."""
        declared = branch.declared
        self._stand = self._base
        if declared is not None and declared.name in self.root_poses:
            self._stand = self._base @ ~self.root_poses[declared.name]
        follow = self._choices.bodies_follow_joint_ordering
        for step in branch.order_bodies(self._bodies, follow_joints=follow):
            self._add_body(self._bodies[step.body], is_root=step.parent == WORLD)
        asked = self._choices.asks_for_base
        if declared is None and not self._choices.makes_mechanisms:
            self._orphans.append(branch)
            return []
        # below a root, but on none of its joints
        if _is_alone(branch) and not asked and not self._floats(branch.steps[0].body):
            return []
        return [self._add_step(step) for step in branch.steps]

    def _add_orphans(self) -> None:
        """Joints outside of articulations, in Newton's order; then roots that float, each in its own articulation."""
        builder, parts = self._builder, self._parts
        self._stand = self._base
        places = {joint.name: place for place, joint in enumerate(self._result.asset.joints)}

        def rank(step: BranchStep) -> tuple[int, int]:
            assert step.joint is not None
            kind = 0 if parts is None else rank_joint(parts, step.joint.path)
            return kind, places[step.joint.name]

        held = [step for branch in self._orphans for step in branch.steps if step.joint is not None]
        for step in sorted(held, key=rank):
            self._add_step(step)
        for root in (branch.steps[0] for branch in self._orphans):
            if root.joint is None and self._floats(root.body):
                index = self._float(root)
                builder.add_articulation([index], label=builder.body_label[self._result.bodies[root.body]])

    def _floats(self, body: str) -> bool:
        """Does a body that nothing holds get a free joint?  Engines refuse one without mass."""
        inertial = self._inertials.get(body)
        return body not in self._bound and inertial is not None and inertial.mass > 0.0

    def _close(self, branch: Branch, indices: list[int]) -> None:
        declared = branch.declared
        root = self._bodies[branch.steps[0].body]
        label = root.path or root.name
        if declared is not None:
            label = declared.path or declared.name
        floats = any(step.joint is None for step in branch.steps)
        parent_body = self._choices.parent_body if floats else -1
        number = close_articulation(self._builder, indices, label, parent_body)
        if declared is not None:
            self._result.articulations[declared.name] = number

    def _add_body(self, body: Body, *, is_root: bool) -> None:
        builder = self._builder
        inertial = self._inertials.get(body.name) or Inertial(0.0)
        if inertial.mass <= 0.0 and self._stage is not None:
            inertial = dataclasses.replace(inertial, com=self._find_center(body))
        if body.kinematic and not is_root:
            self._reporter.report(BODY_NOT_KINEMATIC, body.source, name=body.name)
        # mass and inertia are locked: Newton would add those of every shape that is put on the link; of vectors and
        # matrices of Warp it makes no others
        index = builder.add_link(
            xform=pose_to_seven(self._stand @ body.pose),
            com=self._make_vector(inertial.com.astype(np.float32, order="C")),
            inertia=self._make_matrix(inertial.inertia.astype(np.float32, order="C")),
            # in single precision, as Newton's models have it, and centre and inertia in the builder too
            mass=float(np.float32(inertial.mass)),
            label=body.path or body.name,
            lock_inertia=True,
            is_kinematic=body.kinematic and is_root,
        )
        self._result.bodies[body.name] = int(index)
        self._set_velocity(body, int(index))
        if body.gravity_scale != 1.0:
            self._set_gravity_scale(body, int(index))

    def _find_center(self, body: Body) -> Array:
        """The authored centre of a body without mass [m], which the model has none for."""
        from simwright.usd.xform import read_world

        prim = self._stage.GetPrimAtPath(body.path) if self._stage is not None and body.path else None
        authored = prim.GetAttribute("physics:centerOfMass") if prim else None
        said = authored.Get() if authored and authored.HasAuthoredValue() else None
        # the schema's fallback is infinite and means "not said"
        if said is None or not np.all(np.isfinite(said)):
            return vec3()
        length = float(self._result.asset.provenance.info.get("metersPerUnit", 1.0))
        return vec3(said) * read_world(prim).scale * length

    def _set_velocity(self, body: Body, index: int) -> None:
        """Authored velocities are along the axes of the asset's world, which may stand turned in the builder."""
        linear = (0.0, 0.0, 0.0) if body.linear_velocity is None else body.linear_velocity
        angular = (0.0, 0.0, 0.0) if body.angular_velocity is None else body.angular_velocity
        if any(linear) or any(angular):
            rates = (*quat_rotate(self._stand.q, linear), *quat_rotate(self._stand.q, angular))
            # Warp's spatial vectors cannot be assigned from tuples: a new one of the same type is made
            held = self._builder.body_qd
            held[index] = type(held[index])(*(float(v) for v in rates))

    def _set_gravity_scale(self, body: Body, index: int) -> None:
        if self._builder.has_custom_attribute(_GRAVITY_COMPENSATION):
            values = self._builder.custom_attributes[_GRAVITY_COMPENSATION].values
            values[index] = 1.0 - body.gravity_scale
        else:
            self._reporter.report(GRAVITY_SCALE, body.source, name=body.name, scale=body.gravity_scale)

    def _add_step(self, step: BranchStep) -> int:
        if step.joint is None:
            return self._float(step)
        joint = reverse_joint(step.joint, self._reporter) if step.reversed else step.joint
        return self._add_joint(joint)

    def _float(self, step: BranchStep) -> int:
        """A free joint to the world, moving as its body does; or another one, if that is chosen."""
        builder, child = self._builder, self._result.bodies[step.body]
        index = hold_root(builder, child, self._choices, self._base)
        if builder.joint_type[index] == import_newton().JointType.FREE:
            carry_velocity(builder, index, child, IDENTITY)
        return index

    def _add_joint(self, joint: Joint) -> int:
        placement = JointPlacement.of(joint, self._result.bodies, self._stand, joint.path or joint.name)
        index = add_joint(self._builder, joint, placement, self._reporter)
        if self._choices.force_position_velocity_actuation:
            drive_both(self._builder, index)
        if placement.parent < 0 and joint.velocities == 6 and len(joint.dofs) == 1:
            carry_velocity(self._builder, index, placement.child, placement.parent_frame)
        set_springs(self._builder, index, joint, self._reporter)
        self._result.joints[joint.name] = index
        return index

    def add_loops(self, plan: BranchPlan) -> None:
        """Joints that close loops belong to no articulation."""
        self._stand = self._base
        for joint in plan.loops:
            # a copy goes in: its placement is changed for Newton only
            turned = joint
            if joint.child == WORLD:
                turned = reverse_joint(joint, self._reporter)
            self._add_joint(dataclasses.replace(turned))

    def add_shapes(self, looks: StageLooks | None, split: frozenset[str]) -> None:
        """Shapes and sites, in the order of Newton's own importer."""
        asset, result = self._result.asset, self._result
        maker = NewtonShapeMaker(
            self._builder,
            asset,
            self._base,
            self._reporter,
            hull_limit=self._choices.mesh_maxhullvert,
            looks=looks,
            with_hulls=not self._choices.skip_mesh_approximation,
            split=split,
        )
        elements = order_shapes(asset, self._parts, result.bodies)
        maker.prepare_hulls(element for element in elements if isinstance(element, Shape))
        for element in elements:
            body = result.bodies.get(element.body, -1)
            if isinstance(element, Site):
                result.sites[element.name] = maker.add_site(element, body)
                continue
            index = maker.add_shape(element, body)
            if index is not None:
                result.shapes[element.name] = index
        result.shape_paths = maker.parts
        self.hulled = maker.hulled
        report_pictures(asset.materials, maker.pictured, self._reporter)


def _is_alone(branch: Branch) -> bool:
    """Is it one body that no joint holds?"""
    return len(branch.steps) == 1 and branch.steps[0].joint is None


def _is_held(branch: Branch) -> bool:
    """Is it declared, and its root on the world by a joint of the asset?"""
    return branch.declared is not None and branch.steps[0].joint is not None


def _set_gravity(builder: ModelBuilder, gravity: Array) -> None:
    vector = tuple(float(v) for v in gravity)
    # inside of begin_world() every world has a gravity of its own
    if 0 <= builder.current_world < len(builder.world_gravity):
        builder.world_gravity[builder.current_world] = vector
    else:
        builder.gravity = vector


def _collapse(builder: ModelBuilder, result: Imported) -> None:
    """Merge bodies that fixed joints hold together; the indices are new then."""
    merged = builder.collapse_fixed_joints()
    bodies, joints = merged["body_remap"], merged["joint_remap"]
    parents, articulations = merged["body_merged_parent"], merged["articulation_remap"]
    result.merged_bodies = {path: i for path, i in result.original_bodies.items() if i in parents}
    result.bodies = {
        name: bodies.get(i, bodies.get(parents.get(i, -1), -1)) for name, i in result.bodies.items()
    }
    result.joints = {name: joints[i] for name, i in result.joints.items() if i in joints}
    result.joint_paths = {path: joints[i] for path, i in result.joint_paths.items() if i in joints}
    result.equalities = {name: joints[i] for name, i in result.equalities.items() if i in joints}
    kept = ((name, articulations[i]) for name, i in result.articulations.items() if i in articulations)
    result.articulations = dict(kept)
    result.collapse_results = merged


def add_file(
    builder: ModelBuilder,
    path: str | os.PathLike[str],
    *,
    format_name: str | None = None,
    xform: Pose | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> Imported:
    """Import a file of any format Simwright reads into a builder.

    ``options`` are fields of :class:`ReadOptions` and :class:`Choices`.
    """
    import_newton()
    reporter = Reporter() if reporter is None else reporter
    choices = {name: options.pop(name) for name in sorted(NAMES & options.keys())}
    # package:// addresses are looked up near the file unless the caller says where
    options.setdefault("packages", find_near(path))
    try:
        reading = ReadOptions(**options)
    except TypeError as error:
        raise UsageError(f"no such option: {error}", hint=f"known are {', '.join(sorted(NAMES))}") from None
    asset = read_asset(path, format_name=format_name, options=reading, reporter=reporter)
    stage = None
    if asset.provenance.format == "usd" and (has_registered(builder) or choices.get("override_root_xform")):
        from simwright.usd.open import open_stage

        stage = open_stage(
            Path(path), packages=reading.packages, variants=reading.variants, reporter=Reporter()
        )
    return add_asset(
        builder,
        asset,
        xform=xform,
        reporter=reporter,
        stage=stage,
        schema_resolvers=reading.schema_resolvers,
        **choices,
    )


def add_asset(
    builder: ModelBuilder,
    asset: Asset,
    *,
    xform: Pose | None = None,
    reporter: Reporter | None = None,
    stage: Usd.Stage | StageParts | None = None,
    schema_resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER,
    **choices: Any,
) -> Imported:
    """Fill a builder from an asset, which stands at ``xform``; what has no place is reported.

    The asset is turned onto the builder's up axis.  Every tree of joints becomes an articulation, so that the
    builder can be finalized; bodies that nothing holds get a free joint.  ``stage`` is the open stage the asset
    was read from, with ``schema_resolvers``: attributes that the builder has registered are read from its prims.
    ``choices`` are fields of :class:`Choices`.
    """
    import_newton()
    reporter = Reporter() if reporter is None else reporter
    settled = settle_choices(Choices(**choices), asset)
    check_roots(builder, settled, xform)
    result = Imported(
        asset=choose_parts(asset, settled), reporter=reporter, resolvers=tuple(schema_resolvers)
    )
    parts = stage if isinstance(stage, StageParts | None) else sort_prims(stage)
    with_mjc = any(getattr(solver, "name", solver) == "mjc" for solver in schema_resolvers)
    with listen(reporter, Where(asset.provenance.file)):
        base, split = find_base(builder, xform), list_split(asset, settled)
        fill_builder(builder, result, base, settled, parts, with_mjc=with_mjc, split=split)
    return result


def import_newton() -> ModuleType:
    """The package, or the line that installs it."""
    try:
        import warp

        warp.config.quiet = True  # before Newton is imported, which prints what Warp finds
        import newton
    except ImportError:
        raise MissingExtraError("newton", "newton", "filling a Newton builder") from None
    module: ModuleType = newton
    return module


def import_warp() -> ModuleType:
    """What Newton's vectors and matrices are made with."""
    import warp

    module: ModuleType = warp
    return module


def find_base(builder: ModelBuilder, pose: Pose | None) -> Pose:
    """Where a Z-up asset stands in a builder, whose up axis may be another one."""
    up = [float(v) for v in builder.up_vector]
    base = Pose(vec3(), quat_between((0.0, 0.0, 1.0), vec3(up))) if up[2] < 1.0 else IDENTITY
    return base if pose is None else pose @ base
