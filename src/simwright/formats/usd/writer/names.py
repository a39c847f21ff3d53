# SPDX-License-Identifier: Apache-2.0
"""Prim names: legal, unique among siblings, and the model's own name wherever that can be."""

from __future__ import annotations

from simwright.core.names import NameScope, make_identifier
from simwright.formats.usd.writer.sheet import join


class Names:
    """Hands out child paths; the first who asks gets the plain name."""

    def __init__(self) -> None:
        self._scopes: dict[str, NameScope] = {}

    def reserve(self, parent: str, *names: str) -> None:
        """Names that are kept for the writer's own scopes."""
        scope = self._scopes.setdefault(parent, NameScope())
        for name in names:
            scope.claim(name)

    def claim(self, parent: str, name: str, suffix: str = "") -> str:
        """A free path below ``parent``; the suffix is tried before a number."""
        scope = self._scopes.setdefault(parent, NameScope())
        word = make_identifier(name)
        if suffix and word in scope:
            word = f"{word}{suffix}"
        return join(parent, scope.claim(word))
