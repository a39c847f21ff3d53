# SPDX-License-Identifier: Apache-2.0
"""``base.usda``: the link tree and its frames, nothing else (REP-0158 1.2.1)."""

from __future__ import annotations

from simwright.core.math3d import IDENTITY
from simwright.formats.usd.writer.layout import COLLISION, VISUAL, Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.optics import OPTICAL


def write_base(layout: Layout) -> Sheet:
    """Every link, its two scopes, every frame."""
    sheet = Sheet(layout.root, f"The link tree of {layout.asset.name}.")
    sheet.define(layout.root)
    sheet.place(layout.root, IDENTITY)
    sheet.refer(layout.root, ["instances.usda"])
    bodies = {body.name: body for body in layout.asset.bodies}
    used = {(shape.body, word) for shape in layout.asset.shapes for word in _list_scopes(layout, shape.name)}
    for name, path in layout.bodies.items():
        spec = sheet.define(path)
        spec.SetInfo("kind", "subcomponent")
        sheet.name(path, bodies[name].name)
        sheet.place(path, layout.poses[name])
        for word in (VISUAL, COLLISION):
            if (name, word) in used:
                sheet.define(f"{path}/{word}", "Scope")
    for word in (VISUAL, COLLISION):
        if ("", word) in used:
            sheet.define(f"{layout.root}/{word}", "Scope")
    optical = set(layout.optical.values())
    for site in layout.asset.sites:
        path = layout.sites[site.name]
        sheet.define(path)
        sheet.name(path, site.name)
        sheet.place(path, OPTICAL if path in optical else site.pose)
    for sensor in layout.asset.sensors:
        if sensor.name in layout.sensors:
            sheet.define(layout.sensors[sensor.name])
            sheet.place(layout.sensors[sensor.name], sensor.pose)
    return sheet


def _list_scopes(layout: Layout, shape: str) -> list[str]:
    return [
        word for word, paths in ((VISUAL, layout.visuals), (COLLISION, layout.colliders)) if shape in paths
    ]
