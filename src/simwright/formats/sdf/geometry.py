# SPDX-License-Identifier: Apache-2.0
"""``<geometry>``: primitives, planes, meshes, outlines, and what is made from images (SDFormat specification).

A height map is stretched so that its brightest pixel lies ``size.z`` above its black ones, as Gazebo does; the top row
of the image is at +y.  An elevation model (floating point) keeps its lowest elevation and is stretched above it.  An
``<image>`` is a floor plan: every pixel that is not brighter than ``threshold`` stands ``height`` tall, from the corner
of the image at the origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Level, declare
from simwright.core.errors import InputError, LimitError, ParseError
from simwright.core.limits import Tally
from simwright.core.math3d import IDENTITY, Array, Pose, quat_between, vec3
from simwright.formats.images import Samples, load_samples
from simwright.formats.mesh import load_mesh_objects
from simwright.formats.sdf.context import SdfReadContext
from simwright.formats.sdf.document import SdfDocument
from simwright.formats.xml import Element
from simwright.model.geometry import (
    Approximation,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Faces,
    Geometry,
    Heightfield,
    Mesh,
    MeshData,
    Plane,
    Polyline,
    Sphere,
    Subset,
)

DEM_SIZE = declare(
    "sdf-dem-size",
    Level.WARNING,
    "the elevation model of {owner!r} has no <size>, and where it lies on Earth is not read",
    hint="its samples are put 1 m apart; write <size>",
    doc="Without a size, an elevation model has the true size of the land, which needs its map projection.",
    loss=True,
)

MAX_BOXES = 5_000
"""Most boxes a floor plan may be made of."""

_TERRAIN_CARRIED = {"uri", "size", "pos", "sampling"}
_TERRAIN_KNOWN = {"texture", "blend", "use_terrain_paging"}
_IMAGE_CARRIED = {"uri", "scale", "threshold", "height", "granularity"}


@dataclass(frozen=True, slots=True, eq=False)
class PlacedGeometry:
    """A geometry, how it lies in its element, its scale and its simplification.

    ``others`` are further geometries of the same element, where one is not enough.
    """

    geometry: Geometry
    pose: Pose = IDENTITY
    scale: Array | None = None
    approximation: Approximation | None = None
    others: tuple[PlacedGeometry, ...] = ()


def read_heightmap(
    context: SdfReadContext, document: SdfDocument, element: Element, owner: str
) -> PlacedGeometry:
    """A grid of heights."""
    file = context.resolve(document, element, document.text(element, "uri"))
    samples = load_samples(file, context.gate.tally)
    if min(samples.values.shape) < 2:
        raise ParseError("a height map needs two rows and two columns", where=document.where(element))
    if not np.all(np.isfinite(samples.values)):
        raise ParseError("the elevation model has values that are not finite", where=document.where(element))
    stated = document.child(element, "size") is not None
    size = document.values(element, "size", 3, (1.0, 1.0, 1.0))
    # A picture without a size is 1 x 1 x 1 by the specification; land is as large as it is.
    if samples.full is None and not stated:
        context.reporter.report(DEM_SIZE, document.where(element), owner=owner)
        rows, columns = samples.values.shape
        size = np.array((columns - 1.0, rows - 1.0, np.ptp(samples.values)))
    if not np.all(size[:2] > 0.0):
        document.report_number(document.child(element, "size"), str(size), "a positive extent", "1 1 1")
        size = np.ones(3)
    heights = _refine(_stretch(samples, float(size[2])), document, element, context.gate.tally)
    position = document.values(element, "pos", 3, (0.0, 0.0, 0.0))
    context.keep_rest(document, element, owner, _TERRAIN_CARRIED, _TERRAIN_KNOWN)
    # Images begin at the top, which is +y; the model's rows begin at -y.
    field = Heightfield(np.ascontiguousarray(heights[::-1]), size[:2], source=str(file))
    return PlacedGeometry(field, Pose.of(position) if np.any(position) else IDENTITY)


def _stretch(samples: Samples, tall: float) -> Array:
    """Heights [m]: up to ``tall``; a negative one means that black is high (an old habit)."""
    values = samples.values
    if samples.full is None:
        low, span = float(values.min()), float(np.ptp(values))
        stretched: Array = low + (values - low) * (abs(tall) / span if span else 1.0)
        return -stretched if tall < 0.0 else stretched
    # By the brightest pixel, not by white: so does Gazebo.
    bright = float(values.max())
    shares = values / bright if bright else values
    return abs(tall) * (1.0 - shares if tall < 0.0 else shares)


def _refine(heights: Array, document: SdfDocument, element: Element, tally: Tally) -> Array:
    """``sampling`` points for every pixel, on straight lines between them."""
    # Bounded: the number of samples grows with its square.
    sampling = int(min(document.positive(element, "sampling", default=1.0), 64.0))
    if sampling <= 1:
        return heights
    rows, columns = ((count - 1) * sampling + 1 for count in heights.shape)
    tally.add("height-samples", rows * columns, document.where(element))
    for axis, count in ((0, rows), (1, columns)):
        at = np.arange(count) / sampling
        low = np.minimum(at.astype(np.int64), heights.shape[axis] - 2)
        share = np.expand_dims(at - low, 1 - axis)
        lower, upper = np.take(heights, low, axis), np.take(heights, low + 1, axis)
        heights = lower + (upper - lower) * share
    return heights


def read_image(
    context: SdfReadContext, document: SdfDocument, element: Element, owner: str
) -> PlacedGeometry:
    """SDFormat's ``<image>``: boxes that stand where the pixels of a file are dark [m]."""
    file = context.resolve(document, element, document.text(element, "uri"))
    samples = load_samples(file, context.gate.tally)
    scale = document.positive(element, "scale", default=1.0)
    height = document.positive(element, "height", default=1.0)
    threshold = document.positive(element, "threshold", default=200.0)
    # The threshold counts in eight bits, whatever the image has.
    tall = samples.values * (255.0 / (samples.full or 255.0)) <= threshold
    boxes = []
    for x0, y0, x1, y1 in _merge_boxes(tall):
        size = ((x1 - x0) * scale, (y1 - y0) * scale, height)
        middle = ((x0 + x1) * scale / 2.0, (y0 + y1) * scale / 2.0, height / 2.0)
        boxes.append(PlacedGeometry(Box.of(*size), Pose.of(middle)))
    if not boxes:
        raise ParseError("no pixel of the image is dark enough to stand", hint="raise <threshold>")
    context.keep_rest(document, element, owner, _IMAGE_CARRIED)
    return replace(boxes[0], others=tuple(boxes[1:]))


