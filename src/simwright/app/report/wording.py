# SPDX-License-Identifier: Apache-2.0
"""Words and places that all renderers share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath

from simwright.app.report.report import AssetReport
from simwright.core.diag import Diagnostic, Fixable

_PLURALS = {"error": "errors", "warning": "warnings", "info": "infos"}


def replace_surrogates(text: str) -> str:
    """The text with lone surrogates, which no encoding takes, as replacement characters."""
    if text.isascii():
        return text
    # by UTF-16, in which two halves that belong together become one character again
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def name_file(asset: AssetReport, finding: Diagnostic) -> str:
    """The file a finding is in: its own, else the asset's."""
    return finding.where.file or asset.path


def name_prim(finding: Diagnostic) -> str:
    """``/prim.property`` of a finding, or an empty text."""
    where = finding.where
    return f"{where.prim}.{where.prop}" if where.prop else where.prim


def name_position(finding: Diagnostic) -> str:
    """``:line:column`` of a finding as far as it is known."""
    line, column = find_position(finding)
    return (f":{line}" if line else "") + (f":{column}" if column else "")


def find_position(finding: Diagnostic) -> tuple[int | None, int | None]:
    """Line and column from 1; a column counts only with a line, and neither where it is out of range."""
    line, column = finding.where.line, finding.where.column
    if line is None or line < 1:
        return None, None
    return line, column if column is not None and column >= 1 else None


def name_section(finding: Diagnostic) -> str:
    """The part of the standard a finding refers to, or an empty text."""
    section = finding.section
    if not section or section.upper().startswith("REP"):
        return section
    return f"REP-0158 section {section}"


def name_fix(finding: Diagnostic) -> str:
    """What the attached fix would do and how far it can be trusted, or an empty text."""
    if finding.fix is None or finding.fixable is Fixable.NO:
        return ""
    grade = {Fixable.SAFE: "safe", Fixable.UNSAFE: "unsafe, needs your consent"}
    return f"{finding.fix.title} ({grade.get(finding.fixable, 'a suggestion, not applied')})"


def count_words(summary: Mapping[str, int]) -> str:
    """``2 errors, 1 warning``: the levels that occur, or ``no findings``."""
    parts = [f"{n} {level if n == 1 else _PLURALS[level]}" for level, n in summary.items() if n]
    return ", ".join(parts) or "no findings"


def count_assets(number: int) -> str:
    """``1 asset`` or ``3 assets``."""
    return f"{number} asset" if number == 1 else f"{number} assets"


def shorten_path(file: str) -> str:
    """The path relative to the working folder where it lies below it, with forward slashes."""
    path = PurePath(file)
    try:
        here = Path.cwd()
    # the working folder may have been deleted under us
    except OSError:
        return path.as_posix()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()
