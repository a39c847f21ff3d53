# SPDX-License-Identifier: Apache-2.0
"""A path in time: constant speed along it, positions interpolated linearly, rotations along the shortest arc."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from simwright.core.errors import UsageError
from simwright.worlds.planning.path import Path
from simwright.worlds.poses import Quaternion, WorldPose, compute_yaw


@dataclass(frozen=True, slots=True)
class Trajectory:
    """``times[k]`` [s] is when ``poses[k]`` is reached; the first one is zero, and they do not fall."""

    times: tuple[float, ...]
    poses: tuple[WorldPose, ...]

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return self.times[-1]

    def sample(self, time: float) -> WorldPose:
        """The pose at a time [s]; before the start the first one, after the end the last one."""
        number = bisect_right(self.times, time)
        if number == 0:
            return self.poses[0]
        if number == len(self.times):
            return self.poses[-1]
        before, after = self.times[number - 1], self.times[number]
        return mix_poses(self.poses[number - 1], self.poses[number], (time - before) / (after - before))

    def list_between(self, before: float, time: float) -> list[WorldPose]:
        """The poses that are passed after one time [s] and up to another: corners, then where it is at the end."""
        first, last = bisect_right(self.times, before), bisect_left(self.times, time)
        return [*self.poses[first:last], self.sample(time)]

    def find_rest(self, time: float) -> list[WorldPose]:
        """Where it leads from a time [s] on: the pose then, and those that follow."""
        number = bisect_right(self.times, time)
        return [self.sample(time), *self.poses[number:]]


def make_trajectory(
    path: Path, linear_velocity: float, max_angular_velocity: float | None = None
) -> Trajectory:
    """Go along a path at a speed [m/s]; slower where turning [rad/s] would take longer."""
    if linear_velocity <= 0.0 or (max_angular_velocity is not None and max_angular_velocity <= 0.0):
        raise UsageError("a path is followed at positive speeds")
    times = [0.0]
    for start, end in zip(path.poses, path.poses[1:], strict=False):
        seconds = math.dist((start.x, start.y, start.z), (end.x, end.y, end.z)) / linear_velocity
        if max_angular_velocity is not None and math.isfinite(max_angular_velocity):
            turn = abs(math.remainder(end.yaw - start.yaw, math.tau))
            seconds = max(seconds, turn / max_angular_velocity)
        times.append(times[-1] + seconds)
    return Trajectory(tuple(times), path.poses)


def mix_poses(start: WorldPose, end: WorldPose, share: float) -> WorldPose:
    """A pose between two, at a share from 0 to 1."""
    x, y, z = (a + share * (b - a) for a, b in ((start.x, end.x), (start.y, end.y), (start.z, end.z)))
    turned = slerp(start.quaternion, end.quaternion, share)
    return WorldPose(x, y, z, turned, compute_yaw(turned))


def slerp(start: Quaternion, end: Quaternion, share: float) -> Quaternion:
    """A rotation between two along the shorter arc, at a share from 0 to 1."""
    cosine = sum(a * b for a, b in zip(start, end, strict=True))
    if cosine < 0.0:
        cosine, end = -cosine, (-end[0], -end[1], -end[2], -end[3])
    angle = math.acos(min(1.0, cosine))
    if angle < 1e-9:
        return end if share > 0.5 else start
    first, second = (math.sin((1.0 - share) * angle), math.sin(share * angle))
    w, x, y, z = ((first * a + second * b) / math.sin(angle) for a, b in zip(start, end, strict=True))
    length = math.sqrt(w * w + x * x + y * y + z * z)
    return w / length, x / length, y / length, z / length
