# SPDX-License-Identifier: Apache-2.0
"""``<camera>`` and ``<light>``.

MuJoCo's default light has a colour and no candela; intensities are written where they are more than one.
"""

from __future__ import annotations

import math
from typing import Any

from simwright.core.math3d import IDENTITY_QUAT, quat_rotate
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.numbers import is_equal
from simwright.model.asset import Camera, Light, LightKind

CAMERA_DEFAULTS: dict[str, Any] = {"fovy": 45.0, "ipd": 0.068, "principal": (0.0, 0.0)}
LIGHT_DEFAULTS: dict[str, Any] = {
    "dir": (0, 0, -1), "diffuse": (0.7, 0.7, 0.7), "castshadow": True, "cutoff": 45.0, "bulbradius": 0.02,
    "range": 10.0, "type": "spot", "attenuation": (1, 0, 0), "exponent": 10.0, "ambient": (0, 0, 0),
    "specular": (0.3, 0.3, 0.3), "active": True, "intensity": 0.0,
}  # fmt: skip
_KINDS = {LightKind.DIRECTIONAL: "directional", LightKind.SPOT: "spot", LightKind.POINT: "point"}
_LIGHT_KEPT = ("attenuation", "exponent", "ambient", "specular", "softness", "active")


def write_optics(draft: Draft) -> None:
    """Cameras and lights on their bodies."""
    for camera in draft.asset.cameras:
        _write_camera(draft, camera)
    lost = []
    for light in draft.asset.lights:
        if light.kind in _KINDS:
            _write_light(draft, light)
        else:
            lost.append(light)
    draft.lose("dome and area lights", lost, "light the scene with directional or spot lights")


def _write_camera(draft: Draft, camera: Camera) -> None:
    values: dict[str, Any] = {"name": draft.claim("camera", camera.name), **draft.place(camera.pose)}
    height = draft.solver.get(camera, "camera", "orthographic_height")
    if height is not None:
        values |= {"projection": "orthographic", "fovy": height}
    elif camera.aperture and camera.focal_length and any(camera.resolution):
        focal = (camera.focal_length, camera.focal_length)
        kept = draft.keep(camera, "camera", "focal", "principal")
        values |= {"sensorsize": camera.aperture, "focal": focal, **kept}
    else:
        values["fovy"] = round_degrees(camera.fov_y)
    if any(camera.resolution):
        values["resolution"] = camera.resolution
    values |= draft.keep(camera, "camera", "ipd", "user") | _follow(draft, camera, "camera")
    draft.add(draft.nodes[camera.body], "camera", values, CAMERA_DEFAULTS)


def round_degrees(angle: float) -> float:
    """Degrees without the last bits that the way to radians and back adds."""
    return float(f"{math.degrees(angle):.14g}")


def _follow(draft: Draft, element: Camera | Light, family: str) -> dict[str, Any]:
    """How it follows a body, as read."""
    values = draft.keep(element, family, "mode", "target")
    if "target" in values:
        values["target"] = draft.name("body", values["target"])
    return values


def _write_light(draft: Draft, light: Light) -> None:
    values: dict[str, Any] = {
        "name": draft.claim("light", light.name),
        "type": _KINDS[light.kind],
        "pos": light.pose.p if light.pose.p.any() else None,
        "dir": _find_direction(light),
        "diffuse": light.color,
        "intensity": None if light.intensity == 1.0 else light.intensity,
        "castshadow": light.cast_shadows,
        "bulbradius": light.radius or None,
        "range": light.range,
    }
    if light.cone is not None:
        values["cutoff"] = round_degrees(light.cone[1])
    values |= draft.keep(light, "light", *_LIGHT_KEPT) | _follow(draft, light, "light")
    texture = draft.solver.get(light, "light", "texture")
    if texture:
        values["texture"] = draft.name("texture", texture)
    draft.add(draft.nodes[light.body], "light", values, LIGHT_DEFAULTS)


def _find_direction(light: Light) -> Any:
    if is_equal(light.pose.q, IDENTITY_QUAT):
        return (0.0, 0.0, -1.0)
    return quat_rotate(light.pose.q, (0.0, 0.0, -1.0))
