# SPDX-License-Identifier: Apache-2.0
"""A difference as plain data and as text: what ``simwright diff`` prints.

The data follow version 1 of ``schemas/diff.v1.schema.json``; numbers are SI and radians, infinite ones texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from simwright.app.describe import to_plain
from simwright.compare.difference import Difference, DifferenceItem, DifferenceSection
from simwright.compare.settings import CompareSettings
from simwright.core.diag import Diagnostic

VERSION = 1
_WIDE = 44


def describe_difference(
    difference: Difference, settings: CompareSettings, findings: Sequence[Diagnostic] = ()
) -> dict[str, Any]:
    """The whole result as a JSON-ready dictionary."""
    return {
        "version": VERSION,
        "a": difference.a,
        "b": difference.b,
        "equal": difference.equal,
        "settings": {
            "rtol": settings.rtol,
            "configurations": settings.configurations,
            "seed": settings.seed,
        },
        "sections": [_describe_section(section) for section in difference.sections],
        "findings": [to_plain(found) for found in findings],
    }


def _describe_section(section: DifferenceSection) -> dict[str, Any]:
    return {
        "name": section.name,
        "group": section.group,
        "equal": section.equal,
        "compared": section.compared,
        "figures": [
            {
                "name": figure.name,
                "error": to_plain(figure.error),
                "tolerance": figure.tolerance,
                "equal": figure.equal,
                "where": figure.where,
            }
            for figure in section.figures
        ],
        "differences": [to_plain(item) for item in section.items],
        "notes": list(section.notes),
    }


def render_difference(difference: Difference, *, limit: int = 5) -> Iterator[tuple[str, str]]:
    """Lines with a style: good, bad or dim.  At most ``limit`` items of a section are shown."""
    group = ""
    for section in difference.sections:
        if section.group != group:
            group = section.group
            yield "", "bold"
            yield group, "bold"
        yield from _render_section(section, limit)
    differing = [section.name for section in difference.sections if not section.equal]
    yield "", ""
    if differing:
        yield f"different in: {', '.join(differing)}", "bad"
    else:
        yield f"equal in all {len(difference.sections)} sections", "good"


def _render_section(section: DifferenceSection, limit: int) -> Iterator[tuple[str, str]]:
    head = f"  {section.name:<12}"
    if not section.equal:
        count = len(section.items) or sum(not figure.equal for figure in section.figures)
        yield f"{head}{count} difference(s), {section.compared} compared", "bad"
    elif section.compared == 0:
        yield f"{head}nothing to compare", "dim"
    else:
        yield f"{head}equal, {section.compared} compared{_tell_figures(section)}", "good"
    if not section.equal:
        for figure in section.figures:
            if not figure.equal:
                yield f"    {figure.name}: largest error {figure.error:.2g} at {figure.where}", "bad"
        yield from _render_items(section, limit)
    for note in section.notes:
        yield f"    note: {note}", "dim"


def _tell_figures(section: DifferenceSection) -> str:
    """``(position to 2e-16, ...)``."""
    told = [f"{figure.name} to {figure.error:.1g}" for figure in section.figures]
    return f" ({', '.join(told)})" if told else ""


def _render_items(section: DifferenceSection, limit: int) -> Iterator[tuple[str, str]]:
    """The first ones in order, and the largest where there are more."""
    for item in section.items[:limit]:
        yield f"    {item.element}: {item.what}: {_show(item.a)} -> {_show(item.b)}{_tell_error(item)}", ""
    if len(section.items) > limit:
        numbers = [item for item in section.items if item.error < float("inf")]
        largest = max(numbers, key=lambda item: item.error, default=None)
        more = f"    ... {len(section.items) - limit} more"
        if largest is not None:
            more += f"; the largest is {largest.element}: {largest.what}{_tell_error(largest)}"
        yield more, "dim"


def _tell_error(item: DifferenceItem) -> str:
    return f"  (by {item.error:.2g})" if item.error < float("inf") else ""


def _show(value: Any) -> str:
    if value is None:
        return "none"
    text = _show_plain(to_plain(value))
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 3]}..."


def _show_plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, list):
        return f"[{', '.join(_show_plain(item) for item in value)}]"
    return str(value)
