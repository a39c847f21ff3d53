# SPDX-License-Identifier: Apache-2.0
"""Names that are legal where they go, unique, and reversible.

USD prim names take letters, digits and underscores and may not start with a digit; ROS names likewise.
:func:`make_identifier` maps any text to such a name and :class:`NameScope` keeps names apart.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_]+")


def is_identifier(name: str) -> bool:
    """Is it a legal prim name and ROS token (ASCII)?"""
    return bool(_IDENTIFIER.match(name))


def make_identifier(name: str, default: str = "unnamed") -> str:
    """A legal prim name close to ``name``: runs of other characters become one underscore."""
    text = _ILLEGAL.sub("_", name.strip())
    if not text.strip("_"):
        return default
    # prim names must not begin with a digit
    return f"_{text}" if text[0].isdigit() else text


def shorten_path(names: Sequence[str], taken: Container[str]) -> str | None:
    """A legal name of the last names of a path, as few as make it free; None where all of them are taken."""
    for count in range(1, len(names) + 1):
        found = make_identifier("_".join(names[-count:]))
        if found not in taken:
            return found
    return None


def join_namespaces(segments: Iterable[str]) -> str:
    """``/a/b`` from the namespaces of ROS contexts, outermost first (REP-0158 2.1.1); "" where none says one.

    An empty one adds nothing; one with a leading slash starts again.
    """
    joined: list[str] = []
    for text in segments:
        if text.startswith("/"):
            joined.clear()
        stripped = text.strip("/")
        if stripped:
            joined.append(stripped)
    return "/" + "/".join(joined) if joined else ""


class NameScope:
    """Hands out unique names: the first ``wheel`` stays ``wheel``, the next is ``wheel_2``."""

    __slots__ = ("_next", "_taken")

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def claim(self, name: str) -> str:
        """A name that was not handed out before, ``name`` itself if it is free."""
        if name not in self._taken:
            self._taken.add(name)
            return name
        # kept: counting from two again would take time by the square for thousands of equal names
        number = self._next.get(name, 2)
        while f"{name}_{number}" in self._taken:
            number += 1
        self._next[name] = number + 1
        unique = f"{name}_{number}"
        self._taken.add(unique)
        return unique

    def __contains__(self, name: object) -> bool:
        return name in self._taken
