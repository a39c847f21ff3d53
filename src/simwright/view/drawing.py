# SPDX-License-Identifier: Apache-2.0
"""What is drawn of an asset: parts as binary glTF, and lines and surfaces over them, each in the frame of a body.

Bodies are numbered as in the asset, with the world as number -1.  Shapes that are alike are one part at many places:
a browser then holds one of them, however often it is seen.
"""

from __future__ import annotations

import dataclasses
import json
import math
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Array, Pose, matrices_from_quats
from simwright.formats.format import WriteOptions
from simwright.formats.gltf.write import build_files
from simwright.model.asset import Asset, Camera, Sensor, Shape
from simwright.model.geometry import Geometry, Heightfield, Mesh, Plane, Polyline, box_bounds
from simwright.model.inertia import Inertial, principal_axes
from simwright.model.joint import WORLD, Motion
from simwright.model.kinematics import Tree
from simwright.model.mass import body_inertials
from simwright.model.thinning import thin_mesh
from simwright.view.overlay import Overlay, OverlayBuilder, Rows, draw_limits

_T = TypeVar("_T")
_CAMERAS = frozenset({
    "camera", "depth", "depth_camera", "rgbd_camera", "rgbd", "logical_camera", "thermal_camera", "thermal",
    "segmentation_camera", "segmentation", "multicamera", "wideanglecamera", "boundingbox_camera",
})  # fmt: skip
_BEAMS = frozenset({"lidar", "ray", "gpu_lidar", "gpu_ray", "rangefinder", "sonar", "range", "radar"})
_STEP = math.radians(5.0)
_SPOKES = 12
"""Most beams that are drawn of a lidar."""


def list_fields(asset: Asset, size: float) -> Iterator[tuple[str, Array]]:
    """Lines (n x 2 x 3) [m] around what each camera and each ranging sensor sees, and the body they are on.

    Cameras see to where they are clipped, but are drawn to ``size`` [m] at most, and so are ranges that are not said.
    """
    seen = {camera.name for camera in asset.cameras}
    for camera in asset.cameras:
        yield camera.body, _place(draw_camera(camera, size), camera.pose)
    for sensor in asset.sensors:
        # a camera sensor and its optics are two elements of the model, with one field of view
        if sensor.kind in _CAMERAS and sensor.name not in seen and sensor.target not in seen:
            yield sensor.body, _place(_draw_camera_sensor(sensor, size), sensor.pose)
        elif sensor.kind in _BEAMS:
            yield sensor.body, _place(draw_beams(sensor.settings, size), sensor.pose)


def _place(lines: Array, pose: Pose) -> Array:
    return np.asarray(pose.apply(lines.reshape(-1, 3))).reshape(-1, 2, 3)


def _read(settings: Mapping[str, Any], *names: str, default: float) -> float:
    for name in names:
        try:
            value = float(settings[name])
        except (KeyError, TypeError, ValueError):
            continue
        if math.isfinite(value):
            return value
    return default


