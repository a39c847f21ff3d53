# SPDX-License-Identifier: Apache-2.0
"""The executor ``constant_velocity``: along the path at one speed, as if the robot could follow it exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from simwright.worlds.execution.trajectory import Trajectory, make_trajectory
from simwright.worlds.planning.path import Path
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import World

_LEAST_DT = 1e-4


class ConstantVelocityExecutor:
    """Keeps to the speeds of the robot as well; in reference mode only to its own."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: World, robot: WorldRobot, values: Mapping[str, Any]) -> None:
        self._values = values
        self.linear_velocity = float(values["linear_velocity"])
        turning = values["max_angular_velocity"]
        self.max_angular_velocity = None if turning is None else float(turning)
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
