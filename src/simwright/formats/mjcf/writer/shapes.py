# SPDX-License-Identifier: Apache-2.0
"""Which MJCF geoms a shape becomes: type, size, place, and whether each is seen or touched.

Mostly one.  A mesh with several materials is seen as one geom per material; a collider that is a bounding box or
ball of its mesh is a geom of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose, vec3
from simwright.formats.mjcf.geoms import PLANE_GRID
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.meshes import MeshLibrary, is_flat, is_proven, make_cone
from simwright.formats.mjcf.writer.messages import GEOMETRY_LEFT_OUT
from simwright.formats.parts.looks import list_uncovered
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    Plane,
    Sphere,
    Subset,
    box_bounds,
)
from simwright.model.joint import WORLD

_BOUNDS = {"boundingCube": "box", "boundingSphere": "sphere"}


@dataclass(slots=True, eq=False)
class Piece:
    """One geom to be written."""

    name: str
    look: dict[str, Any]
    pose: Pose
    visual: bool
    collision: bool
    material: str = ""
    values: dict[str, Any] = field(default_factory=dict)


def make_pieces(draft: Draft, library: MeshLibrary, shape: Shape) -> list[Piece]:
    """The geoms of a shape; none, and a finding, where MuJoCo cannot take it."""
    collision = shape.collision and shape.enabled
    geometry, scale = shape.geometry, scaled(shape)
    if isinstance(geometry, Plane | Heightfield) and not is_static(draft, shape.body):
        return _refuse(draft, shape, "MuJoCo has planes and height fields on bodies that do not move only")
    if isinstance(geometry, Heightfield):
        name, rise = library.find_heights(shape, geometry)
        lifted = shape.pose @ Pose.of((0.0, 0.0, rise))
        return [
            Piece(
                shape.name,
                {"type": "hfield", "hfield": name},
                lifted,
                shape.visual,
                collision,
                shape.material,
            )
        ]
    fitted = fit_primitive(geometry, scale)
    if fitted is not None:
        if isinstance(geometry, Plane):
            fitted["size"] = (*fitted["size"][:2], draft.solver.get(shape, "geom", "grid", PLANE_GRID))
        return [Piece(shape.name, fitted, shape.pose, shape.visual, collision, shape.material)]
    mesh = make_cone(geometry) if isinstance(geometry, Cone) else geometry
    if not isinstance(mesh, Mesh):
        return _refuse(draft, shape, f"MuJoCo has no {geometry.kind} of this scale")
    if not is_proven(mesh) and not (len(mesh.data.vertices) and mesh.data.face_count):
        return _refuse(draft, shape, "the mesh is empty")
    return _make_mesh_pieces(draft, library, shape, mesh, collision)


def _refuse(draft: Draft, shape: Shape, why: str) -> list[Piece]:
    kind, advice = shape.geometry.kind, "replace it by a mesh or a primitive that MuJoCo has"
    draft.reporter.report(GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why, advice=advice)
    return []


def is_static(draft: Draft, body: str) -> bool:
    """Does nothing between a body and the world move?"""
    while body != WORLD:
        limb = draft.limbs[body]
        if limb.freedoms:
            return False
        body = limb.parent
    return True


def _make_mesh_pieces(
    draft: Draft, library: MeshLibrary, shape: Shape, mesh: Mesh, collision: bool
) -> list[Piece]:
    pieces: list[Piece] = []
    bound = _BOUNDS.get(shape.approximation.token) if collision and shape.approximation else None
    hull = collision and bound is None
    if hull and not is_proven(mesh) and is_flat(mesh.data, scaled(shape)):
        what = "it is flat, and MuJoCo finds no hull; it is not touched" if shape.visual else "it is flat"
        advice = "use a thin box as collider"
        draft.reporter.report(
            GEOMETRY_LEFT_OUT, shape.source, kind="collider mesh", name=shape.name, why=what, advice=advice
        )
        hull = False
    parts = [] if is_proven(mesh) or not shape.visual else _list_parts(mesh, shape.material)
    if len(parts) > 1:
        for subset in parts:
            name = library.find_mesh(shape, mesh, subset)
            look = {"type": "mesh", "mesh": name}
            pieces.append(
                Piece(f"{shape.name}_{subset.name}", look, shape.pose, True, False, subset.material)
            )
        if hull:
            look = {"type": "mesh", "mesh": library.find_mesh(shape, mesh)}
            pieces.append(Piece(shape.name, look, shape.pose, False, True))
    elif shape.visual or hull:
        look = {"type": "mesh", "mesh": library.find_mesh(shape, mesh)}
        material = parts[0].material if parts else shape.material
        pieces.append(Piece(shape.name, look, shape.pose, shape.visual, hull, material))
    if bound:
        pieces.append(_make_bound(shape, mesh, bound))
    return pieces


def _list_parts(mesh: Mesh, material: str) -> list[Subset]:
    """Sets of faces with looks of their own, and what is left over with the shape's."""
    parts = [subset for subset in mesh.data.subsets if subset.material and len(subset.faces)]
    if not parts:
        return []
    rest = list_uncovered(mesh.data)
    return [*parts, Subset("rest", rest, material)] if len(rest) else parts


def _make_bound(shape: Shape, mesh: Mesh, bound: str) -> Piece:
    bounds = box_bounds(mesh)
    assert bounds is not None
    scale = scaled(shape)
    half = (bounds[1] - bounds[0]) / 2.0 * np.abs(scale)
    pose = shape.pose @ Pose.of((bounds[0] + bounds[1]) / 2.0 * scale)
    size = half if bound == "box" else np.linalg.norm(half)
    name = f"{shape.name}_collider" if shape.visual else shape.name
    return Piece(name, {"type": bound, "size": size}, pose, False, True)


def fit_primitive(geometry: Geometry, scale: Array) -> dict[str, Any] | None:
    """Type and half sizes of a stretched primitive; None if MuJoCo has none like it."""
    x, y, z = (abs(float(v)) for v in scale)
    match geometry:
        case Box():
            return {"type": "box", "size": geometry.size / 2.0 * (x, y, z)}
        case Sphere():
            if x == y == z:
                return {"type": "sphere", "size": geometry.radius * x}
            return {"type": "ellipsoid", "size": geometry.radius * vec3(x, y, z)}
        case Ellipsoid():
            return {"type": "ellipsoid", "size": geometry.radii * (x, y, z)}
        case Cylinder() if x == y:
            return {"type": "cylinder", "size": (geometry.radius * x, geometry.length / 2.0 * z)}
        case Capsule() if x == y == z:
            return {"type": "capsule", "size": (geometry.radius * x, geometry.length / 2.0 * z)}
        case Plane():
            wide = (0.0, 0.0) if geometry.size is None else geometry.size / 2.0 * (x, y)
            return {"type": "plane", "size": (*wide, PLANE_GRID)}
    return None
