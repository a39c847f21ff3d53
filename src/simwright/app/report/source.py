# SPDX-License-Identifier: Apache-2.0
"""The source line under a finding, cut to fit, with the columns to underline.

Files are read when a finding needs them, once each, and only if they are text of a bounded size; anything
else gives no excerpt.  A line of any length costs only the part that is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from simwright.core.errors import SimwrightError
from simwright.core.files import MIB, read_bytes
from simwright.core.visible import show_character

MAX_SOURCE_BYTES = 8 * MIB
TAB = "    "
CUT = "..."

_LINE_END = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r"</?[\w:.-]+|\"[^\"]*\"|[\w:.-]+|\S")
_BINARY = b"\0"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A source line ready to show; ``start`` and ``length`` [cells] say what to underline."""

    number: int
    text: str
    start: int
    length: int


class Sources:
    """Lines of source files, each file read at most once."""

    def __init__(self) -> None:
        self._files: dict[str, list[str] | None] = {}

    def find_excerpt(self, file: str, line: int | None, column: int | None, width: int) -> Excerpt | None:
        """The excerpt of a place, at most ``width`` cells wide; None if there is nothing to show."""
        if line is None:
            return None
        if file not in self._files:
            self._files[file] = read_lines(file)
        lines = self._files[file]
        if lines is None or line > len(lines):
            return None
        return cut_line(line, lines[line - 1], column, width)


def read_lines(file: str) -> list[str] | None:
    """The lines of a text file, or None if it is not there, too large or not text."""
    try:
        content = read_bytes(file, MAX_SOURCE_BYTES)
    except (SimwrightError, ValueError):  # a path may hold characters that no file name can
        return None
    if _BINARY in content:
        return None
    return _LINE_END.split(content.decode("utf-8-sig", "replace"))


def cut_line(number: int, line: str, column: int | None, width: int) -> Excerpt:
    """A window of the line around the column (counted from 1), hidden characters made visible."""
    from rich.cells import cell_len

    width = max(width, 4 * len(CUT))
    begin, length = _find_span(line, column)
    # only the part around the column is looked at: a USD layer may hold a line of megabytes
    first = max(0, begin - width)
    shown = [TAB if char == "\t" else show_character(char) for char in line[first : begin + width]]
    cells = [cell_len(piece) for piece in shown]
    target = begin - first
    left, right = _choose_window(cells, target, width, whole=len(shown) == len(line))
    head = CUT if first + left > 0 else ""
    tail = CUT if first + right < len(line) else ""
    marked = sum(cells[target : min(target + length, right)])
    return Excerpt(
        number=number,
        text=head + "".join(shown[left:right]) + tail,
        start=len(head) + sum(cells[left:target]),
        length=max(marked, 1),
    )


def _find_span(line: str, column: int | None) -> tuple[int, int]:
    """Index and number of the characters to underline: a token, or the whole line without a column."""
    if column is None:
        stripped = line.strip()
        return (line.index(stripped), len(stripped)) if stripped else (0, 0)
    begin = min(column - 1, len(line))
    token = _TOKEN.match(line, begin)
    return begin, (token.end() - begin if token else 1)


def _choose_window(cells: list[int], target: int, width: int, whole: bool) -> tuple[int, int]:
    """First and last index (exclusive) of a window with the target in it, leaving room for the cuts."""
    if whole and sum(cells) <= width:
        return 0, len(cells)
    right = min(target + 1, len(cells))
    room = width - 2 * len(CUT) - sum(cells[target:right])
    # a third of the room before the mark: what follows it tells more
    left = _grow_left(cells, target, room // 3)
    room -= sum(cells[left:target])
    while right < len(cells) and cells[right] <= room:
        room -= cells[right]
        right += 1
    return _grow_left(cells, left, room), right


def _grow_left(cells: list[int], left: int, room: int) -> int:
    while left > 0 and cells[left - 1] <= room:
        left -= 1
        room -= cells[left]
    return left
