# SPDX-License-Identifier: Apache-2.0
# paths stay text here: it runs over thousands of files before anything else does
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH207
# ruff: noqa: PTH116, PTH118, PTH123
"""Which files are assets: what the user named, and the entry points in a folder.

In a folder, every layer file is an asset unless a file beside it, or in a folder above it, mentions it: then it
is a part of that asset.  A mention that goes upwards or sideways (``../box/box.usda``, ``package://``) is the
use of another asset, which is checked on its own.  Where files mention each other in a circle, the first by
name counts as the asset.

Mentions are found without composing: text layers are scanned for ``@address@``, binary layers are opened by
OpenUSD.  They are kept in the cache by size, time and inode of the file, so that finding the assets of an unchanged
folder opens nothing.
"""

from __future__ import annotations

import glob
import mmap
import os
import re
import shlex
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from simwright.checker.cache import Cache
from simwright.core.diag import Where
from simwright.core.errors import UsageError

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
_MAGIC = frozenset("*?[")


_ROBOTS = (".urdf", ".xacro", ".sdf", ".world", ".xml", ".mjcf")
"""Robot descriptions in other formats; a scene file of our own is not an asset to be converted first."""


def suggest_conversion(file: str) -> str:
    """The commands that make an asset of a robot description in another format; empty for other files."""
    name = Path(file).name
    if not name.lower().endswith(_ROBOTS):
        return ""
    target = shlex.quote(name.partition(".")[0] or "robot")
    return f"make an OpenUSD asset of it first: simwright convert {shlex.quote(file)} {target}; then check {target}"


def find_assets(inputs: Sequence[str | os.PathLike[str]], cache: Cache | None = None) -> list[str]:
    """The assets that files, folders and globs mean, each once, in the order given.

    A file that does not exist is kept: to say so is part of the report.
    """
    found: dict[str, str] = {}
    for item in inputs:
        text = os.fspath(item)
        for path in _expand(text):
            paths = find_entry_points(path, cache or Cache(None)) if os.path.isdir(path) else [path]
            for asset in paths:
                # one asset that is named twice, also through a link, is checked once
                found.setdefault(os.path.realpath(asset), asset)
    return list(found.values())


def find_entry_points(folder: str, cache: Cache) -> list[str]:
    """The entry points in a folder and the folders below it, sorted; hidden ones aside."""
    files = _list_layers(folder)
    if not files:
        others = (file for file in sorted(os.listdir(folder)) if suggest_conversion(file))
        hint = suggest_conversion(os.path.join(folder, next(others, "")))
        raise UsageError("there is no USD file in this folder", hint=hint, where=Where(folder))
    mentions = LayerMentions(folder, cache)
    parts: dict[str, list[str]] = {file: _list_parts(file, mentions.find(file)) for file in files}
    mentions.save()
    return _choose_entries(files, parts)


def find_owners(files: Sequence[str], folder: str, cache: Cache) -> list[str]:
    """The entry points in a folder that files are parts of, or are themselves, sorted; files elsewhere as they are."""
    layers = _list_layers(folder)
    mentions = LayerMentions(folder, cache)
    parts: dict[str, list[str]] = {file: _list_parts(file, mentions.find(file)) for file in layers}
    mentions.save()
    by_path = {os.path.abspath(file): file for file in layers}
    wanted = {by_path.get(os.path.abspath(file), file) for file in files}
    owners = [file for file in files if os.path.abspath(file) not in by_path]
    for entry in _choose_entries(layers, parts):
        reached: set[str] = set()
        _reach(entry, parts, by_path, reached)
        if reached & wanted:
            owners.append(os.path.normpath(entry))
    return sorted(set(owners))


def _expand(text: str) -> list[str]:
    if os.path.lexists(text) or not _MAGIC & set(text):
        return [text]
    matches = sorted(glob.glob(text, recursive=True))
    wanted = [path for path in matches if os.path.isdir(path) or path.lower().endswith(SUFFIXES)]
    if not wanted:
        raise UsageError(f"no USD file matches {text!r}", hint="check the pattern, or quote it for the shell")
    # `**` also gives the folders on the way: the files in them are in the list already
    only_files = [path for path in wanted if not os.path.isdir(path)]
    return only_files or wanted


def _list_layers(folder: str) -> list[str]:
    found: list[str] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            os.path.join(base, name)
            for name in sorted(names)
            if name.lower().endswith(SUFFIXES) and not name.startswith(".")
        ]
    return found


def _list_parts(file: str, mentioned: Iterable[str]) -> list[str]:
    """The files beside or below ``file`` that it mentions."""
    folder = os.path.dirname(os.path.abspath(file))
    parts = []
    for text in mentioned:
        path = text.partition("[")[0]
        if "://" in path or not path.lower().endswith(SUFFIXES):
            continue
        # by text: links are not followed, and files need not exist
        target = os.path.normpath(os.path.join(folder, path))
        if target.startswith(folder + os.sep):
            parts.append(target)
    return parts


def _choose_entries(files: list[str], parts: dict[str, list[str]]) -> list[str]:
    """Files that are no part; then, for what is left in circles, the first of each."""
    by_path = {os.path.abspath(file): file for file in files}
    used = {
        by_path[part] for file in files for part in parts[file] if part in by_path and by_path[part] != file
    }
    entries = [file for file in files if file not in used]
    reached: set[str] = set()
    # what no entry reaches is a circle: its first file becomes an entry
    for file in [*entries, *files]:
        if file not in reached:
            if file in used:
                entries.append(file)
            _reach(file, parts, by_path, reached)
    return sorted(entries)


def _reach(start: str, parts: dict[str, list[str]], by_path: dict[str, str], reached: set[str]) -> None:
    stack = [start]
    while stack:
        file = stack.pop()
        if file not in reached:
            reached.add(file)
            stack += [by_path[part] for part in parts[file] if part in by_path]


_ADDRESS = re.compile(rb"@@@(.+?)@@@|@([^@\n]+)@")
_TEXT_MAGIC = b"#usda"
_ARCHIVE = ".usdz"
# a file that was read within a tenth of a second of its last change may have changed again since
_SETTLED_NS = 100_000_000


class LayerMentions:
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
            # text layers with meshes have hundreds of megabytes
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
