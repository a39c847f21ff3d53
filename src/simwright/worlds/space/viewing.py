# SPDX-License-Identifier: Apache-2.0
"""Light to see a world by, and a camera that has all of it in the picture."""

from __future__ import annotations

import math

import numpy as np

from simwright.core.math3d import Array, Pose, quat_from_matrix
from simwright.model.asset import Camera, Light, LightKind
from simwright.worlds.world import World


def measure_world(world: World) -> tuple[Array, Array]:
    """The lowest and highest corner of a world [m]."""
    x, y, far_x, far_y = world.bounds
    top = max((world.wall_height(part) for part in world.floors), default=world.params.wall_height)
    return np.array((x, y, 0.0)), np.array((far_x, far_y, top))


def make_lights(high: Array) -> list[Light]:
    """A sun with shadows, and a weaker one from the other side."""
    height = float(high[2]) + 10.0
    sun = Pose.from_rpy((0.0, 0.0, height), (math.radians(28.0), math.radians(-20.0), 0.0))
    fill = Pose.from_rpy((0.0, 0.0, height), (math.radians(-35.0), math.radians(30.0), 0.0))
    return [
        Light("sun", LightKind.DIRECTIONAL, pose=sun, color=(1.0, 0.98, 0.94), intensity=2.2, angle=0.01),
        Light(
            "sky", LightKind.DIRECTIONAL, pose=fill, color=(0.9, 0.95, 1.0), intensity=1.0, cast_shadows=False,
            angle=0.01,
        ),
    ]  # fmt: skip


def make_camera(low: Array, high: Array) -> Camera:
    """From the south, well above: everything is in the picture."""
    center = (low + high) / 2.0 * (1.0, 1.0, 0.2)
    half = float(np.linalg.norm((high - low)[:2])) / 2.0 + 1.0
    fov = math.radians(40.0)
    distance = half / math.tan(fov / 2.0)
    elevation, azimuth = math.radians(52.0), math.radians(-100.0)
    away = np.array(
        (
            math.cos(elevation) * math.cos(azimuth),
            math.cos(elevation) * math.sin(azimuth),
            math.sin(elevation),
        )
    )
    side = np.cross((0.0, 0.0, 1.0), away)
    side /= np.linalg.norm(side)
    turn = quat_from_matrix(np.column_stack((side, np.cross(away, side), away)))
    return Camera(
        "overview",
        pose=Pose.of(center + distance * away, turn),
        fov_y=fov,
        resolution=(1280, 800),
        near=0.1,
        far=distance + 4.0 * half,
    )
