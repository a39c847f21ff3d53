# SPDX-License-Identifier: Apache-2.0
"""Cameras, and lights as KHR_lights_punctual (REP-0158 3.6).

UsdLux gives the luminance of a light's surface [nit]; glTF wants what arrives: candela for point and spot lights, lux
for directional ones.  So a sphere gives its luminance times the disc one sees, a distant light its luminance times
the solid angle it fills.  Lights without a size, and those of formats that have no units, keep their number.
"""

from __future__ import annotations

import math

from simwright.core.colors import make_linear
from simwright.formats.gltf.draft import Draft, Row
from simwright.model.asset import Camera, Light, LightKind

EXTENSION = "KHR_lights_punctual"
_WIDEST = math.pi / 2.0
_FULL = 1.0 - 1e-6
_ASPECT = 4.0 / 3.0


def write_optics(draft: Draft) -> None:
    """A node for every camera and every light that shines from a point or from afar."""
    for camera in draft.asset.cameras:
        draft.cameras.append(_describe_camera(camera))
        draft.camera_nodes[camera.name] = draft.add_node(
            camera.name, draft.body_nodes[camera.body], camera.pose, camera=len(draft.cameras) - 1
        )
    for light in draft.asset.lights:
        if light.kind in (LightKind.DOME, LightKind.AREA):
            continue
        draft.lights.append(_describe_light(light))
        number = draft.add_node(light.name, draft.body_nodes[light.body], light.pose)
        draft.extend(draft.nodes[number], EXTENSION, {"light": len(draft.lights) - 1})
        draft.light_nodes[light.name] = number


def _describe_camera(camera: Camera) -> Row:
    width, height = camera.resolution
    lens: Row = {"yfov": min(max(camera.fov_y, 1e-4), math.pi - 1e-4)}
    if camera.aperture is not None and camera.aperture[0] > 0.0 and camera.aperture[1] > 0.0:
        lens["aspectRatio"] = camera.aperture[0] / camera.aperture[1]
    elif width and height:
        lens["aspectRatio"] = width / height
    lens["znear"] = camera.near if camera.near > 0.0 else 0.01
    if lens["znear"] < camera.far < math.inf:
        lens["zfar"] = camera.far
    return {"name": camera.name, "type": "perspective", "perspective": lens}


def _describe_light(light: Light) -> Row:
    color = make_linear(light.color)
    row: Row = {"name": light.name, "type": light.kind.value}
    shown = [min(max(float(value), 0.0), 1.0) for value in color]
    if shown != [1.0, 1.0, 1.0]:
        row["color"] = shown
    intensity = max(light.intensity * measure_size(light), 0.0)
    if intensity != 1.0:
        row["intensity"] = intensity
    if light.range is not None and 0.0 < light.range < math.inf and light.kind is not LightKind.DIRECTIONAL:
        row["range"] = light.range
    if light.kind is LightKind.SPOT:
        inner, outer = light.cone or (0.0, math.pi / 4.0)
        outer = min(max(outer, 1e-4), _WIDEST)
        row["spot"] = {"innerConeAngle": min(max(inner, 0.0), outer * _FULL), "outerConeAngle": outer}
    return row


def measure_size(light: Light) -> float:
    """What luminance is multiplied with: a disc [m^2], or a solid angle [sr]; 1 where a light has no size."""
    if light.kind is LightKind.DIRECTIONAL:
        if light.angle is None or light.angle <= 0.0 or light.normalized:
            return 1.0
        return math.pi * math.sin(min(light.angle, math.pi) / 2.0) ** 2
    if light.radius <= 0.0:
        return 1.0
    # normalised lights are divided by their surface, of which one sees a quarter
    return 0.25 if light.normalized else math.pi * light.radius**2
