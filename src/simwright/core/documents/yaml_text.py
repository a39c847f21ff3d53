# SPDX-License-Identifier: Apache-2.0
"""YAML text as a tree with places, built from parser events: no tags, no objects, no repeated keys.

Scalars mean what YAML 1.1 says (as every Python program reads them), except that dates and numbers to the base of
sixty stay text.  Keys are text, as written.  Aliases and ``<<`` merges work; each use counts against the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from simwright.core.diag import Where
from simwright.core.documents.tree import Node, Place
from simwright.core.errors import LimitError, ParseError

if TYPE_CHECKING:
    from simwright.core.documents.read import Limits

_CORE = "tag:yaml.org,2002:"
_SCALARS = frozenset({"null", "bool", "int", "float", "str"})
_MERGE = "<<"
_TUPLE = "python/tuple"
"""PyYAML writes tuples with this tag; to us they are lists."""


def build_tree(text: str, name: str, limits: Limits) -> Node:
    """The tree of the only document in ``text``."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(yaml.parse(text, Loader=loader), name, limits).build()
    except yaml.YAMLError as error:
        raise _explain_error(error, name) from None


class _Builder:
    """Walks the events once.  ``_sizes`` holds how many values each anchor stands for."""

    def __init__(self, events: Iterator[Any], name: str, limits: Limits) -> None:
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
            raise ParseError("the document is empty", where=Where(self._name))
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
            self._check_tag(event, "seq", _TUPLE)
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
            if key == _MERGE and event.implicit[0]:
                merged.append((event, value))
                continue
            if key in keys:
                hint = f"it is also on line {keys[key].line}; keep one of them"
                raise self._fail(event, f"the key {key!r} is given twice", hint)
            values[key] = value
            keys[key] = _place(event)
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
        self._add(size, event)
        return node

    def _read_scalar(self, event: Any) -> Any:
        tag = event.tag
        if tag is None or (tag == "!" and event.implicit[0]):
            return self._resolve_plain(event) if event.implicit[0] else event.value
        if tag == "!":
            return event.value
        word = tag.removeprefix(_CORE)
        if not tag.startswith(_CORE) or word not in _SCALARS:
            raise self._refuse_tag(event)
        return event.value if word == "str" else self._construct(word, event.value, event)

    def _resolve_plain(self, event: Any) -> Any:
        """What a plain scalar means."""
        text = event.value
        if text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 19:
            return int(text)
        for tag, pattern in self._resolvers.get(text[:1], ()):
            if pattern.match(text):
                word = tag.removeprefix(_CORE)
                if word not in _SCALARS or (":" in text and word in {"int", "float"}):
                    return text
                return self._construct(word, text, event)
        return text

    def _construct(self, word: str, text: str, event: Any) -> Any:
        try:
            node = self._yaml.ScalarNode(_CORE + word, text)
            return getattr(self._construct_with, f"construct_yaml_{word}")(node)
        except (ValueError, KeyError, IndexError, OverflowError):
            shown = text if len(text) <= 40 else text[:37] + "..."
            raise self._fail(event, f"{shown!r} is not a valid {word}", "") from None

    def _check_tag(self, event: Any, *words: str) -> None:
        if event.tag not in {None, "!"} and event.tag.removeprefix(_CORE) not in words:
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


def _explain_error(error: Any, name: str) -> ParseError:
    """PyYAML's own words, shortened, with our place."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    context = getattr(error, "context", None)
    message = f"not valid YAML: {problem}" + (f" ({context})" if context else "")
    where = Where(name, mark.line + 1, mark.column + 1) if mark is not None else Where(name)
    hint = "indent with spaces, not with tabs" if "'\\t'" in message else ""
    return ParseError(message, hint=hint, where=where)
