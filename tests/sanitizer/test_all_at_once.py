"""All fixes at once on every second case page: none of them crashes, and none undoes another for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_file import Case, read_cases
from tests.sanitizer.test_fix_cases import VALUES, read_settings

import simwright

CHECK = Path(__file__).parent.parent / "checker"


CASES = [
    case
    for page in sorted((CHECK / "cases").glob("*.md"))
    for case in read_cases(page)
    if case.outcome == "fail"
][::2]  # test_fix_cases.py goes through all of them, each with the fix it is about


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_fixes_get_on_with_each_other(case: Case, tmp_path: Path) -> None:
    source = case.write(tmp_path / "case")
    result = simwright.fix(source, dry_run=True, unsafe=True, values=VALUES, settings=read_settings(case))
    assert [note.message for note in result.notes if note.kind in ("fix-crashed", "fix-unstable")] == []
