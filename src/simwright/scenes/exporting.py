# SPDX-License-Identifier: Apache-2.0
"""A loaded scene as a neutral asset, so that it is written, compared and run like any other file.

Bodies stand where the initial joint coordinates have them, and weigh what the arrays say.  Names are the last parts of
labels where those are unique.  Materials are those of the assets the scene was made of.  :func:`export_asset` takes
the whole scene for a file, :func:`export_world` one world for an engine.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import LimitError
from simwright.core.math3d import Pose, vec3
from simwright.core.names import NameScope, make_identifier
from simwright.formats.mjcf.writer.meshes import is_flat
from simwright.model.asset import Articulation, Asset, Body, ContactFilter, Provenance, scaled
from simwright.model.geometry import Box, Mesh, Plane
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Dof, Drive, Joint, JointKind, Mimic, Motion
from simwright.model.ros_sides import RosSeat, carry_ros_side
from simwright.runtime.kinds import BodyFlag, JointType, ShapeFlag, TargetMode
from simwright.runtime.model import Model
from simwright.scenes.builder_config import NO_BOUND, NO_LIMIT
from simwright.scenes.exporting_parts import (
    DEFAULT_TAU,
    FLOATS,
    ShapeExporter,
    list_carriers,
    set_alike,
    set_contacts,
    set_filters,
    take_pose,
    take_world,
    widen,
)
from simwright.scenes.load import LoadedScene

GROUPS_LOST = declare(
    "scene-groups-lost",
    Level.WARNING,
    "the collision groups of {count} shapes are left out: {groups}",
    hint="an asset filters contacts by pairs of bodies and shapes",
    doc="Shapes of a scene are in other collision groups than 1, and the neutral model has no such groups.",
    loss=True,
)
ATTRIBUTES_LOST = declare(
    "scene-custom-lost",
    Level.WARNING,
    "{count} custom attributes are left out of the scene: {names}",
    hint="convert the asset itself to keep them",
    doc="Custom attributes of assets are arrays of a scene, which has no asset to put them on.",
    loss=True,
)
SHAPE_FLAT = declare(
    "engine-shape-flat",
    Level.WARNING,
    "collider {name!r} is a mesh without volume: a thin box around it is used",
    hint="give it a thickness, or use a box",
    doc="A hull needs a volume.",
)
JOINT_DISABLED = declare(
    "engine-joint-disabled",
    Level.WARNING,
    "joint {name!r} is disabled, but it is part of the kinematic tree: it stays active",
    hint="use a free joint, or enable it",
    doc="A joint of an articulation is disabled; only joints that close loops can be disabled.",
)
DRIVE_NOT_SUPPORTED = declare(
    "engine-drive-not-supported",
    Level.WARNING,
    "joint {name!r} moves freely and cannot be driven: its targets have no effect",
    doc="A drive on a joint with six degrees of freedom.",
)
_KINEMATIC = 1e10
"""Inertia of freedoms that nothing but their own velocity moves [kg, kg m^2]."""
_THIN = 1e-3
"""Half the thickness of colliders that have none [m]."""
MAX_BODIES = 100_000
"""Most bodies of a scene that becomes an asset."""
_KINDS = {
    JointType.PRISMATIC: JointKind.PRISMATIC,
    JointType.REVOLUTE: JointKind.REVOLUTE,
    JointType.BALL: JointKind.BALL,
    JointType.FIXED: JointKind.FIXED,
    JointType.FREE: JointKind.FLOATING,
    JointType.DISTANCE: JointKind.DISTANCE,
    JointType.D6: JointKind.D6,
}


@dataclass(slots=True, eq=False)
class ExportedWorld:
    """One world as an asset, and the names in it of the bodies, joints and shapes of the arrays, row by row."""

    asset: Asset
    model: Model
    bodies: list[str]
    joints: list[str]
    shapes: list[str]


def export_asset(loaded: LoadedScene, *, reporter: Reporter | None = None) -> Asset:
    """The whole scene, all its worlds, as one asset."""
    reporter = Reporter() if reporter is None else reporter
    model, where = loaded.model, Where(loaded.source_path)
    # a million small worlds are fine as arrays; as elements of an asset each would cost kilobytes
    if model.body_count > MAX_BODIES:
        raise LimitError(
            f"the scene has {model.body_count} bodies; an asset may have {MAX_BODIES}",
            hint="set simulation.num_worlds to fewer worlds",
            where=where,
        )
    name = loaded.scene.name or Path(loaded.source_path).stem or "scene"
    exported = _export(model, name)
    asset = exported.asset
    asset.provenance.file = loaded.source_path
    asset.articulations = _list_articulations(model, exported.bodies)
    asset.contact_filters = _list_filters(model, exported.bodies, exported.shapes)
    asset.environment.timestep = loaded.scene.simulation.dt
    _report_lost(model, reporter, where)
    return asset


def export_world(
    model: Model,
    number: int = 0,
    *,
    pairs: bool = True,
    visuals: bool = False,
    tau: float | None = DEFAULT_TAU,
    reporter: Reporter | None = None,
) -> ExportedWorld:
    """One world at the origin, with all that decides how it moves and nothing else.

    ``pairs`` says that contacts may be contact pairs with values of their own (else they are filters);
    ``visuals`` keeps shapes that are only seen.  ``tau`` is the dissipation time of shapes that say none, None where
    the engine has one for them; pairs have the usual one.
    """
    reporter = Reporter() if reporter is None else reporter
    one = take_world(model, number)
    # what engines need is set afterwards: export_asset shares _export and wants none of it
    exported = _export(one, f"world_{number}")
    asset = exported.asset
    asset.environment.settings["disable"] = ["filterparent"]  # what may touch is said pair by pair
    _hold_bodies(exported, reporter)
    _report_unused(exported, reporter)
    if not visuals:
        asset.shapes = [shape for shape in asset.shapes if shape.collision]
        asset.sites = []
    # after what is only seen is gone: visual meshes may be flat
    _thicken(asset, reporter)
    if pairs:
        set_contacts(asset, one, exported.bodies, exported.shapes)
        set_alike(asset, one, exported.shapes)
    else:
        set_filters(asset, one, exported.bodies, exported.shapes)
        for material in asset.physics_materials:
            # engines without pairs mix materials themselves: each has to say its own
            if material.damping is None and tau is not None:
                material.damping = (material.stiffness or 0.0) * tau
    return exported


def export_served(loaded: LoadedScene, *, pairs: bool = True) -> ExportedWorld:
    """The one world of a scene with what its assets are to ROS, each in the namespace of its name in the scene."""
    exported = export_world(loaded.model, 0, pairs=pairs, visuals=True)
    # sites of the arrays come again with the assets, under the names that ROS has for them
    exported.asset.sites = []
    exported.asset.provenance.file = loaded.source_path
    exported.asset.name = loaded.scene.name or Path(loaded.source_path).stem or "scene"
    bodies = dict(zip(exported.model.body_label, exported.bodies, strict=True))
    joints = dict(zip(exported.model.joint_label, exported.joints, strict=True))
    scope = NameScope()
    for part in loaded.parts:
        name = scope.claim(make_identifier(part.name, "robot"))
        seat = RosSeat(
            f"/{name}",
            {name: bodies[label] for name, label in part.bodies.items() if label in bodies},
            {name: joints[label] for name, label in part.joints.items() if label in joints},
            part.pose,
        )
        carry_ros_side(exported.asset, part.asset, seat, namespace=name)
    return exported


def _export(model: Model, name: str) -> ExportedWorld:
    asset = Asset(name=name, provenance=Provenance(format="scene"))
    bodies = choose_names(list(model.body_label))
    # apart from those of bodies too: the prims of a stage share one scope
    joints = choose_names(list(model.joint_label), bodies)
    exporter = JointExporter(model, bodies, joints)
    asset.bodies = [_take_body(model, index, body) for index, body in enumerate(bodies)]
    asset.joints = [exporter.export(index) for index in range(model.joint_count)]
    asset.mimics = _list_mimics(model, asset.joints)
    shapes = ShapeExporter(model, asset, bodies, choose_names(list(model.shape_label)))
    for index in range(model.shape_count):
        shapes.add(index)
    gravity = widen(model.gravity).reshape(-1, 3)
    asset.environment.gravity = vec3(gravity[0]) if len(gravity) else None
    return ExportedWorld(asset, model, bodies, joints, list(shapes.names))


def _hold_bodies(exported: ExportedWorld, reporter: Reporter) -> None:
    """What the arrays mean: joints of articulations hold, others close loops, bodies without a joint stand still."""
    asset, model = exported.asset, exported.model
    carriers = list_carriers(model)
    for index, joint in enumerate(list(asset.joints)):
        # what may touch is said pair by pair: no joint filters on its own
        joint.collide = True
        joint.closes_loop = int(model.joint_articulation[index]) < 0
        # a joint with six freedoms that carries nothing holds nothing
        if joint.closes_loop:
            if joint.kind is JointKind.FLOATING:
                asset.joints.remove(joint)
            continue
        if not joint.enabled:
            reporter.report(JOINT_DISABLED, name=joint.name)
            joint.enabled = True
        if joint.kind is JointKind.DISTANCE:
            # the body floats, and a distance beside the tree holds it
            held = dataclasses.replace(joint, name=f"{joint.name}_distance", dofs=[], closes_loop=True)
            asset.joints.append(held)
            joint.kind, joint.distance = JointKind.FLOATING, None
    for index, body in enumerate(asset.bodies):
        carrier = carriers.get(index)
        if carrier is None:
            frame = body.pose
            asset.joints.append(Joint(f"{body.name}_stands", JointKind.FIXED, WORLD, body.name, frame))
        elif body.kinematic:
            # it keeps its velocity whatever pushes it: MuJoCo and others have no such body with a joint
            for dof in asset.joint(exported.joints[carrier]).dofs:
                dof.armature = _KINEMATIC
            body.gravity_scale = 0.0
        # engines take a body without joints, or with them, but none that is told how it moves
        body.kinematic = False
        body.linear_velocity = body.angular_velocity = None


def _report_unused(exported: ExportedWorld, reporter: Reporter) -> None:
    """What no engine of ours takes from the arrays."""
    model = exported.model
    for index, joint in enumerate(exported.joints):
        first, last = (int(model.joint_qd_start[index + i]) for i in range(2))
        driven = np.any(model.joint_target_mode[first:last] != TargetMode.NONE)
        # no engine of ours has a drive for six freedoms
        if driven and model.joint_type[index] in FLOATS:
            reporter.report(DRIVE_NOT_SUPPORTED, name=joint)


def _thicken(asset: Asset, reporter: Reporter) -> None:
    """Colliders without a thickness become thin boxes: a plane with an end, a mesh that is flat."""
    for shape in asset.shapes:
        geometry, scale = shape.geometry, scaled(shape)
        if not shape.collision:
            continue
        if isinstance(geometry, Plane) and geometry.size is not None:
            wide, long = geometry.size
            shape.geometry = Box(np.array((wide, long, 2 * _THIN)))
            # its upper side stays where the plane was
            shape.pose = shape.pose @ Pose.of((0.0, 0.0, -_THIN))
        elif isinstance(geometry, Mesh) and is_flat(geometry.data, scale):
            reporter.report(SHAPE_FLAT, name=shape.name)
            corners = geometry.data.vertices * scale
            lower, upper = corners.min(axis=0), corners.max(axis=0)
            shape.geometry, shape.scale = Box(np.maximum(upper - lower, _THIN)), None
            shape.pose = shape.pose @ Pose.of((lower + upper) / 2)


def choose_names(labels: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """A name for each label: its last part if no other label ends so, else all of it."""
    # people know the last part; the whole label only where that is not enough
    ends = [label.rstrip("/").rsplit("/", 1)[-1] or "unnamed" for label in labels]
    counts = Counter(ends)
    scope = NameScope(taken)
    return [
        scope.claim(end if counts[end] == 1 else re.sub(r"/+", "_", label.strip("/")) or "unnamed")
        for end, label in zip(ends, labels, strict=True)
    ]


def _take_body(model: Model, index: int, name: str) -> Body:
    velocity = widen(model.body_qd[index])
    inertial = Inertial(
        float(widen(model.body_mass[index])), widen(model.body_com[index]), widen(model.body_inertia[index])
    )
    return Body(
        name,
        take_pose(model.body_q[index]),
        inertial,
        kinematic=bool(model.body_flags[index] & BodyFlag.KINEMATIC),
        gravity_scale=float(widen(model.body_gravity_scale[index])),
        linear_velocity=velocity[:3] if np.any(velocity[:3]) else None,
        angular_velocity=velocity[3:] if np.any(velocity[3:]) else None,
    )


def _list_mimics(model: Model, joints: Sequence[Joint]) -> list[Mimic]:
    found = []
    for follower, leader in enumerate(model.joint_mimic_joint):
        if leader >= 0:
            offset, factor = widen(model.joint_mimic_coeffs[follower]).tolist()
            names = joints[follower].name, joints[int(leader)].name
            found.append(Mimic(names[0], names[1], factor, offset))
    return found


def _list_articulations(model: Model, bodies: Sequence[str]) -> list[Articulation]:
    """Articulations of more than a single free body, by the body of their first joint."""
    starts, found = model.articulation_start, []
    labels = choose_names(list(model.articulation_label))
    for index, label in enumerate(labels):
        first, end = int(starts[index]), int(starts[index + 1])
        if end - first > 1 or model.joint_type[first] != JointType.FREE:
            found.append(Articulation(label, bodies[int(model.joint_child[first])]))
    return found


def _list_filters(model: Model, bodies: Sequence[str], shapes: Sequence[str]) -> list[ContactFilter]:
    """Filters between bodies where all their colliders are filtered, between shapes elsewhere."""
    # counted and grouped in one pass: which of the two it is depends on all pairs of two bodies
    owner, touches = model.shape_body, (model.shape_flags & ShapeFlag.COLLIDE_SHAPES) != 0
    colliders = Counter(int(body) for body, on in zip(owner, touches, strict=True) if on)
    linked = {
        frozenset(pair) for pair in zip(model.joint_parent.tolist(), model.joint_child.tolist(), strict=True)
    }
    grouped: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, b in model.shape_filters:
        # shapes of one body and of joined bodies never touch in an asset anyway
        key = (int(owner[a]), int(owner[b]))
        if key[0] != key[1] and touches[a] and touches[b] and frozenset(key) not in linked:
            grouped.setdefault((min(key), max(key)), []).append((a, b))
    found = []
    for (a, b), pairs in sorted(grouped.items()):
        if a >= 0 and len(pairs) == colliders[a] * colliders[b]:
            found.append(ContactFilter(bodies[a], bodies[b]))
        else:
            found += [ContactFilter(shapes[i], shapes[j], "shape") for i, j in sorted(pairs)]
    return found


def _report_lost(model: Model, reporter: Reporter, where: Where) -> None:
    touches = (model.shape_flags & ShapeFlag.COLLIDE_SHAPES) != 0
    odd = touches & (model.shape_collision_group != 1) & (model.shape_collision_group != 0)
    if np.any(odd):
        groups = ", ".join(str(group) for group in sorted(set(model.shape_collision_group[odd].tolist())))
        reporter.report(GROUPS_LOST, where, count=int(odd.sum()), groups=groups)
    if model.custom:
        names = ", ".join(sorted(held.key for held in model.custom.values())[:6])
        reporter.report(ATTRIBUTES_LOST, where, count=len(model.custom), names=names)


class JointExporter:
    """Makes joints of an asset from those of a model, with the names that bodies and joints are given."""

    def __init__(self, model: Model, bodies: Sequence[str], names: Sequence[str]) -> None:
        self._model = model
        self._bodies = bodies
        self._names = names
        self._carried: set[int] = set()

    def export(self, index: int) -> Joint:
        """One joint with its initial coordinates, drives and stops."""
        model = self._model
        kind = JointType(int(model.joint_type[index]))
        parent, child = int(model.joint_parent[index]), int(model.joint_child[index])
        # a joint in no articulation closes a loop only where another one carries its child already
        closes = int(model.joint_articulation[index]) < 0 and child in self._carried
        self._carried.add(child)
        joint = Joint(
            self._names[index],
            _KINDS[kind],
            self._bodies[parent] if parent >= 0 else WORLD,
            self._bodies[child],
            take_pose(model.joint_X_p[index]),
            take_pose(model.joint_X_c[index]),
            self._list_dofs(index, kind),
            enabled=bool(model.joint_enabled[index]),
            closes_loop=closes,
        )
        if kind is JointType.DISTANCE:
            first = int(model.joint_qd_start[index])
            low, high = (
                float(widen(model.joint_limit_lower[first])),
                float(widen(model.joint_limit_upper[first])),
            )
            # a negative limit is none, in arrays as in Newton
            joint.distance = (max(0.0, low), high if high >= 0.0 else math.inf)
        return joint

    def _list_dofs(self, index: int, kind: JointType) -> list[Dof]:
        model = self._model
        q, qd = int(model.joint_q_start[index]), int(model.joint_qd_start[index])
        name = self._names[index]
        if kind in (JointType.FREE, JointType.DISTANCE):
            px, py, pz, x, y, z, w = widen(model.joint_q[q : q + 7]).tolist()
            rates = widen(model.joint_qd[qd : qd + 6]).tolist()
            free = Dof(Motion.FREE, name=name, position=[px, py, pz, w, x, y, z])
            # None says nothing; zeros would be written as an authored velocity
            free.velocity = rates if any(rates) else None
            return [free]
        if kind is JointType.BALL:
            x, y, z, w = widen(model.joint_q[q : q + 4]).tolist()
            ball = self._make_dof(Motion.BALL, qd, name)
            # entries of a ball in the limit arrays mean nothing
            ball.lower, ball.upper = -math.inf, math.inf
            ball.position = [w, x, y, z]
            return [ball]
        linear, angular = (int(count) for count in model.joint_dof_dim[index])
        dofs = []
        for number in range(linear + angular):
            motion = Motion.SLIDE if number < linear else Motion.HINGE
            label = name if linear + angular == 1 else f"{name}_{number}"
            dof = self._make_dof(motion, qd + number, label)
            dof.position = float(widen(model.joint_q[q + number]))
            dof.velocity = float(widen(model.joint_qd[qd + number])) or None
            dofs.append(dof)
        return dofs

    def _make_dof(self, motion: Motion, entry: int, name: str) -> Dof:
        model = self._model
        lower, upper = (
            float(widen(model.joint_limit_lower[entry])),
            float(widen(model.joint_limit_upper[entry])),
        )
        dof = Dof(
            motion,
            vec3(widen(model.joint_axis[entry])),
            name,
            lower=lower if lower > -NO_LIMIT else -math.inf,
            upper=upper if upper < NO_LIMIT else math.inf,
            armature=float(widen(model.joint_armature[entry])) or None,
            friction=float(widen(model.joint_friction[entry])) or None,
            damping=float(widen(model.joint_damping[entry])) or None,
            stiffness=float(widen(model.joint_spring_ke[entry])) or None,
            effort_limit=_bound(model.joint_effort_limit[entry]),
            velocity_limit=_bound(model.joint_velocity_limit[entry]),
        )
        if dof.stiffness:
            dof.spring_ref = float(widen(model.joint_spring_ref[entry]))
        if dof.is_limited:
            dof.limit_stiffness = float(widen(model.joint_limit_ke[entry]))
            dof.limit_damping = float(widen(model.joint_limit_kd[entry]))
        dof.drive = self._make_drive(entry, dof.effort_limit)
        return dof

    def _make_drive(self, entry: int, effort: float | None) -> Drive | None:
        """The drive of a freedom, as its mode lets it work."""
        model = self._model
        mode = TargetMode(int(model.joint_target_mode[entry]))
        stiffness, damping = (
            float(widen(model.joint_target_ke[entry])),
            float(widen(model.joint_target_kd[entry])),
        )
        # gains may be there and not work: the mode says which do
        if mode is TargetMode.VELOCITY:
            stiffness = 0.0
        if mode is TargetMode.EFFORT:
            stiffness = damping = 0.0
        if mode is TargetMode.NONE or (mode is not TargetMode.EFFORT and not (stiffness or damping)):
            return None
        follows = mode is not TargetMode.POSITION
        return Drive(
            stiffness,
            damping,
            float(widen(model.joint_target_pos[entry])),
            float(widen(model.joint_target_vel[entry])) if follows else 0.0,
            math.inf if effort is None else effort,
        )


def _bound(value: float) -> float | None:
    return float(widen(value)) if value < NO_BOUND else None
