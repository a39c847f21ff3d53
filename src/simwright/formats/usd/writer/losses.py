# SPDX-License-Identifier: Apache-2.0
"""What the layers do not hold: one finding per family, so that silence means "nothing is lost"."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import NOWHERE, Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED, SETTING_LOST
from simwright.model.geometry import Geometry, Plane


def _is_endless(geometry: Geometry) -> bool:
    return isinstance(geometry, Plane) and geometry.size is None


def report_losses(layout: Layout, reporter: Reporter) -> None:
    """Elements without a place, then values without an attribute."""
    asset = layout.asset
    used = {interface.at for interface in asset.interfaces}
    families: tuple[tuple[str, list[Any]], ...] = (
        ("custom attributes", list(asset.custom_attributes)),
        ("sensors without a ROS interface", [s for s in asset.sensors if s.name not in used]),
        ("joints to bodies that do not exist", list(layout.tree.dangling)),
    )
    for what, lost in families:
        if lost:
            where = getattr(lost[0], "source", NOWHERE)
            reporter.report(NOT_CARRIED, where, count=len(lost), what=what, first=lost[0].name)
    settings: tuple[tuple[str, list[Any]], ...] = (
        ("the marker geometry", [s for s in asset.sites if s.geometry is not None]),
        ("the measuring range and noise", [s for s in asset.sensors if s.name in used and s.settings]),
        ("the safety controller", [j for j in asset.joints if any(d.safety for d in j.dofs)]),
        ("the image size", [c for c in asset.cameras if any(c.resolution)]),
        ("that it has no end", [s for s in asset.shapes if _is_endless(s.geometry)]),
        ("a contact setting", [s for s in asset.shapes if s.settings and s.collision]),
    )
    for what, lost in settings:
        if lost:
            where = getattr(lost[0], "source", NOWHERE)
            reporter.report(SETTING_LOST, where, what=what, count=len(lost), first=lost[0].name)
