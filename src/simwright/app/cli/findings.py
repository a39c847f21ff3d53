# SPDX-License-Identifier: Apache-2.0
"""Printing findings in any report format, and the exit code they mean."""

from __future__ import annotations

from collections.abc import Iterable

import click

from simwright.app.cli.options import console
from simwright.core.diag import Diagnostic, Level, sort_diagnostics


def print_findings(path: str, found: Iterable[Diagnostic], output_format: str = "text") -> None:
    """Render findings with one of the report formats; colour only on a terminal."""
    from simwright.app.report.report import build_report
    from simwright.app.report.table import render_report

    out = console()
    text = render_report(
        output_format, build_report(path, sort_diagnostics(found)), color=out.is_terminal, width=out.width
    )
    click.echo(text.rstrip("\n"), color=out.is_terminal)


def exit_code(found: Iterable[Diagnostic]) -> int:
    """1 when a finding is an error, else 0."""
    return 1 if any(d.level is Level.ERROR for d in found) else 0
