from __future__ import annotations

import itertools
from pathlib import Path

from rich.cells import cell_len

from simwright import __version__
from simwright.app.report.report import AssetReport, Report, build_asset_report, cut_line
from simwright.core.diag import Diagnostic, Level, Reporter, Where


def test_summary_counts_every_level_over_all_assets(report: Report) -> None:
    assert report.summary() == {"error": 1, "warning": 1, "info": 1}
    assert report.assets[0].summary() == {"error": 1, "warning": 1, "info": 0}
    assert report.assets[1].summary() == {"error": 0, "warning": 0, "info": 0}


def test_a_report_of_nothing_is_empty() -> None:
    assert Report().summary() == {"error": 0, "warning": 0, "info": 0}
    assert Report().tool_version == __version__


def test_build_report_sorts_the_findings_of_a_reporter() -> None:
    reporter = Reporter()
    for line in (9, 2, 5):
        reporter.add(Diagnostic("k", Level.INFO, "m", where=Where("a", line)))
    report = Report([build_asset_report(Path("robots") / "a.urdf", reporter)])
    assert [asset.path for asset in report.assets] == ["robots/a.urdf"]
    assert [finding.where.line for _, finding in report] == [2, 5, 9]


def test_iterating_pairs_each_finding_with_its_asset() -> None:
    first, second = (Diagnostic("k", Level.INFO, text) for text in ("one", "two"))
    assets = [AssetReport("a", [first]), AssetReport("b"), AssetReport("c", [second])]
    assert [(asset.path, finding.message) for asset, finding in Report(assets)] == [
        ("a", "one"),
        ("c", "two"),
    ]


def test_a_window_of_a_line_is_never_wider_than_the_terminal():
    """Characters of East Asian scripts take two cells."""
    line = "ab机c器d人人e" * 30
    for width, column in itertools.product((20, 21, 40), range(1, len(line) + 1)):
        shown = cut_line(1, line, column, width)
        assert width - 5 <= cell_len(shown.text) <= width
        assert 0 <= shown.start < width
