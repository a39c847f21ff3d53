# SPDX-License-Identifier: Apache-2.0
"""Notes on what no schema and no engine's layer is for: safety limits, image sizes, pictures of frames.

They are in the custom data of the prims they are about (see ``simwright.usd.notes``), in ``physics.usda``.
"""

from __future__ import annotations

import json

import numpy as np

from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere


def write_remarks(layout: Layout, sheet: Sheet) -> None:
    """Safety limits of joints, image sizes of cameras, markers of frames and their order, planes without end."""
    for joint in layout.asset.joints:
        for dof in joint.dofs:
            if dof.safety and dof.name in layout.freedoms:
                text = json.dumps({dof.name: dof.safety}, sort_keys=True)
                sheet.note(layout.freedoms[dof.name][0], safety=text)
    for camera in layout.asset.cameras:
        if any(camera.resolution) and camera.name in layout.cameras:
            sheet.note(layout.cameras[camera.name], resolution=[*camera.resolution])
    for shape in layout.asset.shapes:
        if isinstance(shape.geometry, Plane) and shape.geometry.size is None:
            for path in (layout.colliders.get(shape.name), layout.visuals.get(shape.name)):
                if path:
                    sheet.note(path, endless=True)
    for order, site in enumerate(layout.asset.sites):
        sheet.note(layout.sites[site.name], order=order)
        sizes = None if site.geometry is None else measure(site.geometry)
        if sizes is not None and site.geometry is not None:
            sheet.note(layout.sites[site.name], marker=site.geometry.kind, marker_size=sizes)


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
