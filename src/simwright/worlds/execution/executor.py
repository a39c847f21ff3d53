# SPDX-License-Identifier: Apache-2.0
"""What an executor is, and the table of them.

An executor turns a path into a movement: it gives the trajectory, and says how often to look at what lies ahead.
Executors of others come through entry points in ``simwright.world_executors``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from simwright.core.registry import Registry
from simwright.worlds.execution.trajectory import Trajectory
from simwright.worlds.planning.path import Path
from simwright.worlds.robots import ComponentOptions, WorldRobot
from simwright.worlds.world import World

ROWS = {"constant_velocity": "simwright.worlds.execution.constant_velocity:ConstantVelocityExecutor"}


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
