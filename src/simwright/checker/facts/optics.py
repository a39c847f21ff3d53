# SPDX-License-Identifier: Apache-2.0
"""Cameras and their optical frames (REP-0158 2.8).

An optical frame is the prim through which a camera's images reach ROS: the first prim with RosFrameAPI below
the camera, or, where there is none, the first prim with an interface API; failing both, a prim with
RosFrameAPI beside the camera whose name says ``optical``.  Its rotation is computed, whatever the transform
operations are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pxr import Gf, UsdGeom

from simwright.checker.facts.snapshot import INTERFACE_APIS

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot

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

    node: Node
    camera: Node
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


def find_optics(snapshot: Snapshot) -> Optics:
    """All cameras and optical frames, looked up once."""
    return snapshot.shared("optics", _find_optics)


def _find_optics(snapshot: Snapshot) -> Optics:
    optics = Optics()
    for camera in snapshot.of_type("Camera"):
        found = [_place(node, chain, camera, below=True) for node, chain in _search(camera)]
        found = found or [_beside(node, camera, snapshot) for node in _siblings(camera)]
        optics.of_camera[camera.path] = found
        optics.frames.extend(found)
        optics.places.update(frame.node.path for frame in found)
    return optics


def _search(camera: Node) -> Iterator[tuple[Node, list[Node]]]:
    """Optical frames below a camera, each with the prims from it up to the camera (the camera aside)."""
    frames: list[tuple[Node, list[Node]]] = []
    bare: list[tuple[Node, list[Node]]] = []
    stack = [(child, [child]) for child in reversed(list_below(camera))]
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
        stack.extend((child, [child, *chain]) for child in reversed(list_below(node)))
    yield from frames or bare


def list_below(node: Node) -> Sequence[Node]:
    """Children, those of the prototype for an instance."""
    return node.prototype.children if node.prototype else node.children


def _siblings(camera: Node) -> list[Node]:
    """Frames beside the camera whose name or id says optical."""
    beside = camera.parent.children if camera.parent else []
    return [n for n in beside if n.has("RosFrameAPI") and not n.is_a("Camera") and is_optical_name(n)]


def is_optical_name(node: Node) -> bool:
    """Does the prim's name or its frame id say that it is an optical frame?"""
    return "optical" in node.name.lower() or "optical" in str(node.authored("ros:frame:id") or "").lower()


def _place(node: Node, chain: list[Node], camera: Node, *, below: bool) -> OpticalFrame:
    matrix = Gf.Matrix4d(1)
    for step in chain:
        matrix = matrix * _local(step)
    return _describe(node, camera, matrix, below)


def _local(node: Node) -> Gf.Matrix4d:
    xformable = UsdGeom.Xformable(node.prim)
    return xformable.GetLocalTransformation() if xformable else Gf.Matrix4d(1)


def _beside(node: Node, camera: Node, snapshot: Snapshot) -> OpticalFrame:
    world = snapshot.xforms.GetLocalToWorldTransform
    return _describe(node, camera, world(node.prim) * world(camera.prim).GetInverse(), below=False)


def _describe(node: Node, camera: Node, matrix: Gf.Matrix4d, below: bool) -> OpticalFrame:
    rows = [Gf.Vec3d(*matrix.GetRow3(i)) for i in range(3)]
    lengths = tuple(row.GetLength() for row in rows)
    unit = tuple(row / length if length > 0 else row for row, length in zip(rows, lengths, strict=True))
    offset = matrix.ExtractTranslation().GetLength()
    return OpticalFrame(node, camera, below, unit, lengths, offset)


def _angle(a: Gf.Vec3d, b: Gf.Vec3d) -> float:
    """Angle between two unit vectors [rad], exact for small ones too."""
    return math.atan2(Gf.Cross(a, b).GetLength(), Gf.Dot(a, b))
