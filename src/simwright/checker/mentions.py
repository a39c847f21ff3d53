# SPDX-License-Identifier: Apache-2.0
# paths stay text here: it runs over thousands of files before anything else does
# ruff: noqa: PTH116, PTH118, PTH123
"""Which files a layer file mentions, without composing it.

Text layers are scanned for ``@address@``; binary layers are opened by OpenUSD.  What was found is remembered
by size, time and inode of the file, so that finding the assets of an unchanged folder opens nothing.
"""

from __future__ import annotations

import mmap
import os
import re
import time
from typing import Any

from simwright.checker.cache import Cache

_ADDRESS = re.compile(rb"@@@(.+?)@@@|@([^@\n]+)@")
_TEXT_MAGIC = b"#usda"
_ARCHIVE = ".usdz"
_SETTLED_NS = 100_000_000


class Mentions:
    """The mentions of the files below one folder."""

    def __init__(self, folder: str, cache: Cache) -> None:
        self._cache = cache
        self._prefix = os.path.join(folder, "")
        self._key = cache.make_key("mentions", os.path.realpath(folder))
        stored = cache.get(self._key)
        self._known: dict[str, Any] = stored if stored is not None else {}
        self._fresh: dict[str, Any] = {}

    def find(self, file: str) -> list[str]:
        """Addresses that a file in the folder mentions, as written; none for one that cannot be read."""
        name = file.removeprefix(self._prefix)
        try:
            state = os.stat(file)
        except OSError:
            return []
        stamp = [state.st_size, state.st_mtime_ns, state.st_ino]
        row: Any = self._known.get(name)
        if not _is_row(row) or row[0] != stamp or row[2] < state.st_mtime_ns + _SETTLED_NS:
            row = [stamp, read_mentions(file), time.time_ns()]
        self._fresh[name] = row
        found: list[str] = row[1]
        return found

    def save(self) -> None:
        """Remember what was found."""
        if self._fresh != self._known:
            self._cache.put(self._key, self._fresh)


def read_mentions(file: str) -> list[str]:
    """Addresses in one file, as written; a .usdz package is complete in itself and mentions nothing."""
    if file.lower().endswith(_ARCHIVE):
        return []
    try:
        with open(file, "rb") as stream:
            if stream.read(len(_TEXT_MAGIC)) != _TEXT_MAGIC:
                return _ask_openusd(file)
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text:
                matches = (first or second for first, second in _ADDRESS.findall(text))
                return sorted({match.decode("utf-8", "replace") for match in matches})
    except (OSError, ValueError):
        return []


def _ask_openusd(file: str) -> list[str]:
    from pxr import Sdf, Tf

    from simwright.core.errors import InputError
    from simwright.usd.guard import check_file
    from simwright.usd.silence import capture

    try:
        check_file(file)
        with capture():
            layer = Sdf.Layer.OpenAsAnonymous(file, metadataOnly=False)
            return sorted(set(layer.GetCompositionAssetDependencies())) if layer else []
    except (InputError, Tf.ErrorException):
        return []


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 3 and isinstance(row[1], list) and isinstance(row[2], int)
