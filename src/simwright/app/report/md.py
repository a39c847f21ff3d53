# SPDX-License-Identifier: Apache-2.0
"""For pull requests and wikis: Markdown (GitHub flavour), a table per asset."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from simwright.app.report.report import (
    TOOL_NAME,
    AssetReport,
    Report,
    count_assets,
    count_words,
    name_file,
    name_fix,
    name_position,
    name_prim,
    name_related,
    name_section,
)
from simwright.core.diag import Diagnostic, Level
from simwright.core.visible import make_visible

_LEVELS = {Level.ERROR: "**error**", Level.WARNING: "warning", Level.INFO: "info"}
_SPECIAL = re.compile(r"([\\`*_\[\]~#!$])")
_CODE_BREAKERS = re.compile(r"[`|\\]")


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """The report as Markdown text."""
    lines = [
        f"## {TOOL_NAME}: {count_words(report.summary())} in {count_assets(len(report.assets))}",
        "",
    ]
    for asset in report.assets:
        lines += [*_write_asset(asset), ""]
    lines.append(f"<sub>{TOOL_NAME} {escape_text(report.tool_version)}</sub>")
    return "\n".join(lines) + "\n"


def _write_asset(asset: AssetReport) -> Iterator[str]:
    yield f"### {write_code(asset.path)}: {count_words(asset.summary())}"
    if not asset.findings:
        return
    yield ""
    yield "| level | rule | place | finding |"
    yield "| --- | --- | --- | --- |"
    for finding in asset.findings:
        cells = (
            _LEVELS[finding.level],
            write_code(finding.kind),
            _write_place(asset, finding),
            _write_finding(finding),
        )
        yield f"| {' | '.join(cells)} |"


def _write_place(asset: AssetReport, finding: Diagnostic) -> str:
    parts = (name_file(asset, finding) + name_position(finding), name_prim(finding))
    return "<br>".join(write_code(part) for part in parts if part)


def _write_finding(finding: Diagnostic) -> str:
    parts = [escape_text(finding.message)]
    for name, text in (
        ("Help", finding.hint),
        ("Fix", name_fix(finding)),
        ("Also", name_related(finding)),
        ("See", name_section(finding)),
    ):
        if text:
            parts.append(f"*{name}:* {escape_text(text)}")
    return "<br>".join(parts)


def escape_text(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line and without a bare pipe."""
    shown = _SPECIAL.sub(r"\\\1", html.escape(make_visible(text, keep="\n"), quote=False))
    # a row of a table is one line, and a bare pipe would end its cell
    return shown.replace("|", "&#124;").replace("\n", "<br>")


def write_code(text: str) -> str:
    """A code span, or escaped text where a code span cannot hold it."""
    shown = make_visible(text)
    # inside a table even a code span is cut at a pipe, and nothing can be escaped in one
    if not shown.strip() or _CODE_BREAKERS.search(shown):
        return escape_text(text)
    return f"`{shown}`"
