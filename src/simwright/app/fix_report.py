# SPDX-License-Identifier: Apache-2.0
"""A fixed asset as JSON (``schemas/fix.v1.schema.json``) and in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from simwright.app.report.json import build_document
from simwright.app.report.report import TOOL_NAME, AssetReport, Report
from simwright.app.report.wording import replace_surrogates
from simwright.core.diag import Diagnostic, Fixable, count_levels
from simwright.sanitizer.result import FixResult

VERSION = 1


def describe_fix(result: FixResult) -> dict[str, Any]:
    """The report of one asset."""
    return {
        "version": VERSION,
        "tool": {"name": TOOL_NAME, "version": Report().tool_version},
        "source": replace_surrogates(result.source),
        "status": result.status,
        "entry": replace_surrogates(result.entry) or None,
        "backup": replace_surrogates(result.backup) or None,
        "files": [replace_surrogates(file) for file in result.files],
        "rounds": result.rounds,
        "proven": result.proven,
        "fixed": result.fixed,
        "changes": [
            {
                "rule": change.rule,
                "grade": change.grade.value,
                "layer": replace_surrogates(change.file),
                "path": replace_surrogates(change.path),
                "change": replace_surrogates(change.what),
            }
            for change in result.changes
        ],
        "notes": _list_findings(result.notes),
        "left": _list_findings(result.after),
        "diffs": {replace_surrogates(k): replace_surrogates(v) for k, v in result.diffs.items()},
        "summary": {"before": count_levels(result.before), "after": count_levels(result.after)},
    }


def summarize_fix(result: FixResult) -> list[str]:
    """A few lines for people."""
    lines = [f"  {code}: {count} fixed" for code, count in result.fixed.items()]
    waiting = Counter(f.kind for f in result.after if f.fixable is Fixable.UNSAFE)
    total, left = sum(result.fixed.values()), len(result.after)
    word = "finding" if total == 1 else "findings"
    rounds = f" in {result.rounds} {'round' if result.rounds == 1 else 'rounds'}" if result.rounds else ""
    lines.append(f"{total} {word} fixed{rounds}, {left} left")
    if waiting:
        lines.append(f"{sum(waiting.values())} of them have a fix that needs intent (--unsafe, or --set)")
    return lines


def _list_findings(findings: Iterable[Diagnostic]) -> list[Any]:
    document = build_document(Report([AssetReport("", list(findings))]))
    listed: list[Any] = document["assets"][0]["findings"]
    return listed
