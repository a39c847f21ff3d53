# SPDX-License-Identifier: Apache-2.0
"""The table of rules as plain data, and the ledger: every normative statement of REP-0158, checkable or not.

With the table in the cache, choosing and explaining rules imports no rule module.  Besides the rules it lists the
other findings a check can give (composition errors, suppressions ...), which have no REP section.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simwright.checker.cache import Cache
from simwright.checker.rule import Rule
from simwright.core.diag import CATALOGUE, Kind, Level
from simwright.core.errors import UnknownNameError

_FILE = Path(__file__).parent / "data" / "ledger.json"
_PEER_ID = re.compile(r"\d+(?:\.\d+)+[a-z]?")


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One statement.  ``mode`` is auto, heuristic, behaviour, info or manual.

    ``peer`` is the check of the reference tool for the same statement, ``peer_verdict`` how well it covers it.
    ``fixable`` says that a tool could repair an asset that breaks it.
    """

    id: str
    section: str
    level: str
    binds: str
    requirement: str
    mode: str
    peer: str
    peer_verdict: str
    fixable: bool = False

    @property
    def code(self) -> str:
        """The id as rules write their codes."""
        return self.id.lower()

    @property
    def is_checkable(self) -> bool:
        """Can it be checked on an asset?"""
        return self.mode in ("auto", "heuristic")

    @property
    def peer_ids(self) -> list[str]:
        """Ids of the reference tool's checks for the same statement."""
        # the note in brackets may name sections of the REP, which look like ids
        head = self.peer.partition("(")[0]
        return _PEER_ID.findall(head)


@cache
def read_ledger() -> tuple[LedgerRow, ...]:
    """Every row, in the order of the REP."""
    return tuple(LedgerRow(**row) for row in json.loads(_FILE.read_text()))


@cache
def _index_ledger() -> dict[str, LedgerRow]:
    return {row.code: row for row in reversed(read_ledger())}


def find_statement(rule: Rule) -> LedgerRow | None:
    """The statement that a rule checks: the one it names, else the one its code is the id of, else none."""
    return _index_ledger().get((rule.statement or rule.code).lower())


_FAMILIES = ("check-", "usd-")


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
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


def load_catalogue(cache: Cache) -> list[CatalogueEntry]:
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


def build_catalogue() -> list[CatalogueEntry]:
    """The table from the rules themselves; imports every one of them."""
    # declares the kinds of findings that opening and checking can give
    import simwright.checker.asset  # noqa: F401 - declares the kinds of findings
    from simwright.checker.run import all_rules

    rows = [
        CatalogueEntry(
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


def find_entry(entries: list[CatalogueEntry], code: str) -> CatalogueEntry:
    """The entry of a code; an unknown one gets a suggestion."""
    for entry in entries:
        if entry.code == code.lower():
            return entry
    raise UnknownNameError("rule", code.lower(), [entry.code for entry in entries])


def _describe_kind(kind: Kind) -> CatalogueEntry:
    title = kind.doc.partition(". ")[0].rstrip(".")
    return CatalogueEntry(kind.code, kind.level, title or kind.code, kind.doc or kind.message)


def _decode(row: Mapping[str, Any]) -> CatalogueEntry:
    return CatalogueEntry(**{**row, "level": Level(row["level"])})
