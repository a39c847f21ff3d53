# SPDX-License-Identifier: Apache-2.0
"""Choosing rules by code, prefix, pattern, REP section and profile.

A word of ``--select`` or ``--ignore`` is, in this order: ``all``; a REP section (``1.3`` means 1.3 and
everything below it); a pattern with ``*``, ``?`` or ``[`` (``units-*``); a code; the start of codes up to a
dash (``units`` means ``units-meters`` and its like).  A word that names nothing is an error, because a rule
that is silently not run is worse than no rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from simwright.core.diag import Where
from simwright.core.errors import UnknownNameError

PROFILES = ("core", "ros", "export", "all")
_SECTION = re.compile(r"\d+(\.\d+)*\Z")
_WILD = frozenset("*?[")


class Selectable(Protocol):
    """What is looked at: a rule, or a row of the catalogue.  Other kinds of findings have no section."""

    @property
    def code(self) -> str:
        """Permanent code."""

    @property
    def section(self) -> str:
        """REP section."""

    @property
    def profile(self) -> str:
        """Profile it belongs to."""


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """``codes`` are the rules to run; ``hidden`` the codes of other findings that are not wanted."""

    codes: tuple[str, ...]
    hidden: frozenset[str] = frozenset()


def choose_rules(
    known: Sequence[Selectable],
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    profile: str = "all",
    where: Where | None = None,
) -> RuleChoice:
    """The rules that are selected and of the profile, without the ignored ones."""
    if profile not in PROFILES:
        raise UnknownNameError("profile", profile, PROFILES, where=where)
    # nothing selected means everything
    wanted = match_words(known, select, where) or {row.code for row in known}
    ignored = match_words(known, ignore, where)
    rules = [row for row in known if row.section]
    codes = [
        row.code
        for row in rules
        if row.code in wanted and row.code not in ignored and profile in ("all", row.profile)
    ]
    return RuleChoice(tuple(codes), frozenset(ignored - {row.code for row in rules}))


def match_words(known: Sequence[Selectable], words: Iterable[str], where: Where | None = None) -> set[str]:
    """Codes that any of the words names; words may hold several, separated by commas."""
    found: set[str] = set()
    for word in split_words(words):
        matches = [row.code for row in known if _matches(word, row)]
        if not matches:
            raise _unknown(known, word, where)
        found.update(matches)
    return found


def split_words(words: Iterable[str]) -> list[str]:
    """``["a,b", "c"]`` -> ``["a", "b", "c"]``."""
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def _matches(word: str, row: Selectable) -> bool:
    if word.lower() == "all":
        return True
    if _SECTION.match(word):
        return row.section == word or row.section.startswith(f"{word}.")
    code = word.lower()
    if _WILD & set(code):
        return fnmatchcase(row.code, code)
    # up to a dash: "mass" must not select "massless-..." rules of a plugin
    return row.code == code or row.code.startswith(f"{code}-")


def _unknown(known: Sequence[Selectable], word: str, where: Where | None) -> UnknownNameError:
    if _SECTION.match(word):
        return UnknownNameError(
            "REP section", word, {row.section for row in known if row.section}, where=where
        )
    return UnknownNameError("rule", word.lower(), {row.code for row in known}, where=where)
