# SPDX-License-Identifier: Apache-2.0
"""Light to see a world by, and a camera that has all of it in the picture."""

from __future__ import annotations

import math

import numpy as np
import shapely

from simwright.core.math3d import Array, Pose, quat_from_matrix
from simwright.model.asset import Camera, Light, LightKind
from simwright.worlds.world import World

SIZE = (1280, 800)
FILL = 0.94
"""How much of the picture the world takes."""


def list_corners(world: World) -> Array:
    """The corners of all walls, at the floor and at the top [m]."""
    rows = [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)] if not world.floors else []
    for part in world.floors:
        points = shapely.get_coordinates(part.outer)
        rows += [(x, y, z) for x, y in points for z in (0.0, world.wall_height(part))]
    return np.array(rows)


def make_lights(top: float) -> list[Light]:
    """A sun with shadows, and a weaker one from the other side."""
    height = top + 10.0
    sun = Pose.from_rpy((0.0, 0.0, height), (math.radians(28.0), math.radians(-20.0), 0.0))
    fill = Pose.from_rpy((0.0, 0.0, height), (math.radians(-35.0), math.radians(30.0), 0.0))
    return [
        Light(
            "sun", LightKind.DIRECTIONAL, pose=sun, color=(1.0, 0.98, 0.94), intensity=2.2, angle=0.01,
            normalized=True,
        ),
        Light(
            "sky", LightKind.DIRECTIONAL, pose=fill, color=(0.9, 0.95, 1.0), intensity=1.0, cast_shadows=False,
            angle=0.01, normalized=True,
        ),
    ]  # fmt: skip


def make_camera(corners: Array) -> Camera:
    """From the south and well above, as near as the whole world fits into the picture."""
    azimuth, elevation, fov, (width, height) = (
        math.radians(-78.0),
        math.radians(62.0),
        math.radians(35.0),
        SIZE,
    )
    away = np.array(
        (
            math.cos(elevation) * math.cos(azimuth),
            math.cos(elevation) * math.sin(azimuth),
            math.sin(elevation),
        )
    )
    side = np.cross((0.0, 0.0, 1.0), away)
    side /= np.linalg.norm(side)
    axes = np.column_stack((side, np.cross(away, side), away))
    center = (corners.min(axis=0) + corners.max(axis=0)) / 2.0
    slope = FILL * math.tan(fov / 2.0) * np.array((width / height, 1.0))
    distance = 1.0
    for _ in range(20):  # the middle of the picture and the distance depend on each other
        seen = (corners - center) @ axes
        distance = float((seen[:, 2:] + np.abs(seen[:, :2]) / slope).max())
        reach = seen[:, :2] / (distance - seen[:, 2:])
        center = center + axes[:, :2] @ (distance * (reach.max(axis=0) + reach.min(axis=0)) / 2.0)
    return Camera(
        "overview",
        pose=Pose.of(center + distance * away, quat_from_matrix(axes)),
        fov_y=fov,
        resolution=SIZE,
        near=0.1,
        far=2.0 * distance + float(np.linalg.norm(np.ptp(corners, axis=0))),
    )
