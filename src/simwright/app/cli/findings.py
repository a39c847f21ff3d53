# SPDX-License-Identifier: Apache-2.0
"""Printing findings in any report format, and the exit code they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from simwright.app.cli.options import console
from simwright.core.diag import Diagnostic, Level

if TYPE_CHECKING:
    from simwright.checker.result import AssetResult


def print_findings(path: str, found: Iterable[Diagnostic], output_format: str = "text") -> None:
    """Render findings with one of the report formats; colour only on a terminal."""
    print_report([(path, found)], output_format)


def print_report(assets: Iterable[tuple[str, Iterable[Diagnostic]]], output_format: str = "text") -> None:
    """The same for the findings of several files."""
    from simwright.app.report.report import Report, build_asset_report, render_report

    out = console()
    report = Report([build_asset_report(path, found) for path, found in assets])
    text = render_report(output_format, report, color=out.is_terminal, width=out.width)
    click.echo(text.rstrip("\n"), color=out.is_terminal)


def print_shown(path: str, found: Collection[Diagnostic], *, notes: bool) -> None:
    """Render findings below other text, those for information only if they are wanted; else say how many there are."""
    out = console()
    shown = [item for item in found if notes or item.level is not Level.INFO]
    if shown:
        out.print()
        print_findings(path, shown)
    hidden = len(found) - len(shown)
    if hidden:
        word = "note" if hidden == 1 else "notes"
        out.print(f"\n{hidden} {word} not shown (--notes shows them)", style="dim")


def print_results(results: Sequence[AssetResult], output_format: str, *, notes: bool) -> int:
    """Render what checks found, and give the exit code: 2 where nothing could be checked."""
    from simwright.core.errors import EXIT_BAD_INPUT

    print_report(
        [
            (result.path, [item for item in result.findings if notes or item.level is not Level.INFO])
            for result in results
        ],
        output_format,
    )
    # some that could not be opened are errors; none that could be is bad input
    if all(result.failed for result in results):
        return EXIT_BAD_INPUT
    return exit_code(item for result in results for item in result.findings)


def exit_code(found: Iterable[Diagnostic]) -> int:
    """1 when a finding is an error, else 0."""
    return 1 if any(d.level is Level.ERROR for d in found) else 0
