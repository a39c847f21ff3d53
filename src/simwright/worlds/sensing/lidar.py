# SPDX-License-Identifier: Apache-2.0
"""The flat lidar: walls, closed doors, furniture of any height and other robots stop its beams; objects do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import shapely

from simwright.core.errors import UsageError
from simwright.worlds.robots import ComponentOptions, WorldRobot
from simwright.worlds.robots_options import angles_in_radians
from simwright.worlds.sensing.rays import Array, Edges, cast_rays, cast_rays_at_discs, list_edges
from simwright.worlds.world import Geometry, World

MAX_BEAMS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class LidarScan:
    """``ranges[k]`` [m] along ``angles[k]`` [rad], counted from where the robot looks."""

    angles: Array
    ranges: Array
    max_range: float

    @property
    def hits(self) -> Any:
        """Which beams met something."""
        return self.ranges < self.max_range


class Lidar:
    """Beams from ``min_angle`` to ``max_angle``; a beam that meets nothing measures ``max_range_m``."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: World, robot: WorldRobot, options: ComponentOptions) -> None:
        self.world, self.robot = world, robot
        self.period = float(options["update_rate_s"])
        self.max_range = float(options["max_range_m"])
        self.angles = _list_angles(options, reference=world.reference)
        self._space: Geometry | None = None
        self._edges = Edges(np.empty((0, 2)), np.empty((0, 2)))

    def measure(self) -> LidarScan:
        """The ranges from where the robot is."""
        return LidarScan(self.angles, self._cast(), self.max_range)

    def draw_beams(self) -> Array:
        """Starts and ends of the beams, n by 2 by 2 [m]."""
        pose, ranges = self.robot.pose, self._cast()
        angles = self.angles + pose.yaw
        ends = np.column_stack((pose.x + ranges * np.cos(angles), pose.y + ranges * np.sin(angles)))
        return np.stack((np.broadcast_to(pose.xy, ends.shape), ends), axis=1)

    def _cast(self) -> Array:
        space = self.world.open_space
        if space is not self._space:
            self._space, self._edges = space, list_edges(space)
        pose = self.robot.pose
        if not shapely.intersects_xy(space, pose.x, pose.y):
            return np.zeros(len(self.angles))
        angles = self.angles + pose.yaw
        ranges = cast_rays(self._edges, pose.xy, angles, self.max_range)
        return np.minimum(ranges, self._cast_at_robots(angles))

    def _cast_at_robots(self, angles: Array) -> Array:
        """Robots are discs; to PyRoboSim they are polygons of 64 corners."""
        others = [other for other in self.world.robots if other is not self.robot and other.radius > 0.0]
        here = self.robot.pose.xy
        if self.world.reference:
            bodies = [shapely.Point(other.pose.xy).buffer(other.radius) for other in others]
            return cast_rays(list_edges(bodies), here, angles, self.max_range)
        discs = [(*other.pose.xy, other.radius) for other in others]
        return cast_rays_at_discs(discs, here, angles, self.max_range)


def _list_angles(options: ComponentOptions, *, reference: bool) -> Array:
    """The angles of the beams [rad], both ends included where the step fits."""
    low, high, step = (float(options[key]) for key in ("min_angle", "max_angle", "angular_resolution"))
    if (high - low) / step > MAX_BEAMS:
        raise UsageError(
            f"a lidar of more than {MAX_BEAMS:,} beams is not simulated", hint="use larger steps"
        )
    if reference:
        angles = np.arange(low, high + step, step)
    else:
        angles = low + step * np.arange(int((high - low) / step + 1e-9) + 1)
    unit = angles_in_radians(options, "angular_resolution") / step
    return np.asarray(angles * unit, dtype=np.float64)
