# SPDX-License-Identifier: Apache-2.0
"""Prototypes: what instances of one mesh have in common, said once in a class of the asset (REP-0158 1.2.3, 3.5).

Opinions below an instance are not read, so whatever belongs to the geometry itself (looks of its face sets, contact
settings) is in a class that all its instances inherit from; each layer adds its own opinions there.
"""

from __future__ import annotations

from typing import Any

from pxr import Sdf

from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet


class Prototypes:
    """Hands out classes; the same key gives the same one."""

    def __init__(self, layout: Layout, sheet: Sheet) -> None:
        self._layout = layout
        self._sheet = sheet
        self._root = f"{layout.root}/prototypes"
        self._known: dict[tuple[Any, ...], str] = {}

    def claim(self, word: str, key: tuple[Any, ...]) -> str:
        """The path of a class."""
        if key not in self._known:
            if not self._known:
                self._sheet.define(self._root, "Scope").specifier = Sdf.SpecifierClass
            path = self._known[key] = self._layout.names.claim(self._root, word)
            self._sheet.define(path).specifier = Sdf.SpecifierClass
        return self._known[key]
