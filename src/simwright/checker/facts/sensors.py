# SPDX-License-Identifier: Apache-2.0
"""Sensor prims, and cameras with their optical frames (REP-0158 2.8, 4.2.4).

A sensor is known by a Sensor*API, a vendor's sensor type, or as a camera that feeds ROS.  The registry has no sensor
schema yet, so names decide.

An optical frame is the prim through which a camera's images reach ROS: the first prim with RosFrameAPI below
the camera, or, where there is none, the first prim with an interface API; failing both, a prim with
RosFrameAPI beside the camera whose name says ``optical``.  Its rotation is computed, whatever the transform
operations are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pxr import Gf, UsdGeom

from simwright.checker.facts.snapshot import INTERFACE_APIS
from simwright.checker.facts.vendors import vendor_of_schema

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


IMAGE_TYPES = frozenset({
    "sensor_msgs/msg/Image",
    "sensor_msgs/msg/CompressedImage",
    "sensor_msgs/msg/CameraInfo",
    "stereo_msgs/msg/DisparityImage",
})  # fmt: skip
"""Message types whose data is in an optical frame."""

TOLERANCE = 1e-4
"""Largest angle [rad], scale error and offset [m] that counts as none."""


@dataclass(frozen=True, slots=True)
class OpticalFrame:
    """An optical frame and how it stands in its camera.

    ``below`` is false for a sibling.  ``scale`` are the lengths of the frame's axes; ``axes`` are its X, Y and
    Z directions in camera coordinates, of length one.
    """

    node: PrimNode
    camera: PrimNode
    below: bool
    axes: tuple[Gf.Vec3d, Gf.Vec3d, Gf.Vec3d]
    scale: tuple[float, float, float]
    offset: float

    @property
    def view_error(self) -> float:
        """Angle between the frame's +Z and where the camera looks [rad]."""
        return _angle(self.axes[2], Gf.Vec3d(0, 0, -1))

    @property
    def roll_error(self) -> float:
        """Angle between the frame's X and the camera's right [rad]; of use where the view is right."""
        return _angle(self.axes[0], Gf.Vec3d(1, 0, 0))

    @property
    def turn_error(self) -> float:
        """Largest deviation of an axis from 180 degrees about X [rad]."""
        down = _angle(self.axes[1], Gf.Vec3d(0, -1, 0))
        return max(self.view_error, self.roll_error, down)


@dataclass(slots=True)
class Optics:
    """Cameras of the stage and their optical frames."""

    frames: list[OpticalFrame] = field(default_factory=list)
    of_camera: dict[str, list[OpticalFrame]] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    """Paths of optical frames."""


def find_optics(snapshot: StageSnapshot) -> Optics:
    """All cameras and optical frames, looked up once."""
    return snapshot.shared("optics", _find_optics)


def _find_optics(snapshot: StageSnapshot) -> Optics:
    optics = Optics()
    for camera in snapshot.of_type("Camera"):
        found = [_place(node, chain, camera, below=True) for node, chain in _search(camera)]
        found = found or [_beside(node, camera, snapshot) for node in _siblings(camera)]
        optics.of_camera[camera.path] = found
        optics.frames.extend(found)
        optics.places.update(frame.node.path for frame in found)
    return optics


def _search(camera: PrimNode) -> Iterator[tuple[PrimNode, list[PrimNode]]]:
    """Optical frames below a camera, each with the prims from it up to the camera (the camera aside)."""
    frames: list[tuple[PrimNode, list[PrimNode]]] = []
    bare: list[tuple[PrimNode, list[PrimNode]]] = []
    stack = [(child, [child]) for child in reversed(camera.below())]
    while stack:
        node, chain = stack.pop()
        if node.is_a("Camera"):
            continue
        if node.has("RosFrameAPI"):
            frames.append((node, chain))
            continue
        if any(node.has(api) for api in INTERFACE_APIS):
            bare.append((node, chain))
            continue
        stack.extend((child, [child, *chain]) for child in reversed(node.below()))
    yield from frames or bare


