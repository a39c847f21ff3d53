# SPDX-License-Identifier: Apache-2.0
"""The ledger: every normative statement of REP-0158 as one row, whether a rule can check it or not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from simwright.checker.rule import Rule

_FILE = Path(__file__).parent / "data" / "ledger.json"
_PEER_ID = re.compile(r"\d+(?:\.\d+)+[a-z]?")


@dataclass(frozen=True, slots=True)
class Row:
    """One statement.  ``mode`` is auto, heuristic, behaviour, info or manual.

    ``peer`` tells which check of the reference tool covers it and how well.  ``fixable`` says that a tool could mend an
    asset that breaks it.
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
        head = self.peer.partition("(")[0]
        return _PEER_ID.findall(head)


@cache
def read_ledger() -> tuple[Row, ...]:
    """Every row, in the order of the REP."""
    return tuple(Row(**row) for row in json.loads(_FILE.read_text()))


def find_statement(rule: Rule) -> Row | None:
    """The statement that a rule checks: the one it names, else the one its code is the id of, else none."""
    wanted = (rule.statement or rule.code).lower()
    return next((row for row in read_ledger() if row.code == wanted), None)
