# SPDX-License-Identifier: Apache-2.0
"""Inline bodies, joints and articulations of a scene file, put into the builder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.core.math3d import IDENTITY, Pose, pose_from_seven, pose_to_seven
from simwright.model.geometry import Geometry, Mesh, MeshData
from simwright.model.inertia import Inertial
from simwright.runtime.kinds import JointType, ShapeType
from simwright.scenes import document_mechanics as mechanics
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import FREE_DOF
from simwright.scenes.document_shapes import InlineShape, Material, MeshShape
from simwright.scenes.messages import SceneError
from simwright.scenes.sources import SourceFinder

if TYPE_CHECKING:
    from simwright.scenes.sources import SourceFinder

_KINDS = {
    "fixed": JointType.FIXED,
    "free": JointType.FREE,
    "revolute": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "ball": JointType.BALL,
    "d6": JointType.D6,
    "distance": JointType.DISTANCE,
}
_SIZES: dict[str, tuple[ShapeType, tuple[str, ...]]] = {
    "box": (ShapeType.BOX, ("hx", "hy", "hz")),
    "sphere": (ShapeType.SPHERE, ("radius",)),
    "capsule": (ShapeType.CAPSULE, ("radius", "half_height")),
    "cylinder": (ShapeType.CYLINDER, ("radius", "half_height")),
    "cone": (ShapeType.CONE, ("radius", "half_height")),
    "ellipsoid": (ShapeType.ELLIPSOID, ("a", "b", "c")),
}


@dataclass(frozen=True, slots=True)
class InlineJointEnds:
    """Bodies of a joint by index; the world is -1."""

    parent: int
    child: int


def add_body(builder: Builder, body: mechanics.InlineBody, sources: SourceFinder, where: Where) -> int:
    """An inline body with its shapes; gives its index."""
    index = builder.add_body(
        body.label or body.id, body.transform.seven, Inertial(body.mass) if body.mass else None
    )
    builder.body_ids[body.id] = index
    fields = list_body_fields(body, builder.compat)
    for shape in body.shapes:
        place_shape(builder, index, shape, fields, sources, where)
    return index


def add_joint(builder: Builder, joint: Any, ends: InlineJointEnds) -> int:
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
                # Newton's word for "none"
                "limit_lower": -1.0 if low is None else low,
                "limit_upper": -1.0 if high is None else high,
            }
            return [FREE_DOF.with_values(stops), *[FREE_DOF] * 5], []
        case _:
            return [], []


def add_articulation(builder: Builder, articulation: mechanics.InlineArticulation, number: int) -> int:
    """Joints of one articulation, by their ids; gives its index."""
    missing = [name for name in articulation.joints if name not in builder.joint_ids]
    if missing:
        raise UsageError(
            f"there is no joint {missing[0]!r} for the articulation", hint="joints are named by their id"
        )
    indices = [builder.joint_ids[name] for name in articulation.joints]
    label = articulation.label or articulation.id or f"articulation_{number}"
    return builder.add_articulation(indices, label)


def list_body_fields(body: Material, compat: str | None) -> dict[str, Any]:
    """What a body says for all its shapes, by field."""
    return body.merge_fields(only_material=compat == "sap", with_cfg=compat != "sap")


def place_shape(  # noqa: PLR0917 - a builder, a shape, and what is around it
    builder: Builder,
    body: int,
    shape: InlineShape,
    fields: Mapping[str, Any],
    sources: SourceFinder,
    where: Where,
) -> int:
    """Add an inline shape to a body (-1: the world); ``fields`` are those of its body.  Gives its index."""
    said = {**fields, **shape.merge_fields(only_material=builder.compat == "sap")}
    pose = shape.transform.seven
    source: Geometry | None = None
    if isinstance(shape, MeshShape):
        if shape.is_solid is not None:
            said["is_solid"] = shape.is_solid
        kind, scale = ShapeType.MESH, shape.factors
        source, origin = load_inline_mesh(shape, sources, where)
        if origin is not IDENTITY:
            pose = pose_to_seven(pose_from_seven(pose) @ origin)
    else:
        kind, names = _SIZES[getattr(shape, "type")]  # noqa: B009 - every member of the union has one
        numbers = [float(getattr(shape, name)) for name in names]
        a, b, c = [*numbers, 0.0, 0.0][:3]
        scale = (a, b, c)
    return builder.add_shape(
        body,
        kind,
        scale,
        pose=pose,
        source=source,
        config=builder.default_shape.with_values(said),
        label=shape.label,
        color=shape.color,
    )


def load_inline_mesh(shape: MeshShape, sources: SourceFinder, where: Where) -> tuple[Mesh, Pose]:
    """The mesh of a shape, its columns and corners in the order asked for, and where a URDF file has it."""
    from simwright.formats.mesh.load import load_mesh

    file = sources.find_file(shape.path, where)
    if file.suffix.lower() == ".urdf":
        mesh, origin, factors = _find_urdf_mesh(file, where)
        data = mesh.data
        # the file's own scale; that of the shape is kept in shape_scale
        vertices = data.vertices * factors
    else:
        data, origin = load_mesh(file), IDENTITY
        vertices = data.vertices
    triangles = data.triangles()
    if shape.axis_order is not None:
        vertices = vertices[:, list(shape.axis_order)]
    if shape.face_order is not None:
        triangles = triangles[:, list(shape.face_order)]
    corners = np.ascontiguousarray(triangles).reshape(-1).astype(np.int32)
    return Mesh(MeshData(np.ascontiguousarray(vertices), corners), source=str(file), file=str(file)), origin


def _find_urdf_mesh(file: Path, where: Where) -> tuple[Mesh, Pose, Any]:
    """The first collision mesh of the first body of a URDF file, else its first visual one."""
    from simwright.core.diag import Reporter
    from simwright.core.packages import find_packages
    from simwright.formats.format import ReadOptions
    from simwright.formats.table import read_asset
    from simwright.model.asset import scaled

    options = ReadOptions(packages=find_packages({}, near=[file.parent]))
    asset = read_asset(file, format_name="urdf", options=options, reporter=Reporter())
    first = asset.bodies[0].name if asset.bodies else ""
    # SAP Warp's rule for .urdf files named as meshes
    for wanted in ("collision", "visual"):
        for shape in asset.shapes:
            if shape.body == first and getattr(shape, wanted) and isinstance(shape.geometry, Mesh):
                return shape.geometry, shape.pose, scaled(shape)
    raise SceneError(
        f"the first link of {file.name!r} has no mesh",
        hint="name a mesh file, or another URDF file",
        where=where,
    )
