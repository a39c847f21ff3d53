# SPDX-License-Identifier: Apache-2.0
"""What the layers do not hold and no other file reports, so that silence means "nothing is lost"."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED, SETTING_LOST
from simwright.formats.usd.writer.opinions import find_lost_settings


def report_losses(layout: Layout, reporter: Reporter) -> None:
    """Elements without a place, then values without an attribute."""
    asset = layout.asset
    if layout.tree.dangling:
        first = layout.tree.dangling[0]
        reporter.report(
            NOT_CARRIED,
            first.source,
            count=len(layout.tree.dangling),
            what="joints to bodies that do not exist",
            first=first.name,
        )
    bare = [s for s in asset.shapes if s.settings and s.collision and find_lost_settings(asset, s)]
    if bare:
        reporter.report(
            SETTING_LOST, bare[0].source, what="a contact setting", count=len(bare), first=bare[0].name
        )
