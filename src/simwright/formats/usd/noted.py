# SPDX-License-Identifier: Apache-2.0
"""The order of the source, where notes on the prims give it (see ``simwright.usd.notes``).

Prims are found nest by nest; bodies, joints and actuators of a robot have an order of their own, which coordinates
and controls count by.  What has no note comes after what has one; shapes come body by body, those of the world first.
"""

from __future__ import annotations

from typing import Any

from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source

_LAST = 1 << 30


def restore_order(source: Source, scan: Scan) -> None:
    """Sort bodies, joints, sites, actuators, tendons, equalities and mimics as noted."""
    if not source.noted:
        return

    def rank(element: Any, key: str = "order") -> int:
        value = scan.notes.get(element.source.prim, {}).get(key)
        return value if isinstance(value, int) else _LAST

    asset = source.asset
    families: tuple[list[Any], ...] = (
        asset.bodies, asset.sites, asset.actuators, asset.tendons, asset.equalities,
    )  # fmt: skip
    for family in families:
        family.sort(key=rank)
    places = {body.name: number for number, body in enumerate(asset.bodies)}
    asset.shapes.sort(key=lambda shape: places.get(shape.body, -1))
    asset.joints.sort(key=lambda j: rank(j, "free_order" if j.path in source.bodies else "order"))
    asset.mimics.sort(key=lambda mimic: rank(mimic, "mimic_order"))
