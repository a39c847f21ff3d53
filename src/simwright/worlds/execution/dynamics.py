# SPDX-License-Identifier: Apache-2.0
"""Velocity commands within the limits of a robot.

A command is forward and sideways speed [m/s] and turning [rad/s] in the robot's own frame.  Each of them is held first
to the largest speed, then to the largest acceleration.  In reference mode a command of zeros stops the robot at once,
as in PyRoboSim; otherwise it slows down like anything else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import MotionLimits

Velocity = tuple[float, float, float]
STILL: Velocity = (0.0, 0.0, 0.0)


class VelocityControl:
    """The velocity of one robot."""

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
            _clip(_clip(float(wanted), -speed, speed), now - rate * dt, now + rate * dt)
            for wanted, now, speed, rate in limits
        )
        return forward, sideways, turning

    def stop(self) -> None:
        """Stand still at once."""
        self.velocity = STILL


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
