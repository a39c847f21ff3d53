# SPDX-License-Identifier: Apache-2.0
"""Grasps of a parallel gripper on the smallest box around an object.

The box is the rectangle of least area around the footprint, as high as the object.  A grasp has a frame: z is the
direction of approach, x the direction in which the fingers close, and the origin is between the finger tips.  The
fingers go in as deep as they reach, at most to the middle of the box.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core import math3d
from simwright.core.registry import Registry
from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import ComponentOptions, WorldRobot
from simwright.worlds.world import WorldObject

Vector = npt.NDArray[np.float64]
FACES = ("front", "top")
_AXES = np.eye(3)
_FIT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class GraspBox:
    """Sizes along its own axes [m], and the pose of its middle in the world."""

    size: tuple[float, float, float]
    pose: WorldPose


@dataclass(frozen=True, slots=True, eq=False)
class Grasp:
    """A grasp on a face of the box, seen from the robot: ``front``, ``top``, ``left`` or ``right``."""

    face: str
    direction: str
    """The face in the frame of the box: ``+x``, ``-y``, ``+z`` ..."""
    width: float
    """How far the fingers have to open [m]."""
    in_box: math3d.Pose
    """The frame of the grasp in that of the box."""
    in_world: math3d.Pose


class ParallelGrasp:
    """``max_width``, ``depth`` and ``height`` of the fingers, and the clearances that are kept [m]."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, options: ComponentOptions) -> None:
        self.width = float(options["max_width"]) - float(options["width_clearance"])
        self.depth = float(options["depth"]) - float(options["depth_clearance"])
        self.height = float(options["height"])

    def list_grasps(
        self, box: GraspBox, robot: WorldPose, faces: Sequence[str] = FACES, *, lift: bool = True
    ) -> list[Grasp]:
        """The grasps on some faces; with ``lift`` high enough for the fingers to stay above what the box stands on."""
        found = []
        for face, normal in find_faces(box, robot).items():
            if face in faces:
                found += self._grasp_face(box, face, normal, lift)
        return found

    def _grasp_face(self, box: GraspBox, face: str, normal: Vector, lift: bool) -> list[Grasp]:
        """Both ways to turn the gripper before a face; those that are wide enough."""
        along = int(np.argmax(np.abs(normal)))
        inset = max(0.0, box.size[along] / 2 - self.depth)
        found = []
        for across in _list_others(along):
            if box.size[across] > self.width + _FIT:
                continue
            point = normal * inset
            thick = 3 - along - across
            if lift and thick == 2:
                point = point + _AXES[2] * max(0.0, (self.height - box.size[2]) / 2)
            turned = np.column_stack((_AXES[across], np.cross(-normal, _AXES[across]), -normal))
            frame = math3d.Pose.of(point, math3d.quat_from_matrix(turned))
            whole = math3d.Pose.of(
                math3d.quat_rotate(box.pose.quaternion, point)
                + np.array((box.pose.x, box.pose.y, box.pose.z)),
                math3d.quat_multiply(box.pose.quaternion, math3d.quat_from_matrix(turned)),
            )
            name = f"{'+' if normal[along] > 0 else '-'}{'xyz'[along]}"
            found.append(Grasp(face, name, box.size[across], frame, whole))
        return found


GRASPS: Registry[Any] = Registry(
    "grasp generator",
    "simwright.world_grasps",
    {"parallel_grasp": "simwright.worlds.acting.grasps:ParallelGrasp"},
)


def list_grasps(
    robot: WorldRobot, item: WorldObject, faces: Sequence[str] = FACES, *, lift: bool = True
) -> list[Grasp]:
    """The grasps of a robot on an object from where it stands."""
    if robot.grasping is None:
        return []
    found: list[Grasp] = GRASPS.get(robot.grasping.type)(robot.grasping).list_grasps(
        fit_box(item), robot.pose, faces, lift=lift
    )
    return found


def fit_box(item: WorldObject) -> GraspBox:
    """The smallest box around an object that stands upright."""
    corners = shapely.get_coordinates(shapely.oriented_envelope(item.raw_polygon))
    first, second = corners[1] - corners[0], corners[2] - corners[1]
    center = corners[:4].mean(axis=0)
    yaw = math.atan2(first[1], first[0]) + item.pose.yaw
    x, y = shapely.get_coordinates(_turn(center, item.pose.yaw))[0]
    pose = WorldPose.from_yaw(item.pose.x + x, item.pose.y + y, item.pose.z + item.height / 2, yaw)
    return GraspBox((math.hypot(*first), math.hypot(*second), item.height), pose)


def find_faces(box: GraspBox, robot: WorldPose) -> dict[str, Vector]:
    """The normals of the faces as the robot sees them, in the frame of the box."""
    away = np.array((robot.x - box.pose.x, robot.y - box.pose.y))
    cosine, sine = math.cos(box.pose.yaw), math.sin(box.pose.yaw)
    seen = np.array((cosine * away[0] + sine * away[1], -sine * away[0] + cosine * away[1], 0.0))
    if not seen.any():
        seen[0] = -1.0
    along = int(np.argmax(np.abs(seen)))
    front = _AXES[along] * math.copysign(1.0, seen[along])
    left = np.cross(front, _AXES[2])
    return {"front": front, "top": _AXES[2], "left": left, "right": -left}


def _list_others(axis: int) -> list[int]:
    """The two other axes; for the horizontal ones the horizontal one first."""
    return [other for other in (1, 0, 2) if other != axis]


def _turn(point: Vector, yaw: float) -> Any:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return shapely.Point(cosine * point[0] - sine * point[1], sine * point[0] + cosine * point[1])
