# SPDX-License-Identifier: Apache-2.0
"""Inline bodies, shapes, joints and articulations of a scene file, put into the builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import InputError, UsageError
from simwright.core.math3d import IDENTITY, Pose, vec3
from simwright.formats.format import ReadOptions
from simwright.formats.mesh.load import load_mesh
from simwright.formats.table import read_asset
from simwright.model.geometry import Geometry, Mesh
from simwright.model.inertia import Inertial
from simwright.runtime.kinds import JointType, ShapeType
from simwright.scenes import document_mechanics as mechanics
from simwright.scenes import document_shapes as shapes
from simwright.scenes.builder import Builder, Triple, as_pose, as_seven
from simwright.scenes.builder_config import FREE_DOF, ShapeConfig

_KINDS = {
    "fixed": JointType.FIXED,
    "free": JointType.FREE,
    "revolute": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "ball": JointType.BALL,
    "d6": JointType.D6,
    "distance": JointType.DISTANCE,
}
FindFile = Callable[[str], Path]
"""Where a path of the scene file leads; an InputError if nowhere."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Bodies of a joint by index; the world is -1."""

    parent: int
    child: int


def add_body(builder: Builder, body: mechanics.Body, find_file: FindFile, reporter: Reporter) -> int:
    """An inline body with its shapes; gives its index."""
    index = builder.add_body(
        body.label or body.id, body.transform.seven, Inertial(body.mass) if body.mass else None
    )
    builder.body_ids[body.id] = index
    sap = builder.compat == "sap"
    config = builder.default_shape.with_values(body.merge_fields(only_material=sap, with_cfg=not sap))
    for shape in body.shapes:
        add_shape(builder, index, shape, find_file, reporter, config=config)
    return index


def add_shape(
    builder: Builder,
    body: int,
    shape: shapes.InlineShape,
    find_file: FindFile,
    reporter: Reporter,
    *,
    config: ShapeConfig | None = None,
) -> int:
    """An inline shape on a body, or on the world (-1); ``config`` is what it has where it says nothing."""
    kind, scale, source, shift = _describe(shape, find_file, reporter)
    values = shape.merge_fields(only_material=builder.compat == "sap")
    if isinstance(shape, shapes.MeshShape) and shape.is_solid is not None:
        values["is_solid"] = shape.is_solid
    pose = shape.transform.seven
    return builder.add_shape(
        body,
        kind,
        scale,
        pose=as_seven(as_pose(pose) @ shift) if shift is not IDENTITY else pose,
        source=source,
        config=(config or builder.default_shape).with_values(values),
        label=shape.label,
        color=shape.color,
    )


def _describe(
    shape: shapes.InlineShape, find_file: FindFile, reporter: Reporter
) -> tuple[ShapeType, Triple, Geometry | None, Pose]:
    match shape:
        case shapes.BoxShape():
            return ShapeType.BOX, (shape.hx, shape.hy, shape.hz), None, IDENTITY
        case shapes.SphereShape():
            return ShapeType.SPHERE, (shape.radius, 0.0, 0.0), None, IDENTITY
        case shapes.CapsuleShape() | shapes.CylinderShape() | shapes.ConeShape():
            kind = ShapeType[shape.type.upper()]
            return kind, (shape.radius, shape.half_height, 0.0), None, IDENTITY
        case shapes.EllipsoidShape():
            return ShapeType.ELLIPSOID, (shape.a, shape.b, shape.c), None, IDENTITY
    assert isinstance(shape, shapes.MeshShape), "the document knows seven shapes"
    mesh, factors, pose = _load(find_file(shape.path), reporter)
    x, y, z = (float(v) for v in factors * vec3(shape.factors))
    return ShapeType.MESH, (x, y, z), _reorder(mesh, shape), pose


def _load(file: Path, reporter: Reporter) -> tuple[Mesh, Any, Pose]:
    """A mesh file, or the first mesh of a URDF file with its scale and place on its link."""
    if file.suffix.lower() != ".urdf":
        return Mesh(load_mesh(file), source=str(file), file=str(file)), np.ones(3), IDENTITY
    asset = read_asset(file, options=ReadOptions(), reporter=reporter)
    first = asset.shapes_of(asset.bodies[0].name) if asset.bodies else []
    for shape in sorted(first, key=lambda shape: not shape.collision):
        if isinstance(shape.geometry, Mesh):
            scale = np.ones(3) if shape.scale is None else vec3(shape.scale)
            return shape.geometry, scale, shape.pose
    raise InputError(
        f"the first link of {file.name} has no mesh", hint="name a mesh file, or another URDF file"
    )


def _reorder(mesh: Mesh, shape: shapes.MeshShape) -> Mesh:
    """The mesh with coordinates and corners in another order."""
    if shape.axis_order is None and shape.face_order is None:
        return mesh
    vertices, triangles = mesh.data.vertices, mesh.data.triangles()
    if shape.axis_order is not None:
        vertices = vertices[:, list(shape.axis_order)]
    if shape.face_order is not None:
        triangles = triangles[:, list(shape.face_order)]
    return Mesh.of(vertices, triangles, source=mesh.source)


def add_joint(builder: Builder, joint: Any, ends: Ends) -> int:
    """An inline joint between bodies that are there already; gives its index."""
    linear, angular = _list_axes(builder, joint)
    index = builder.add_joint(
        _KINDS[joint.type],
        ends.parent,
        ends.child,
        parent_xform=joint.parent_xform.seven,
        child_xform=joint.child_xform.seven,
        label=joint.label or joint.id,
        linear=linear,
        angular=angular,
        filter_parent=joint.collision_filter_parent,
    )
    builder.joint_ids[joint.id] = index
    return index


def _list_axes(builder: Builder, joint: Any) -> tuple[list[Any], list[Any]]:
    """Linear and angular freedoms, the builder's defaults where they say nothing."""
    default = builder.default_joint
    match joint:
        case mechanics.PrismaticJoint():
            return [default.with_values(joint.list_values())], []
        case mechanics.RevoluteJoint() | mechanics.BallJoint():
            return [], [default.with_values(joint.list_values())]
        case mechanics.D6Joint():
            linear = [default.with_values(axis.list_values()) for axis in joint.linear_axes]
            return linear, [default.with_values(axis.list_values()) for axis in joint.angular_axes]
        case mechanics.DistanceJoint():
            low, high = joint.min_distance, joint.max_distance
            stops = {
                "limit_lower": -1.0 if low is None else low,
                "limit_upper": -1.0 if high is None else high,
            }
            return [FREE_DOF.with_values(stops), *[FREE_DOF] * 5], []
        case _:
            return [], []


def add_articulation(builder: Builder, articulation: mechanics.Articulation, number: int) -> int:
    """Joints of one articulation, by their ids; gives its index."""
    missing = [name for name in articulation.joints if name not in builder.joint_ids]
    if missing:
        raise UsageError(
            f"there is no joint {missing[0]!r} for the articulation", hint="joints are named by their id"
        )
    indices = [builder.joint_ids[name] for name in articulation.joints]
    label = articulation.label or articulation.id or f"articulation_{number}"
    return builder.add_articulation(indices, label)
