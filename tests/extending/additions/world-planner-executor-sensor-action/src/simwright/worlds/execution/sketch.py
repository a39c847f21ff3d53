# SPDX-License-Identifier: Apache-2.0
"""An executor that takes its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from simwright.worlds.execution.executor import ConstantVelocityExecutor
from simwright.worlds.entities import WorldRobot
from simwright.worlds.world import World


class SketchExecutor(ConstantVelocityExecutor):
    """``seconds`` for every metre."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {"seconds": 10.0}

    def __init__(self, world: World, robot: WorldRobot, values: Mapping[str, Any]) -> None:
        settings = {"dt": 1.0, "linear_velocity": 1.0 / values["seconds"], "max_angular_velocity": None}
        looks = {
            "validate_during_execution": False,
            "lidar_sensor_name": "",
            "lidar_sensor_measurement_dt": 1.0,
        }
        super().__init__(world, robot, {**settings, **looks})
