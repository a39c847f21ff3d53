# SPDX-License-Identifier: Apache-2.0
"""JSON text as a tree with places.  The standard library reads JSON without places, so this reads it with them."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NoReturn

from simwright.core.diag import Where
from simwright.core.documents.tree import Node, Place, is_encodable
from simwright.core.errors import LimitError, ParseError

if TYPE_CHECKING:
    from simwright.core.documents.read import Limits

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<mark>[{}\[\]:,])"
    r'|(?P<text>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z_.])"
    r"|(?P<word>true|false|null)(?![0-9A-Za-z_]))"
)
_SPACE = re.compile(r"[ \t\r\n]*")
_WORDS = {"true": True, "false": False, "null": None}


def build_tree(text: str, name: str, limits: Limits) -> Node:
    """The tree of the one value in ``text``."""
    return _Builder(text, name, limits).build()


class _Builder:
    def __init__(self, text: str, name: str, limits: Limits) -> None:
        self._text = text
        self._name = name
        self._limits = limits
        self._at = 0
        self._count = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def build(self) -> Node:
        kind, token, start = self._next()
        root = self._build_value(kind, token, start, 1)
        end = self._skip_space()
        if end < len(self._text):
            self._fail("there is more after the end of the document", end)
        return root

    def _build_value(self, kind: str, token: str, start: int, depth: int) -> Node:
        if depth > self._limits.max_depth:
            where = self._where(start)
            raise LimitError(f"the document is nested more than {self._limits.max_depth} deep", where=where)
        self._count += 1
        if self._count > self._limits.max_values:
            where = self._where(start)
            raise LimitError(f"the document has more than {self._limits.max_values} values", where=where)
        if token == "{":
            return self._build_mapping(start, depth)
        if token == "[":
            return self._build_list(start, depth)
        return Node(self._place(start), self._read_scalar(kind, token, start))

    def _build_list(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        kind, token, at = self._next()
        while token != "]":
            items.append(self._build_value(kind, token, at, depth + 1))
            if self._read_mark(",]") == "]":
                break
            kind, token, at = self._next()
            if token == "]":
                self._fail("there is a comma before the end of a list", at)
        return Node(self._place(start), items)

    def _build_mapping(self, start: int, depth: int) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        kind, token, at = self._next()
        while token != "}":
            if kind != "text":
                self._fail("a key in double quotes is expected", at)
            key = self._read_text(token, at)
            if key in keys:
                hint = f"it is also on line {keys[key].line}; keep one of them"
                self._fail(f"the key {key!r} is given twice", at, hint)
            keys[key] = self._place(at)
            self._read_mark(":")
            values[key] = self._build_value(*self._next(), depth + 1)
            if self._read_mark(",}") == "}":
                break
            kind, token, at = self._next()
            if token == "}":
                self._fail("there is a comma before the end of a mapping", at)
        return Node(self._place(start), values, keys)

    def _read_scalar(self, kind: str, token: str, start: int) -> Any:
        if kind == "text":
            return self._read_text(token, start)
        if kind == "number":
            try:
                return json.loads(token)
            except ValueError:  # more digits than Python reads
                self._fail("a number has too many digits", start)
        if kind == "word":
            return _WORDS[token]
        return self._fail(f"a value is expected, not {token!r}", start)

    def _read_text(self, token: str, start: int) -> str:
        text: str = json.loads(token)
        if not is_encodable(text):
            self._fail("half of a surrogate pair stands alone", start)
        return text

    def _read_mark(self, allowed: str) -> str:
        kind, token, start = self._next()
        if kind != "mark" or token not in allowed:
            wanted = " or ".join(repr(mark) for mark in allowed)
            self._fail(f"{wanted} is expected", start)
        return token

    def _next(self) -> tuple[str, str, int]:
        """The next token as (kind, text, position)."""
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            start = self._skip_space()
            if start >= len(self._text):
                self._fail("the document ends too early", start)
            self._fail(f"{self._text[start]!r} is not expected here", start)
        self._at = match.end()
        kind = match.lastgroup or ""
        return kind, match[kind], match.start(kind)

    def _skip_space(self) -> int:
        match = _SPACE.match(self._text, self._at)
        return match.end() if match else self._at

    def _place(self, at: int) -> Place:
        line = bisect_right(self._lines, at)
        return Place(line, at - self._lines[line - 1] + 1)

    def _where(self, at: int) -> Where:
        place = self._place(at)
        return Where(self._name, place.line, place.column)

    def _fail(self, message: str, at: int, hint: str = "") -> NoReturn:
        raise ParseError(f"not valid JSON: {message}", hint=hint, where=self._where(at))
