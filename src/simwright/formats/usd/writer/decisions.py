# SPDX-License-Identifier: Apache-2.0
"""What the source says, is written as it is, and a person has to decide: the checker will ask about it.

Each of these is a warning of ``simwright check`` on the result, and is named here when it is converted.
"""

from __future__ import annotations

import math

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import GLOW_DARK, LIGHT_BARE, SLIDE_ENDLESS, TOPIC_ABSOLUTE
from simwright.model.asset import Asset, Light, LightKind, Shape
from simwright.model.joint import WORLD, Motion

_GLOBAL = frozenset({"/tf", "/tf_static", "/diagnostics", "/clock"})


def report_decisions(layout: Layout, reporter: Reporter) -> None:
    """One finding per kind."""
    asset = layout.asset
    glowing = {material.name for material in asset.materials if any(material.emissive)}
    seen = [shape for shape in asset.shapes if shape.name in layout.visuals and _find_looks(shape) & glowing]
    lit = {shape.body for shape in seen}
    slides = [
        joint
        for joint in asset.joints
        if joint.name in layout.joints
        and [dof.motion for dof in joint.dofs] == [Motion.SLIDE]
        and math.isinf(joint.dofs[0].upper - joint.dofs[0].lower)
    ]
    found = (
        (TOPIC_ABSOLUTE, [i for i in asset.interfaces if i.name.startswith("/") and i.name not in _GLOBAL]),
        (SLIDE_ENDLESS, slides),
        (LIGHT_BARE, [light for light in asset.lights if _is_lamp(light) and light.body not in lit]),
        (GLOW_DARK, [] if asset.lights or not _is_place(asset) else seen),
    )
    for kind, elements in found:
        if elements:
            reporter.report(kind, elements[0].source, count=len(elements), first=elements[0].name)


def _find_looks(shape: Shape) -> set[str]:
    data = getattr(shape.geometry, "data", None)
    return {shape.material, *(subset.material for subset in (data.subsets if data is not None else ()))}


def _is_lamp(light: Light) -> bool:
    return light.body != WORLD and light.kind in (LightKind.POINT, LightKind.SPOT)


def _is_place(asset: Asset) -> bool:
    """Is it surroundings, and no machine?"""
    return not asset.joints
