# SPDX-License-Identifier: Apache-2.0
"""Doing something again whenever files of an asset change: ``simwright check --watch``.

Files are looked at by name, size and time, twice a second; that works on every file system, also across containers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

MAX_FILES = 20_000
"""Most files that are looked at; further ones are not watched."""
_PAUSE = 0.5

Stamps = Mapping[str, tuple[int, int]]
"""Size [bytes] and time of change [ns] by path."""


def take_stamps(paths: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The files that an input names, and all beside and below it: an asset is a folder of layers and images."""
    found: dict[str, tuple[int, int]] = {}
    for file in _list_files(paths):
        if len(found) >= MAX_FILES:
            break
        try:
            state = Path(file).stat()
        except OSError:
            continue  # it was removed meanwhile
        found[file] = (state.st_size, state.st_mtime_ns)
    return found


def _list_files(paths: Iterable[str]) -> Iterator[str]:
    folders = {str(Path(path) if Path(path).is_dir() else Path(path).parent) for path in paths}
    for folder in sorted(folders):
        for base, below, names in os.walk(folder):
            below[:] = sorted(name for name in below if not name.startswith("."))
            yield from (str(Path(base) / name) for name in sorted(names) if not name.startswith("."))


def name_changes(before: Stamps, after: Stamps) -> list[str]:
    """Files that are new, gone or other than before."""
    return sorted(file for file in {*before, *after} if before.get(file) != after.get(file))


def repeat_on_change(
    paths: Iterable[str],
    run: Callable[[], int],
    tell: Callable[[list[str]], None],
    *,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Run once, and again after every change, until Ctrl-C; gives what the last run gave."""
    inputs = list(paths)
    stamps = take_stamps(inputs)
    code = run()
    try:
        while True:
            pause(_PAUSE)
            now = take_stamps(inputs)
            changed = name_changes(stamps, now)
            if not changed:
                continue
            # an editor or a converter may be in the middle of several files: wait until nothing moves
            while (later := _settle(inputs, pause)) != now:
                now = later
            stamps = now
            tell(changed)
            code = run()
    except KeyboardInterrupt:
        return code


def _settle(inputs: list[str], pause: Callable[[float], None]) -> dict[str, tuple[int, int]]:
    pause(_PAUSE / 2)
    return take_stamps(inputs)
