# SPDX-License-Identifier: Apache-2.0
"""What an executor is, and the table of them; velocity commands.

An executor turns a path into a movement: it gives the trajectory, and says how often to look at what lies ahead.
Executors of others come through entry points in ``simwright.world_executors``.  A trajectory is a path in time:
constant speed along it, positions interpolated linearly, rotations along the shortest arc.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from simwright.core.errors import UsageError
from simwright.core.math3d import quat_slerp
from simwright.core.registry import Registry
from simwright.worlds.entities import ComponentOptions, MotionLimits, WorldRobot
from simwright.worlds.planning.path import Path
from simwright.worlds.poses import WorldPose, as_quaternion, compute_yaw
from simwright.worlds.world import World


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
            # yaws are not wrapped: the shorter way round counts
            turn = abs(math.remainder(end.yaw - start.yaw, math.tau))
            # turning and moving happen together: the slower one decides
            seconds = max(seconds, turn / max_angular_velocity)
        times.append(times[-1] + seconds)
    return Trajectory(tuple(times), path.poses)


def mix_poses(start: WorldPose, end: WorldPose, share: float) -> WorldPose:
    """A pose between two, at a share from 0 to 1."""
    x, y, z = (a + share * (b - a) for a, b in ((start.x, end.x), (start.y, end.y), (start.z, end.z)))
    turned = as_quaternion(quat_slerp(start.quaternion, end.quaternion, share))
    return WorldPose(x, y, z, turned, compute_yaw(turned))


Velocity = tuple[float, float, float]
STILL: Velocity = (0.0, 0.0, 0.0)


class VelocityControl:
    """The velocity of one robot under commands: forward and sideways [m/s] and turning [rad/s], in its own frame.

    Each of them is held first to the largest speed, then to the largest acceleration.  In reference mode a command of
    zeros stops the robot at once; otherwise it slows down like anything else.
    """

    def __init__(self, limits: MotionLimits, *, reference: bool = False) -> None:
        self.velocity: Velocity = STILL
        self._reference = reference
        self._speeds = (limits.max_linear_velocity, limits.max_linear_velocity, limits.max_angular_velocity)
        self._rates = (
            limits.max_linear_acceleration,
            limits.max_linear_acceleration,
            limits.max_angular_acceleration,
        )

    def step(self, pose: WorldPose, command: Sequence[float], dt: float) -> WorldPose:
        """Where a command leads within ``dt`` [s]."""
        # a command of zeros: PyRoboSim keeps the velocity for the next one
        if self._reference and not any(command):
            return pose
        self.velocity = self.limit(command, dt)
        forward, sideways, turning = self.velocity
        cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
        return WorldPose.from_yaw(
            pose.x + (forward * cosine - sideways * sine) * dt,
            pose.y + (forward * sine + sideways * cosine) * dt,
            pose.z,
            pose.yaw + turning * dt,
        )

    def limit(self, command: Sequence[float], dt: float) -> Velocity:
        """The command as far as the robot can follow it."""
        limits = zip(command, self.velocity, self._speeds, self._rates, strict=True)
        forward, sideways, turning = (
            # speed first, then acceleration, each axis by itself: the order of PyRoboSim
            _clip(_clip(float(wanted), -speed, speed), now - rate * dt, now + rate * dt)
            for wanted, now, speed, rate in limits
        )
        return forward, sideways, turning

    def stop(self) -> None:
        """Stand still at once."""
        self.velocity = STILL


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


# files may say dt: 0; a trajectory of millions of poses serves nobody
_LEAST_DT = 1e-4


class ConstantVelocityExecutor:
    """Keeps to the speeds of the robot as well; in reference mode only to its own."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: World, robot: WorldRobot, values: Mapping[str, Any]) -> None:
        self._values = values
        self.linear_velocity = float(values["linear_velocity"])
        turning = values["max_angular_velocity"]
        self.max_angular_velocity = None if turning is None else float(turning)
        # in PyRoboSim the limits of a robot count for velocity commands only
        if not world.reference:
            limits = robot.limits
            self.linear_velocity = min(self.linear_velocity, limits.max_linear_velocity)
            turning = (
                limits.max_angular_velocity if turning is None else min(turning, limits.max_angular_velocity)
            )
            self.max_angular_velocity = float(turning)

    @property
    def dt(self) -> float:
        """Time between two poses [s]."""
        return max(float(self._values["dt"]), _LEAST_DT)

    @property
    def validation_dt(self) -> float | None:
        """Time between two looks at the rest of the path [s]; None for never."""
        if not self._values["validate_during_execution"]:
            return None
        return max(float(self._values["validation_dt"]), self.dt)

    @property
    def lidar(self) -> str:
        """The lidar that finds out about doors; empty for none."""
        return str(self._values["lidar_sensor_name"] or "")

    @property
    def lidar_dt(self) -> float:
        """Time between two of its measurements [s]."""
        return max(float(self._values["lidar_sensor_measurement_dt"]), self.dt)

    def follow(self, path: Path) -> Trajectory:
        """The path in time."""
        return make_trajectory(path, self.linear_velocity, self.max_angular_velocity)


ROWS = {"constant_velocity": "simwright.worlds.execution.executor:ConstantVelocityExecutor"}


class Executor(Protocol):
    """Moves one robot."""

    PROPERTIES: ClassVar[Mapping[str, Any]]

    @property
    def dt(self) -> float:
        """Time between two poses [s]."""

    @property
    def validation_dt(self) -> float | None:
        """Time between two looks at the rest of the path [s]; None for never."""

    @property
    def lidar(self) -> str:
        """The lidar that finds out about doors; empty for none."""

    @property
    def lidar_dt(self) -> float:
        """Time between two of its measurements [s]."""

    def follow(self, path: Path) -> Trajectory:
        """The path in time."""


EXECUTORS: Registry[Any] = Registry("path executor", "simwright.world_executors", ROWS)


def make_executor(
    world: World, robot: WorldRobot, options: ComponentOptions | None = None
) -> Executor | None:
    """The executor of a robot; None where it has none."""
    options = robot.path_executor if options is None else options
    if options is None:
        return None
    executor: Executor = EXECUTORS.get(options.type)(world, robot, options.values)
    return executor
