# SPDX-License-Identifier: Apache-2.0
"""From a prim or a property back to the file and line that says it.

OpenUSD forgets line numbers.  A :class:`Locator` outlines each text layer once: one pass, statement by statement, gives
the byte at which each prim, variant and property is declared; values and metadata are skipped.  Text that is not valid
is outlined as far as it makes sense, so that the place of a syntax error can be told too.  Binary layers, and layers
changed in memory, have a file but no line.
"""

from __future__ import annotations

import os
import re
import zipfile
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.usd.guard import MAX_TEXT_BYTES, is_text
from simwright.usd.text import LITERAL, find_newlines

# possessive quantifiers (++, *+) throughout: no text can make these expressions backtrack
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
_WORDS = (
    rb"\s*+(?:(?:prepend|append|add|delete|reorder|custom|config|uniform|varying)\s++)*+"
    rb"(?:rel|[\w:\x80-\xff]++(?:\[\])?)[ \t]++"
)
_FULL_NAME = _NAME + rb"(?::[\w\x80-\xff]++)*+"
_VALUE = (
    rb"[ \t]*+=[ \t]*+"
    rb"(?:[^\s\"'@#/\[\](){}<;,]++|\"[^\"\\\r\n]++\"|<[^<>\s\"'@#]++>|@[^@\s]++@"
    rb"|\([^\[\](){}\"'@#/<\r\n]*+\)|\[(?:[^\[\](){}\"'@#/<\r\n]|\"[^\"\\\r\n]*+\")*+\])"
    rb"[ \t]*+\r?\n(?!\s*+[(\#/;,])"
)
_LINE = re.compile(_WORDS + rb"(?P<name>" + _FULL_NAME + rb")" + _VALUE)
"""A property with its value on a line of its own and nothing else: most of the lines of a layer."""
_LINES = re.compile(rb"(?:" + _WORDS + _FULL_NAME + _VALUE + rb")++")
"""Several of them."""
_EQUALS = re.compile(rb"\s*+=\s*+")
_ATOM = re.compile(rb"(?:" + LITERAL + rb"|[^\s;(){}\[\]])*+", re.DOTALL)
_META = re.compile(_BLANK + rb"\(")
_BODY = re.compile(_BLANK + rb"\{")
_FLAT = re.compile(_FILLER + rb"(?:[(\[{]" + _FILLER + rb"[)\]}]" + _FILLER + rb")*+", re.DOTALL)


def outline_text(data: bytes) -> dict[str, int]:
    """Byte offset of the declaration (its name, for prims and properties) of every path."""
    return SpecPlaces(data).list_all()


class SpecPlaces:
    """Byte offsets of declarations in a text.  Lines of properties are skipped, and looked at where one is asked for.

    A check asks for a few properties of some prims, and most lines of a layer are properties.
    """

    __slots__ = ("_data", "_known", "_skipped")

    def __init__(self, data: bytes) -> None:
        outliner = _Outliner(data)
        outliner.run()
        self._data = data
        self._known = outliner.places
        self._skipped = outliner.skipped

    def list_all(self) -> dict[str, int]:
        """Every path and its offset."""
        for owner in list(self._skipped):
            self._look_at(owner)
        return self._known

    def find(self, path: str) -> int:
        """Offset of the path, or of the nearest ancestor that is declared."""
        prim, prop = _split_path(path)
        known = self._known
        if prop:
            self._look_at(prim)
            if f"{prim}.{prop}" in known:
                return known[f"{prim}.{prop}"]
        while prim and prim not in known:
            # /A{set=v}B: a child of a variant has no slash in front, so braces cut a path as well
            cut = max(prim.rfind("/"), prim.rfind("{"), prim.rfind("}") + 1 if not prim.endswith("}") else 0)
            prim = prim[:cut] if cut else ""
        return known.get(prim, 0)

    def _look_at(self, owner: str) -> None:
        """Enter the properties of a prim that were skipped."""
        for begin, end in self._skipped.pop(owner, ()):
            for match in _LINE.finditer(self._data, begin, end):
                path, place = f"{owner}.{_decode(match['name'])}", match.start("name")
                # what is declared several times counts where it is first
                self._known[path] = min(place, self._known.get(path, place))


