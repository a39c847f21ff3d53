# SPDX-License-Identifier: Apache-2.0
"""What a sensor is, and the table of them; those of others come through ``simwright.world_sensors``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from simwright.core.errors import UnknownNameError
from simwright.core.registry import Registry
from simwright.worlds.robots import WorldRobot
from simwright.worlds.world import World

ROWS = {
    "lidar": "simwright.worlds.sensing.lidar:Lidar",
    "fov": "simwright.worlds.sensing.fov:FieldOfView",
}


class WorldSensor(Protocol):
    """Belongs to one robot."""

    PROPERTIES: ClassVar[Mapping[str, Any]]

    @property
    def period(self) -> float:
        """Time between two measurements [s]."""

    def measure(self) -> Any:
        """What it measures now."""


SENSORS: Registry[Any] = Registry("sensor", "simwright.world_sensors", ROWS)


def make_sensor(world: World, robot: WorldRobot, name: str) -> Any:
    """The sensor of a robot with that name."""
    options = robot.sensors.get(name)
    if options is None:
        raise UnknownNameError(f"sensor of {robot.name!r}", name, robot.sensors)
    return SENSORS.get(options.type)(world, robot, options)


def make_sensors(world: World, robot: WorldRobot) -> dict[str, Any]:
    """All sensors of a robot by name."""
    return {name: make_sensor(world, robot, name) for name in robot.sensors}
