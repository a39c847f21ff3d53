# SPDX-License-Identifier: Apache-2.0
"""Footprints: boxes, circles, polygons, meshes seen from above, and the shape of what something stands in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.model.inertia import Inertial
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.metadata import locate_file
from simwright.worlds.polygons import Array, Geometry, move_polygon
from simwright.worlds.poses import ORIGIN, WorldPose
from simwright.worlds.read_state import MeshModel, WorldReading
from simwright.worlds.read_values import pose_from_list

_KEYS = {
    "box": frozenset({"type", "dims", "offset", "height"}),
    "circle": frozenset({"type", "radius", "offset", "height"}),
    "polygon": frozenset({"type", "coords", "offset", "height"}),
    "mesh": frozenset({"type", "model_path", "mesh_path", "offset", "height"}),
    "parent": frozenset({"type", "padding", "offset", "height"}),
}
MODEL = "model.sdf"
"""The file that says how a mesh is used."""


@dataclass(frozen=True, slots=True)
class EntityFootprint:
    """A polygon, its height [m] if it says one, and whether it is in world coordinates already (type parent).

    ``inertial`` is what a model says that it weighs, seen from the bottom.
    """

    polygon: Geometry
    height: float | None
    in_world: bool = False
    offset: WorldPose = ORIGIN
    inertial: Inertial | None = None


def read_footprint(reading: WorldReading, entry: WorldEntry, parent: Geometry = None) -> EntityFootprint:
    """The footprint of a mapping; ``parent`` is the polygon that type parent means."""
    kind = entry.text("type")
    known = _KEYS.get(kind)
    if known is None:
        names = ", ".join(_KEYS)
        raise _refuse(entry, f"the type {kind!r} is none of {names}", "type")
    reading.check_loose_keys(entry, known)
    height, inertial = None, None
    if kind == "parent":
        polygon = _take_parent(entry, parent)
    elif kind == "mesh":
        polygon, height, inertial = _read_mesh(reading, entry)
    else:
        polygon = _SHAPES[kind](entry)
    offset = ORIGIN
    if "offset" in entry:
        offset = pose_from_list(entry, entry.data["offset"], "offset")
        polygon = move_polygon(polygon, offset)
        # mass properties move with the outline; z is counted from the bottom in any case
        turn = quat_from_axis_angle((0.0, 0.0, 1.0), offset.yaw)
        inertial = inertial and inertial.moved(Pose.of((offset.x, offset.y, 0.0), turn))
    if "height" in entry:
        height = entry.number("height")
    return EntityFootprint(polygon, height, kind == "parent", offset, inertial)


def read_footprint_of(reading: WorldReading, entry: WorldEntry, parent: Geometry = None) -> EntityFootprint:
    """The footprint that an entity or a category has to have."""
    inner = entry.child("footprint")
    if inner is None:
        raise entry.refuse_absent("footprint")
    return read_footprint(reading, inner, parent)


def polygon_from_points(entry: WorldEntry, points: list[tuple[float, float]], *steps: str) -> Geometry:
    """A polygon with a floor: not empty, not crossing itself."""
    # shapely takes crossing outlines silently and fails at the first difference with them
    polygon = shapely.Polygon(points)
    # first of all: the areas of a bow tie cancel each other
    if not polygon.is_valid and (crossing := _find_crossing(points)) is not None:
        a, b, x, y = crossing
        order = f"edges {a + 1} and {b + 1} cross at ({x:g}, {y:g}); list the corners around the outline"
        raise _refuse(entry, f"it crosses itself: {order}", *steps)
    if polygon.is_empty or polygon.area <= 0.0:
        raise _refuse(entry, "it has no area", *steps)
    if not polygon.is_valid:
        raise _refuse(entry, f"it is no outline ({shapely.is_valid_reason(polygon)})", *steps)
    return polygon


def _find_crossing(points: list[tuple[float, float]]) -> tuple[int, int, float, float] | None:
    """The first two edges that cross, and where."""
    edges = [shapely.LineString([point, points[(n + 1) % len(points)]]) for n, point in enumerate(points)]
    if len(edges) > _MAX_EDGES:
        return None
    for first, one in enumerate(edges):
        for second in range(first + 1, len(edges)):
            if one.crosses(edges[second]):
                at = one.intersection(edges[second])
                return first, second, round(at.x, 6), round(at.y, 6)
    return None


# pairs of edges are looked at one by one
_MAX_EDGES = 500


def _read_box(entry: WorldEntry) -> Geometry:
    width, depth = entry.numbers("dims", (2,))
    if width <= 0.0 or depth <= 0.0:
        raise _refuse(entry, "its dims have to be positive", "dims")
    return shapely.Polygon(
        (
            (-0.5 * width, -0.5 * depth),
            (0.5 * width, -0.5 * depth),
            (0.5 * width, 0.5 * depth),
            (-0.5 * width, 0.5 * depth),
        )
    )


def _read_circle(entry: WorldEntry) -> Geometry:
    radius = entry.number("radius")
    if radius <= 0.0:
        raise _refuse(entry, "its radius has to be positive", "radius")
    # 64 corners on the circle, as in PyRoboSim: slightly smaller than the disc
    return shapely.Point(0.0, 0.0).buffer(radius)


def _read_polygon(entry: WorldEntry) -> Geometry:
    return polygon_from_points(entry, entry.points("coords", 3), "coords")


_SHAPES = {"box": _read_box, "circle": _read_circle, "polygon": _read_polygon}


def _take_parent(entry: WorldEntry, parent: Geometry) -> Geometry:
    if parent is None:
        raise _refuse(entry, "there is nothing around it that it could take the shape of", "type")
    padding = entry.number("padding", 0.0)
    # without padding the very same polygon: growing by 0 would change its corners
    if "padding" not in entry:
        return parent
    return parent.buffer(-padding, cap_style="flat", join_style="mitre")


def _read_mesh(reading: WorldReading, entry: WorldEntry) -> tuple[Geometry, float, Inertial | None]:
    """The convex hull of the mesh from above, how high it is, and what it weighs if its model says so."""
    base = Path(entry.document.file).parent
    try:
        folder = locate_file(entry.text("model_path"), reading.folder, reading.data_folder, base)
        file = locate_file(str(folder / entry.text("mesh_path")), reading.folder, reading.data_folder)
    except SimwrightError as error:
        raise _refuse(entry, str(error), "mesh_path") from error
    points = _read_points(reading, entry, file)
    top = float(points[:, 2].max())
    model = None if reading.reference else _read_model(reading, entry, folder / MODEL, file)
    if model is not None:
        points = model.pose.apply(points * model.scale)
    hull = shapely.MultiPoint(points[:, :2]).convex_hull
    if hull.geom_type != "Polygon":
        raise _refuse(entry, "the mesh has no area from above", "mesh_path")
    if reading.reference:
        # PyRoboSim takes the largest z for the height, wherever the mesh begins
        return hull, top, None
    bottom = float(points[:, 2].min())
    height = float(points[:, 2].max()) - bottom
    if "height" not in entry and abs(height - top) > 1e-3:
        name = entry.path[0] if entry.path else ""
        reading.report(messages.MESH_HEIGHT, entry.find_where(), name=name, height=height, top=top)
    inertial = _check_inertial(reading, entry, model)
    return hull, height, inertial and inertial.moved(Pose.of((0.0, 0.0, -bottom)))


def _read_points(reading: WorldReading, entry: WorldEntry, file: Path) -> Array:
    """The points of a mesh file, n by 3 [m]."""
    if reading.read_mesh is None:
        raise _refuse(entry, "meshes cannot be read here", "mesh_path")
    try:
        return np.asarray(reading.read_mesh(file), dtype=np.float64).reshape(-1, 3)
    except SimwrightError as error:
        raise _refuse(entry, str(error), "mesh_path") from error


def _check_inertial(reading: WorldReading, entry: WorldEntry, model: MeshModel | None) -> Inertial | None:
    """The mass properties of a model, unless no body can have them."""
    inertial = None if model is None else model.inertial
    if inertial is not None and (inertial.mass <= 0.0 or not inertial.is_physical()):
        reading.report(messages.MODEL_MASS, entry.find_where("model_path"), file=MODEL, place=entry.spell())
        return None
    return inertial


def _read_model(reading: WorldReading, entry: WorldEntry, file: Path, mesh: Path) -> MeshModel | None:
    """What the model file beside a mesh says of it, where there is one."""
    if reading.read_model is None or not file.is_file():
        return None
    try:
        return reading.read_model(locate_file(str(file), reading.folder, reading.data_folder), mesh)
    except SimwrightError as error:
        where = entry.find_where("model_path")
        reading.report(messages.MODEL_UNREAD, where, file=file.name, place=entry.spell(), reason=str(error))
        return None


def _refuse(entry: WorldEntry, reason: str, *steps: str) -> Refusal:
    return Refusal(messages.BAD_FOOTPRINT, entry.find_where(*steps), place=entry.spell(), reason=reason)
