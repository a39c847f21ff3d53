# SPDX-License-Identifier: Apache-2.0
"""A compass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from simwright.worlds.entities import ComponentOptions
from simwright.worlds.entities import WorldRobot
from simwright.worlds.world import World


class SketchCompass:
    """Where the robot looks [rad]."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {"offset": 0.0}
    period = 0.1

    def __init__(self, world: World, robot: WorldRobot, options: ComponentOptions) -> None:
        del world
        self.robot, self.offset = robot, float(options["offset"])

    def measure(self) -> float:
        """The angle now."""
        return float(self.robot.pose.yaw + self.offset)
