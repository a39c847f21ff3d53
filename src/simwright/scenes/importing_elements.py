# SPDX-License-Identifier: Apache-2.0
"""Elements of an asset as elements of the arrays: joints, motors, mimics and equalities, then shapes and sites.

Joints: kinds, axes, stops, drives and initial coordinates.  Shapes: type, size, flags, contact values and density.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, pose_to_seven, vec3
from simwright.model.asset import Actuator, Asset, Body, Shape, Site, scaled
from simwright.model.coordinates import list_couplings, plan_closures
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
from simwright.model.geometry import Box, Geometry, Heightfield, Mesh, Plane, Sphere, box_bounds
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.mass import shape_inertial
from simwright.model.moments import compute_moments
from simwright.runtime.kinds import JointType, ShapeType, TargetMode
from simwright.scenes.builder import Builder, Triple
from simwright.scenes.builder_config import FREE_DOF, NO_LIMIT, DofConfig, ShapeConfig
from simwright.scenes.builder_shape import describe_geometry
from simwright.scenes.importing_messages import (
    DECOMPOSITION_SKIPPED,
    DRIVE_ACCELERATION,
    GEOMETRY_LOST,
    JOINT_APPROXIMATED,
    JOINT_CONE,
    MIMIC_LOST,
    report_lost,
)
from simwright.scenes.importing_options import ImportOptions


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
            # measured: a generic joint without axes stays one in SAP Warp
            kind = JointType.D6 if joint.generic and builder.compat == "sap" else JointType.FIXED
            index = builder.add_joint(kind, **given)
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
        # nor for the axes of generic and ball joints of stages
        if self._dialect == "usd" and (joint.generic or dof.motion is Motion.BALL):
            return DofConfig(axis=_triple(dof.axis), limit_lower=dof.lower, limit_upper=dof.upper)
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
        # measured: a joint of a stage that says no limit has none at all, whatever the scene's default
        if self._dialect == "usd" and not dof.is_limited:
            config.limit_lower, config.limit_upper = -math.inf, math.inf
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
            why = "only joints with one degree of freedom can"
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


_SITE_SIZE = 0.01
_CONVEX = ("convexhull", "convexdecomposition")


class ShapeImporter:
    """Adds the shapes of one asset to a builder; ``config`` is what a shape that says nothing has."""

    def __init__(
        self,
        builder: Builder,
        asset: Asset,
        options: ImportOptions,
        config: ShapeConfig,
        reporter: Reporter,
    ) -> None:
        self._builder = builder
        self._options = options
        self._config = config
        self._reporter = reporter
        self._stage = asset.provenance.format == "usd"
        self._bodies = {body.name: body for body in asset.bodies}
        self._contacts = {material.name: material for material in asset.physics_materials}
        self._looks = {material.name: material for material in asset.materials}
        self._seen = {shape.body for shape in asset.shapes if shape.visual and not shape.collision}

    def add_shape(self, shape: Shape, body: int, label: str) -> int | None:
        """The index of a shape; None (reported) where the arrays have no type for it."""
        described = self._describe(shape, body)
        if described is None:
            return None
        kind, scale, source, pose = described
        # materials cannot be arrays: they are kept beside, for export
        if self._looks and (shape.material or isinstance(source, Mesh)):
            self._builder.shape_look[self._builder.shape_count] = (shape.material, self._looks)
        return self._builder.add_shape(
            body,
            kind,
            scale,
            pose=pose_to_seven(self._options.xform @ pose if body < 0 else pose),
            source=source,
            config=self._configure(shape),
            label=label,
            color=self._choose_color(shape),
            max_hull_vertices=self._find_hull_limit(shape) if source is not None else None,
        )

    def _find_hull_limit(self, shape: Shape) -> int | None:
        """The file's, else the scene's."""
        limit = shape.settings.get("max_hull_vertices", self._options.mesh_maxhullvert)
        return None if limit is None else int(limit)

    def add_site(self, site: Site, body: int, label: str) -> int:
        """A site is a shape that only marks a frame."""
        described = describe_geometry(site.geometry) if site.geometry is not None else None
        kind, scale = described or (ShapeType.SPHERE, (_SITE_SIZE,) * 3)
        # marks of a stage have, as what is only seen, none of the scene's defaults in SAP Warp
        plain = self._stage and self._builder.compat == "sap"
        config = ShapeConfig(gap=self._config.gap) if plain else self._config
        return self._builder.add_shape(
            body,
            kind,
            scale,
            pose=pose_to_seven(self._options.xform @ site.pose if body < 0 else site.pose),
            config=config.with_values({"is_site": True, "is_visible": described is not None}),
            label=label,
        )

    def _describe(self, shape: Shape, body: int) -> tuple[ShapeType, Triple, Geometry | None, Pose] | None:
        geometry, pose = shape.geometry, shape.pose
        x, y, z = (float(v) for v in scaled(shape))
        # colliding planes have no end in any engine of ours, whatever size is drawn
        if isinstance(geometry, Plane) and shape.collision:
            return ShapeType.PLANE, (0.0, 0.0, 0.0), None, pose
        primitive = describe_geometry(geometry)
        if primitive is not None:
            resized = _resize(*primitive, (x, y, z))
            if resized is not None:
                return (*resized, None, pose)
            why = "its size differs between axes that have to be equal"
        elif isinstance(geometry, Mesh):
            if len(geometry.data.indices):
                return self._describe_mesh(shape, (x, y, z))
            why = "its mesh has no triangles"
        elif isinstance(geometry, Heightfield) and body < 0:
            return ShapeType.HEIGHTFIELD, (x, y, z), geometry, pose
        else:
            why = f"a {geometry.kind} has no type here" + (" on a body" if body >= 0 else "")
        self._reporter.report(GEOMETRY_LOST, shape.source, name=shape.name, why=why)
        return None

    def _describe_mesh(self, shape: Shape, scale: Triple) -> tuple[ShapeType, Triple, Geometry | None, Pose]:
        """A mesh, or what it is approximated by."""
        plain = (ShapeType.MESH, scale, shape.geometry, shape.pose)
        token = shape.approximation.token.lower() if shape.approximation else "none"
        skipped = self._options.skip_mesh_approximation or not (shape.collision and shape.enabled)
        # what is only seen is never approximated
        if skipped or token == "none":
            return plain
        if token in ("boundingcube", "boundingsphere"):
            return _fit(shape, scale, ball=token == "boundingsphere")
        # one shape cannot be several: its hull is the nearest that is convex
        if token == "convexdecomposition":
            self._reporter.report(
                DECOMPOSITION_SKIPPED, shape.source, name=shape.name, token=token, as_what="its convex hull"
            )
        if token in _CONVEX:
            return (ShapeType.CONVEX_MESH, *plain[1:])
        self._reporter.report(
            DECOMPOSITION_SKIPPED, shape.source, name=shape.name, token=token, as_what="it is"
        )
        return plain

    def _configure(self, shape: Shape) -> ShapeConfig:
        """Defaults, then what the asset says, then what is forced."""
        touches = shape.collision and shape.enabled
        options = self._options
        # colliders are seen only on bodies that have nothing else to show
        hidden = options.hide_collision_shapes or shape.body in self._seen
        visible = shape.visual or (shape.collision and not hidden)
        if shape.collision and options.hide_collision_shapes and shape.body in self._seen:
            visible = False
        # measured: SAP Warp never shows a collider of a stage beside what its body has to show
        if shape.collision and self._stage and self._builder.compat == "sap":
            visible = shape.body not in self._seen
        config = self._plain(shape).with_values(
            {
                "is_visible": visible or (shape.collision and options.force_show_colliders),
                "is_solid": shape.settings.get("mass_model") != "shell",
                "has_shape_collision": touches and self._config.has_shape_collision,
                "has_particle_collision": touches and self._config.has_particle_collision,
                "density": self._find_density(shape),
                **self._find_contact(shape),
            }
        )
        return config.with_values(options.forced)

    def _plain(self, shape: Shape) -> ShapeConfig:
        """What a shape begins with; what is only seen of a stage has none of the defaults in SAP Warp."""
        # in this one case, so that arrays agree with those of its loader
        seen = self._stage and not shape.collision and self._builder.compat == "sap"
        return ShapeConfig(gap=self._config.gap) if seen else self._config

    def _find_contact(self, shape: Shape) -> dict[str, Any]:
        """Margin, gap and material: those of the physics material come before those of the shape."""
        own = shape.settings
        values: dict[str, Any] = {"margin": shape.margin, "gap": shape.gap}
        values |= {"ke": own.get("ke"), "kh": own.get("kh")}
        # arrays have a dissipation time: tau = kd / ke
        damping = own.get("kd")
        material = self._contacts.get(shape.physics_material)
        if material is not None:
            first = own.get("contact_first", False)
            if material.stiffness is not None and not (first and values["ke"] is not None):
                values["ke"] = material.stiffness
            if material.damping is not None and not (first and damping is not None):
                damping = material.damping
            values |= material.list_contact()
        if values["ke"] and damping is not None:
            values["tau"] = float(damping) / float(values["ke"])
        return values

    def _find_density(self, shape: Shape) -> float:
        """The density that gives a shape the mass it is said to have; none where a body's mass is said."""
        body = self._bodies.get(shape.body)
        if body is None or body.inertial is not None or not (shape.collision and shape.enabled):
            return 0.0
        # the arrays keep a density per shape, not a mass: operations may resize it
        volume = compute_moments(shape.geometry, shape.scale).volume
        if volume <= 0.0:
            return 0.0
        return self.weigh(shape, body).mass / volume

    def weigh(self, shape: Shape, body: Body) -> Inertial:
        """Mass of a collider: its own, else by the density of body, material or configuration."""
        material = self._contacts.get(shape.physics_material)
        # UsdPhysics' order: the body's density, then the material's
        density = body.density or (material.density if material else None)
        return shape_inertial(shape, self._config.density if density is None else density)

    def _choose_color(self, shape: Shape) -> Triple | None:
        material = self._looks.get(shape.material)
        if material is not None:
            return material.diffuse
        return None if shape.color is None else shape.color[:3]


