# SPDX-License-Identifier: Apache-2.0
"""Footprints: boxes, circles, polygons, meshes seen from above, and the shape of what something stands in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Pose as SpacePose
from simwright.core.math3d import quat_from_axis_angle
from simwright.model.inertia import Inertial
from simwright.worlds import messages
from simwright.worlds.document import Entry, Refusal
from simwright.worlds.metadata_paths import locate_file
from simwright.worlds.poses import ORIGIN, Pose
from simwright.worlds.poses_read import pose_from_list

if TYPE_CHECKING:
    from simwright.worlds.read_state import MeshModel, Reading

_KEYS = {
    "box": frozenset({"type", "dims", "offset", "height"}),
    "circle": frozenset({"type", "radius", "offset", "height"}),
    "polygon": frozenset({"type", "coords", "offset", "height"}),
    "mesh": frozenset({"type", "model_path", "mesh_path", "offset", "height"}),
    "parent": frozenset({"type", "padding", "offset", "height"}),
}
MODEL = "model.sdf"
"""The file that says how a mesh is used."""
_SMALL_COSINE = 2.5e-16
"""Sines and cosines below this are zero, so that quarter turns are exact."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """A polygon, its height [m] if it says one, and whether it is in world coordinates already (type parent).

    ``inertial`` is what a model says that it weighs, seen from the bottom.
    """

    polygon: Any
    height: float | None
    in_world: bool = False
    offset: Pose = ORIGIN
    inertial: Inertial | None = None


def read_footprint(reading: Reading, entry: Entry, parent: Any = None) -> Footprint:
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
        turn = quat_from_axis_angle((0.0, 0.0, 1.0), offset.yaw)
        inertial = inertial and inertial.moved(SpacePose.of((offset.x, offset.y, 0.0), turn))
    if "height" in entry:
        height = entry.number("height")
    return Footprint(polygon, height, kind == "parent", offset, inertial)


def read_footprint_of(reading: Reading, entry: Entry, parent: Any = None) -> Footprint:
    """The footprint that an entity or a category has to have."""
    inner = entry.child("footprint")
    if inner is None:
        raise entry.refuse_absent("footprint")
    return read_footprint(reading, inner, parent)


def polygon_from_points(entry: Entry, points: list[tuple[float, float]], *steps: str) -> Any:
    """A polygon with a floor: not empty, not crossing itself."""
    polygon = shapely.Polygon(points)
    if polygon.is_empty or polygon.area <= 0.0:
        raise _refuse(entry, "it has no area", *steps)
    if not polygon.is_valid:
        raise _refuse(entry, f"it crosses itself ({shapely.is_valid_reason(polygon)})", *steps)
    return polygon


def move_polygon(polygon: Any, pose: Pose) -> Any:
    """The polygon turned by the yaw of a pose and moved to its point."""
    if pose.yaw == 0.0:
        if pose.x == 0.0 and pose.y == 0.0:
            return polygon
        return shapely.transform(polygon, lambda points: np.add(points, pose.xy))
    cosine, sine = _turn(pose.yaw)
    x, y = pose.x, pose.y
    shift_x, shift_y = x - x * cosine + y * sine, y - x * sine - y * cosine

    def move(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        along, across = points[:, 0] + x, points[:, 1] + y
        return np.column_stack(
            (cosine * along - sine * across + shift_x, sine * along + cosine * across + shift_y)
        )

    return shapely.transform(polygon, move)


def move_many(
    polygon: Any, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], yaw: npt.NDArray[np.float64]
) -> npt.NDArray[Any]:
    """A polygon without holes at many poses."""
    points = shapely.get_coordinates(polygon)
    cosine, sine = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    moved = np.empty((len(x), len(points), 2))
    moved[:, :, 0] = cosine * points[:, 0] - sine * points[:, 1] + x[:, None]
    moved[:, :, 1] = sine * points[:, 0] + cosine * points[:, 1] + y[:, None]
    result: npt.NDArray[Any] = shapely.polygons(moved)
    return result


def _turn(yaw: float) -> tuple[float, float]:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return (
        0.0 if abs(cosine) < _SMALL_COSINE else cosine,
        0.0 if abs(sine) < _SMALL_COSINE else sine,
    )


def _read_box(entry: Entry) -> Any:
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


def _read_circle(entry: Entry) -> Any:
    radius = entry.number("radius")
    if radius <= 0.0:
        raise _refuse(entry, "its radius has to be positive", "radius")
    return shapely.Point(0.0, 0.0).buffer(radius)


def _read_polygon(entry: Entry) -> Any:
    return polygon_from_points(entry, entry.points("coords", 3), "coords")


_SHAPES = {"box": _read_box, "circle": _read_circle, "polygon": _read_polygon}


def _take_parent(entry: Entry, parent: Any) -> Any:
    if parent is None:
        raise _refuse(entry, "there is nothing around it that it could take the shape of", "type")
    padding = entry.number("padding", 0.0)
    if "padding" not in entry:
        return parent
    return parent.buffer(-padding, cap_style="flat", join_style="mitre")


def _read_mesh(reading: Reading, entry: Entry) -> tuple[Any, float, Inertial | None]:
    """The convex hull of the mesh from above, how high it is, and what it weighs if its model says so."""
    base = Path(entry.document.file).parent
    if reading.read_mesh is None:
        raise _refuse(entry, "meshes cannot be read here", "mesh_path")
    try:
        folder = locate_file(entry.text("model_path"), reading.folder, reading.data_folder, base)
        file = locate_file(str(folder / entry.text("mesh_path")), reading.folder, reading.data_folder)
        points = np.asarray(reading.read_mesh(file), dtype=np.float64).reshape(-1, 3)
    except SimwrightError as error:
        raise _refuse(entry, str(error), "mesh_path") from error
    top = float(points[:, 2].max())
    model = None if reading.reference else _read_model(reading, entry, folder / MODEL, file)
    if model is not None:
        points = model.pose.apply(points * model.scale)
    hull = shapely.MultiPoint(points[:, :2]).convex_hull
    if hull.geom_type != "Polygon":
        raise _refuse(entry, "the mesh has no area from above", "mesh_path")
    if reading.reference:
        return hull, top, None
    bottom = float(points[:, 2].min())
    height = float(points[:, 2].max()) - bottom
    if "height" not in entry and abs(height - top) > 1e-3:
        name = entry.path[0] if entry.path else ""
        reading.report(messages.MESH_HEIGHT, entry.find_where(), name=name, height=height, top=top)
    inertial = None if model is None else model.inertial
    if inertial is not None and (inertial.mass <= 0.0 or not inertial.is_physical()):
        reading.report(messages.MODEL_MASS, entry.find_where("model_path"), file=MODEL, place=entry.spell())
        inertial = None
    return hull, height, inertial and inertial.moved(SpacePose.of((0.0, 0.0, -bottom)))


def _read_model(reading: Reading, entry: Entry, file: Path, mesh: Path) -> MeshModel | None:
    """What the model file beside a mesh says of it, where there is one."""
    if reading.read_model is None or not file.is_file():
        return None
    try:
        return reading.read_model(locate_file(str(file), reading.folder, reading.data_folder), mesh)
    except SimwrightError as error:
        where = entry.find_where("model_path")
        reading.report(messages.MODEL_UNREAD, where, file=file.name, place=entry.spell(), reason=str(error))
        return None


def _refuse(entry: Entry, reason: str, *steps: str) -> Refusal:
    return Refusal(messages.BAD_FOOTPRINT, entry.find_where(*steps), place=entry.spell(), reason=reason)