def draw_camera(camera: Camera, size: float) -> Array:
    """The frustum of a camera, which looks along -Z with +Y up."""
    width, height = camera.resolution if all(camera.resolution) else (4, 3)
    reach = min(camera.far, size) if math.isfinite(camera.far) and camera.far > 0.0 else size
    up = reach * math.tan(min(camera.fov_y, math.pi - 0.1) / 2)
    if camera.orthographic_height is not None:
        up = camera.orthographic_height / 2
    side = up * width / height
    return _draw_frustum(
        np.array([(x * side, y * up, -reach) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    )


def _draw_camera_sensor(sensor: Sensor, size: float) -> Array:
    """A camera that is said as a sensor only: it looks along +X with +Z up, as SDFormat has it."""
    said = sensor.settings
    wide = _read(said, "horizontal_fov", default=math.radians(60.0))
    height = _read(said, "image_height", default=3.0)
    ratio = _read(said, "aspect_ratio", default=_read(said, "image_width", default=4.0) / max(height, 1e-6))
    reach = min(_read(said, "clip_far", "far", "max_range", default=size), size)
    side = reach * math.tan(min(wide, math.pi - 0.1) / 2)
    up = side / max(ratio, 1e-6)
    return _draw_frustum(
        np.array([(reach, y * side, z * up) for y, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    )


def _draw_frustum(corners: Array) -> Array:
    lines = [(np.zeros(3), corner) for corner in corners]
    lines += [(corners[number], corners[(number + 1) % 4]) for number in range(4)]
    return np.array(lines)


def draw_beams(settings: Mapping[str, Any], size: float) -> Array:
    """The fan of a lidar or the cone of a range sensor, which look along +X: its edges, and some of its beams."""
    left, right = _read_angles(settings, "horizontal", "")
    low, high = _read_angles(settings, "vertical", "elevation")
    far = _read(settings, "range_max", "max_range", "max", default=0.0)
    near = _read(settings, "range_min", "min_range", "min", default=0.0)
    far = far if far > 0.0 else size
    lines: list[tuple[Array, Array]] = []
    for tilt in {low, high}:
        count = max(2, math.ceil((right - left) / _STEP) + 1)
        ends = _aim(np.linspace(left, right, count), np.full(count, tilt))
        lines += list(zip(far * ends[:-1], far * ends[1:], strict=True))
        whole = right - left > 2 * math.pi - 0.2
        spokes = ends[:: max(1, count // _SPOKES)] if count > 2 else ends
        lines += [(near * end, far * end) for end in (spokes if whole else [ends[0], *spokes, ends[-1]])]
    if high > low:
        count = max(2, math.ceil((high - low) / _STEP) + 1)
        for turn in {left, right}:
            ends = _aim(np.full(count, turn), np.linspace(low, high, count))
            lines += list(zip(far * ends[:-1], far * ends[1:], strict=True))
    return np.array(lines)


def _read_angles(settings: Mapping[str, Any], word: str, other: str) -> tuple[float, float]:
    """Between which angles it looks [rad]; straight ahead where nothing is said."""
    half = _read(settings, f"{word}_fov", "fov" if word == "horizontal" else f"{other}_fov", default=0.0) / 2
    lower = _read(settings, f"scan_{word}_min_angle", default=-half)
    upper = _read(settings, f"scan_{word}_max_angle", default=half)
    lower, upper = min(lower, upper), max(lower, upper)
    # no sensor sees more than all round
    return (lower, upper) if upper - lower <= 2 * math.pi else (-math.pi, math.pi)


def _aim(turns: Array, tilts: Array) -> Array:
    return np.stack((np.cos(tilts) * np.cos(turns), np.cos(tilts) * np.sin(turns), np.sin(tilts)), axis=1)


UPRIGHT = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
"""Turns what glTF stores, Y up, back to Z up (w, x, y, z)."""
_COLLIDER = (0.15, 0.55, 0.95, 0.45)
_ENDLESS = 20.0
"""Sides of a plane without end, as it is drawn [m]."""
_HEAVY = 2000
"""Faces from which a mesh that is there twice is a part of its own."""
MOST_TRIANGLES = 120_000
"""Triangles that a page draws of heavy meshes: without a GPU a browser takes half a second for a picture of more."""
_METAL = 0.3
_HIDDEN_GROUPS = 3
"""The first group of shapes that MuJoCo's viewer does not show at first."""
_OFTEN = 8
"""Shapes of the world that are there as often are a part of their own, however small."""
_RED, _GREEN, _BLUE = (225, 70, 60), (70, 170, 80), (60, 120, 225)
_AXIS = {Motion.HINGE: _RED, Motion.SLIDE: _BLUE}
_WEIGHT = (235, 160, 40)
_FIELD = (30, 150, 160)


@dataclass(frozen=True, slots=True)
class InertiaBox:
    """The box of even density that has the mass and inertia of a body; ``size`` are its sides [m]."""

    pose: Pose
    size: Array
    mass: float


@dataclass(slots=True, eq=False)
class DrawnPart:
    """Shapes that are drawn together, at one place or at many.

    ``content`` is a .glb, Y up; each place is a row of ``bodies`` (-1 is the world) and of ``poses`` on it (n x 7,
    quaternion w first).  ``shapes`` has what is drawn there, for each place; ``faces`` are those of meshes in the .glb.
    """

    content: bytes
    bodies: Rows
    poses: Array
    shapes: list[list[Shape]]
    faces: int = 0


class Layers(Mapping[str, list[_T]]):
    """What is drawn in each layer, by name; made when it is first asked for, since few layers are shown at first."""

    def __init__(self, makers: Mapping[str, Callable[[], list[_T]]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, list[_T]] = {}

    def __getitem__(self, name: str) -> list[_T]:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


_FLAT = 0.02
"""Most height of ground, as a share of its width."""


@dataclass(slots=True, eq=False)
class AssetDrawing:
    """All of an asset; ``lower`` and ``upper`` are corners of all of it at first [m], ``boxes`` corners by body.

    ``triangles`` are those that visuals have, ``drawn`` those that are drawn of them, each in all its ``places``.
    ``shines`` tells of metal among them.
    """

    parts: Layers[DrawnPart]
    overlays: Layers[Overlay]
    boxes: dict[int, tuple[Array, Array]]
    lower: Array
    upper: Array
    names: list[str] = field(default_factory=list)
    triangles: int = 0
    drawn: int = 0
    places: int = 0
    shines: bool = False

    @property
    def size(self) -> float:
        """The largest side [m]."""
        return float(np.max(self.upper - self.lower))


def draw_asset(
    asset: Asset, tree: Tree, poses: Array, *, copies: int = 1, most: int = MOST_TRIANGLES
) -> AssetDrawing:
    """Everything that can be shown of an asset whose bodies stand at ``poses`` (bodies x 7).

    It is drawn ``copies`` times on the page, with about ``most`` triangles in all: meshes of more get fewer.
    """
    rows = {WORLD: -1, **{body.name: row for row, body in enumerate(asset.bodies)}}
    boxes, framed = _find_boxes(asset, rows)
    lower, upper = _find_extent(framed, poses)
    size = float(np.max(upper - lower))
    visuals, hidden = _split_visuals(asset)
    listed = _list_layers(asset, visuals, hidden)
    parts = Layers(
        {layer: partial(_make_parts, asset, shapes, rows, most / copies) for layer, shapes in listed.items()}
    )
    axes, limits = _draw_axes(tree, rows, 0.08 * size), draw_limits(tree, rows, 0.1 * size)
    fields = _draw_fields(asset, rows, size)
    overlays: dict[str, tuple[Any, Callable[[], list[Overlay]]]] = {
        "Inertia": (asset.bodies, lambda: _draw_inertia(asset, rows)),
        "Link frames": (asset.bodies, lambda: _draw_link_frames(len(asset.bodies), 0.08 * size)),
        "Joint axes": (axes, lambda: axes),
        "Joint limits": (limits, lambda: limits),
        "Sites": (asset.sites, lambda: _draw_sites(asset, rows, 0.04 * size)),
        "Fields of view": (fields, lambda: fields),
    }
    found = Layers({name: make for name, (drawn, make) in overlays.items() if drawn})
    seen = parts.get("Visuals", [])
    return AssetDrawing(
        parts, found, boxes, lower, upper, list(asset.body_names),
        triangles=copies * _count(visuals),
        drawn=copies * sum(part.faces * len(part.bodies) for part in seen),
        places=copies * sum(len(part.bodies) for part in seen),
        shines=any(_has_metal(part.content) for part in seen),
    )  # fmt: skip


def _split_visuals(asset: Asset) -> tuple[list[Shape], list[Shape]]:
    """What is seen at first, and what is in groups that MuJoCo's own viewer hides at first, as colliders often are."""
    seen: list[Shape] = []
    hidden: list[Shape] = []
    for shape in asset.shapes:
        if shape.visual:
            (seen if shape.group is None or shape.group < _HIDDEN_GROUPS else hidden).append(shape)
    return (seen, hidden) if seen else (hidden, [])


def _list_layers(
    asset: Asset, visuals: list[Shape], hidden: list[Shape]
) -> dict[str, Callable[[], list[Shape]]]:
    """What lists the shapes of each layer that has some."""
    listed: dict[str, Callable[[], list[Shape]]] = {}
    if visuals:
        listed["Visuals"] = lambda: visuals
    if hidden:
        listed["Hidden groups"] = lambda: hidden
    if any(shape.collision for shape in asset.shapes):
        listed["Colliders"] = lambda: list(_show_colliders(asset.shapes))
    return listed


def _has_metal(content: bytes) -> bool:
    """Is there a material in a .glb that mirrors what is around it?"""
    document = json.loads(content[20 : 20 + struct.unpack_from("<I", content, 12)[0]])
    return any(
        one.get("pbrMetallicRoughness", {}).get("metallicFactor", 1.0) > _METAL
        for one in document.get("materials", ())
    )


def _count(shapes: Iterable[Shape]) -> int:
    """Faces of all meshes."""
    return sum(shape.geometry.data.face_count for shape in shapes if isinstance(shape.geometry, Mesh))


def _find_share(shapes: Sequence[Shape], most: float) -> float:
    """Which share of its triangles each heavy mesh keeps, so that there are about ``most`` in all."""
    heavy = _count(shape for shape in shapes if _is_heavy(shape))
    rest = _count(shapes) - heavy
    return min(1.0, max(most - rest, 0.0) / max(heavy, 1))


def _thin(shape: Shape, share: float) -> Shape:
    """The shape as it is drawn: light meshes, and all others too where nothing has to be saved, are as they are."""
    mesh = shape.geometry
    if share >= 1.0 or not isinstance(mesh, Mesh) or not _is_heavy(shape):
        return shape
    thin = thin_mesh(mesh.data, max(int(mesh.data.face_count * share), _HEAVY // 4))
    return dataclasses.replace(shape, geometry=Mesh(thin, source=mesh.source, gate=mesh.gate))


def _make_parts(
    asset: Asset, list_shapes: Callable[[], list[Shape]], rows: dict[str, int], most: float
) -> list[DrawnPart]:
    """Bodies that look alike are one part; so are heavy meshes and things of the world that are there often.

    There are about ``most`` triangles in all: heavy meshes are drawn with fewer than they have, but what is clicked
    and measured is still the whole mesh.
    """
    shapes = list_shapes()
    share = _find_share(shapes, most)
    ended = [_end(shape) for shape in shapes]
    keys = [_identify(shape) for shape in ended]
    alone = Counter(keys)
    contents: dict[Any, list[Shape]] = {}
    places: dict[Any, list[tuple[int, Array, list[Shape]]]] = defaultdict(list)
    by_body: dict[str, list[tuple[Shape, Any]]] = defaultdict(list)
    for shape, key in zip(ended, keys, strict=True):
        if _is_part(shape, alone[key]):
            contents[key] = [dataclasses.replace(shape, pose=Pose.of())]
            places[key].append((rows[shape.body], _seven(shape.pose), [shape]))
        else:
            by_body[shape.body].append((shape, key))
    for body, found in by_body.items():
        whole = tuple([(key, _seven(shape.pose).tobytes()) for shape, key in found])
        held = [shape for shape, _ in found]
        contents.setdefault(whole, held)
        places[whole].append((rows[body], _HERE, held))
    return [
        _make_part(asset, [_thin(shape, share) for shape in found], places[key])
        for key, found in contents.items()
    ]


def _is_part(shape: Shape, times: int) -> bool:
    """Is a shape that is there so often a part of its own?"""
    return times > 1 and (_is_heavy(shape) or (shape.body == WORLD and times >= _OFTEN))


def _make_part(asset: Asset, content: list[Shape], places: list[tuple[int, Array, list[Shape]]]) -> DrawnPart:
    bodies, poses, shapes = zip(*places, strict=True)
    return DrawnPart(
        _write_glb(asset, content),
        np.array(bodies, dtype=np.int64),
        np.array(poses),
        list(shapes),
        _count(content),
    )


def _seven(pose: Pose) -> Array:
    return np.concatenate((pose.p, pose.q))


_HERE = _seven(Pose.of())


def _identify(shape: Shape) -> tuple[Any, ...]:
    """What is equal for shapes that look alike, wherever they are."""
    geometry = shape.geometry
    if isinstance(geometry, (Mesh, Heightfield, Polyline)):
        # readers load a file once; those that do not still name it
        file = geometry.file if isinstance(geometry, Mesh) and not geometry.recipe else ""
        told: Any = file or id(geometry)
    else:
        told = tuple(tuple(np.ravel(getattr(geometry, name)).tolist()) for name in _list_numbers(geometry))
    scale = None if shape.scale is None else tuple(np.ravel(shape.scale).tolist())
    return geometry.kind, told, scale, shape.material, shape.color, shape.double_sided


def _list_numbers(geometry: Geometry) -> list[str]:
    # classes are hashable, which mypy does not know of those whose objects are not
    kind: Any = type(geometry)
    return [name for name in _list_fields(kind) if getattr(geometry, name) is not None]


@cache
def _list_fields(kind: Any) -> list[str]:
    return [one.name for one in dataclasses.fields(kind)]


def _is_heavy(shape: Shape) -> bool:
    return isinstance(shape.geometry, Mesh) and shape.geometry.data.face_count >= _HEAVY


def _write_glb(asset: Asset, shapes: list[Shape]) -> bytes:
    """Shapes of one body as they are placed on it; nothing where there is nothing to see."""
    alone = [dataclasses.replace(shape, body=WORLD, enabled=True) for shape in shapes]
    used = {shape.material for shape in alone}
    part = Asset("part", shapes=alone, materials=[one for one in asset.materials if one.name in used])
    part.provenance = asset.provenance
    # what cannot be drawn was said when the file was read or will be by convert: a picture says nothing
    return build_files(part, "part.glb", WriteOptions(), Reporter())["part.glb"]


def _end(shape: Shape) -> Shape:
    """A plane without end is drawn as a large one."""
    geometry = shape.geometry
    if isinstance(geometry, Plane) and geometry.size is None:
        return dataclasses.replace(shape, geometry=Plane(np.array((_ENDLESS, _ENDLESS))))
    return shape


def _show_colliders(shapes: Iterable[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if shape.collision:
            yield dataclasses.replace(
                shape, visual=True, collision=False, material="", color=_COLLIDER, purpose="default"
            )


def find_inertia_box(inertial: Inertial) -> InertiaBox | None:
    """The box that resists turning as the body does; None for a body without mass, or one that no box is like."""
    if not inertial.mass > 0.0 or not math.isfinite(inertial.mass):
        return None
    moments, axes = principal_axes(inertial.inertia)
    # of a box with sides a, b, c the moment about x is m (b2 + c2) / 12, and so on
    squares = 6.0 / inertial.mass * (np.sum(moments) - 2.0 * np.asarray(moments))
    if not np.all(np.isfinite(squares)) or np.any(squares < -1e-12):
        return None
    return InertiaBox(
        Pose.of(p=tuple(inertial.com), q=tuple(axes)), np.sqrt(np.maximum(squares, 0.0)), inertial.mass
    )


_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_FACES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
     (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)], dtype=np.uint32,
)  # fmt: skip
BOX_EDGES = np.array(
    [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)]
)
"""Pairs of corners of a box, in the order of :func:`list_corners`."""


def list_corners(lower: Array, upper: Array) -> Array:
    """The eight corners of a box [m]."""
    return np.asarray((lower + upper) / 2 + _CORNERS * (upper - lower))


def _draw_inertia(asset: Asset, rows: dict[str, int]) -> list[Overlay]:
    builder = OverlayBuilder("surface")
    for name, inertial in body_inertials(asset).items():
        box = find_inertia_box(inertial)
        if box is not None:
            corners = box.pose.apply(_CORNERS * np.maximum(box.size, 1e-4))
            builder.add(corners, rows[name], _WEIGHT, _FACES)
    return builder.build()


def _draw_frames(places: Iterable[tuple[int, Pose]], reach: float) -> list[Overlay]:
    """Three coloured lines for each frame."""
    builder = OverlayBuilder("lines")
    for row, pose in places:
        for axis, color in zip(np.eye(3), (_RED, _GREEN, _BLUE), strict=True):
            builder.add(np.stack((pose.p, pose.apply(reach * axis))), row, color)
    return builder.build()


def _draw_link_frames(count: int, reach: float) -> list[Overlay]:
    return _draw_frames(((row, Pose.of()) for row in range(count)), reach)


def _draw_sites(asset: Asset, rows: dict[str, int], reach: float) -> list[Overlay]:
    return _draw_frames(((rows[site.body], site.pose) for site in asset.sites), reach)


def _draw_axes(tree: Tree, rows: dict[str, int], reach: float) -> list[Overlay]:
    builder = OverlayBuilder("arrows")
    for edge in tree.edges:
        # the axes stand still in the frame on the parent of a joint, and turn with what comes before them
        frame = edge.joint.child_frame if not edge.reversed else edge.joint.parent_frame
        for dof in edge.joint.dofs:
            if dof.motion in _AXIS:
                start = frame.apply(dof.anchor)
                along = frame.apply(dof.axis) - frame.p
                ends = np.stack((start - reach * along, start + reach * along))
                builder.add(ends, rows[edge.child], _AXIS[dof.motion])
    return builder.build()


def _draw_fields(asset: Asset, rows: dict[str, int], size: float) -> list[Overlay]:
    builder = OverlayBuilder("lines")
    for body, lines in list_fields(asset, size):
        builder.add(lines, rows[body], _FIELD)
    return builder.build()


def _find_boxes(
    asset: Asset, rows: dict[str, int]
) -> tuple[dict[int, tuple[Array, Array]], dict[int, tuple[Array, Array]]]:
    """Corners of a box around what has an end on each body, in its frame [m]; the same without ground for the camera.

    A slab of ground is often many times as wide as what stands on it, which would be small in the middle of the page.
    """
    bodies, lower, upper = _measure_shapes(asset.shapes, rows)
    boxes = _enclose(bodies, lower, upper)
    wide = (upper - lower)[:, :2].min(axis=1, initial=np.inf)
    is_ground = (bodies < 0) & ((upper - lower)[:, 2] <= _FLAT * wide)
    framed = _enclose(bodies[~is_ground], lower[~is_ground], upper[~is_ground])
    return boxes, framed or boxes


def _measure_shapes(shapes: Iterable[Shape], rows: Mapping[str, int]) -> tuple[Rows, Array, Array]:
    """Bodies of shapes that have an end, and corners of boxes around each in the frame of its body [m]."""
    found = [
        (rows[shape.body], *bounds, _seven(shape.pose), np.ones(3) if shape.scale is None else shape.scale)
        for shape in shapes
        if (shape.visual or shape.collision) and not isinstance(shape.geometry, Plane)
        for bounds in [box_bounds(shape.geometry)]
        if bounds is not None
    ]
    bodies, lower, upper, poses, scales = (
        np.array([row[column] for row in found]).reshape(-1, *width)
        for column, width in enumerate(((), (3,), (3,), (7,), (3,)))
    )
    corners = list_corners(lower[:, None] * scales[:, None], upper[:, None] * scales[:, None])
    placed = _place_corners(corners, poses)
    return bodies.astype(np.int64), placed.min(axis=1), placed.max(axis=1)


def _place_corners(corners: Array, poses: Array) -> Array:
    """Corners of boxes (n x 8 x 3) at poses (n x 7)."""
    turned = np.einsum("nij,nkj->nki", matrices_from_quats(poses[:, 3:]), corners)
    return np.asarray(turned + poses[:, None, :3])


def _enclose(bodies: Rows, lower: Array, upper: Array) -> dict[int, tuple[Array, Array]]:
    """Corners around all boxes of each body."""
    order = np.argsort(bodies, kind="stable")
    found, starts = np.unique(bodies[order], return_index=True)
    if not len(found):
        return {}
    low, high = np.minimum.reduceat(lower[order], starts), np.maximum.reduceat(upper[order], starts)
    return dict(zip(found.tolist(), zip(low, high, strict=True), strict=True))


def _find_extent(boxes: dict[int, tuple[Array, Array]], poses: Array) -> tuple[Array, Array]:
    """Corners of a box around everything that has an end [m]."""
    points = [poses[:, :3]]
    if -1 in boxes:
        points.append(list_corners(*boxes[-1]))
    moving = [row for row in boxes if row >= 0]
    if moving:
        lower, upper = np.array([boxes[row] for row in moving])[:, :, None].swapaxes(0, 1)
        points.append(_place_corners(list_corners(lower, upper), poses[moving]).reshape(-1, 3))
    whole = np.concatenate(points)
    if not len(whole):
        whole = np.zeros((1, 3))
    return whole.min(axis=0), np.maximum(whole.max(axis=0), whole.min(axis=0) + 0.05)
