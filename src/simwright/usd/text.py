# SPDX-License-Identifier: Apache-2.0
"""The shape of .usda text: where literals are, how deep brackets nest, where a line starts, where prims are declared.

Works on bytes and does not judge: text that is wrong is scanned as far as it goes.  The lexical rules are
those of OpenUSD's text format 1.0 to 1.4 (strings, triple-quoted strings, asset paths, path references,
three forms of comment).

Sdf gives values without positions, so for the lines of prims and properties the text is scanned for the two kinds of
declaration.  A place that is not found has no line; nothing depends on one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

LITERAL = (
    rb'"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    rb"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    rb'|"(?:[^"\\\r\n]++|\\[^\r\n])*+"'
    rb"|'(?:[^'\\\r\n]++|\\[^\r\n])*+'"
    rb"|@@@(?:[^@\r\n]++|@(?!@@))*+@@@@{0,2}"
    rb"|@[^@\r\n]*+@"
    rb"|<[^<>\r\n]*+>"
    rb"|\#[^\r\n]*+"
    rb"|//[^\r\n]*+"
    rb"|/\*(?:[^*]++|\*(?!/))*+\*/"
)
"""Everything whose inside is not structure: strings, asset paths, path references and comments."""

_LITERAL = re.compile(LITERAL, re.DOTALL)
_CHUNK = 4 << 20
_OPENING, _CLOSING = b"([{", b")]}"
_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(_OPENING)] = 1
_STEP[list(_CLOSING)] = -1
_AS_STEPS = _STEP.tobytes()
_NO_BRACKETS = bytes(np.flatnonzero(_STEP == 0).astype(np.uint8))


def is_nested_within(data: bytes | memoryview, limit: int) -> bool:
    """Is no bracket nested deeper than ``limit``?  A whole text at once; :func:`measure_nesting` tells where."""
    text = bytes(data)
    # too few brackets to nest that deep: most layers end here
    if sum(text.count(bracket) for bracket in (b"(", b"[", b"{")) <= limit:
        return True
    # brackets as +1 and -1: the deepest point is the maximum of their running sum
    steps = np.frombuffer(_LITERAL.sub(b"", text).translate(_AS_STEPS, _NO_BRACKETS), np.int8)
    return int(np.cumsum(steps, dtype=np.int64).max(initial=0)) <= limit


def measure_nesting(data: bytes | memoryview, limit: int) -> tuple[int, int]:
    """Deepest bracket nesting and the offset where it is; stops at the first place beyond ``limit``."""
    starts, ends = _literal_spans(data)
    depth = deepest = place = 0
    for start, chunk in _chunks(data):
        steps = _STEP[chunk]
        spots = np.flatnonzero(steps)
        if not len(spots):
            continue
        moves = steps[spots].astype(np.int32)
        # brackets in strings, asset paths and comments are no structure
        moves[_inside(spots + start, starts, ends)] = 0
        depths = depth + np.cumsum(moves)
        top = int(depths.max())
        if top > deepest:
            over = depths > limit
            at = int(np.argmax(over)) if over.any() else int(np.argmax(depths))
            deepest, place = top, start + int(spots[at])
        if top > limit:
            break
        depth = int(depths[-1])
    return deepest, place


def find_newlines(data: bytes | memoryview) -> npt.NDArray[np.int64]:
    """Offsets of every newline."""
    parts = [start + np.flatnonzero(chunk == 10) for start, chunk in _chunks(data)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _chunks(data: bytes | memoryview) -> Iterator[tuple[int, npt.NDArray[np.uint8]]]:
    whole = np.frombuffer(data, dtype=np.uint8)
    for start in range(0, len(whole), _CHUNK):
        yield start, whole[start : start + _CHUNK]


def _literal_spans(data: bytes | memoryview) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    starts, ends = array("q"), array("q")
    for match in _LITERAL.finditer(data):
        start, end = match.span()
        starts.append(start)
        ends.append(end)
    return np.frombuffer(starts, dtype=np.int64), np.frombuffer(ends, dtype=np.int64)


def _inside(
    spots: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which offsets lie inside a literal."""
    if not len(starts):
        return np.zeros(len(spots), dtype=np.bool_)
    owner = np.searchsorted(starts, spots, side="right") - 1
    return (owner >= 0) & (spots < ends[np.maximum(owner, 0)])


_PRIM = re.compile(r'\s*(?:class|def|over)\s+(?:[\w:]+\s+)?"([^"]+)"')
_PROPERTY = re.compile(
    r"\s*(?:(?:custom|uniform|varying|config|prepend|append|delete|add|reorder)\s+)*"
    r"\w+(?:\[\])?\s+([A-Za-z_]\w*(?::\w+)*)(?:\.\w+)?\s*(?:=|\(|$)"
)
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|#.*')


@dataclass(frozen=True, slots=True)
class LineMap:
    """Line numbers, from 1, by prim path and by (prim path, property name)."""

    prims: dict[str, int] = field(default_factory=dict)
    properties: dict[tuple[str, str], int] = field(default_factory=dict)

    def find(self, prim: str, prop: str = "") -> int | None:
        """The line of a property, else of its prim, else None."""
        line = self.properties.get((prim, prop)) if prop else None
        return line if line is not None else self.prims.get(prim)


def map_lines(text: str) -> LineMap:
    """Scan the text of a layer."""
    result = LineMap()
    scan = _Scan()
    for number, line in enumerate(text.splitlines(), start=1):
        # long quoted text is documentation, in which a declaration may be shown
        marks = line.count('"""')
        if scan.in_text:
            code = line.rpartition('"""')[2] if marks % 2 else ""
        else:
            code = line.partition('"""')[0] if marks else line
            # in parentheses there is metadata, which looks like properties
            if scan.parentheses == 0:
                _note_declaration(line, number, scan, result)
        scan.follow(_QUOTED.sub("", code))
        scan.in_text ^= marks % 2 == 1
    return result


@dataclass(slots=True)
class _Scan:
    """Where the scan is: the open braces by prim name, metadata nesting, and inside a long text or not."""

    braces: list[str] = field(default_factory=list)
    opening: str = ""
    parentheses: int = 0
    in_text: bool = False

    @property
    def path(self) -> str:
        return "".join(f"/{name}" for name in self.braces if name)

    def follow(self, code: str) -> None:
        """Take in the brackets of a line whose quotes and comments are gone."""
        for character in code:
            if character == "(":
                self.parentheses += 1
            elif character == ")":
                self.parentheses = max(0, self.parentheses - 1)
            elif character == "{" and self.parentheses == 0:
                self.braces.append(self.opening)
                self.opening = ""
            elif character == "}" and self.parentheses == 0 and self.braces:
                self.braces.pop()


def _note_declaration(line: str, number: int, scan: _Scan, result: LineMap) -> None:
    if match := _PRIM.match(line):
        scan.opening = match.group(1)
        result.prims.setdefault(f"{scan.path}/{scan.opening}", number)
    elif match := _PROPERTY.match(line):
        result.properties.setdefault((scan.path, match.group(1)), number)
