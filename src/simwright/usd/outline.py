# SPDX-License-Identifier: Apache-2.0
"""The outline of a .usda text: at which byte each prim, variant and property is declared.

One pass, statement by statement; values and metadata are skipped without being looked at.  Text that is not
valid is outlined as far as it makes sense, so that the place of a syntax error can be told too.  Keys are
``SdfPath`` strings (``/A/B.size``, ``/A{look=red}B``).
"""

from __future__ import annotations

import re

from simwright.usd.text import LITERAL

_PLAIN = rb"[^\[\](){}\"'@<#/]++"
_FILLER = rb"(?:" + _PLAIN + rb"|" + LITERAL + rb"|[\"'@</])*+"
_NAME = rb"(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*+)"
_BLANK = rb"(?:[\s;,]++|\#[^\r\n]*+|//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
_QUOTED = rb"(?:\"([^\"\r\n]*+)\"|'([^'\r\n]*+)')"

_STATEMENT = re.compile(
    _BLANK
    + rb"(?:(?P<close>\})"
    + rb"|(?P<prim>(?:def|over|class)\b(?:\s++[\w:\x80-\xff]++)?\s*+" + _QUOTED + rb")"
    + rb"|(?P<set>variantSet\s*+" + _QUOTED + rb"\s*+=\s*+\{)"
    + rb"|(?P<variant>" + _QUOTED + rb")"
    + rb"|(?P<order>reorder\s++\w++(?=\s*+=))"
    + rb"|(?P<prop>(?:(?:prepend|append|add|delete|reorder|custom|config|uniform|varying)\s++)*+"
    + rb"(?:rel|[\w:\x80-\xff]++(?:\s*+\[\s*+\])?)\s++"
    + rb"(?P<name>" + _NAME + rb"(?::[\w\x80-\xff]++)*+)(?:\s*+\.\s*+\w++)?)"
    + rb"|(?P<open>[(\[{])"
    + rb"|(?P<other>[^\r\n]))",
    re.DOTALL,
)  # fmt: skip
_EQUALS = re.compile(rb"\s*+=\s*+")
_ATOM = re.compile(rb"(?:" + LITERAL + rb"|[^\s;(){}\[\]])*+", re.DOTALL)
_META = re.compile(_BLANK + rb"\(")
_BODY = re.compile(_BLANK + rb"\{")
_FLAT = re.compile(_FILLER + rb"(?:[(\[{]" + _FILLER + rb"[)\]}]" + _FILLER + rb")*+", re.DOTALL)


def outline_text(data: bytes) -> dict[str, int]:
    """Byte offset of the declaration (its name, for prims and properties) of every path."""
    return _Outliner(data).run()


class _Outliner:
    """Position in the text, and the prims, variant sets and variants that are open there."""

    __slots__ = ("data", "places", "pos", "stack")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pos = 0
        self.stack: list[str] = ["/"]
        self.places: dict[str, int] = {"/": 0}

    def run(self) -> dict[str, int]:
        handlers = {
            "close": self._close,
            "prim": self._prim,
            "set": self._set,
            "variant": self._variant,
            "order": self._order,
            "prop": self._prop,
            "open": self._open,
            "other": self._other,
        }
        size = len(self.data)
        while self.pos < size:
            match = _STATEMENT.match(self.data, self.pos)
            if match is None:
                self.pos = self._next_line(self.pos)
                continue
            self.pos = match.end()
            for kind in match.groupdict():
                if kind != "name" and match.start(kind) >= 0:
                    handlers[kind](match)
                    break
        return self.places

    def _close(self, _: re.Match[bytes]) -> None:
        if len(self.stack) > 1:
            self.stack.pop()

    def _prim(self, match: re.Match[bytes]) -> None:
        group = 3 if match.start(3) >= 0 else 4
        path = _join(self.stack[-1], _text(match.group(group)))
        self._enter(path, match.start(group) - 1)

    def _set(self, match: re.Match[bytes]) -> None:
        group = 6 if match.start(6) >= 0 else 7
        path = f"{self.stack[-1]}{{{_text(match.group(group))}="
        self.places.setdefault(path + "}", match.start(group) - 1)
        self.stack.append(path)

    def _variant(self, match: re.Match[bytes]) -> None:
        if not self.stack[-1].endswith("="):
            self.pos = self._next_line(self.pos)
            return
        group = 9 if match.start(9) >= 0 else 10
        self._enter(f"{self.stack[-1]}{_text(match.group(group))}}}", match.start(group) - 1)

    def _enter(self, path: str, place: int) -> None:
        """Note a prim or variant, skip its metadata, and go into its body."""
        self.places.setdefault(path, place)
        self._skip_metadata()
        body = _BODY.match(self.data, self.pos)
        if body:
            self.pos = body.end()
            self.stack.append(path)

    def _order(self, _: re.Match[bytes]) -> None:
        self._skip_value()

    def _prop(self, match: re.Match[bytes]) -> None:
        owner = self.stack[-1]
        if owner != "/" and not owner.endswith("="):
            self.places.setdefault(f"{owner}.{_text(match.group('name'))}", match.start("name"))
        self._skip_value()
        self._skip_metadata()

    def _open(self, match: re.Match[bytes]) -> None:
        self._skip_group(match.end() - 1)

    def _other(self, match: re.Match[bytes]) -> None:
        self.pos = self._next_line(match.end())

    def _skip_metadata(self) -> None:
        match = _META.match(self.data, self.pos)
        if match:
            self._skip_group(match.end() - 1)

    def _skip_value(self) -> None:
        match = _EQUALS.match(self.data, self.pos)
        if not match:
            return
        self.pos = match.end()
        if self.data[self.pos : self.pos + 1] in (b"[", b"(", b"{"):
            self._skip_group(self.pos)
            return
        atom = _ATOM.match(self.data, self.pos)
        assert atom is not None, "an atom may be empty, so it always matches"
        self.pos = atom.end()

    def _skip_group(self, start: int) -> None:
        """To behind the bracket that closes the one at ``start``, or to the end of the text."""
        depth, pos, size = 1, start + 1, len(self.data)
        while depth and pos < size:
            match = _FLAT.match(self.data, pos)
            assert match is not None, "filler may be empty, so it always matches"
            pos = match.end()
            if pos < size:
                depth += 1 if self.data[pos] in b"([{" else -1
            pos += 1
        self.pos = min(pos, size)

    def _next_line(self, pos: int) -> int:
        end = self.data.find(b"\n", pos)
        return len(self.data) if end < 0 else end + 1


def _join(owner: str, name: str) -> str:
    return f"{owner}{name}" if owner.endswith(("/", "}")) else f"{owner}/{name}"


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
