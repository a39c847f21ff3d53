"""Text of untrusted input is shown with nothing hidden in it."""

from __future__ import annotations

import json

import pytest

from simwright.core.visible import escape_json, make_visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ~ and all", "plain, ~ and all"),
        ("grün 机器人", "grün 机器人"),
        ("\x00\x1b[31m\x1f", "\u2400\u241b[31m\u241f"),
        ("back\x7f", "back\u2421"),
        ("\x80", "<U+0080>"),
        ("a\u202eb\u200b", "a<U+202E>b<U+200B>"),
        ("\ud83d", "<U+D83D>"),
        ("\U000e0001", "<U+E0001>"),
    ],
)
def test_hidden_characters_are_shown(text: str, shown: str) -> None:
    assert make_visible(text) == shown


def test_characters_that_are_kept_stay() -> None:
    assert make_visible("a\n\tb\r", keep="\n\t") == "a\n\tb\u240d"


@pytest.mark.parametrize("text", ["plain\x7f", "ü\x7f\x80\u202e", "\U000e0001 \U0001f916"])
def test_json_means_the_same_without_hidden_characters(text: str) -> None:
    written = escape_json(json.dumps({"name": text}, ensure_ascii=False))
    assert json.loads(written) == {"name": text}
    assert make_visible(written) == written
