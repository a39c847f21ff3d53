# SPDX-License-Identifier: Apache-2.0
"""Robots of a world: a disc with a pose, a battery, limits, and options for what plans and acts on its behalf."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simwright.core.diag import NOWHERE, Where
from simwright.worlds.poses import ORIGIN, WorldPose

if TYPE_CHECKING:
    from simwright.worlds.world import Hallway, Place, World, WorldObject

FULL_BATTERY = 100.0


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Largest speeds [m/s, rad/s] and accelerations [m/s^2, rad/s^2]; infinite where nothing is said."""

    max_linear_velocity: float = math.inf
    max_angular_velocity: float = math.inf
    max_linear_acceleration: float = math.inf
    max_angular_acceleration: float = math.inf


@dataclass(frozen=True, slots=True)
class ActionOptions:
    """How an action is carried out: ``delay`` [s], chance of success, seed, battery per metre or per attempt [%]."""

    delay: float = 0.0
    success_probability: float = 1.0
    rng_seed: int | None = None
    battery_usage: float = 0.0


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """A planner, executor, grasp generator or sensor: its type and every property, defaults filled in."""

    type: str
    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


@dataclass(slots=True, eq=False)
class WorldRobot:
    """A robot: a disc of ``radius`` [m].  ``pose`` and what follows it change as it acts."""

    name: str
    radius: float = 0.0
    height: float = 0.0
    color: tuple[float, float, float] = (0.8, 0.0, 0.8)
    limits: MotionLimits = MotionLimits()
    initial_battery_level: float = FULL_BATTERY
    partial_obs_objects: bool = False
    partial_obs_hallways: bool = False
    start_sensor_threads: bool = True
    path_planner: ComponentOptions | None = None
    path_executor: ComponentOptions | None = None
    grasping: ComponentOptions | None = None
    sensors: dict[str, ComponentOptions] = field(default_factory=dict)
    actions: dict[str, ActionOptions] = field(default_factory=dict)
    where: Where = NOWHERE

    pose: WorldPose = ORIGIN
    location: Place | None = field(default=None, repr=False)
    """The room, hallway or spawn it is at."""
    battery_level: float = FULL_BATTERY
    """Charge [%]."""
    held: WorldObject | None = field(default=None, repr=False)
    known_objects: set[str] = field(default_factory=set)
    """Names of the objects it has detected; counts with ``partial_obs_objects``."""
    known_closed: set[str] = field(default_factory=set)
    """Names of the hallways it found closed; counts with ``partial_obs_hallways``."""

    def spend(self, amount: float) -> None:
        """Use battery [%]; it ends at zero."""
        self.battery_level = max(0.0, self.battery_level - amount)

    def charge(self) -> None:
        """Fill the battery."""
        self.battery_level = FULL_BATTERY

    def knows_closed(self, hallway: Hallway) -> bool:
        """Does it take the door for closed?"""
        if self.partial_obs_hallways:
            return hallway.name in self.known_closed
        return not hallway.is_open

    def list_known_objects(self, world: World) -> list[WorldObject]:
        """The objects it knows of."""
        if not self.partial_obs_objects:
            return list(world.objects)
        return [item for item in world.objects if item.name in self.known_objects]
