# SPDX-License-Identifier: Apache-2.0
"""``<geometry>``: primitives, planes, meshes and polylines (SDFormat specification, geometry).

What is made from an image is in :mod:`~simwright.formats.sdf.terrain`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.errors import InputError
from simwright.core.math3d import IDENTITY, Array, Pose, quat_between, vec3
from simwright.formats.mesh import load_mesh_objects
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import Document
from simwright.formats.sdf.terrain import FROM_IMAGES, Placed
from simwright.formats.xml import Element
from simwright.model.geometry import (
    Approximation,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Faces,
    Mesh,
    MeshData,
    Plane,
    Polyline,
    Sphere,
    Subset,
)

MESH_FAILED = declare(
    "sdf-mesh-failed",
    Level.ERROR,
    "the mesh {uri!r} of {owner!r} is left out: {reason}",
    hint="{advice}",
    doc="A mesh file cannot be found or read.",
    loss=True,
)
GEOMETRY_NOT_CARRIED = declare(
    "sdf-geometry-not-carried",
    Level.WARNING,
    "the {kind} geometry of {owner!r} is left out: {reason}",
    hint="{advice}; its settings are kept as extras",
    doc="A geometry that is made from an image (heightmap, image), which cannot be found or read.",
    loss=True,
)
NO_GEOMETRY = declare(
    "sdf-no-geometry",
    Level.ERROR,
    "{owner!r} has no geometry the reader knows{found}",
    hint="give it one of box, capsule, cone, cylinder, ellipsoid, heightmap, image, mesh, plane, polyline, sphere",
    doc="A collision or visual without a geometry, or with one that is not part of SDFormat.",
)
NO_SUBMESH = declare(
    "sdf-no-submesh",
    Level.WARNING,
    "the mesh {file!r} has no part called {name!r}; the whole mesh is used",
    hint="the parts are: {known}",
    doc="A <submesh> names a part that the mesh file does not have.",
)
BAD_POLYLINE = declare(
    "sdf-bad-polyline",
    Level.ERROR,
    "a polyline of {owner!r} has {count} points; an outline needs three",
    doc="A polyline that encloses nothing is left out.",
)


Primitive: TypeAlias = Callable[[Document, Element], Placed]


def read_geometry(reading: Reading, document: Document, element: Element, owner: str) -> Placed | None:
    """The geometry of a ``<collision>`` or ``<visual>``; None if it has none that can be carried."""
    geometry = document.child(element, "geometry")
    children = [] if geometry is None else list(document.children(geometry))
    for child in children:
        if child.tag == "empty":
            return None
        if child.tag in _PRIMITIVES:
            return _PRIMITIVES[child.tag](document, child)
        if child.tag == "plane":
            return _read_plane(document, child, collision=element.tag == "collision")
        if child.tag == "mesh":
            return _read_mesh(reading, document, child, owner)
        if child.tag == "polyline":
            return _read_polylines(reading, document, geometry, owner)
        if child.tag in FROM_IMAGES:
            return _read_from_image(reading, document, child, owner)
    found = f" (found {', '.join(f'<{child.tag}>' for child in children[:5])})" if children else ""
    reading.reporter.report(NO_GEOMETRY, document.where(element), owner=owner, found=found)
    return None


def _read_from_image(reading: Reading, document: Document, element: Element, owner: str) -> Placed | None:
    try:
        return FROM_IMAGES[element.tag](reading, document, element, owner)
    except InputError as error:
        advice = error.hint or "correct the address"
        data: dict[str, Any] = {
            "kind": element.tag,
            "owner": owner,
            "reason": error.message,
            "advice": advice,
        }
        reading.reporter.report(GEOMETRY_NOT_CARRIED, document.where(element), **data)
        reading.keep(document, element, owner, "geometry")
        return None


def _read_box(document: Document, element: Element) -> Placed:
    return Placed(Box(_positive(document, element, "size", (1.0, 1.0, 1.0))))


def _read_sphere(document: Document, element: Element) -> Placed:
    return Placed(Sphere(document.positive(element, "radius", default=1.0)))


def _read_ellipsoid(document: Document, element: Element) -> Placed:
    return Placed(Ellipsoid(_positive(document, element, "radii", (1.0, 1.0, 1.0))))


def _read_axial(kind: type[Cylinder | Capsule | Cone], radius: float) -> Primitive:
    def read(document: Document, element: Element) -> Placed:
        wide = document.positive(element, "radius", default=radius)
        return Placed(kind(wide, document.positive(element, "length", default=1.0)))

    return read


_PRIMITIVES: dict[str, Primitive] = {
    "box": _read_box,
    "sphere": _read_sphere,
    "ellipsoid": _read_ellipsoid,
    "cylinder": _read_axial(Cylinder, 1.0),
    "capsule": _read_axial(Capsule, 0.5),
    "cone": _read_axial(Cone, 0.5),
}


def _positive(document: Document, element: Element, tag: str, default: tuple[float, ...]) -> Array:
    values = document.values(element, tag, len(default), default)
    if np.all(values > 0.0):
        return values
    found = document.child(element, tag)
    assert found is not None
    expected = f"{len(default)} positive numbers"
    document.report_number(found, found.text or "", expected, " ".join(f"{v:g}" for v in default))
    return np.array(default)


def _read_plane(document: Document, element: Element, *, collision: bool) -> Placed:
    """A plane faces its normal.  Colliding planes have no edge; visible ones have a size."""
    normal = document.values(element, "normal", 3, (0.0, 0.0, 1.0))
    if float(np.linalg.norm(normal)) < 1e-12:
        normal = vec3(0.0, 0.0, 1.0)
    size = None if collision else document.values(element, "size", 2, (1.0, 1.0))
    turn = Pose.of(q=quat_between((0.0, 0.0, 1.0), normal))
    return Placed(Plane(size), IDENTITY if turn.is_identity() else turn)


def _read_mesh(reading: Reading, document: Document, element: Element, owner: str) -> Placed | None:
    uri = document.text(element, "uri") or document.text(element, "filename")
    try:
        mesh = reading.meshes.mesh(reading.resolve(document, element, uri), document.where(element))
        part = document.child(element, "submesh")
        if part is not None:
            mesh = _take_submesh(reading, document, part, mesh)
    except (InputError, OSError) as error:
        reason = error.message if isinstance(error, InputError) else str(error)
        advice = (error.hint if isinstance(error, InputError) else "") or "correct the address"
        data: dict[str, Any] = {"uri": uri[:200], "owner": owner, "reason": reason, "advice": advice}
        reading.reporter.report(MESH_FAILED, document.where(element), **data)
        return None
    scale = document.values(element, "scale", 3, (1.0, 1.0, 1.0))
    return Placed(
        mesh,
        scale=None if np.all(scale == 1.0) else scale,
        approximation=_read_approximation(document, element),
    )


def _read_approximation(document: Document, element: Element) -> Approximation | None:
    """``<mesh optimization="...">`` (1.11) as the UsdPhysics token of the same meaning."""
    match element.get("optimization", ""):
        case "convex_hull":
            return Approximation("convexHull")
        case "convex_decomposition":
            hulls = document.quantity(element, "convex_decomposition", "max_convex_hulls")
            voxels = document.quantity(element, "convex_decomposition", "voxel_resolution")
            settings = {"max_convex_hulls": hulls, "voxel_resolution": voxels}
            given = {name: value for name, value in settings.items() if value is not None}
            return Approximation("convexDecomposition", given)
    return None


def _take_submesh(reading: Reading, document: Document, element: Element, mesh: Mesh) -> Mesh:
    name = document.text(element, "name")
    center = document.flag(element, "center")
    data = mesh.data
    objects = load_mesh_objects(mesh.file, mesh.gate)
    faces = objects.get(name)
    if faces is None:  # some files name parts only by their material
        faces = next((s.faces for s in data.subsets if s.name == name), None)
    if faces is None:
        known = ", ".join([*objects, *(s.name for s in data.subsets)][:20]) or "none"
        where = document.where(element)
        reading.reporter.report(NO_SUBMESH, where, file=mesh.file, name=name, known=known)
        return mesh
    counts = np.full(data.face_count, 3) if data.counts is None else data.counts
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    corners = np.concatenate([np.arange(starts[f], starts[f] + counts[f]) for f in faces])
    used, indices = np.unique(data.indices[corners], return_inverse=True)
    vertices = data.vertices[used]
    if center:
        vertices = vertices - (vertices.min(axis=0) + vertices.max(axis=0)) / 2.0
    part = MeshData(
        vertices,
        indices.astype(np.int32).reshape(-1),
        None if data.counts is None else counts[faces],
        _take_rows(data.normals, len(data.vertices), used, corners),
        _take_rows(data.uvs, len(data.vertices), used, corners),
        subsets=_take_subsets(data, faces),
        left_handed=data.left_handed,
    )
    return Mesh(part, source=f"{mesh.source}#{name}")


def _take_subsets(data: MeshData, faces: Faces) -> tuple[Subset, ...]:
    """The subsets of the part, with the faces' new numbers."""
    taken = []
    for subset in data.subsets:
        inside = np.flatnonzero(np.isin(faces, subset.faces)).astype(np.int32)
        if len(inside):
            taken.append(Subset(subset.name, inside, subset.material))
    return tuple(taken)


def _take_rows(rows: Array | None, vertices: int, used: Array, corners: Array) -> Array | None:
    """Rows of the part, whether there is one per vertex or one per corner."""
    if rows is None:
        return None
    chosen: Array = rows[used] if len(rows) == vertices else rows[corners]
    return chosen


def _read_polylines(reading: Reading, document: Document, geometry: Element, owner: str) -> Placed | None:
    loops: list[Array] = []
    height = 1.0
    for element in document.children(geometry, "polyline"):
        points = [
            document.numbers(point, point.text, 2, (0.0, 0.0), "<point>")
            for point in document.children(element, "point")
        ]
        if len(points) > 1 and np.array_equal(points[0], points[-1]):
            points.pop()
        if len(points) < 3:
            where = document.where(element)
            reading.reporter.report(BAD_POLYLINE, where, owner=owner, count=len(points))
            continue
        if not loops:
            height = document.positive(element, "height", default=1.0)
        loops.append(np.array(points))
    return Placed(Polyline(tuple(loops), height)) if loops else None
