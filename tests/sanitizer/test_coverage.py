"""Whatever the ledger calls fixable is fixed, or one of a few rows for which there is a reason not to."""

from __future__ import annotations

import pytest

from simwright.checker.catalogue import read_ledger
from simwright.checker.run import all_rules
from simwright.core.diag import Fixable
from simwright.sanitizer.fixer import all_fixers

ROWS = {row.code: row for row in read_ledger()}
RULES = {rule.code: rule for rule in all_rules()}
PERMISSION = "a permission: an asset without it is right as it is, so no rule fires"
NOT_FIXED = {
    "kind-subcomponent": PERMISSION,
    "vis-variantset": PERMISSION,
    "ctx-root": PERMISSION,
    "ns-primname": PERMISSION,
    "bake-primvar-vertex": PERMISSION,
    "ext-deprecate": "binds tools, not assets",
    "xphys-translate": "binds tools, not assets",
    "bake-procedural": "no rule can see it, and baking takes a renderer",
    "entry-name": "shown: who refers to the file has to agree; -o FOLDER/NAME.usda gives it the name",
    "compose-no-prefab": "shown: only the tool that reads the string knows what it composes",
}
"""Rows without a fix, and why."""


def test_every_fixable_row_has_a_fix_or_a_reason() -> None:
    assert {code for code, row in ROWS.items() if row.fixable} - set(all_fixers()) == set(NOT_FIXED)


def test_every_fix_is_for_a_rule() -> None:
    assert set(all_fixers()) <= set(RULES)


def test_what_a_rule_announces_is_what_happens() -> None:
    announced = {code for code, rule in RULES.items() if rule.fix in (Fixable.SAFE, Fixable.UNSAFE)}
    assert announced == set(all_fixers())


@pytest.mark.parametrize(("code", "reason"), NOT_FIXED.items(), ids=list(NOT_FIXED))
def test_reasons_are_true(code: str, reason: str) -> None:
    if reason.startswith("shown"):
        assert RULES[code].fix is Fixable.SHOWN
        return
    assert code not in RULES
    row = ROWS[code]
    if reason == PERMISSION:
        assert row.mode == "info"
    elif "binds tools" in reason:
        assert row.mode == "behaviour"
        assert "asset" not in row.binds
    else:
        assert row.mode == "manual"