def _siblings(camera: PrimNode) -> list[PrimNode]:
    """Frames beside the camera whose name or id says optical."""
    beside = camera.parent.children if camera.parent else []
    return [n for n in beside if n.has("RosFrameAPI") and not n.is_a("Camera") and is_optical_name(n)]


def is_optical_name(node: PrimNode) -> bool:
    """Does the prim's name or its frame id say that it is an optical frame?"""
    return "optical" in node.name.lower() or "optical" in str(node.authored("ros:frame:id") or "").lower()


def _place(node: PrimNode, chain: list[PrimNode], camera: PrimNode, *, below: bool) -> OpticalFrame:
    matrix = Gf.Matrix4d(1)
    for step in chain:
        # OpenUSD multiplies row vectors: the innermost transform stands first
        matrix = matrix * _local(step)
    return _describe(node, camera, matrix, below)


def _local(node: PrimNode) -> Gf.Matrix4d:
    xformable = UsdGeom.Xformable(node.prim)
    return xformable.GetLocalTransformation() if xformable else Gf.Matrix4d(1)


def _beside(node: PrimNode, camera: PrimNode, snapshot: StageSnapshot) -> OpticalFrame:
    world = snapshot.xforms.GetLocalToWorldTransform
    return _describe(node, camera, world(node.prim) * world(camera.prim).GetInverse(), below=False)


def _describe(node: PrimNode, camera: PrimNode, matrix: Gf.Matrix4d, below: bool) -> OpticalFrame:
    rows = [Gf.Vec3d(*matrix.GetRow3(i)) for i in range(3)]
    lengths = tuple(row.GetLength() for row in rows)
    unit = tuple(row / length if length > 0 else row for row, length in zip(rows, lengths, strict=True))
    offset = matrix.ExtractTranslation().GetLength()
    return OpticalFrame(node, camera, below, unit, lengths, offset)


def _angle(a: Gf.Vec3d, b: Gf.Vec3d) -> float:
    """Angle between two unit vectors [rad], exact for small ones too."""
    # the arc cosine of a dot product near 1 loses half the digits
    return math.atan2(Gf.Cross(a, b).GetLength(), Gf.Dot(a, b))


_VENDOR_SENSOR = re.compile(r"Sensor|Lidar|Radar|Imu|Sonar|Ultrasonic")


@dataclass(frozen=True, slots=True)
class SensorPrim:
    """A sensor prim and the schema that makes it one; ``vendor`` is "" for a neutral one."""

    node: PrimNode
    schema: str
    vendor: str = ""


def find_sensors(snapshot: StageSnapshot) -> list[SensorPrim]:
    """Every sensor prim of the stage; dedicated annotators are none."""
    return snapshot.shared("sensors", _find)


def _find(snapshot: StageSnapshot) -> list[SensorPrim]:
    schemas = {kind: _sensor_schema(*kind) for kind in snapshot.kinds()}
    kinds = {kind: schema for kind, schema in schemas.items() if schema}
    cameras = {path for path, frames in find_optics(snapshot).of_camera.items() if frames}
    if not kinds and not cameras:
        return []
    found = []
    for node in snapshot.nodes:
        schema = kinds.get((node.type, node.apis), "")
        if schema:
            found.append(SensorPrim(node, schema, vendor_of_schema(schema) or ""))
        elif node.path in cameras:
            found.append(SensorPrim(node, "Camera"))
    return found


def _sensor_schema(type_name: str, apis: tuple[str, ...]) -> str:
    heads = [api.partition(":")[0] for api in apis]
    for api in heads:
        if is_sensor_api(api):
            return api
    for name in (type_name, *heads):
        # simulators have sensor prim types of their own, such as IsaacImuSensor
        if vendor_of_schema(name) and _VENDOR_SENSOR.search(name):
            return name
    return ""


def is_sensor_api(api: str) -> bool:
    """Is it a neutral sensor API?  Annotators, which hand out ground truth, are not."""
    return api.startswith("Sensor") and "Annotator" not in api
