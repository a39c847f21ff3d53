# SPDX-License-Identifier: Apache-2.0
"""A document as a tree of values that know their place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simwright.core.diag import Where

Step = str | int
"""A key of a mapping or an index of a list."""


class Place(NamedTuple):
    """Line and column, counted from 1."""

    line: int
    column: int


class Node(NamedTuple):
    """A value and its place.

    ``value`` is a scalar, a list of nodes, or a dictionary of nodes; ``keys`` are the places of its keys.
    """

    place: Place
    value: Any
    keys: dict[str, Place] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, as plain data (``data``) and with places (``root``)."""

    file: str
    root: Node
    data: Any = field(repr=False)

    def find_where(self, *path: Step, key: bool = False) -> Where:
        """The place of a value (with ``key``, of its key); of what is nearest above it where it is absent."""
        node, place = self.root, self.root.place
        for number, step in enumerate(path):
            child = find_child(node, step)
            if child is None:
                break
            last = number == len(path) - 1
            # an unknown key is shown at the key itself, a wrong value at the value
            place = node.keys[str(step)] if key and last and node.keys is not None else child.place
            node = child
        return Where(self.file, place.line, place.column)


def find_child(node: Node, step: Step) -> Node | None:
    """The value under a key or an index, if there is one."""
    value = node.value
    if isinstance(value, dict):
        found = value.get(step)
        return found if isinstance(found, Node) else None
    if isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        found = value[step]
        return found if isinstance(found, Node) else None
    return None


def strip_places(node: Node) -> Any:
    """The plain data of a tree: dictionaries, lists and scalars."""
    value = node.value
    if isinstance(value, dict):
        return {key: strip_places(child) for key, child in value.items()}
    if isinstance(value, list):
        return [strip_places(child) for child in value]
    return value


def spell_path(path: Iterable[Step]) -> str:
    """``assets[0].xform.q``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def is_encodable(text: str) -> bool:
    """Can the text be written to a file?  Halves of surrogate pairs cannot."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
