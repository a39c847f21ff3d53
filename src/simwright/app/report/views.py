# SPDX-License-Identifier: Apache-2.0
"""Views for the assets of a report: each is read once more, and what findings are about is lit up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simwright.app.report.report import Report
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.limits import is_untrusted

MOST_VIEWS = 6
"""Assets of a page that are shown: the first ones; browsers draw few views at once."""
MOST_BYTES = 12_000_000


def add_views(report: Report, reading: Mapping[str, Any] | None = None) -> None:
    """Put a view into the report of each asset, as far as a page holds them.

    ``reading`` is what :func:`simwright.load` is told.  Files that are not trusted are not read again here: the check
    has had them in a process of their own, with limits.
    """
    from simwright.app.api import load
    from simwright.app.report.view3d import make_view, mark_findings

    if is_untrusted():
        return
    left = MOST_BYTES
    for entry in report.assets[:MOST_VIEWS]:
        if not Path(entry.path).is_file():
            continue
        try:
            asset = load(entry.path, reporter=Reporter(), **(reading or {}))
            view = make_view(asset, mark_findings(asset, entry.findings))
        # what is wrong with it stands in the report
        except SimwrightError:
            continue
        if len(view) <= left:
            entry.view = view
            left -= len(view)