class _Outliner:
    """Position in the text, and the prims, variant sets and variants that are open there."""

    __slots__ = ("data", "places", "pos", "skipped", "stack")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pos = 0
        self.stack: list[str] = ["/"]
        self.places: dict[str, int] = {"/": 0}
        self.skipped: dict[str, list[tuple[int, int]]] = {}
        """Ranges of lines that hold a property of a prim each."""

    def run(self) -> None:
        """Go through the text."""
        handlers: dict[str | None, Callable[[re.Match[bytes]], None]] = {
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
            self._lines()
            match = _STATEMENT.match(self.data, self.pos)
            if match is None:
                self.pos = self._next_line(self.pos)
                continue
            self.pos = match.end()
            # the group that closed last is the alternative itself: groups inside it close before
            handlers[match.lastgroup](match)

    def _lines(self) -> None:
        """Properties that take a line each, without asking what every statement is."""
        owner = self.stack[-1]
        if owner == "/" or owner.endswith("="):
            return
        match = _LINES.match(self.data, self.pos)
        if match is not None:
            self.pos = match.end()
            self.skipped.setdefault(owner, []).append(match.span())

    def _close(self, _: re.Match[bytes]) -> None:
        if len(self.stack) > 1:
            self.stack.pop()

    def _prim(self, match: re.Match[bytes]) -> None:
        group = 3 if match.start(3) >= 0 else 4
        path = _join_path(self.stack[-1], _decode(match.group(group)))
        self._enter(path, match.start(group) - 1)

    def _set(self, match: re.Match[bytes]) -> None:
        group = 6 if match.start(6) >= 0 else 7
        path = f"{self.stack[-1]}{{{_decode(match.group(group))}="
        self.places.setdefault(path + "}", match.start(group) - 1)
        self.stack.append(path)

    def _variant(self, match: re.Match[bytes]) -> None:
        if not self.stack[-1].endswith("="):
            self.pos = self._next_line(self.pos)
            return
        group = 9 if match.start(9) >= 0 else 10
        self._enter(f"{self.stack[-1]}{_decode(match.group(group))}}}", match.start(group) - 1)

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
        # outside of prims and variants only metadata looks like a property
        if owner != "/" and not owner.endswith("="):
            self.places.setdefault(f"{owner}.{_decode(match.group('name'))}", match.start("name"))
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


def _join_path(owner: str, name: str) -> str:
    return f"{owner}{name}" if owner.endswith(("/", "}")) else f"{owner}/{name}"


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


_START = 64
_KEPT = 4_194_304
"""Bytes of all texts whose indexes are kept: entry layers, physics and ROS are asked for again by every check."""
_indexes: dict[bytes, TextIndex] = {}


@dataclass(slots=True)
class TextIndex:
    """The text of one layer, where its lines end and where its specs are."""

    data: bytes
    newlines: npt.NDArray[np.int64]
    places: SpecPlaces

    @classmethod
    def of(cls, data: bytes) -> TextIndex:
        """Index a text."""
        return cls(data, find_newlines(data), SpecPlaces(data))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte, both from 1; the column counts characters."""
        line = bisect_left(self.newlines, offset)
        start = int(self.newlines[line - 1]) + 1 if line else 0
        return line + 1, len(self.data[start:offset].decode("utf-8", "replace")) + 1


class Locator:
    """Answers "where is it said?" for the layers of a stage; each text layer is read once."""

    __slots__ = ("_files", "_indexes")

    def __init__(self) -> None:
        self._indexes: dict[str, TextIndex | None] = {}
        self._files: dict[str, str] = {}

    @classmethod
    def for_stage(cls, stage: Any) -> Locator:
        """A locator for the layers of a stage; files are read when first asked for."""
        assert stage, "an open stage is needed"
        return cls()

    def find_only_file(self, stage: Any) -> str:
        """The file that says everything where that is one binary layer, else nothing.

        Then every place is known without asking, which is worth it where there are many findings.
        """
        used = [layer for layer in stage.GetUsedLayers(includeClipLayers=True) if not layer.empty]
        if len(used) != 1 or used[0].anonymous or self._index(used[0]) is not None:
            return ""
        return _file_of(used[0])

    def where_prim(self, prim: Any) -> Where:
        """Where the strongest opinion about the prim is."""
        spec = _strongest(prim.GetPrimStack())
        return self.where_spec(spec.layer, spec.path) if spec else Where(prim=str(prim.GetPath()))

    def where_property(self, prop: Any) -> Where:
        """Where the strongest opinion about the property is, else where its prim is."""
        spec = _strongest(prop.GetPropertyStack())
        if spec:
            return self.where_spec(spec.layer, spec.path)
        prim = self.where_prim(prop.GetPrim())
        return Where(prim.file, prim.line, prim.column, prim.prim, prop.GetName())

    def where_spec(self, layer: Any, path: Any) -> Where:
        """Where a layer declares a path; the nearest declared ancestor if it does not."""
        return self._where(layer, str(path), "")

    def where_asset(self, layer: Any, path: Any, asset: str) -> Where:
        """Where a layer writes the asset path ``@asset``, in or after the declaration of a prim."""
        return self._where(layer, str(path), f"@{asset}")

    def where_mention(self, layer: Any, path: Any, words: str) -> Where:
        """Where a layer has these words, in or after the declaration of a prim."""
        return self._where(layer, str(path), words)

    def _where(self, layer: Any, path: str, words: str) -> Where:
        file, line, column = self.find_line(layer, path, words)
        prim, prop = _split_path(path)
        return Where(file, line, column, prim, prop)

    def find_line(self, layer: Any, path: str, words: str = "") -> tuple[str, int | None, int | None]:
        """File, line and column where a layer declares a path, or has these words in or after it."""
        key = layer.identifier
        file = self._files.get(key) or self._files.setdefault(key, _file_of(layer))
        index = self._indexes[key] if key in self._indexes else self._index(layer)
        if index is None:
            return file, None, None
        offset = index.places.find(path)
        # an arc or an address stands behind the declaration of its prim
        if words:
            found = index.data.find(words.encode(), offset)
            offset = found if found >= 0 else offset
        return file, *index.position(offset)

    def _index(self, layer: Any) -> TextIndex | None:
        key = layer.identifier
        if key not in self._indexes:
            # a changed layer no longer says what its file says
            self._indexes[key] = None if layer.anonymous or layer.dirty else _find_index(layer.realPath)
        return self._indexes[key]


def _find_index(path: str) -> TextIndex | None:
    """The index of a text layer; those of texts that are not large are kept for the next check."""
    data = _read_layer_bytes(path)
    if not is_text(data):
        return None
    found = _indexes.get(data)
    if found is None:
        found = TextIndex.of(data)
        if len(data) <= _KEPT:
            while sum(map(len, _indexes)) + len(data) > _KEPT:
                del _indexes[next(iter(_indexes))]
            _indexes[data] = found
    return found


def _file_of(layer: Any) -> str:
    """The real file of a layer: links, such as those of ``package://``, are followed."""
    path = str(layer.realPath)
    return os.path.realpath(path) if path and "[" not in path else path or str(layer.identifier)


def _strongest(stack: list[Any]) -> Any:
    """The strongest spec that lives in a file; the session layer and other unnamed ones come last."""
    return next((spec for spec in stack if not spec.layer.anonymous), stack[0] if stack else None)


def _split_path(path: str) -> tuple[str, str]:
    """``/A/B.size`` -> ``("/A/B", "size")``; a target path in brackets belongs to its property."""
    head = path.split("[", 1)[0]
    prim, dot, prop = head.rpartition(".")
    return (prim, prop) if dot and "}" not in prop else (head, "")


def _read_layer_bytes(path: str) -> bytes:
    """The bytes of a layer file, or of a member of a .usdz package; empty when they cannot be had."""
    archive, bracket, inside = path.partition("[")
    try:
        if bracket and inside.endswith("]") and "[" not in inside:
            with zipfile.ZipFile(archive) as package:
                return package.read(inside[:-1])
        file = Path(path)
        if path.lower().endswith(".usdz"):
            with zipfile.ZipFile(file) as package:
                return package.read(package.infolist()[0])
        if not path or file.stat().st_size > MAX_TEXT_BYTES:
            return b""
        with file.open("rb") as stream:
            start = stream.read(_START)  # a binary layer may be big, and nothing is looked up in it
            return start + stream.read() if is_text(start) else b""
    except (OSError, LookupError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return b""
