# SPDX-License-Identifier: Apache-2.0
"""What a scene may ask of the import of an asset, which parts that leaves, and what SAP Warp reads of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.errors import UsageError
from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Asset, Shape, Site, scaled
from simwright.model.geometry import Mesh, MeshData
from simwright.model.inertia import Inertial
from simwright.model.joint import Motion
from simwright.model.selection import (
    Selection,
    compile_paths,
    compile_patterns,
    drop_disabled,
    leave_out,
    scale_drives,
)
from simwright.runtime.kinds import ShapeType
from simwright.scenes.builder_shape import describe_geometry

_SAP_TYPES = (
    ShapeType.SPHERE,
    ShapeType.BOX,
    ShapeType.CAPSULE,
    ShapeType.CYLINDER,
    ShapeType.CONE,
    ShapeType.PLANE,
    ShapeType.MESH,
)
"""SAP Warp adds the colliders of one type after those of another, in the order of UsdPhysics' own types."""


@dataclass(frozen=True, slots=True)
class ImportOptions(Selection):
    """Options of all formats; those that mean nothing for a format change nothing there.

    ``floating`` concerns a root that nothing in the file holds; usual is fixed for URDF, free otherwise.  ``config``
    are values of the shape configuration (see ``builder_config``) that replace the builder's defaults, ``forced``
    values that replace also those of the file.  ``scale`` goes onto all lengths, ``mesh_scale`` onto meshes only,
    ``armature_scale`` onto armatures.
    """

    xform: Pose = IDENTITY
    config: Mapping[str, Any] = field(default_factory=dict)
    forced: Mapping[str, Any] = field(default_factory=dict)
    scale: float = 1.0
    mesh_scale: Sequence[float] = (1.0, 1.0, 1.0)
    armature_scale: float = 1.0
    ignore_inertial_definitions: bool = False
    ignore_names: Sequence[str] = ()
    parse_visuals_as_colliders: bool = False
    parse_meshes: bool = True


OPTION_NAMES = frozenset(option.name for option in dataclasses.fields(ImportOptions))


def choose_parts(asset: Asset, options: ImportOptions) -> Asset:
    """The part of an asset that is wanted, as it is wanted: a copy, whose elements may be changed."""
    asset = asset.copy()
    _leave_out(asset, options)
    if options.only_load_enabled_rigid_bodies:
        drop_disabled(asset)
    _choose_shapes(asset, options)
    if not options.load_sites:
        asset.sites = []
    if not options.enable_self_collisions:
        for articulation in asset.articulations:
            articulation.self_collide = False
    if options.ignore_inertial_definitions:
        for body in asset.bodies:
            body.inertial = None
    scale_drives(asset, options.joint_drive_gains_scaling)
    _scale_armatures(asset, options)
    _scale_lengths(asset, options)
    return asset


def _choose_shapes(asset: Asset, options: ImportOptions) -> None:
    # in this order: what is seen becomes a collider first, so that it is not left out as only seen
    if options.parse_visuals_as_colliders:
        asset.shapes = [shape for shape in asset.shapes if shape.visual]
        for shape in asset.shapes:
            shape.collision = True
    if not options.load_visual_shapes:
        asset.shapes = [shape for shape in asset.shapes if shape.collision]
    if not options.parse_meshes:
        asset.shapes = [shape for shape in asset.shapes if not isinstance(shape.geometry, Mesh)]


def _leave_out(asset: Asset, options: ImportOptions) -> None:
    """Drop what a name rules out, or a path of a stage."""
    has_name = compile_patterns("ignore_names", options.ignore_names)
    has_path = compile_paths(options)
    is_stage = asset.provenance.format == "usd"
    leave_out(asset, lambda name, path: has_name(name) or (is_stage and has_path(path)))


def _scale_armatures(asset: Asset, options: ImportOptions) -> None:
    for joint in asset.joints:
        for dof in joint.dofs:
            if dof.armature is not None:
                dof.armature *= options.armature_scale


def _scale_lengths(asset: Asset, options: ImportOptions) -> None:
    """A larger or smaller asset: places, sizes, strokes; masses that are said stay, spread over the new size."""
    # the one list of everything that has a length in it
    factor = float(options.scale)
    if not (math.isfinite(factor) and factor > 0.0):
        raise UsageError(f"scale is {factor}", hint="a number above zero")
    meshes = np.asarray(options.mesh_scale, dtype=np.float64) * factor
    for shape in asset.shapes:
        _scale_shape(shape, factor, meshes)
    if factor == 1.0:
        return
    for body in asset.bodies:
        body.pose = Pose(body.pose.p * factor, body.pose.q)
        if body.inertial is not None:
            # the mass stays: its moments grow with the square of lengths
            held = body.inertial
            body.inertial = Inertial(held.mass, held.com * factor, held.inertia * factor**2)
    for site in asset.sites:
        site.pose = Pose(site.pose.p * factor, site.pose.q)
    for joint in asset.joints:
        joint.parent_frame = Pose(joint.parent_frame.p * factor, joint.parent_frame.q)
        joint.child_frame = Pose(joint.child_frame.p * factor, joint.child_frame.q)
        if joint.distance is not None:
            joint.distance = (joint.distance[0] * factor, joint.distance[1] * factor)
        for dof in joint.dofs:
            dof.anchor = dof.anchor * factor
            if dof.motion is Motion.SLIDE:
                dof.lower, dof.upper, dof.ref = dof.lower * factor, dof.upper * factor, dof.ref * factor
                if dof.position is not None:
                    dof.position = np.asarray(dof.position, dtype=np.float64) * factor


