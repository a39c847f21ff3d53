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
_MOST_SHOWN = 3
_MOST_NAMED = 8


def describe_fix(result: FixResult) -> dict[str, Any]:
    """The report of one asset."""
    return {
        "version": VERSION,
        "tool": {"name": TOOL_NAME, "version": Report().tool_version},
        "source": replace_surrogates(result.source),
        "status": result.status,
        "entry": replace_surrogates(result.entry) or None,
        "backup": replace_surrogates(result.backup) or None,
        "backups": [replace_surrogates(file) for file in result.backups],
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


def summarize_fix(result: FixResult, *, dry_run: bool = False) -> list[str]:
    """A few lines for people."""
    lines = [f"  {code}: {count} fixed" for code, count in result.fixed.items()]
    total, left = sum(result.fixed.values()), len(result.after)
    rounds = f" in {_count(result.rounds, 'round')}" if result.rounds else ""
    lines.append(f"{_count(total, 'finding')} fixed{rounds}, {left} left{_show_levels(result.after)}")
    if result.changes and result.proven:
        lines.append("compared before and after: the machine is the same, but for what was fixed")
    lines += _tell_left(result)
    if dry_run:
        lines.append("nothing was written: this was a dry run")
    return lines


def choose_notes(result: FixResult) -> tuple[list[Diagnostic], list[str]]:
    """Notes for people to read, a few of each sort, and lines that count the others."""
    shown: list[Diagnostic] = []
    # a fix that is refused is refused for every prim alike: hundreds of equal notes would hide the
    # others
    sorts = Counter(_sort_of(note) for note in result.notes)
    seen: Counter[tuple[str, str]] = Counter()
    for note in result.notes:
        seen[_sort_of(note)] += 1
        if seen[_sort_of(note)] <= _MOST_SHOWN:
            shown.append(note)
    more = [
        f"{count - _MOST_SHOWN} more {kind}{f' of {rule}' if rule else ''}: --report json lists them all"
        for (kind, rule), count in sorts.items()
        if count > _MOST_SHOWN
    ]
    return shown, more


def _sort_of(note: Diagnostic) -> tuple[str, str]:
    return note.kind, str(note.data.get("rule", ""))


def _tell_left(result: FixResult) -> list[str]:
    """Why findings that have a fix are left: it was tried, or it waits for a word."""
    # one function: it sorts what is left into two groups and says each in a line. A fix that was
    # refused is not offered again, even with --unsafe
    tried = {
        (note.data["rule"], note.where.prim, note.where.prop)
        for note in result.notes
        if note.kind in ("fix-refused", "fix-undone")
    }
    fixable = [finding for finding in result.after if finding.fixable is Fixable.UNSAFE]
    waiting = [f for f in fixable if (f.kind, f.where.prim, f.where.prop) not in tried]
    lines = []
    if len(waiting) < len(fixable):
        lines.append(f"{len(fixable) - len(waiting)} of them cannot be fixed as they are: see the warnings")
    if waiting:
        lines.append(f"{len(waiting)} of them have a fix that needs intent (--unsafe, or --set):")
        counts = Counter(finding.kind for finding in waiting)
        names = [f"{code} {count}" if count > 1 else code for code, count in counts.most_common(_MOST_NAMED)]
        more = len(counts) - len(names)
        others = f" and {_count(more, 'more rule')}" if more else ""
        lines.append(f"  {', '.join(names)}{others}")
    return lines


def _show_levels(findings: Iterable[Diagnostic]) -> str:
    words = {"error": "error", "warning": "warning", "info": "remark"}
    counts = count_levels(findings)
    shown = [_count(counts[level], word) for level, word in words.items() if counts.get(level)]
    return f" ({', '.join(shown)})" if shown else ""


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _list_findings(findings: Iterable[Diagnostic]) -> list[Any]:
    document = build_document(Report([AssetReport("", list(findings))]))
    listed: list[Any] = document["assets"][0]["findings"]
    return listed


def describe_backups(result: FixResult) -> str:
    """Where the old files are, in words."""
    more = len(result.backups) - 1
    return f"{result.backups[0]}" + (f" and {more} more" if more > 0 else "")
