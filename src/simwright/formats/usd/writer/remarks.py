# SPDX-License-Identifier: Apache-2.0
"""Notes on what no schema and no engine's layer is for: safety limits, image sizes, reaches of lights, markers.

They are in the custom data of the prims they are about (see ``simwright.usd.notes``), in ``physics.usda``.
"""

from __future__ import annotations

import json

import numpy as np

from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Light, LightKind, Site
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere


def write_remarks(layout: Layout, sheet: Sheet) -> None:
    """Safety limits of joints, sizes of images, reaches of lights, planes without end, frames."""
    for joint in layout.asset.joints:
        for dof in joint.dofs:
            if dof.safety and dof.name in layout.freedoms:
                text = json.dumps({dof.name: dof.safety}, sort_keys=True)
                sheet.note(layout.freedoms[dof.name][0], safety=text)
    for camera in layout.asset.cameras:
        if any(camera.resolution) and camera.name in layout.cameras:
            sheet.note(layout.cameras[camera.name], resolution=[*camera.resolution])
    for light in layout.asset.lights:
        _note_light(layout, sheet, light)
    for shape in layout.asset.shapes:
        if isinstance(shape.geometry, Plane) and shape.geometry.size is None:
            for path in (layout.colliders.get(shape.name), layout.visuals.get(shape.name)):
                if path:
                    sheet.note(path, endless=True)
    for site in layout.asset.sites:
        _note_marker(sheet, layout.sites[site.name], site)


def _note_marker(sheet: Sheet, path: str, site: Site) -> None:
    sizes = None if site.geometry is None else measure(site.geometry)
    if sizes is not None and site.geometry is not None:
        sheet.note(path, marker=site.geometry.kind, marker_size=sizes)


def _note_light(layout: Layout, sheet: Sheet, light: Light) -> None:
    """How far a light reaches, and how large the bulb of one is that OpenUSD has at an infinite distance."""
    path = layout.lights.get(light.name)
    if path and light.range is not None:
        sheet.note(path, reach=float(light.range))
    if path and light.radius and light.kind not in (LightKind.POINT, LightKind.SPOT):
        sheet.note(path, bulb=float(light.radius))


def measure(geometry: Geometry) -> list[float] | None:
    """The sizes of a primitive; None for other geometry."""
    match geometry:
        case Sphere():
            return [geometry.radius]
        case Capsule() | Cylinder():
            return [geometry.radius, geometry.length]
        case Box():
            return [float(v) for v in geometry.size]
        case Ellipsoid():
            return [float(v) for v in geometry.radii]
        case Plane():
            return [] if geometry.size is None else [float(v) for v in np.ravel(geometry.size)]
    return None
