# SPDX-License-Identifier: Apache-2.0
"""The table of rules as plain data, so that choosing and explaining rules needs no rule module.

Besides the rules it lists the other findings a check can give (composition errors, suppressions ...), which
have no REP section.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from simwright.checker.cache import Cache
from simwright.core.diag import CATALOGUE, Kind, Level
from simwright.core.errors import UnknownNameError

_FAMILIES = ("check-", "usd-")


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule, or another kind of finding (``section`` is empty).  ``doc`` is the teaching text.

    ``statement`` is the id of the statement of REP-0158 that a rule checks, empty for a rule of our own or a plugin's.
    """

    code: str
    level: Level
    title: str
    doc: str
    section: str = ""
    profile: str = ""
    word: str = ""
    heuristic: bool = False
    fixable: str = "no"
    fix_title: str = ""
    statement: str = ""

    @property
    def is_rule(self) -> bool:
        """Is it a rule?"""
        return bool(self.section)


def load_catalogue(cache: Cache) -> list[Entry]:
    """Every rule by section, then the other findings by code; from the cache where it is there."""
    key = cache.make_key("catalogue")
    stored = cache.get(key)
    if stored is not None:
        try:
            return [_decode(row) for row in stored["rows"]]
        except (KeyError, TypeError, ValueError):
            pass  # an entry of another shape is as good as none
    entries = build_catalogue()
    cache.put(key, {"rows": [asdict(entry) for entry in entries]})
    return entries


def build_catalogue() -> list[Entry]:
    """The table from the rules themselves; imports every one of them."""
    import simwright.checker.asset  # noqa: F401 - declares the kinds of findings
    from simwright.checker.ledger import find_statement
    from simwright.checker.run import all_rules

    rows = [
        Entry(
            code=rule.code,
            level=rule.level,
            title=rule.title,
            doc=rule.doc,
            section=rule.section,
            profile=rule.profile.value,
            word=rule.word.value,
            heuristic=rule.heuristic,
            fixable=rule.fix.value,
            fix_title=rule.fix_title,
            statement=row.id if (row := find_statement(rule)) else "",
        )
        for rule in all_rules()
    ]
    taken = {row.code for row in rows}
    kinds = [
        CATALOGUE[code] for code in sorted(CATALOGUE) if code.startswith(_FAMILIES) and code not in taken
    ]
    return [*rows, *map(_describe_kind, kinds)]


def find_entry(entries: list[Entry], code: str) -> Entry:
    """The entry of a code; an unknown one gets a suggestion."""
    for entry in entries:
        if entry.code == code.lower():
            return entry
    raise UnknownNameError("rule", code.lower(), [entry.code for entry in entries])


def _describe_kind(kind: Kind) -> Entry:
    title = kind.doc.partition(". ")[0].rstrip(".")
    return Entry(kind.code, kind.level, title or kind.code, kind.doc or kind.message)


def _decode(row: Mapping[str, Any]) -> Entry:
    return Entry(**{**row, "level": Level(row["level"])})
