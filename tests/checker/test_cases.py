"""Every rule against its case file: what must pass passes silently, what must fail is found as expected."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from case_file import Case, read_cases

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import all_rules, run_rules
from simwright.checker.settings import CheckSettings
from simwright.core.diag import Diagnostic
from simwright.usd.open import open_stage

FOLDER = Path(__file__).parent / "cases"
CASES = [case for page in sorted(FOLDER.glob("*.md")) for case in read_cases(page)]
RULES = {rule.code: rule for rule in all_rules()}


def run_case(case: Case, folder: Path) -> list[Diagnostic]:
    path = case.write(folder)
    stage = open_stage(path)
    values = dict(item.split("=") for item in case.options.get("settings", "").split())
    kinds = {f.name: str(f.type) for f in dataclasses.fields(CheckSettings)}
    read = {"int": int, "tuple[str, ...]": lambda text: tuple(text.split(","))}
    settings = CheckSettings(**{key: read.get(kinds[key], str)(value) for key, value in values.items()})
    return list(run_rules(StageSnapshot(stage, settings, path=str(path)), [RULES[case.rule]]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case, tmp_path):
    found = run_case(case, tmp_path)
    left = list(found)
    for expectation in case.expected:
        match = next(
            (
                d
                for d in left
                if d.level == expectation.level
                and expectation.words in d.message
                and (not expectation.at or expectation.at == d.where.prim)
                and (expectation.line is None or expectation.line == d.where.line)
            ),
            None,
        )
        assert match, f"expected {expectation}, found:\n" + "\n".join(str(d) for d in found)
        left.remove(match)
        assert match.where.file, "a finding names its layer"
        assert match.hint, "a finding says what to do"
        assert match.section == RULES[case.rule].section
    assert not left, "unexpected:\n" + "\n".join(str(d) for d in left)


@pytest.mark.parametrize("code", sorted(RULES))
def test_rule_has_a_passing_and_a_failing_case_and_teaches(code):
    page = FOLDER / f"{code}.md"
    assert page.exists(), f"{code} has no case file"
    assert {case.outcome for case in read_cases(page)} == {"pass", "fail"}
    for part in ("Why:", "Fails:", "Passes:", "Fix:"):
        assert part in RULES[code].doc, f"{code}: the docstring has no {part!r}"
