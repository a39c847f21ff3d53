# SPDX-License-Identifier: Apache-2.0
"""What an executor is, and the table of them; velocity commands.

An executor turns a path into a movement: it gives the trajectory, and says how often to look at what lies ahead.
Executors of others come through entry points in ``simwright.world_executors``.  A trajectory is a path in time:
constant speed along it, or within the accelerations of a robot that has limits; positions interpolated linearly,
rotations along the shortest arc.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

from simwright.core.errors import UsageError
from simwright.core.math3d import quat_slerp
from simwright.core.registry import Registry
from simwright.worlds.entities import ComponentOptions, MotionLimits, WorldRobot
from simwright.worlds.planning.path import Path
from simwright.worlds.poses import WorldPose, as_quaternion, compute_yaw
from simwright.worlds.world import World

# change of direction [m/m, rad/m] below which two pieces are one
_STRAIGHT = 1e-9


@dataclass(frozen=True, slots=True)
class Trajectory:
    """``times[k]`` [s] is when ``poses[k]`` is reached; the first one is zero, and they do not fall.

    Between two poses the speed is constant, or changes evenly: ``starts[k]`` is the speed at which piece k begins, as a
    share of its mean speed (1 for constant, 0 from rest, 2 to rest).
    """

    times: tuple[float, ...]
    poses: tuple[WorldPose, ...]
    starts: tuple[float, ...] = ()
    """Empty where every piece is gone along at constant speed."""

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
        share = (time - before) / (after - before)
        if self.starts:
            start = self.starts[number - 1]
            share = share * (start + (1.0 - start) * share)
        return mix_poses(self.poses[number - 1], self.poses[number], share)

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
    for length, turn in _measure_pieces(path):
        seconds = length / linear_velocity
        if max_angular_velocity is not None and math.isfinite(max_angular_velocity):
            # turning and moving happen together: the slower one decides
            seconds = max(seconds, turn / max_angular_velocity)
        times.append(times[-1] + seconds)
    return Trajectory(tuple(times), path.poses)


def _measure_pieces(path: Path) -> list[tuple[float, float]]:
    """Length [m] and turn [rad] of every piece."""
    # yaws are not wrapped: the shorter way round counts
    return [
        (
            math.dist((a.x, a.y, a.z), (b.x, b.y, b.z)),
            abs(math.remainder(b.yaw - a.yaw, math.tau)),
        )
        for a, b in pairwise(path.poses)
    ]


def make_smooth_trajectory(path: Path, limits: MotionLimits, dt: float) -> Trajectory:
    """Go along a path from rest to rest, within speeds [m/s, rad/s] and accelerations [m/s2, rad/s2].

    At a corner the robot goes at the speed at which one time step ``dt`` [s] is enough to change its velocity, and
    keeps that speed for a step on both sides: commands every ``dt`` never differ by more than the accelerations allow.
    Where it turns on the spot it stands.
    """
    plain = make_trajectory(path, limits.max_linear_velocity, limits.max_angular_velocity)
    if min(limits.max_linear_acceleration, limits.max_angular_acceleration) <= 0.0:
        raise UsageError("a path is followed with positive accelerations")
    pieces = [
        _PathPiece(start, end, length, turn, limits)
        for (start, end), (length, turn) in zip(pairwise(path.poses), _measure_pieces(path), strict=True)
        if length > 0.0 or turn > 0.0
    ]
    if not pieces:
        return plain
    corners = [_limit_corner(a, b, limits, dt) for a, b in pairwise(pieces)]
    holds = [0.0, *(hold for _, hold in corners), 0.0]
    speeds = [0.0, *(speed for speed, _ in corners), 0.0]
    # forward what can be gained on each piece, backward what can be lost
    for number, piece in enumerate(pieces):
        speeds[number + 1] = min(speeds[number + 1], piece.reach(speeds[number]))
    for number in range(len(pieces) - 1, -1, -1):
        speeds[number] = min(speeds[number], pieces[number].reach(speeds[number + 1]))
    times, poses, starts = [0.0], [pieces[0].start], []
    for number, piece in enumerate(pieces):
        ends = [(speeds[k], holds[k] * speeds[k]) for k in (number, number + 1)]
        for seconds, pose, start in piece.list_phases(*ends):
            times.append(times[-1] + seconds)
            poses.append(pose)
            starts.append(start)
    return Trajectory(tuple(times), tuple(poses), tuple(starts))


class _PathPiece:
    """A straight piece, measured by its length, or by its turn where it has none.

    ``top`` and ``rate`` are the largest speed and acceleration in that measure.
    """

    def __init__(
        self, start: WorldPose, end: WorldPose, length: float, turn: float, limits: MotionLimits
    ) -> None:
        self.start, self.end = start, end
        self.on_the_spot = length == 0.0
        self.size = turn if self.on_the_spot else length
        self.usable = self.size
        """What is left to change the speed on."""
        moving, turning = length / self.size, turn / self.size
        """Metres and radians for each unit of the measure."""
        self.top = min(
            _divide(limits.max_linear_velocity, moving), _divide(limits.max_angular_velocity, turning)
        )
        self.rate = min(
            _divide(limits.max_linear_acceleration, moving),
            _divide(limits.max_angular_acceleration, turning),
        )
        # velocity for each unit of speed, as a vector of both axes and the turn
        signed = math.remainder(end.yaw - start.yaw, math.tau) / self.size
        self.direction = ((end.x - start.x) / self.size, (end.y - start.y) / self.size, signed)

    def reach(self, speed: float) -> float:
        """The largest speed at one end, given that at the other."""
        return min(self.top, math.sqrt(speed * speed + 2.0 * self.rate * self.usable))

    def list_phases(
        self, first: tuple[float, float], last: tuple[float, float]
    ) -> Iterator[tuple[float, WorldPose, float]]:
        """Speeding up, going on, slowing down: seconds, the pose at the end, and how it starts.

        The ends are speeds, and how much of the piece is gone along at them.
        """
        if math.isinf(self.rate):
            yield self.size / self.top, self.end, 1.0
            return
        (begin, held), (end, kept) = first, last
        size = self.size - held - kept
        peak = min(self.top, math.sqrt(self.rate * size + 0.5 * (begin * begin + end * end)))
        gained = max(peak * peak - begin * begin, 0.0) / (2.0 * self.rate)
        lost = max(peak * peak - end * end, 0.0) / (2.0 * self.rate)
        yield from self._place_phases(
            (
                (held, begin, begin),
                (gained, begin, peak),
                (size - gained - lost, peak, peak),
                (lost, peak, end),
                (kept, end, end),
            )
        )

    def _place_phases(
        self, phases: Iterable[tuple[float, float, float]]
    ) -> Iterator[tuple[float, WorldPose, float]]:
        place = 0.0
        for size, before, after in phases:
            # what rounding leaves of a phase is none
            if size <= 1e-12 * self.size:
                continue
            place += size
            mean = 0.5 * (before + after)
            share = place / self.size
            pose = self.end if share >= 1.0 - 1e-12 else mix_poses(self.start, self.end, share)
            yield size / mean, pose, before / mean


def _divide(limit: float, share: float) -> float:
    return limit / share if share > 0.0 else math.inf


def _limit_corner(
    before: _PathPiece, after: _PathPiece, limits: MotionLimits, dt: float
) -> tuple[float, float]:
    """The largest speed at which a robot may pass from one piece to the next, and how long it keeps it [s]."""
    # a turn on the spot has another measure than a way: the robot stands between them
    if before.on_the_spot is not after.on_the_spot:
        return 0.0, 0.0
    change = [b - a for a, b in zip(before.direction, after.direction, strict=True)]
    bend, swing = math.hypot(change[0], change[1]), abs(change[2])
    top = min(before.top, after.top)
    # rounding along a straight line is no corner
    moving = math.inf if bend < _STRAIGHT else limits.max_linear_acceleration * dt / bend
    turning = math.inf if swing < _STRAIGHT else limits.max_angular_acceleration * dt / swing
    if math.isinf(moving) and math.isinf(turning):
        return top, 0.0
    # not more than one corner in a step: each takes up to a quarter of the pieces beside it
    before.usable -= 0.25 * before.size
    after.usable -= 0.25 * after.size
    return min(top, moving, turning, 0.25 * min(before.size, after.size) / dt), dt


def mix_poses(start: WorldPose, end: WorldPose, share: float) -> WorldPose:
    """A pose between two, at a share from 0 to 1."""
    x, y, z = (a + share * (b - a) for a, b in ((start.x, end.x), (start.y, end.y), (start.z, end.z)))
    turned = as_quaternion(quat_slerp(start.quaternion, end.quaternion, share))
    return WorldPose(x, y, z, turned, compute_yaw(turned))


Velocity = tuple[float, float, float]
STILL: Velocity = (0.0, 0.0, 0.0)


def find_command(
    trajectory: Trajectory, time: float, pose: Sequence[float], dt: float, gain: float = 2.0
) -> Velocity:
    """The velocity along x and y [m/s] and about z [rad/s], in the axes of the world, that keeps to a trajectory.

    ``pose`` is where a robot is at ``time`` [s]: x, y [m] and yaw [rad].  For bases in other simulators, driven by
    velocities that are held for ``dt`` [s]: that of the trajectory a little later, for motors take a while, and
    ``gain`` [1/s] times how far the robot is off it.  A base that brakes as hard as it may cannot make up for having
    begun late, so the gain is too low for it to catch up first.
    """
    here, soon, later = (trajectory.sample(time + ahead) for ahead in (0.0, 0.6 * dt, 1.6 * dt))
    x, y, yaw = pose
    turn = math.remainder(later.yaw - soon.yaw, math.tau) / dt
    return (
        (later.x - soon.x) / dt + gain * (here.x - x),
        (later.y - soon.y) / dt + gain * (here.y - y),
        turn + gain * math.remainder(here.yaw - yaw, math.tau),
    )


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
    """Keeps to the speeds and accelerations of the robot as well; in reference mode only to its own speeds."""

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
        self._limits = MotionLimits(
            self.linear_velocity,
            math.inf if self.max_angular_velocity is None else self.max_angular_velocity,
            math.inf if world.reference else robot.limits.max_linear_acceleration,
            math.inf if world.reference else robot.limits.max_angular_acceleration,
        )

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
        limits = self._limits
        if math.isinf(limits.max_linear_acceleration) and math.isinf(limits.max_angular_acceleration):
            return make_trajectory(path, self.linear_velocity, self.max_angular_velocity)
        return make_smooth_trajectory(path, limits, self.dt)


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
