# SPDX-License-Identifier: Apache-2.0
"""Values of a world file with the place they stand at, read as what they have to be; and the ``simwright`` block.

A :class:`WorldEntry` is a mapping of the file.  Its readers (:meth:`WorldEntry.number`, :meth:`WorldEntry.text` ...)
give the value of a key, the default where the key is absent or null, and a :class:`Refusal` where the value is of
another sort.  The refusal names file and line; whoever reads a whole entity decides what becomes of it
(:mod:`simwright.worlds.read_state`).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from simwright.core.diag import Kind, Reporter, Where
from simwright.core.documents.tree import Document, Step, spell_path
from simwright.worlds import messages


class Refusal(Exception):  # noqa: N818 - it is not an error yet: default and reference mode decide
    """An entity cannot be taken.  ``aborts``: PyRoboSim gives up the whole file here instead of the entity."""

    def __init__(self, kind: Kind, where: Where, *, aborts: bool = True, **data: Any) -> None:
        super().__init__(kind.message.format(**data))
        self.kind = kind
        self.where = where
        self.aborts = aborts
        self.data = data


class WorldEntry:
    """A mapping of a document, at ``path`` in it."""

    __slots__ = ("data", "document", "path")

    def __init__(self, document: Document, path: tuple[Step, ...], data: dict[str, Any]) -> None:
        self.document = document
        self.path = path
        self.data = data

    def __contains__(self, key: str) -> bool:
        # a null value counts as absent, everywhere
        return self.data.get(key) is not None

    def find_where(self, *steps: Step) -> Where:
        """The place of the mapping, or of a value in it."""
        return self.document.find_where(*self.path, *steps)

    def spell(self, *steps: Step) -> str:
        """The path as text: ``rooms[0].pose``."""
        return spell_path((*self.path, *steps))

    def get(self, key: str, default: Any = None) -> Any:
        """The value as it stands; the default where it is absent or null."""
        value = self.data.get(key)
        return default if value is None else value

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        value = self.data.get(key)
        if value is None:
            if default is None:
                raise self.refuse_absent(key)
            return default
        return self.check_number(value, key)

    def check_number(self, value: Any, *steps: Step) -> float:
        """``value`` as a finite number."""
        # bool is an int to Python
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self.refuse_sort(value, "a number", *steps)
        # squares of larger numbers lose the millimetres that geometry decides by
        if abs(value) > 1e9:
            raise self.refuse_sort(value, "a number below 1e9", *steps)
        return float(value)

    def numbers(self, key: str, count: Iterable[int] = ()) -> list[float]:
        """A list of numbers, of one of the lengths in ``count``."""
        values = self.data.get(key)
        allowed = tuple(count)
        if values is None:
            raise self.refuse_absent(key)
        if not isinstance(values, list) or (allowed and len(values) not in allowed):
            lengths = " or ".join(str(n) for n in allowed) or "some"
            raise self.refuse_sort(values, f"a list of {lengths} numbers", key)
        return [self.check_number(value, key, index) for index, value in enumerate(values)]

    def points(self, key: str, least: int) -> list[tuple[float, float]]:
        """A list of at least ``least`` points [x, y]."""
        values = self.data.get(key)
        if values is None:
            raise self.refuse_absent(key)
        if not isinstance(values, list) or len(values) < least:
            raise self.refuse_sort(values, f"a list of at least {least} points [x, y]", key)
        return [self._read_point(value, key, index) for index, value in enumerate(values)]

    def _read_point(self, value: Any, key: str, index: int) -> tuple[float, float]:
        if not isinstance(value, list) or len(value) != 2:
            raise self.refuse_sort(value, "a point [x, y]", key, index)
        return self.check_number(value[0], key, index, 0), self.check_number(value[1], key, index, 1)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; numbers are taken as they are written."""
        value = self.data.get(key)
        if value is None:
            if default is None:
                raise self.refuse_absent(key)
            return default
        # YAML reads 1 and 1.5 as numbers; as names they are meant as written
        if isinstance(value, (bool, list, dict)):
            raise self.refuse_sort(value, "a text", key)
        return str(value)

    def flag(self, key: str, default: bool) -> bool:
        """A yes or no: true or false."""
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.refuse_sort(value, "true or false", key)
        return value

    def child(self, key: str) -> WorldEntry | None:
        """The mapping under a key; None where it is absent or null."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.refuse_sort(value, "a mapping", key)
        return WorldEntry(self.document, (*self.path, key), value)

    def items(self, key: str) -> list[Any]:
        """The list under a key; empty where it is absent or null."""
        value = self.data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.refuse_sort(value, "a list", key)
        return value

    def children(self, key: str) -> Iterator[WorldEntry]:
        """The mappings of a list."""
        for index, value in enumerate(self.items(key)):
            yield self.item(key, index, value)

    def item(self, key: str, index: int, value: Any) -> WorldEntry:
        """One mapping of a list."""
        if not isinstance(value, dict):
            raise self.refuse_sort(value, "a mapping", key, index)
        return WorldEntry(self.document, (*self.path, key, index), value)

    def list_unknown(self, known: Iterable[str]) -> list[str]:
        """Keys that are none of ``known``."""
        # sets and dicts answer at once; files have thousands of entries
        names = known if isinstance(known, (frozenset, dict)) else frozenset(known)
        return [key for key in self.data if key not in names]

    def refuse_unknown(self, key: str, known: Iterable[str]) -> Refusal:
        """What to say of an unknown key."""
        where = self.document.find_where(*self.path, key, key=True)
        return Refusal(
            messages.UNKNOWN_KEY, where, key=key, place=self.spell() or "the file", meant=suggest(key, known)
        )

    def refuse_sort(self, value: Any, wanted: str, *steps: Step) -> Refusal:
        """What to say of a value of the wrong sort."""
        return Refusal(
            messages.WRONG_SORT,
            self.find_where(*steps),
            place=self.spell(*steps),
            wanted=wanted,
            found=shorten(value) + _explain_text(value, wanted),
        )

    def refuse_absent(self, key: str) -> Refusal:
        """What to say of a key that has to be there."""
        return Refusal(messages.KEY_MISSING, self.find_where(), key=key, place=self.spell())

    def refuse_name(self, name: str, what: str, known: Iterable[str], key: str) -> Refusal:
        """What to say of a name under ``key`` that is none of ``known``."""
        where, place = self.find_where(key), self.spell(key)
        meant = suggest(name, known)
        return Refusal(messages.MISSING_PART, where, place=place, what=what, name=name, meant=meant)


def _explain_text(value: Any, wanted: str) -> str:
    """Why a number is text: YAML 1.1 wants a point in numbers with an exponent."""
    if not wanted.startswith("a number") or not isinstance(value, str):
        return ""
    match = re.fullmatch(r"([-+]?\d+)([eE][-+]?\d+)", value.strip())
    if match is None:
        return ""
    return f", which is text to YAML: write {match.group(1)}.0{match.group(2)}"


def suggest(name: str, known: Iterable[str]) -> str:
    """What was probably meant, or what there is."""
    names = sorted(str(item) for item in known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"known here: {shown}" if names else "there are none"


def shorten(value: Any) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_BLOCK_KEYS = frozenset(
    {"seed", "relative_mode", "entities", "categories", "floors", "lifts", "stairs", "places"}
)
ENTITY_KEYS = frozenset({"height", "asset", "mass", "friction"})
"""Wall height [m], the file of a robot or prop, mass [kg], friction."""


@dataclass(frozen=True, slots=True)
class Extensions:
    """What the block says; ``entities`` and ``categories`` map names to the keys of ``ENTITY_KEYS``."""

    seed: int = 0
    relative_mode: str = "reference"
    entities: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    categories: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def look_up(self, name: str, category: str, key: str) -> Any:
        """A value for an entity, else for its category, else None."""
        found = self.entities.get(name, {}).get(key)
        return self.categories.get(category, {}).get(key) if found is None else found


NOTHING_MORE = Extensions()


def read_extensions(root: WorldEntry, reporter: Reporter) -> Extensions:
    """Read the block; what is wrong in it is reported and left out."""
    try:
        entry = root.child("simwright")
        return Extensions() if entry is None else _read_block(entry, reporter)
    except Refusal as refusal:
        _report(reporter, refusal)
        return Extensions()


def _read_block(entry: WorldEntry, reporter: Reporter) -> Extensions:
    for key in entry.list_unknown(_BLOCK_KEYS):
        _report(reporter, entry.refuse_unknown(key, _BLOCK_KEYS))
    seed = entry.get("seed", 0)
    # what numpy.random.RandomState takes, so that reference mode can use it too
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise entry.refuse_sort(seed, "a whole number from 0 to 4294967295", "seed")
    mode = entry.text("relative_mode", "reference")
    if mode not in {"reference", "frame"}:
        raise entry.refuse_sort(mode, "'reference' or 'frame'", "relative_mode")
    return Extensions(
        seed, mode, _read_named(entry, "entities", reporter), _read_named(entry, "categories", reporter)
    )


def _read_named(entry: WorldEntry, key: str, reporter: Reporter) -> dict[str, dict[str, Any]]:
    section = entry.child(key)
    found: dict[str, dict[str, Any]] = {}
    for name in section.data if section is not None else ():
        assert section is not None
        try:
            inner = section.child(name)
            if inner is not None:
                found[name] = _read_values(inner, reporter)
        except Refusal as refusal:
            _report(reporter, refusal)
    return found


def _read_values(entry: WorldEntry, reporter: Reporter) -> dict[str, Any]:
    for key in entry.list_unknown(ENTITY_KEYS):
        _report(reporter, entry.refuse_unknown(key, ENTITY_KEYS))
    values: dict[str, Any] = {}
    for key in ("height", "mass", "friction"):
        if key in entry:
            values[key] = entry.number(key)
            # frictionless surfaces exist, bodies without mass or height do not
            if values[key] < 0.0 or (values[key] == 0.0 and key != "friction"):
                raise entry.refuse_sort(values[key], "positive", key)
    if "asset" in entry:
        values["asset"] = entry.text("asset")
    return values


def _report(reporter: Reporter, refusal: Refusal) -> None:
    reporter.report(refusal.kind, refusal.where, **refusal.data)
