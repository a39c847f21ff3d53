# SPDX-License-Identifier: Apache-2.0
"""Where things are: position, rotation and the yaw that the flat world uses.

Angles of a world file are *intrinsic* x, y, z (roll, then pitch about the turned y axis, then yaw about the turned
z axis), unlike the roll, pitch and yaw of URDF and SDFormat.  Worlds that only turn about z see no difference.
Polygons are turned by the yaw alone; roll and pitch are carried for three dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simwright.core import math3d

Quaternion: TypeAlias = tuple[float, float, float, float]
IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)
NEAR = 1e-6


@dataclass(frozen=True, slots=True)
class WorldPose:
    """Position [m], unit quaternion (w, x, y, z), and yaw [rad] as it was given (not wrapped)."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    quaternion: Quaternion = IDENTITY
    yaw: float = 0.0

    @classmethod
    def from_yaw(cls, x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> WorldPose:
        """A pose that is turned about z only; ``yaw`` in [rad]."""
        # exactly the identity: cos and sin of 0 give it as well, but most poses are such
        if yaw == 0.0:
            return cls(x, y, z)
        return cls(x, y, z, (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)), yaw)

    @classmethod
    def from_angles(cls, point: Sequence[float], angles: Sequence[float]) -> WorldPose:
        """A pose from a point [m] and intrinsic x, y, z angles [rad]."""
        (x, y, z), (roll, pitch, yaw) = point, angles
        if roll == 0.0 and pitch == 0.0:
            # no tilt: the yaw stays as it was given, also beyond half a turn
            return cls.from_yaw(x, y, z, yaw)
        return cls(x, y, z, as_quaternion(math3d.quat_from_intrinsic_xyz(roll, pitch, yaw)), yaw)

    @classmethod
    def from_quaternion(cls, x: float, y: float, z: float, quaternion: Iterable[float]) -> WorldPose:
        """A pose from a quaternion (w, x, y, z) of any length but zero."""
        # divided even where the length is nearly 1, unlike math3d.quat_normalize: PyRoboSim divides always, and
        # reference mode has its numbers
        values = tuple(quaternion)
        length = math.sqrt(sum(value * value for value in values))
        w, i, j, k = (value / length for value in values)
        return cls(x, y, z, (w, i, j, k), compute_yaw((w, i, j, k)))

    @property
    def xy(self) -> tuple[float, float]:
        """The point in the plane [m]."""
        return self.x, self.y

    def raised(self, height: float) -> WorldPose:
        """The same pose, ``height`` [m] further up."""
        return WorldPose(self.x, self.y, self.z + height, self.quaternion, self.yaw)

    def is_near(self, other: WorldPose) -> bool:
        """Equal within 1e-6 of position and rotation (a quaternion and its negative are the same rotation)."""
        distance = math.dist((self.x, self.y, self.z), (other.x, other.y, other.z))
        return distance <= NEAR and abs(_dot(self.quaternion, other.quaternion)) >= 1.0 - NEAR


ORIGIN = WorldPose()


def as_quaternion(values: math3d.Array) -> Quaternion:
    """A quaternion of :mod:`simwright.core.math3d` as plain numbers, which poses are compared and hashed by."""
    w, x, y, z = values.tolist()
    return w, x, y, z


def compute_yaw(quaternion: Quaternion) -> float:
    """The third of the intrinsic x, y, z angles [rad]; zero where the second one is a right angle."""
    w, x, y, z = quaternion
    along = 1.0 - 2.0 * (y * y + z * z)
    across = 2.0 * (x * y - w * z)
    # gimbal lock: roll and yaw turn about the same axis, and all of it is taken for roll
    if math.hypot(along, across) < 1e-12:
        return 0.0
    return math.atan2(-across, along)


def compose_along_world_axes(relative: WorldPose, base: WorldPose) -> WorldPose:
    """``relative_to`` as PyRoboSim has it: the offset counts along the axes of the world, the rotations add up."""
    # in this order, not base first: PyRoboSim multiplies so
    turned = _multiply(relative.quaternion, base.quaternion)
    return WorldPose.from_quaternion(base.x + relative.x, base.y + relative.y, base.z + relative.z, turned)


def compose_in_frame(relative: WorldPose, base: WorldPose) -> WorldPose:
    """``relative_to`` as a frame: the offset turns with the base."""
    x, y, z = (float(v) for v in math3d.quat_rotate(base.quaternion, (relative.x, relative.y, relative.z)))
    turned = _multiply(base.quaternion, relative.quaternion)
    return WorldPose.from_quaternion(base.x + x, base.y + y, base.z + z, turned)


def rotate_point(x: float, y: float, yaw: float) -> tuple[float, float]:
    """A point of the plane, turned about the origin by ``yaw`` [rad]."""
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return cosine * x - sine * y, sine * x + cosine * y


def _multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    w, x, y, z = as_quaternion(math3d.quat_multiply(a, b))
    # one sign for each rotation, so that equal poses compare equal
    return (w, x, y, z) if w >= 0.0 else (-w, -x, -y, -z)


def _dot(a: Quaternion, b: Quaternion) -> float:
    return sum(p * q for p, q in zip(a, b, strict=True))
