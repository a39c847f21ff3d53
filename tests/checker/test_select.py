"""Choosing rules by code, prefix, pattern, section and profile."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from simwright.checker.select import choose_rules, match_words
from simwright.core.errors import UnknownNameError


@dataclass(frozen=True)
class Row:
    code: str
    section: str = ""
    profile: str = ""


KNOWN = [
    Row("units-meters", "1.1", "core"),
    Row("units-kilograms", "1.1", "core"),
    Row("joint-limits", "1.3.2", "core"),
    Row("topic-name", "2.2", "ros"),
    Row("export-names", "3.1", "export"),
    Row("usd-warning"),
]


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ([], {"units-meters", "units-kilograms", "joint-limits", "topic-name", "export-names"}),
        (["units-meters"], {"units-meters"}),
        (["UNITS-meters"], {"units-meters"}),
        (["units"], {"units-meters", "units-kilograms"}),
        (["units-*"], {"units-meters", "units-kilograms"}),
        (["*-name*"], {"topic-name", "export-names"}),
        (["1"], {"units-meters", "units-kilograms", "joint-limits"}),
        (["1.3"], {"joint-limits"}),
        (["1.3.2,topic-name"], {"joint-limits", "topic-name"}),
        (["all"], {"units-meters", "units-kilograms", "joint-limits", "topic-name", "export-names"}),
    ],
)
def test_select(words, codes):
    assert set(choose_rules(KNOWN, words).codes) == codes


def test_ignore_wins_over_select_and_order_is_kept():
    choice = choose_rules(KNOWN, ["1", "2"], ["units-k*"])
    assert choice.codes == ("units-meters", "joint-limits", "topic-name")


@pytest.mark.parametrize(
    ("profile", "codes"),
    [("core", 3), ("ros", 1), ("export", 1), ("all", 5)],
)
def test_profile(profile, codes):
    assert len(choose_rules(KNOWN, profile=profile).codes) == codes


def test_ignoring_a_finding_that_is_no_rule_hides_it():
    choice = choose_rules(KNOWN, ignore=["usd-warning"])
    assert choice.hidden == {"usd-warning"}
    assert len(choice.codes) == 5


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("unit-meters", "did you mean 'units-meters'"),
        ("1.4", "did you mean '1.1'"),
        ("nothing-*", "known:"),
        ("unit", "known:"),
    ],
)
def test_a_word_that_names_nothing_is_an_error(word, hint):
    with pytest.raises(UnknownNameError) as caught:
        match_words(KNOWN, [word])
    assert word in caught.value.message
    assert hint in caught.value.hint


def test_unknown_profile():
    with pytest.raises(UnknownNameError, match="unknown profile 'rod'"):
        choose_rules(KNOWN, profile="rod")
