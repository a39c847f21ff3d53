"""The rules and the ledger agree, row by row; a rule that checks none of its statements needs no row."""

from __future__ import annotations

import dataclasses

import pytest
from pxr import Usd

from simwright.checker.catalogue import find_statement, read_ledger
from simwright.checker.facts.schemas import core_properties, known_properties
from simwright.checker.run import all_rules
from simwright.usd.registry import list_classes

ROWS = {row.code: row for row in read_ledger()}
CHECKING = {rule.code: (rule, row) for rule in all_rules() if (row := find_statement(rule))}


def test_the_ledger_is_whole():
    rows = read_ledger()
    assert len(rows) == len(ROWS) == 307
    assert sum(row.mode == "auto" for row in rows) == 176
    assert sum(row.mode == "heuristic" for row in rows) == 38
    assert sum(row.mode == "behaviour" for row in rows) == 57
    assert sum(row.fixable for row in rows) == 169


def test_every_checkable_statement_has_a_rule_of_its_code():
    assert {code for code, row in ROWS.items() if row.is_checkable} <= set(CHECKING)


@pytest.mark.parametrize("code", sorted(CHECKING))
def test_rule_says_what_its_row_says(code):
    rule, row = CHECKING[code]
    assert row.is_checkable
    assert rule.section == row.section
    assert rule.word == row.level
    if code == row.code:
        assert rule.heuristic == (row.mode == "heuristic")


def test_a_rule_may_name_its_statement_or_have_none():
    rule = CHECKING["units-meters"][0]
    other = dataclasses.replace(rule, code="units-meters-in-sublayers")
    assert find_statement(other) is None
    assert find_statement(dataclasses.replace(other, statement="UNITS-METERS")) is ROWS["units-meters"]


def test_a_statement_that_a_rule_names_is_in_the_ledger():
    assert [rule.code for rule in all_rules() if rule.statement and not find_statement(rule)] == []


def test_core_has_ratified_no_extension_schema():
    """REP-0158 4.2.1: when it does, ``usd.registry.RATIFIED`` gets a row, and assets are migrated by ext-deprecated."""
    core = core_properties("physics:")
    ours = [name for name in known_properties() if name.startswith("ext_physics:")]
    assert len(ours) > 20
    assert len(core) > 20
    # core would say physics:armature, or physics:joint:armature, for ext_physics:joint:armature
    ratified = {
        name: {f"physics:{name.rpartition(':')[2]}", name.removeprefix("ext_")} & core for name in ours
    }
    assert [name for name, found in ratified.items() if found] == []
    registry = Usd.SchemaRegistry()
    names = {found.name for _, found in list_classes() if found.name.startswith("ExtendedPhysics")}
    assert len(names) > 3
    assert [n for n in names if registry.FindAppliedAPIPrimDefinition(n.removeprefix("Extended"))] == []


def test_reference_ids():
    assert ROWS["units-meters"].peer_ids == ["1.1.1"]
    assert ROWS["units-baked"].peer_ids == []
