# SPDX-License-Identifier: Apache-2.0
"""Reading the metadata files of a world: categories of locations and of objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simwright.core.documents.read import read_document
from simwright.core.errors import SimwrightError
from simwright.worlds import messages
from simwright.worlds.document import Entry, Refusal
from simwright.worlds.metadata import Category
from simwright.worlds.metadata_paths import locate_file

if TYPE_CHECKING:
    from simwright.worlds.read_state import Reading

_SECTIONS = frozenset({"locations", "objects"})
LOCATION_KEYS = frozenset(
    {"footprint", "nav_poses", "locations", "color", "is_open", "is_locked", "is_charger"}
)
OBJECT_KEYS = frozenset({"footprint", "color"})
SPAWN_KEYS = frozenset({"name", "footprint", "nav_poses", "color"})


def read_metadata(reading: Reading, root: Entry) -> None:
    """Fill the categories of the world."""
    section = root.child("metadata")
    if section is None:
        return
    reading.check_loose_keys(section, _SECTIONS)
    world = reading.world
    _read_files(reading, section, "locations", world.location_categories)
    _read_files(reading, section, "objects", world.object_categories)


def _read_files(reading: Reading, section: Entry, key: str, categories: dict[str, Category]) -> None:
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
    reading: Reading,
    section: Entry,
    text: str,
    steps: tuple[str | int, ...],
    categories: dict[str, Category],
) -> None:
    where = section.find_where(*steps)
    try:
        document = read_document(locate_file(text, reading.folder, reading.data_folder))
    except SimwrightError as error:
        reason = f"{error.where}: {error.message}" if error.where and error.where.line else error.message
        meant = error.hint or "paths are relative to the world file"
        raise Refusal(messages.METADATA_MISSING, where, file=text, reason=reason, meant=meant) from error
    if not isinstance(document.data, dict):
        raise Refusal(
            messages.METADATA_MISSING,
            where,
            file=text,
            reason="it is no mapping of categories",
            meant="",
        )
    for name, data in document.data.items():
        _add_category(reading, categories, Entry(document, (), document.data), name, data)


def _add_category(
    reading: Reading, categories: dict[str, Category], root: Entry, name: str, data: object
) -> None:
    where = root.find_where(name)
    if not isinstance(data, dict):
        reading.settle(root.refuse_sort(data, "a mapping", name))
        return
    known = categories.get(name)
    if known is not None:
        if known.entry.data != data:
            first = str(Path(known.entry.document.file).name)
            reading.settle(Refusal(messages.METADATA_CONFLICT, where, category=name, first=first))
        return
    categories[name] = Category(name, Entry(root.document, (name,), data), where)
