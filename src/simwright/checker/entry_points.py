# SPDX-License-Identifier: Apache-2.0
# paths stay text here: it runs over thousands of files before anything else does
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH207
"""Which files are assets: what the user named, and the entry points in a folder.

In a folder, every layer file is an asset unless a file beside it, or in a folder above it, mentions it: then it
is a part of that asset.  A mention that goes upwards or sideways (``../box/box.usda``, ``package://``) is the
use of another asset, which is checked on its own.  Where files mention each other in a circle, the first by
name counts as the asset.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence

from simwright.checker.cache import Cache
from simwright.checker.mentions import Mentions
from simwright.core.diag import Where
from simwright.core.errors import UsageError

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
_MAGIC = frozenset("*?[")


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
                found.setdefault(os.path.realpath(asset), asset)
    return list(found.values())


def find_entry_points(folder: str, cache: Cache) -> list[str]:
    """The entry points in a folder and the folders below it, sorted; hidden ones aside."""
    files = _list_layers(folder)
    if not files:
        raise UsageError("there is no USD file in this folder", where=Where(folder))
    mentions = Mentions(folder, cache)
    parts: dict[str, list[str]] = {file: _list_parts(file, mentions.find(file)) for file in files}
    mentions.save()
    return _choose_entries(files, parts)


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
