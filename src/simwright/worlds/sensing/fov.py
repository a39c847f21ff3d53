# SPDX-License-Identifier: Apache-2.0
"""The field of view: which objects are in sight.

Walls and closed doors hide what is behind them; furniture does not, but objects in a closed location are not seen.  In
reference mode a corner hides nothing: whatever part of the sector is connected to the robot counts, as in PyRoboSim.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import shapely

from simwright.worlds.robots import ComponentOptions, WorldRobot
from simwright.worlds.robots_options import angles_in_radians
from simwright.worlds.sensing.rays import Array, Edges, cast_rays, keep_near, list_edges
from simwright.worlds.world import Geometry, World, WorldObject

_ARC_STEP = math.radians(2.0)
_BESIDE = 1e-7
"""Rays go that far to both sides of a corner [rad]."""
_REFERENCE_STEPS = 33


class FieldOfView:
    """A sector in front of the robot."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: World, robot: WorldRobot, options: ComponentOptions) -> None:
        self.world, self.robot = world, robot
        self.period = float(options["update_rate_s"])
        self.max_range = float(options["max_range_m"])
        self.min_angle = angles_in_radians(options, "min_angle")
        self.max_angle = angles_in_radians(options, "max_angle")
        self._space: Geometry | None = None
        self._edges = Edges(np.empty((0, 2)), np.empty((0, 2)))

    def measure(self) -> list[WorldObject]:
        """The objects in view, in the order of the world."""
        area = self.find_area()
        found = []
        for item in self.world.objects:
            shown = item.spawn is not None and item.spawn.location.is_open
            if shown and item.polygon.intersects(area):
                found.append(item)
        return found

    def find_area(self) -> Geometry:
        """What is in view, as a polygon."""
        pose, space = self.robot.pose, self.world.sensing_space
        if self.world.reference:
            return self._clip_sector(space)
        if not shapely.intersects_xy(space, pose.x, pose.y):
            return shapely.Polygon()
        if space is not self._space:
            self._space, self._edges = space, list_edges(space)
        angles = self._list_angles()
        ranges = cast_rays(self._edges, pose.xy, angles, self.max_range)
        return self._join(angles, ranges)

    def _list_angles(self) -> Array:
        """An even fan, and both sides of every corner in it [rad]."""
        pose = self.robot.pose
        low, high = self.min_angle + pose.yaw, min(self.max_angle, self.min_angle + math.tau) + pose.yaw
        count = max(2, math.ceil((high - low) / _ARC_STEP) + 1)
        near = keep_near(self._edges, pose.xy, self.max_range)
        away = np.vstack((near.starts, near.ends)) - pose.xy
        corners = np.arctan2(away[:, 1], away[:, 0])
        corners = low + np.mod(corners - low, math.tau)
        corners = np.concatenate((corners - _BESIDE, corners, corners + _BESIDE))
        corners = corners[(corners > low) & (corners < high)]
        return np.unique(np.concatenate((np.linspace(low, high, count), corners)))

    def _join(self, angles: Array, ranges: Array) -> Geometry:
        pose = self.robot.pose
        points = np.column_stack((pose.x + ranges * np.cos(angles), pose.y + ranges * np.sin(angles)))
        if self.max_angle - self.min_angle < math.tau:
            points = np.vstack(([pose.xy], points))
        return shapely.make_valid(shapely.Polygon(points))

    def _clip_sector(self, space: Geometry) -> Geometry:
        pose = self.robot.pose
        angles = np.linspace(self.min_angle, self.max_angle, _REFERENCE_STEPS) + pose.yaw
        sector = self._join(angles, np.full(len(angles), self.max_range))
        body = shapely.Point(pose.xy).buffer(self.robot.radius)
        parts = shapely.get_parts(shapely.intersection(sector, space))
        kept = [part for part in parts if part.geom_type == "Polygon" and part.intersects(body)]
        return shapely.union_all(kept)
