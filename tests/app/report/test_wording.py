from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simwright.app.report.report import (
    count_words,
    find_position,
    name_fix,
    name_section,
    replace_surrogates,
    shorten_path,
)
from simwright.core.diag import Diagnostic, Fix, Fixable, Level, Where
from simwright.core.visible import make_visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31m", "\u241b[31m"),
        ("a\tb\x00\x7f", "a\u2409b\u2400\u2421"),
        ("evil\u202etxt", "evil<U+202E>txt"),
        ("\u009b31m", "<U+009B>31m"),
        ("\ud800", "<U+D800>"),
        ("línea 机器人", "línea 机器人"),
    ],
)
def test_hidden_characters_are_shown(text: str, shown: str) -> None:
    assert make_visible(text) == shown


def test_kept_characters_stay() -> None:
    assert make_visible("a\nb\tc", keep="\n") == "a\nb\u2409c"


@given(st.text())
def test_text_without_surrogates_is_left_alone(text: str) -> None:
    assert replace_surrogates(text) == text


@given(st.text(st.characters(exclude_categories=())))
def test_text_with_surrogates_can_be_encoded(text: str) -> None:
    replace_surrogates(text).encode("utf-8")
    make_visible(text).encode("utf-8")


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [(3, 4, (3, 4)), (3, None, (3, None)), (None, 4, (None, None)), (0, 4, (None, None)), (3, 0, (3, None))],
)
def test_a_position_counts_from_one_and_starts_with_a_line(
    line: int | None, column: int | None, expected: tuple[int | None, int | None]
) -> None:
    assert find_position(Diagnostic("k", Level.INFO, "m", where=Where("f", line, column))) == expected


def test_counts_read_as_words() -> None:
    assert count_words({"error": 2, "warning": 1, "info": 0}) == "2 errors, 1 warning"
    assert count_words({"error": 0, "warning": 0, "info": 3}) == "3 infos"
    assert count_words({"error": 0, "warning": 0, "info": 0}) == "no findings"


def test_a_section_names_its_standard_once() -> None:
    assert name_section(Diagnostic("k", Level.INFO, "m", section="2.1")) == "REP-0158 section 2.1"
    assert name_section(Diagnostic("k", Level.INFO, "m", section="REP-0103")) == "REP-0103"
    assert name_section(Diagnostic("k", Level.INFO, "m")) == ""


def test_a_fix_says_how_far_it_can_be_trusted() -> None:
    grades = {grade: name_fix(Diagnostic("k", Level.INFO, "m", fix=Fix("mend", grade))) for grade in Fixable}
    assert grades[Fixable.SAFE] == "mend (safe)"
    assert "consent" in grades[Fixable.UNSAFE]
    assert "not applied" in grades[Fixable.SHOWN]
    assert grades[Fixable.NO] == name_fix(Diagnostic("k", Level.INFO, "m")) == ""


def test_paths_below_the_working_folder_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shorten_path(str(tmp_path / "a" / "b.usda")) == "a/b.usda"
    assert shorten_path("a/b.usda") == "a/b.usda"
    assert shorten_path(str(tmp_path.parent / "c.usda")) == (tmp_path.parent / "c.usda").as_posix()


def test_paths_stay_as_they_are_without_a_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileNotFoundError):
        os.getcwd()  # noqa: PTH109 - the state under test
    assert shorten_path("/x/a.usda") == "/x/a.usda"
