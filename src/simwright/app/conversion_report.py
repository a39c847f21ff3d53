# SPDX-License-Identifier: Apache-2.0
"""Conversions as JSON (``schemas/convert.v1.schema.json``) and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from simwright.app.converting import Conversion
from simwright.app.report.json import build_document
from simwright.app.report.report import TOOL_NAME, AssetReport, Report
from simwright.app.report.wording import replace_surrogates
from simwright.core.diag import Diagnostic, Level, count_levels

VERSION = 1


def describe_conversions(conversions: Sequence[Conversion]) -> dict[str, Any]:
    """The conversion report."""
    found = [finding for conversion in conversions for finding in conversion.findings]
    left = [finding for conversion in conversions for finding in conversion.checked or []]
    return {
        "version": VERSION,
        "tool": {"name": TOOL_NAME, "version": Report().tool_version},
        "conversions": [_describe(conversion) for conversion in conversions],
        "summary": {
            **{status: _count(conversions, status) for status in ("written", "refused", "failed")},
            "losses": sum(len(conversion.losses) for conversion in conversions),
            "findings": count_levels(found),
            "check": count_levels(left),
        },
    }


def _describe(conversion: Conversion) -> dict[str, Any]:
    others = [finding for finding in conversion.findings if not finding.loss]
    return {
        "source": replace_surrogates(conversion.source),
        "status": conversion.status,
        "entry": replace_surrogates(conversion.entry) or None,
        "files": [replace_surrogates(file) for file in conversion.files],
        "losses": _list_findings(conversion.losses),
        "findings": _list_findings(others),
        "check": None if conversion.checked is None else _list_findings(conversion.checked),
    }


def _list_findings(findings: Iterable[Diagnostic]) -> list[Any]:
    document = build_document(Report([AssetReport("", list(findings))]))
    listed: list[Any] = document["assets"][0]["findings"]
    return listed


def _count(conversions: Sequence[Conversion], status: str) -> int:
    return sum(conversion.status == status for conversion in conversions)


def select_shown(conversion: Conversion, *, notes: bool) -> list[Diagnostic]:
    """Findings that are shown to people: losses, warnings and errors; with ``notes`` everything."""
    found = [*conversion.findings, *(conversion.checked or [])]
    return [f for f in found if notes or f.level is not Level.INFO or (f.loss and f in conversion.findings)]


def summarize_check(conversion: Conversion) -> str:
    """What the checker said, in a line; empty if it was not asked."""
    if conversion.checked is None:
        return ""
    counts = count_levels(conversion.checked)
    words = [_count_words(counts[level.value], level.value) for level in (Level.ERROR, Level.WARNING)]
    told = " and ".join(word for word in words if word)
    return f"checked: {told or 'all rules hold'}"


def _count_words(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else ""
