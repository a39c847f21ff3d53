# SPDX-License-Identifier: Apache-2.0
"""Which files are converted, and where to: a file, or all that folders and patterns mean.

In a folder every description of a robot or scene counts, by the endings of the formats that are read, except what is in
the wanted format already.  Each becomes a folder of its own below OUT, named by its path.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, SimwrightError, UsageError
from simwright.core.files import suggest_sibling
from simwright.formats.table import FORMATS, choose_writer, detect_format

_PARTS = (".xacro",)
"""Endings of files that are mostly parts of others; by name they can be converted, in a folder they are passed over."""
_MAGIC = frozenset("*?[")


class Task(NamedTuple):
    """One file to convert, and where to."""

    source: str
    target: str


def plan_tasks(inputs: Sequence[str], target: str, to: str | None) -> list[Task]:
    """The files that the inputs mean; one plain file goes to ``target`` itself."""
    if len(inputs) == 1 and not _is_many(inputs[0]):
        return [Task(inputs[0], target)]
    if Path(target).is_file() or (Path(target).suffix and not Path(target).is_dir()):
        raise UsageError(
            "several files are converted into a folder, not a file",
            hint="name a folder as OUT",
            where=Where(target),
        )
    wanted = choose_writer(target, to).name
    found: dict[str, str] = {}
    for item in inputs:
        for path, name in _expand(item, wanted, target):
            # by real path: a file that a folder and a pattern both name is converted once
            found.setdefault(os.path.realpath(path), f"{path}\0{name}")
    pairs = [entry.split("\0") for entry in found.values()]
    names = _make_unique([(path, name) for path, name in pairs])
    return [Task(path, str(Path(target) / name)) for path, name in names]


def _is_many(text: str) -> bool:
    path = Path(text)
    return path.is_dir() or (not path.exists() and bool(_MAGIC & set(text)))


def _expand(text: str, wanted: str, target: str) -> Iterator[tuple[str, str]]:
    """``(file, name of its result)``."""
    path = Path(text)
    if path.is_dir():
        # a folder, a file and a pattern in one function: what is not there decides between the last two
        found = list(_walk(path, wanted, Path(target)))
        if not found:
            raise UsageError("there is nothing to convert in this folder", where=Where(text))
        yield from ((str(file), _strip_suffix(file.relative_to(path).as_posix())) for file in found)
    elif path.exists() or not _MAGIC & set(text):
        if not path.exists():
            raise NotFoundError("no such file or folder", hint=suggest_sibling(path), where=Where(text))
        yield text, _strip_suffix(path.name)
    else:
        matches = sorted(glob.glob(text, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        files = [match for match in matches if Path(match).is_file()]
        if not files:
            raise UsageError(f"no file matches {text!r}", hint="check the pattern, or quote it for the shell")
        # results keep the folders below what the matches have in common, so that equal names do not meet
        root = Path(os.path.commonpath([os.path.dirname(file) or "." for file in files]))  # noqa: PTH120 - text
        for file in files:
            yield file, _strip_suffix(Path(os.path.relpath(file, root)).as_posix())


def _walk(folder: Path, wanted: str, target: Path) -> Iterator[Path]:
    """Descriptions below a folder, hidden places and the results aside."""
    # OUT may lie inside IN: results of an earlier run are not converted again
    result = target.resolve()
    for base, folders, names in os.walk(folder):
        place = Path(base)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and (place / n).resolve() != result)
        for name in sorted(names):
            if not name.startswith(".") and _is_description(place / name, wanted):
                yield place / name
    # layers refer to each other: only the entry points of assets are converted, which the checker
    # knows to find
    if wanted != "usd":
        yield from _find_layers(folder)


def _find_layers(folder: Path) -> list[Path]:
    from simwright.checker.entry_points import find_assets

    try:
        return [Path(path) for path in find_assets([folder])]
    except UsageError:
        return []


def _is_description(file: Path, wanted: str) -> bool:
    if not file.name.lower().endswith(tuple(ending for ending in _list_endings() if ending not in _PARTS)):
        return False
    try:
        return detect_format(file).name not in (wanted, "usd")
    except SimwrightError:
        return False


def _strip_suffix(name: str) -> str:
    for ending in _list_endings():
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return str(Path(name).with_suffix(""))


@cache
def _list_endings() -> tuple[str, ...]:
    """Endings of files of all formats that are read, longer ones first."""
    rows = [row for _, row in FORMATS.items() if row.reader]
    endings = {ending for row in rows for ending in (*row.extensions, *row.shared_extensions)}
    return tuple(sorted(endings, key=lambda ending: (-len(ending), ending)))


def _make_unique(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names by which no result lies in another one: equal ones, and ones that are folders of others, get a suffix."""
    names = [name for _, name in pairs]
    folders = {str(parent) for name in names for parent in Path(name).parents}
    taken: set[str] = set()
    unique = []
    for path, name in pairs:
        # a result that is a folder of another one would be mixed with it
        is_clear = name not in folders and names.count(name) == 1
        base = name if is_clear else f"{name}_{path.rpartition('.')[2].lower()}"
        candidates = (base, *(f"{base}_{number}" for number in range(2, len(pairs) + 2)))
        chosen = next(word for word in candidates if word not in taken and word not in folders)
        taken.add(chosen)
        unique.append((path, chosen))
    return unique
