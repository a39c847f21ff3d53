# SPDX-License-Identifier: Apache-2.0
"""Reading a YAML or JSON file into a :class:`~simwright.core.documents.tree.Document`.

JSON is read here and not by the standard library, which does not tell where a value stands.

YAML is built from parser events: no tags, no objects, no repeated keys.  Scalars mean what YAML 1.1 says (as every
Python program reads them), except that dates and numbers to the base of sixty stay text.  Keys are text, as written.
Aliases and ``<<`` merges work; each use counts against the limit.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from simwright.core.diag import Where
from simwright.core.documents.tree import Document, Node, Place, is_encodable, strip_places
from simwright.core.errors import LimitError, ParseError
from simwright.core.files import MIB, read_bytes

Syntax = Literal["yaml", "json"]
_JSON_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<mark>[{}\[\]:,])"
    r'|(?P<text>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z_.])"
    r"|(?P<word>true|false|null)(?![0-9A-Za-z_]))"
)
_JSON_SPACE = re.compile(r"[ \t\r\n]*")
_JSON_WORDS = {"true": True, "false": False, "null": None}
_YAML_TAG = "tag:yaml.org,2002:"
_YAML_SCALARS = frozenset({"null", "bool", "int", "float", "str"})
_YAML_MERGE = "<<"
_YAML_TUPLE = "python/tuple"
"""PyYAML writes tuples with this tag; to us they are lists."""


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """How large a document may be.  A value that is used by alias counts every time."""

    max_bytes: int = 16 * MIB
    max_depth: int = 64
    max_values: int = 1_000_000


DEFAULT_LIMITS = DocumentLimits()


def read_document(path: str | os.PathLike[str], limits: DocumentLimits = DEFAULT_LIMITS) -> Document:
    """Read a file: ``.json`` is JSON, anything else YAML."""
    file = Path(path)
    # a file of text begins with a line, also where nothing is in it
    if file.is_file() and file.stat().st_size == 0:
        raise ParseError("the file is empty", where=Where(str(path), 1))
    data = read_bytes(path, limits.max_bytes)
    syntax: Syntax = "json" if Path(path).suffix.lower() == ".json" else "yaml"
    return parse_document(decode_text(data, str(path)), name=str(path), syntax=syntax, limits=limits)


def parse_document(
    text: str, *, name: str = "", syntax: Syntax = "yaml", limits: DocumentLimits = DEFAULT_LIMITS
) -> Document:
    """Read a text; ``name`` is the file that findings name."""
    if len(text) > limits.max_bytes:
        raise LimitError(
            f"the text has {len(text) / MIB:.0f} MiB; the limit is {limits.max_bytes / MIB:.0f} MiB",
            where=Where(name),
        )
    if not is_encodable(text):
        raise ParseError("the text has half of a surrogate pair", where=Where(name))
    build = _build_json_tree if syntax == "json" else _build_yaml_tree
    root = build(text, name, limits)
    return Document(name, root, strip_places(root))


def decode_text(data: bytes, name: str) -> str:
    """UTF-8 with or without a byte order mark; anything else is refused with the line it is in."""
    try:
        # Windows editors put a byte order mark first
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError(
            "the file is not UTF-8 text", hint="save it as UTF-8", where=Where(name, line)
        ) from None


def _build_json_tree(text: str, name: str, limits: DocumentLimits) -> Node:
    """The tree of the one value in ``text``."""
    return _JsonTreeBuilder(text, name, limits).build()


class _JsonTreeBuilder:
    def __init__(self, text: str, name: str, limits: DocumentLimits) -> None:
        self._text = text
        self._name = name
        self._limits = limits
        self._at = 0
        self._count = 0
        # begins of lines, once: counting them for every value would take time by the square
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
            return _JSON_WORDS[token]
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
        match = _JSON_TOKEN.match(self._text, self._at)
        if match is None:
            start = self._skip_space()
            if start >= len(self._text):
                self._fail("the document ends too early", start)
            self._fail(f"{self._text[start]!r} is not expected here", start)
        self._at = match.end()
        kind = match.lastgroup or ""
        return kind, match[kind], match.start(kind)

    def _skip_space(self) -> int:
        match = _JSON_SPACE.match(self._text, self._at)
        return match.end() if match else self._at

    def _place(self, at: int) -> Place:
        line = bisect_right(self._lines, at)
        return Place(line, at - self._lines[line - 1] + 1)

    def _where(self, at: int) -> Where:
        place = self._place(at)
        return Where(self._name, place.line, place.column)

    def _fail(self, message: str, at: int, hint: str = "") -> NoReturn:
        raise ParseError(f"not valid JSON: {message}", hint=hint, where=self._where(at))


def _build_yaml_tree(text: str, name: str, limits: DocumentLimits) -> Node:
    """The tree of the only document in ``text``."""
    import yaml

    # libyaml where PyYAML has it, since it is many times faster
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _YamlTreeBuilder(yaml.parse(text, Loader=loader), name, limits).build()
    except yaml.YAMLError as error:
        raise _explain_error(error, name, text) from None


class _YamlTreeBuilder:
    """Walks the events once.  ``_sizes`` holds how many values each anchor stands for."""

    def __init__(self, events: Iterator[Any], name: str, limits: DocumentLimits) -> None:
        import yaml

        self._events = events
        self._name = name
        self._limits = limits
        self._count = 0
        self._yaml = yaml
        self._construct_with = yaml.constructor.SafeConstructor()
        self._resolvers = yaml.resolver.Resolver.yaml_implicit_resolvers
        self._anchors: dict[str, tuple[Node, int] | None] = {}

    def build(self) -> Node:
        yaml = self._yaml
        next(self._events)  # the stream
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            raise ParseError("the document is empty", where=Where(self._name, 1))
        root = self._build_node(next(self._events), 1)
        next(self._events)  # the end of the document
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self._fail(
                event, "there is a second document", "keep one document in a file, without '---' between"
            )
        return root

    def _build_node(self, event: Any, depth: int) -> Node:
        yaml = self._yaml
        if depth > self._limits.max_depth:
            where = self._where(event)
            raise LimitError(f"the document is nested more than {self._limits.max_depth} deep", where=where)
        self._add(1, event)
        if isinstance(event, yaml.AliasEvent):
            return self._use_alias(event)
        anchor, before = event.anchor, self._count
        if anchor is not None:
            self._anchors[anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            node = Node(_place(event), self._read_scalar(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._check_tag(event, "seq", _YAML_TUPLE)
            node = self._build_list(event, depth)
        else:
            self._check_tag(event, "map")
            node = self._build_mapping(event, depth)
        if anchor is not None:
            self._anchors[anchor] = (node, self._count - before + 1)
        return node

    def _build_list(self, start: Any, depth: int) -> Node:
        yaml = self._yaml
        items: list[Node] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._build_node(event, depth + 1))
        return Node(_place(start), items)

    def _build_mapping(self, start: Any, depth: int) -> Node:
        yaml = self._yaml
        values: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        merged: list[tuple[Any, Node]] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._fail(
                    event, "a key has to be plain text", "write the key as one word or in quotes"
                )
            key = event.value
            value = self._build_node(next(self._events), depth + 1)
            # only where it is written without quotes; "<<" in quotes is a key like any other
            if key == _YAML_MERGE and event.implicit[0]:
                merged.append((event, value))
                continue
            if key in keys:
                hint = f"it is also on line {keys[key].line}; keep one of them"
                raise self._fail(event, f"the key {key!r} is given twice", hint)
            values[key] = value
            keys[key] = _place(event)
        # last: keys of the mapping itself count before those that are merged, wherever << stands
        for event, source in merged:
            self._merge(event, source, values, keys)
        return Node(_place(start), values, keys)

    def _merge(self, event: Any, source: Node, values: dict[str, Node], keys: dict[str, Place]) -> None:
        """``<<: *base`` or ``<<: [*a, *b]``: keys that are not there yet, the first source first."""
        sources = source.value if isinstance(source.value, list) else [source]
        for one in sources:
            if not isinstance(one.value, dict):
                raise self._fail(event, "'<<' merges a mapping or a list of mappings", "")
            for key, value in one.value.items():
                if key not in values:
                    values[key] = value
                    keys[key] = (one.keys or {}).get(key, value.place)

    def _use_alias(self, event: Any) -> Node:
        found = self._anchors.get(event.anchor)
        if found is None:
            raise self._fail(
                event, f"the alias *{event.anchor} is used inside what it stands for, or before it", ""
            )
        node, size = found
        # as often as it is used: nine levels of nine aliases stand for four hundred million values
        self._add(size, event)
        return node

    def _read_scalar(self, event: Any) -> Any:
        tag = event.tag
        if tag is None or (tag == "!" and event.implicit[0]):
            return self._resolve_plain(event) if event.implicit[0] else event.value
        if tag == "!":
            return event.value
        word = tag.removeprefix(_YAML_TAG)
        if not tag.startswith(_YAML_TAG) or word not in _YAML_SCALARS:
            raise self._refuse_tag(event)
        return event.value if word == "str" else self._construct(word, event.value, event)

    def _resolve_plain(self, event: Any) -> Any:
        """What a plain scalar means."""
        text = event.value
        # most scalars are plain numbers: this spares them the patterns; a leading zero is octal in YAML
        # 1.1
        if text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 19:
            return int(text)
        for tag, pattern in self._resolvers.get(text[:1], ()):
            if pattern.match(text):
                word = tag.removeprefix(_YAML_TAG)
                if word not in _YAML_SCALARS or (":" in text and word in {"int", "float"}):
                    return text
                return self._construct(word, text, event)
        return text

    def _construct(self, word: str, text: str, event: Any) -> Any:
        try:
            node = self._yaml.ScalarNode(_YAML_TAG + word, text)
            return getattr(self._construct_with, f"construct_yaml_{word}")(node)
        except (ValueError, KeyError, IndexError, OverflowError):
            shown = text if len(text) <= 40 else text[:37] + "..."
            raise self._fail(event, f"{shown!r} is not a valid {word}", "") from None

    def _check_tag(self, event: Any, *words: str) -> None:
        if event.tag not in {None, "!"} and event.tag.removeprefix(_YAML_TAG) not in words:
            raise self._refuse_tag(event)

    def _refuse_tag(self, event: Any) -> ParseError:
        return self._fail(event, f"the tag {event.tag!r} is not allowed", "documents hold plain data only")

    def _add(self, count: int, event: Any) -> None:
        self._count += count
        if self._count > self._limits.max_values:
            raise LimitError(
                f"the document has more than {self._limits.max_values} values, aliases counted as often as used",
                where=self._where(event),
            )

    def _where(self, event: Any) -> Where:
        place = _place(event)
        return Where(self._name, place.line, place.column)

    def _fail(self, event: Any, message: str, hint: str) -> ParseError:
        return ParseError(message, hint=hint, where=self._where(event))


def _place(event: Any) -> Place:
    mark = event.start_mark
    return Place(mark.line + 1, mark.column + 1)


# what a YAML document may hold by its number only
_CONTROL = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _explain_error(error: Any, name: str, text: str) -> ParseError:
    """PyYAML's own words, shortened, with our place."""
    mark = getattr(error, "problem_mark", None)
    found = _CONTROL.search(text)
    if mark is None and found is not None:  # PyYAML gives no place for these
        at = found.start()
        return ParseError(
            f"not valid YAML: the control character U+{ord(found[0]):04X} is not allowed",
            hint="remove it, or write it with a backslash in double quotes",
            where=Where(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)),
        )
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    context = getattr(error, "context", None)
    message = f"not valid YAML: {problem}" + (f" ({context})" if context else "")
    where = Where(name, mark.line + 1, mark.column + 1) if mark is not None else Where(name)
    hint = "indent with spaces, not with tabs" if "'\\t'" in message else ""
    return ParseError(message, hint=hint, where=where)
