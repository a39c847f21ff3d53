# SPDX-License-Identifier: Apache-2.0
"""What sensors see: lines around the fields of view of cameras, lidars and range sensors, in the frames of bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose
from simwright.model.asset import Asset, Camera, Sensor

_CAMERAS = frozenset({
    "camera", "depth", "depth_camera", "rgbd_camera", "rgbd", "logical_camera", "thermal_camera", "thermal",
    "segmentation_camera", "segmentation", "multicamera", "wideanglecamera", "boundingbox_camera",
})  # fmt: skip
_BEAMS = frozenset({"lidar", "ray", "gpu_lidar", "gpu_ray", "rangefinder", "sonar", "range", "radar"})
_STEP = math.radians(5.0)
_SPOKES = 12
"""Most beams that are drawn of a lidar."""


def list_fields(asset: Asset, size: float) -> Iterator[tuple[str, Array]]:
    """Lines (n x 2 x 3) [m] around what each camera and each ranging sensor sees, and the body they are on.

    Cameras see to where they are clipped, but are drawn to ``size`` [m] at most, and so are ranges that are not said.
    """
    seen = {camera.name for camera in asset.cameras}
    for camera in asset.cameras:
        yield camera.body, _place(draw_camera(camera, size), camera.pose)
    for sensor in asset.sensors:
        # a camera sensor and its optics are two elements of the model, with one field of view
        if sensor.kind in _CAMERAS and sensor.name not in seen and sensor.target not in seen:
            yield sensor.body, _place(_draw_camera_sensor(sensor, size), sensor.pose)
        elif sensor.kind in _BEAMS:
            yield sensor.body, _place(draw_beams(sensor.settings, size), sensor.pose)


def _place(lines: Array, pose: Pose) -> Array:
    return np.asarray(pose.apply(lines.reshape(-1, 3))).reshape(-1, 2, 3)


def _read(settings: Mapping[str, Any], *names: str, default: float) -> float:
    for name in names:
        try:
            value = float(settings[name])
        except (KeyError, TypeError, ValueError):
            continue
        if math.isfinite(value):
            return value
    return default


def draw_camera(camera: Camera, size: float) -> Array:
    """The frustum of a camera, which looks along -Z with +Y up."""
    width, height = camera.resolution if all(camera.resolution) else (4, 3)
    reach = min(camera.far, size) if math.isfinite(camera.far) and camera.far > 0.0 else size
    up = reach * math.tan(min(camera.fov_y, math.pi - 0.1) / 2)
    side = up * width / height
    return _draw_frustum(
        np.array([(x * side, y * up, -reach) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    )


def _draw_camera_sensor(sensor: Sensor, size: float) -> Array:
    """A camera that is said as a sensor only: it looks along +X with +Z up, as SDFormat has it."""
    said = sensor.settings
    wide = _read(said, "horizontal_fov", default=math.radians(60.0))
    height = _read(said, "image_height", default=3.0)
    ratio = _read(said, "aspect_ratio", default=_read(said, "image_width", default=4.0) / max(height, 1e-6))
    reach = min(_read(said, "clip_far", "far", "max_range", default=size), size)
    side = reach * math.tan(min(wide, math.pi - 0.1) / 2)
    up = side / max(ratio, 1e-6)
    return _draw_frustum(
        np.array([(reach, y * side, z * up) for y, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    )


def _draw_frustum(corners: Array) -> Array:
    lines = [(np.zeros(3), corner) for corner in corners]
    lines += [(corners[number], corners[(number + 1) % 4]) for number in range(4)]
    return np.array(lines)


def draw_beams(settings: Mapping[str, Any], size: float) -> Array:
    """The fan of a lidar or the cone of a range sensor, which look along +X: its edges, and some of its beams."""
    left, right = _read_angles(settings, "horizontal", "")
    low, high = _read_angles(settings, "vertical", "elevation")
    far = _read(settings, "range_max", "max_range", "max", default=0.0)
    near = _read(settings, "range_min", "min_range", "min", default=0.0)
    far = far if far > 0.0 else size
    lines: list[tuple[Array, Array]] = []
    for tilt in {low, high}:
        count = max(2, math.ceil((right - left) / _STEP) + 1)
        ends = _aim(np.linspace(left, right, count), np.full(count, tilt))
        lines += list(zip(far * ends[:-1], far * ends[1:], strict=True))
        whole = right - left > 2 * math.pi - 0.2
        spokes = ends[:: max(1, count // _SPOKES)] if count > 2 else ends
        lines += [(near * end, far * end) for end in (spokes if whole else [ends[0], *spokes, ends[-1]])]
    if high > low:
        count = max(2, math.ceil((high - low) / _STEP) + 1)
        for turn in {left, right}:
            ends = _aim(np.full(count, turn), np.linspace(low, high, count))
            lines += list(zip(far * ends[:-1], far * ends[1:], strict=True))
    return np.array(lines)


def _read_angles(settings: Mapping[str, Any], word: str, other: str) -> tuple[float, float]:
    """Between which angles it looks [rad]; straight ahead where nothing is said."""
    half = _read(settings, f"{word}_fov", "fov" if word == "horizontal" else f"{other}_fov", default=0.0) / 2
    lower = _read(settings, f"scan_{word}_min_angle", default=-half)
    upper = _read(settings, f"scan_{word}_max_angle", default=half)
    lower, upper = min(lower, upper), max(lower, upper)
    # no sensor sees more than all round
    return (lower, upper) if upper - lower <= 2 * math.pi else (-math.pi, math.pi)


def _aim(turns: Array, tilts: Array) -> Array:
    return np.stack((np.cos(tilts) * np.cos(turns), np.cos(tilts) * np.sin(turns), np.sin(tilts)), axis=1)
