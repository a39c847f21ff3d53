# SPDX-License-Identifier: Apache-2.0
"""What SAP Warp makes of assets that we would not: applied to a copy, so that arrays agree with its loader's.

Densities of files do not count.  Links of URDF files without inertia weigh what their colliders do; scales of meshes
go into the vertices; a COLLADA mesh of several materials is several shapes.  Shapes of stages come with those that are
only seen first, then colliders by type.  Colours are left out.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from simwright.model.asset import Asset, Shape, scaled
from simwright.model.geometry import Mesh, MeshData
from simwright.runtime.kinds import ShapeType
from simwright.scenes.builder_shape import describe_geometry

_TYPES = (
    ShapeType.SPHERE,
    ShapeType.BOX,
    ShapeType.CAPSULE,
    ShapeType.CYLINDER,
    ShapeType.CONE,
    ShapeType.MESH,
    ShapeType.PLANE,
)


def imitate_sap(asset: Asset) -> None:
    """Change an asset to what SAP Warp reads of its file."""
    for body in asset.bodies:
        body.density = None
    for material in asset.physics_materials:
        material.density = None
    for shape in asset.shapes:
        shape.density, shape.mass, shape.color, shape.material = None, None, None, ""
    if asset.provenance.format != "urdf":
        return
    for body in asset.bodies:
        if body.inertial is not None and body.inertial.mass == 0.0 and not np.any(body.inertial.inertia):
            body.inertial = None
    meshes: dict[tuple[int, bytes], list[Mesh]] = {}
    asset.shapes = [part for shape in asset.shapes for part in _split_shape(shape, meshes)]


def order_shapes(asset: Asset, bodies: dict[str, int]) -> list[Shape]:
    """The shapes in SAP Warp's order; ``bodies`` are indices by name."""
    if asset.provenance.format == "urdf":
        return sorted(asset.shapes, key=lambda shape: (bodies.get(shape.body, -1), shape.collision))

    def rank(shape: Shape) -> tuple[bool, int, int]:
        described = describe_geometry(shape.geometry)
        kind = described[0] if described is not None else ShapeType.MESH
        place = _TYPES.index(kind) if shape.collision and kind in _TYPES else 0
        return shape.collision, place, bodies.get(shape.body, -1)

    return sorted(asset.shapes, key=rank)


def _split_shape(shape: Shape, meshes: dict[tuple[int, bytes], list[Mesh]]) -> list[Shape]:
    """A shape for each material of a mesh, by the names of the materials."""
    if not isinstance(shape.geometry, Mesh):
        return [shape]
    scale = scaled(shape)
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
