# SPDX-License-Identifier: Apache-2.0
"""Cameras and lights in ``instances.usda`` (REP-0158 2.8, 3.6)."""

from __future__ import annotations

import math

from simwright.core.colors import make_linear
from simwright.core.diag import Reporter
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Camera, Light, LightKind

_TENTH = 0.1
_FOCAL = 0.024
_ASPECT = 4.0 / 3.0
_TYPES = {
    LightKind.DIRECTIONAL: "DistantLight",
    LightKind.POINT: "SphereLight",
    LightKind.SPOT: "SphereLight",
    LightKind.DOME: "DomeLight",
}


def write_optics(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every camera, and every light that all renderers know."""
    for camera in layout.asset.cameras:
        place_camera(sheet, layout.cameras[camera.name], camera)
    lost = [light for light in layout.asset.lights if light.kind not in _TYPES]
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="area lights", first=lost[0].name)
    for light in layout.asset.lights:
        if light.kind in _TYPES:
            place_light(sheet, layout.lights[light.name], light)


def place_camera(sheet: Sheet, path: str, camera: Camera) -> None:
    """A camera at a path."""
    sheet.define(path, "Camera")
    sheet.name(path, camera.name)
    sheet.place(path, camera.pose)
    width, height = camera.resolution
    focal = camera.focal_length or _FOCAL
    tall = 2.0 * focal * math.tan(camera.fov_y / 2.0)
    wide = tall * (width / height if width and height else _ASPECT)
    if camera.aperture is not None and camera.focal_length is not None:
        wide = camera.aperture[0]
    sheet.set(path, "focalLength", "float", focal / _TENTH)
    sheet.set(path, "horizontalAperture", "float", wide / _TENTH)
    sheet.set(path, "verticalAperture", "float", tall / _TENTH)
    sheet.set(path, "clippingRange", "float2", (camera.near, camera.far))


def place_light(sheet: Sheet, path: str, light: Light) -> None:
    """A light at a path."""
    sheet.define(path, _TYPES[light.kind])
    sheet.name(path, light.name)
    sheet.place(path, light.pose)
    sheet.set(path, "inputs:color", "color3f", make_linear(light.color))
    sheet.set(path, "inputs:intensity", "float", light.intensity)
    if not light.cast_shadows:
        sheet.apply(path, "ShadowAPI")
        sheet.set(path, "inputs:shadow:enable", "bool", False)
    if light.normalized:
        sheet.set(path, "inputs:normalize", "bool", True)
    if light.kind is LightKind.DIRECTIONAL:
        sheet.set(path, "inputs:angle", "float", (light.angle or 0.0) / DEGREE)
    if _TYPES[light.kind] == "SphereLight":
        sheet.set(path, "inputs:radius", "float", light.radius)
        if light.radius == 0.0:
            sheet.set(path, "treatAsPoint", "bool", True)
    if light.kind is LightKind.SPOT and light.cone is not None:
        inner, outer = light.cone
        sheet.apply(path, "ShapingAPI")
        sheet.set(path, "inputs:shaping:cone:angle", "float", outer / DEGREE)
        sheet.set(path, "inputs:shaping:cone:softness", "float", 1.0 - inner / outer if outer else 0.0)
