# SPDX-License-Identifier: Apache-2.0
"""The shape of .usda text: where literals are, how deep brackets nest, where a line starts.

Works on bytes and does not judge: text that is wrong is scanned as far as it goes.  The lexical rules are
those of OpenUSD's text format 1.0 to 1.4 (strings, triple-quoted strings, asset paths, path references,
three forms of comment).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

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