def _scale_shape(shape: Shape, factor: float, meshes: Any) -> None:
    factors = meshes if isinstance(shape.geometry, Mesh) else np.full(3, factor)
    if np.any(factors != 1.0):
        shape.scale = scaled(shape) * factors
    if factor != 1.0:
        shape.pose = Pose(shape.pose.p * factor, shape.pose.q)


def imitate_sap(asset: Asset) -> None:
    """Change an asset to what SAP Warp reads of its file."""
    # measured: densities and colours of files do not reach SAP Warp's arrays
    for body in asset.bodies:
        body.density = None
    for material in asset.physics_materials:
        material.density = None
    for shape in asset.shapes:
        shape.density, shape.mass, shape.color, shape.material = None, None, None, ""
    if asset.provenance.format == "usd":
        _drop_gains(asset)
    if asset.provenance.format != "urdf":
        return
    for body in asset.bodies:
        # our reader states an empty inertial where URDF has none
        if body.inertial is not None and body.inertial.mass == 0.0 and not np.any(body.inertial.inertia):
            body.inertial = None
    meshes: dict[tuple[int, bytes], list[Mesh]] = {}
    asset.shapes = [part for shape in asset.shapes for part in _split_shape(shape, meshes)]


def _drop_gains(asset: Asset) -> None:
    """Gains of contacts are the scene's: of the materials of stages SAP Warp reads friction and restitution only."""
    for material in asset.physics_materials:
        material.stiffness = material.damping = None
    for shape in asset.shapes:
        shape.settings = {key: value for key, value in shape.settings.items() if key not in ("ke", "kd")}


def order_shapes(asset: Asset, bodies: dict[str, int]) -> list[Shape | Site]:
    """The shapes and sites in SAP Warp's order; ``bodies`` are indices by name."""
    if asset.provenance.format == "urdf":
        # visuals before colliders, link by link: the order in which its importer adds them
        shapes = sorted(asset.shapes, key=lambda shape: (bodies.get(shape.body, -1), shape.collision))
        return [*shapes, *asset.sites]

    def rank(placed: tuple[int, Shape | Site]) -> tuple[bool, int, int, int]:
        number, element = placed
        body = bodies.get(element.body, -1)
        # what does not collide, marks included, comes body by body as the stage has it; colliders by their type
        if not (isinstance(element, Shape) and element.collision):
            return False, 0, body, number
        described = describe_geometry(element.geometry)
        kind = described[0] if described is not None else ShapeType.MESH
        return True, _SAP_TYPES.index(kind) if kind in _SAP_TYPES else 0, 0, number

    # a site comes right after the shapes before it
    numbered: list[tuple[int, Shape | Site]] = [(2 * n + 1, shape) for n, shape in enumerate(asset.shapes)]
    last = len(asset.shapes)
    numbered += [(2 * (last if site.after < 0 else site.after), site) for site in asset.sites]
    return [element for _, element in sorted(numbered, key=rank)]


def _split_shape(shape: Shape, meshes: dict[tuple[int, bytes], list[Mesh]]) -> list[Shape]:
    """A shape for each material of a mesh, by the names of the materials."""
    if not isinstance(shape.geometry, Mesh):
        return [shape]
    scale = scaled(shape)
    # shapes that share a mesh share its pieces
    key = id(shape.geometry), scale.tobytes()
    if key not in meshes:
        meshes[key] = _split_mesh(shape.geometry, scale)
    parts = meshes[key]
    return [
        dataclasses.replace(
            shape, name=f"{shape.name}#{number}" if number else shape.name, geometry=part, scale=None
        )
        for number, part in enumerate(parts)
    ]


def _split_mesh(mesh: Mesh, scale: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[Mesh]:
    data = mesh.data
    triangles, vertices = data.triangles(), data.vertices * scale
    pieces = sorted(data.subsets, key=lambda subset: subset.material or subset.name)
    if len(pieces) < 2 or data.counts is not None or not mesh.file.lower().endswith(".dae"):
        whole = MeshData(vertices, np.ascontiguousarray(triangles).reshape(-1))
        return [Mesh(whole, source=mesh.source, file=mesh.file, gate=mesh.gate)]
    parts = []
    for piece in pieces:
        used, corners = np.unique(triangles[piece.faces], return_inverse=True)
        part = MeshData(vertices[used], corners.reshape(-1).astype(np.int32))
        parts.append(Mesh(part, source=mesh.source, file=mesh.file, gate=mesh.gate))
    return parts