def _merge_boxes(tall: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int, int]]:
    """Rectangles (x0, y0, x1, y1) in pixels: runs of a row, joined with equal runs of the rows below."""
    open_runs: dict[tuple[int, int], int] = {}
    made = 0
    for row in range(len(tall) + 1):
        runs = set(_find_runs(tall[row])) if row < len(tall) else set()
        # A rectangle ends in the first row that has no equal run.
        for run in [run for run in open_runs if run not in runs]:
            made += 1
            if made > MAX_BOXES:
                raise LimitError(f"the image stands for more than {MAX_BOXES} boxes", hint="use a mesh")
            yield run[0], open_runs.pop(run), run[1], row
        for run in runs:
            open_runs.setdefault(run, row)


def _find_runs(row: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


FROM_IMAGES: dict[str, Callable[[SdfReadContext, SdfDocument, Element, str], PlacedGeometry]] = {
    "heightmap": read_heightmap,
    "image": read_image,
}
"""Geometries that need an image, and the functions that read them."""


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
    Level.WARNING,
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


Primitive: TypeAlias = Callable[[SdfDocument, Element], PlacedGeometry]


def read_geometry(
    context: SdfReadContext, document: SdfDocument, element: Element, owner: str
) -> PlacedGeometry | None:
    """The geometry of a ``<collision>`` or ``<visual>``; None if it has none that can be carried."""
    geometry = document.child(element, "geometry")
    children = [] if geometry is None else list(document.children(geometry))
    for child in children:
        # Legal, and nothing: not a geometry that is missing.
        if child.tag == "empty":
            return None
        if child.tag in _PRIMITIVES:
            return _PRIMITIVES[child.tag](document, child)
        if child.tag == "plane":
            return _read_plane(document, child, collision=element.tag == "collision")
        if child.tag == "mesh":
            return _read_mesh(context, document, child, owner)
        if child.tag == "polyline":
            # All polylines of a geometry are one shape: the inner ones are holes.
            return _read_polylines(context, document, geometry, owner)
        if child.tag in FROM_IMAGES:
            return _read_from_image(context, document, child, owner)
    found = f" (found {', '.join(f'<{child.tag}>' for child in children[:5])})" if children else ""
    context.reporter.report(NO_GEOMETRY, document.where(element), owner=owner, found=found)
    return None


def _read_from_image(
    context: SdfReadContext, document: SdfDocument, element: Element, owner: str
) -> PlacedGeometry | None:
    try:
        return FROM_IMAGES[element.tag](context, document, element, owner)
    except InputError as error:
        advice = error.hint or "correct the address"
        data: dict[str, Any] = {
            "kind": element.tag,
            "owner": owner,
            "reason": error.message,
            "advice": advice,
        }
        context.reporter.report(GEOMETRY_NOT_CARRIED, document.where(element), **data)
        context.keep(document, element, owner, "geometry")
        return None


def _read_box(document: SdfDocument, element: Element) -> PlacedGeometry:
    return PlacedGeometry(Box(_positive(document, element, "size", (1.0, 1.0, 1.0))))


def _read_sphere(document: SdfDocument, element: Element) -> PlacedGeometry:
    return PlacedGeometry(Sphere(document.positive(element, "radius", default=1.0)))


def _read_ellipsoid(document: SdfDocument, element: Element) -> PlacedGeometry:
    return PlacedGeometry(Ellipsoid(_positive(document, element, "radii", (1.0, 1.0, 1.0))))


def _read_axial(kind: type[Cylinder | Capsule | Cone], radius: float) -> Primitive:
    def read(document: SdfDocument, element: Element) -> PlacedGeometry:
        wide = document.positive(element, "radius", default=radius)
        return PlacedGeometry(kind(wide, document.positive(element, "length", default=1.0)))

    return read


_PRIMITIVES: dict[str, Primitive] = {
    "box": _read_box,
    "sphere": _read_sphere,
    "ellipsoid": _read_ellipsoid,
    "cylinder": _read_axial(Cylinder, 1.0),
    "capsule": _read_axial(Capsule, 0.5),
    "cone": _read_axial(Cone, 0.5),
}


def _positive(document: SdfDocument, element: Element, tag: str, default: tuple[float, ...]) -> Array:
    values = document.values(element, tag, len(default), default)
    if np.all(values > 0.0):
        return values
    found = document.child(element, tag)
    assert found is not None
    expected = f"{len(default)} positive numbers"
    document.report_number(found, found.text or "", expected, " ".join(f"{v:g}" for v in default))
    return np.array(default)


def _read_plane(document: SdfDocument, element: Element, *, collision: bool) -> PlacedGeometry:
    """A plane faces its normal.  Colliding planes have no edge; visible ones have a size."""
    normal = document.values(element, "normal", 3, (0.0, 0.0, 1.0))
    if float(np.linalg.norm(normal)) < 1e-12:
        normal = vec3(0.0, 0.0, 1.0)
    # Gazebo's colliding planes have no edge; <size> is for the eye.
    size = None if collision else document.values(element, "size", 2, (1.0, 1.0))
    turn = Pose.of(q=quat_between((0.0, 0.0, 1.0), normal))
    return PlacedGeometry(Plane(size), IDENTITY if turn.is_identity() else turn)


def _read_mesh(
    context: SdfReadContext, document: SdfDocument, element: Element, owner: str
) -> PlacedGeometry | None:
    uri = document.text(element, "uri") or document.text(element, "filename")
    try:
        mesh = context.meshes.mesh(context.resolve(document, element, uri), document.where(element))
        # A submesh needs the file now; other meshes are read when they are looked at.
        part = document.child(element, "submesh")
        if part is not None:
            mesh = _take_submesh(context, document, part, mesh)
    except (InputError, OSError) as error:
        reason = error.message if isinstance(error, InputError) else str(error)
        advice = (error.hint if isinstance(error, InputError) else "") or "correct the address"
        data: dict[str, Any] = {"uri": uri[:200], "owner": owner, "reason": reason, "advice": advice}
        context.reporter.report(MESH_FAILED, document.where(element), **data)
        return None
    scale = document.values(element, "scale", 3, (1.0, 1.0, 1.0))
    return PlacedGeometry(
        mesh,
        scale=None if np.all(scale == 1.0) else scale,
        approximation=_read_approximation(document, element),
    )


def _read_approximation(document: SdfDocument, element: Element) -> Approximation | None:
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


def _take_submesh(context: SdfReadContext, document: SdfDocument, element: Element, mesh: Mesh) -> Mesh:
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
        context.reporter.report(NO_SUBMESH, where, file=mesh.file, name=name, known=known)
        return mesh
    counts = np.full(data.face_count, 3) if data.counts is None else data.counts
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    corners = np.concatenate([np.arange(starts[f], starts[f] + counts[f]) for f in faces])
    # The part has vertices of its own: a hull or a bounding box of it must not see the others.
    used, indices = np.unique(data.indices[corners], return_inverse=True)
    vertices = data.vertices[used]
    if center:
        # Gazebo centres by the bounding box, not by the mass.
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


def _read_polylines(
    context: SdfReadContext, document: SdfDocument, geometry: Element, owner: str
) -> PlacedGeometry | None:
    loops: list[Array] = []
    height = 1.0
    for element in document.children(geometry, "polyline"):
        points = [
            document.numbers(point, point.text, 2, (0.0, 0.0), "<point>")
            for point in document.children(element, "point")
        ]
        # Some files close the outline by repeating its first point.
        if len(points) > 1 and np.array_equal(points[0], points[-1]):
            points.pop()
        if len(points) < 3:
            where = document.where(element)
            context.reporter.report(BAD_POLYLINE, where, owner=owner, count=len(points))
            continue
        # One height for all: they are one solid.
        if not loops:
            height = document.positive(element, "height", default=1.0)
        loops.append(np.array(points))
    return PlacedGeometry(Polyline(tuple(loops), height)) if loops else None
