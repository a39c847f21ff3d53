# SPDX-License-Identifier: Apache-2.0
"""Where a TOML file says a key: the parser of the standard library does not tell."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"^\s*((?:\"[^\"]*\"|'[^']*'|[\w\-. ]+?))\s*=")


def find_key(text: str, table: tuple[str, ...], key: str, number: int = 0) -> int | None:
    """The line, from 1, that assigns ``key`` in a table or opens the table ``table.key``.

    ``number`` says which one of an array of tables.  None where it is written in a way this does not see
    (inline tables over several lines).
    """
    current: tuple[str, ...] = ()
    seen = -1
    for line_number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            current = _split_key(header.group(2))
            if header.group(1) == "[[" and current == table:
                seen += 1
            if current[: len(table) + 1] == (*table, key):
                return line_number
            continue
        assignment = _ASSIGNMENT.match(line)
        if assignment and seen in (-1, number):
            full = (*current, *_split_key(assignment.group(1)))
            if full[: len(table) + 1] == (*table, key):
                return line_number
    return None


def _split_key(text: str) -> tuple[str, ...]:
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.\s"\']+)', text)
    return tuple(next(filter(None, part), "") for part in parts)
