# SPDX-License-Identifier: Apache-2.0
"""docs/formats.md: what each format can hold, from the tables of the writers."""

from __future__ import annotations

from generate import NOTE
from simwright.formats.aspects import ElementFamily, always, if_touched
from simwright.formats.holds import ADVICE, Held, Holding, Table, find_holding
from simwright.formats.table import FORMATS
from simwright.formats.vocabulary import FAMILIES

INTRO = """# What each format can hold

The rows are all that the [neutral model](model.md) can say; the columns say what becomes of it when a file is written.
Each writer declares this as data, in `holds.py` of its folder in `src/simwright/formats`; what it does not declare has
no place. The losses of a conversion are reported from here: `write-lost-motion`, a warning, for what changes how the
machine moves, `write-lost` for the rest. A test writes every row in every format and reads it again.

| sign | meaning |
|---|---|
| yes | read again as it was |
| = | in another form that says the same |
| partly | for some values or elements; what is lost is reported |
| **no** | no place; every use is reported |

**M** marks what changes how the machine moves (**m**: of shapes that are touched). Numbers are notes below the table.
"""


def generate() -> str:
    """A section per list of the asset."""
    rows = [row for _, row in FORMATS.items() if row.writer]
    tables = {row.title: row.load_table() for row in rows}
    parts = [NOTE + INTRO]
    for family in FAMILIES.values():
        parts += ["", f"## {family.many.capitalize() if family.many.islower() else family.many}", ""]
        parts += _describe_family(family, tables)
    return "\n".join(parts) + "\n"


def _describe_family(family: ElementFamily, tables: dict[str, Table]) -> list[str]:
    notes: list[str] = []
    lines = [
        f"| {family.many} | | " + " | ".join(tables) + " |",
        "|---|---|" + "---|" * len(tables),
    ]
    for aspect in (family, *family.aspects):
        mark = "M" if aspect.moves is always else "m" if aspect.moves is if_touched else ""
        words = (
            f"`{family.key}`" if aspect is family else f"{_words(aspect)} `{aspect.key.partition('.')[2]}`"
        )
        cells = [
            _show(find_holding(table, aspect.key), notes)
            if aspect is family or family.quiet or find_holding(table, family.key).held is not Held.NO
            else "**no**"
            for table in tables.values()
        ]
        lines.append(f"| {words} | {mark} | " + " | ".join(cells) + " |")
    return [*lines, *([""] if notes else []), *(f"{number}. {note}" for number, note in enumerate(notes, 1))]


def _words(aspect: object) -> str:
    return str(aspect.words).removeprefix("the ")  # type: ignore[attr-defined]


def _show(holding: Holding, notes: list[str]) -> str:
    sign = {Held.OTHERWISE: "=", Held.NO: "**no**"}.get(holding.held, holding.held.value)
    words = [holding.why] if holding.why != ADVICE else []
    if holding.only and len(holding.only) < _MANY:
        words.append(f"held: {', '.join(holding.only)}")
    if holding.where:
        words.append(f"held: {holding.where}")
    text = "; ".join(word for word in words if word)
    if not text:
        return sign
    if text not in notes:
        notes.append(text)
    return f"{sign} ({notes.index(text) + 1})"


_MANY = 13