def _resize(kind: ShapeType, size: Triple, factors: Triple) -> tuple[ShapeType, Triple] | None:
    """A primitive stretched along its axes; None where it is none any more."""
    x, y, z = (abs(v) for v in factors)
    a, b, c = size
    if kind in (ShapeType.BOX, ShapeType.ELLIPSOID):
        return kind, (a * x, b * y, c * z)
    if kind is ShapeType.PLANE:
        return kind, (a * x, b * y, c)
    if kind is ShapeType.SPHERE:
        return (kind, (a * x, b, c)) if x == y == z else (ShapeType.ELLIPSOID, (a * x, a * y, a * z))
    # a round shape stretched unevenly has no type: it goes in as a mesh
    if x != y or (kind is ShapeType.CAPSULE and x != z):
        return None
    return kind, (a * x, b * z, c)


def _fit(shape: Shape, scale: Triple, *, ball: bool) -> tuple[ShapeType, Triple, Geometry | None, Pose]:
    """The box or ball around a mesh, in its own axes."""
    bounds = box_bounds(shape.geometry)
    assert bounds is not None, "a mesh with triangles has bounds"
    corners = np.stack(bounds) * vec3(scale)
    middle, half = corners.mean(axis=0), np.abs(corners[1] - corners[0]) / 2
    pose = shape.pose @ Pose.of(middle)
    fitted = describe_geometry(Sphere(float(np.linalg.norm(half))) if ball else Box(2 * half))
    assert fitted is not None
    return (*fitted, None, pose)
