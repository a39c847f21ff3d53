# SPDX-License-Identifier: Apache-2.0
"""Reading the metadata files of a world: categories of locations and of objects; and where such files are."""

from __future__ import annotations

import os
from pathlib import Path

from simwright.core.documents.read import read_document
from simwright.core.errors import SimwrightError
from simwright.core.gate import Gate, find_root
from simwright.core.limits import is_untrusted
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.entities import Category
from simwright.worlds.read_state import WorldReading

DATA_VARIABLE = "SIMWRIGHT_WORLD_DATA"


_TOKENS = ("$PWD", "$HOME", "$DATA")


def locate_file(text: str, folder: Path, data: Path | None = None, base: Path | None = None) -> Path:
    """The path that a text means; an UnsafePathError where a world may name no files.

    ``folder`` is that of the world file, ``base`` what relative paths start from.  ``$DATA`` is ``data``, or what the
    environment variable SIMWRIGHT_WORLD_DATA names, or the folder of the world.  A world may name what lies around its
    own file, in ``$DATA`` and in the folders that the user allows.
    """
    given = "" if is_untrusted() else os.environ.get(DATA_VARIABLE, "")
    root = data if data is not None else Path(given) if given else folder
    # PyRoboSim starts from the working directory: where a world is loaded from would change what it is
    path = (folder if base is None else base) / text
    if any(token in text for token in _TOKENS):
        text = text.replace("$DATA", root.as_posix()).replace("$HOME", Path.home().as_posix())
        path = Path(text.replace("$PWD", folder.as_posix()))
    Gate([find_root(folder / "world"), folder.resolve(), root.resolve()]).admit(path, said=str(path))
    return path


_SECTIONS = frozenset({"locations", "objects"})
LOCATION_KEYS = frozenset(
    {"footprint", "nav_poses", "locations", "color", "is_open", "is_locked", "is_charger"}
)
OBJECT_KEYS = frozenset({"footprint", "color"})
SPAWN_KEYS = frozenset({"name", "footprint", "nav_poses", "color"})


def read_metadata(reading: WorldReading, root: WorldEntry) -> None:
    """Fill the categories of the world."""
    section = root.child("metadata")
    if section is None:
        return
    reading.check_loose_keys(section, _SECTIONS)
    world = reading.world
    _read_files(reading, section, "locations", world.location_categories)
    _read_files(reading, section, "objects", world.object_categories)


def _read_files(
    reading: WorldReading, section: WorldEntry, key: str, categories: dict[str, Category]
) -> None:
    value = section.get(key)
    files = [value] if isinstance(value, str) else section.items(key)
    for index, text in enumerate(files):
        steps = (key,) if isinstance(value, str) else (key, index)
        try:
            if not isinstance(text, str):
                raise section.refuse_sort(text, "a path", *steps)
            _read_file(reading, section, text, steps, categories)
        except Refusal as refusal:
            reading.settle(refusal)


def _read_file(
    reading: WorldReading,
    section: WorldEntry,
    text: str,
    steps: tuple[str | int, ...],
    categories: dict[str, Category],
) -> None:
    where = section.find_where(*steps)
    try:
        document = read_document(locate_file(text, reading.folder, reading.data_folder))
    except SimwrightError as error:
        # the finding is at the line that names the file; where in that file it went wrong is part of the reason
        reason = f"{error.where}: {error.message}" if error.where and error.where.line else error.message
        meant = error.hint or "paths are relative to the world file"
        raise Refusal(messages.METADATA_MISSING, where, file=text, reason=reason, meant=meant) from error
    if not isinstance(document.data, dict):
        raise Refusal(
            messages.METADATA_MISSING,
            where,
            file=text,
            reason="it is not a mapping of categories",
            meant="",
        )
    for name, data in document.data.items():
        _add_category(reading, categories, WorldEntry(document, (), document.data), name, data)


def _add_category(
    reading: WorldReading, categories: dict[str, Category], root: WorldEntry, name: str, data: object
) -> None:
    where = root.find_where(name)
    if not isinstance(data, dict):
        reading.settle(root.refuse_sort(data, "a mapping", name))
        return
    known = categories.get(name)
    if known is not None:
        # the same category in two files is not a conflict as long as both say the same
        if known.entry.data != data:
            first = str(Path(known.entry.document.file).name)
            reading.settle(Refusal(messages.METADATA_CONFLICT, where, category=name, first=first))
        return
    categories[name] = Category(name, WorldEntry(root.document, (name,), data), where)
