# SPDX-License-Identifier: Apache-2.0
"""Pairs of colliders with contact settings of their own, in ``mujoco.usda`` (REP-0158 1.4).

MuJoCo's schemas have no such prim, so each pair is a scope with custom attributes in MJCF's words.
"""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.attributes import write_plain
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED
from simwright.formats.usd.writer.sheet import Sheet

SPACE = "mjc:pair"


def write_pairs(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every pair whose two colliders are written."""
    lost = []
    for pair in layout.asset.contact_pairs:
        sides = [layout.touched.get(name) for name in (pair.a, pair.b)]
        if None in sides:
            lost.append(pair)
            continue
        scope = f"{layout.root}/ContactPairs"
        sheet.define(scope, "Scope")
        path = layout.names.claim(scope, pair.name or "pair")
        sheet.define(path, "Scope")
        sheet.name(path, pair.name)
        for number, side in enumerate(sides, 1):
            sheet.relate(path, f"{SPACE}:geom{number}", [side or ""], custom=True)
        for key, value in pair.settings.items():
            write_plain(sheet, path, f"{SPACE}:{key}", value)
    if lost:
        reporter.report(
            NOT_CARRIED, lost[0].source, count=len(lost), what="contact pairs", first=lost[0].name
        )
