"""The rules and the ledger agree, row by row."""

from __future__ import annotations

import pytest

from simwright.check.ledger import read_ledger
from simwright.check.run import all_rules

ROWS = {row.code: row for row in read_ledger()}
RULES = {rule.code: rule for rule in all_rules()}


def test_the_ledger_is_whole():
    rows = read_ledger()
    assert len(rows) == len(ROWS) == 307
    assert sum(row.mode == "auto" for row in rows) == 176
    assert sum(row.mode == "heuristic" for row in rows) == 38
    assert sum(row.mode == "behaviour" for row in rows) == 57
    assert sum(row.fixable for row in rows) == 169


def test_every_checkable_statement_has_a_rule_and_no_rule_is_invented():
    checkable = {code for code, row in ROWS.items() if row.is_checkable}
    assert set(RULES) == checkable
    assert len(RULES) == 214


@pytest.mark.parametrize("code", sorted(RULES))
def test_rule_says_what_its_row_says(code):
    rule, row = RULES[code], ROWS[code]
    assert rule.section == row.section
    assert rule.word == row.level
    assert rule.heuristic == (row.mode == "heuristic")
    assert rule.title
    assert rule.module.rpartition(".")[2] == code.replace("-", "_")


def test_reference_ids():
    assert ROWS["units-meters"].peer_ids == ["1.1.1"]
    assert ROWS["units-baked"].peer_ids == []
