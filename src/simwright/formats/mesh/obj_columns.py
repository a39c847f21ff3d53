# SPDX-License-Identifier: Apache-2.0
"""The statements of an OBJ file as whole columns of numbers, without a step of Python per line.

Only tidy files are read this way, and nearly all are: one statement per line, equal columns throughout, corners of
one form, no negative indices.  For any other file :func:`read_columns` gives None, and ``obj.py`` goes through the
lines one by one, which also finds the line of an error.

:func:`find_decimals` reads many numbers at once.  A number of at most 15 digits is an integer that a double holds
exactly, divided by a power of ten that a double holds exactly: one division gives the nearest double, the same as
``float`` does.  Numbers that are longer or have an exponent are given to ``float``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array

Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

_EXACT_DIGITS = 15
_TENS = np.array([10.0**k for k in range(_EXACT_DIGITS + 1)])
_WHOLE_TENS = np.array([10**k for k in range(_EXACT_DIGITS + 1)], dtype=np.uint64)
_WIDTH = 8
"""Bytes, and so digits, of a number of 64 bits."""
_AHEAD = 2 * _WIDTH
_FEW = 2
_KEPT_DIGITS = np.array([(0x0F0F0F0F0F0F0F0F << 8 * (8 - k)) % (1 << 64) for k in range(9)], dtype=np.uint64)
"""The bits that are the values of the last digits, by how many those are."""
_PAIRS = tuple(
    (np.uint64(factor), np.uint64(bits), np.uint64(mask))
    for factor, bits, mask in (
        (10, 8, 0x00FF00FF00FF00FF),
        (100, 16, 0x0000FFFF0000FFFF),
        (10000, 32, 0x00000000FFFFFFFF),
    )
)
_BLANK, _PLUS, _MINUS, _DOT, _EXPONENT = 32, ord("+"), ord("-"), ord("."), ord("e")


class Decimals(NamedTuple):
    """Numbers of a text: their values, where each starts, and the place behind its end."""

    values: Array
    starts: Places
    ends: Places


def find_decimals(text: bytes) -> Decimals | None:
    """The numbers between the blanks of a text that starts and ends with one; None if it has anything else."""
    assert text[:1] <= b" " and text[-1:] <= b" ", "a text without blanks around it"  # noqa: PT018 - one thing
    raw = np.frombuffer(text, dtype=np.uint8)
    # Everything up to the blank (tabs, line ends) separates words.
    is_word = raw > _BLANK
    edges = np.flatnonzero(is_word[1:] != is_word[:-1])
    edges += 1
    # Copies, since a view of every second number makes each step below slower.
    starts, ends = edges[0::2].copy(), edges[1::2].copy()
    if not len(starts):
        return Decimals(np.zeros(0), starts, ends)
    first = raw.take(starts)
    negative = first == _MINUS
    signed = negative | (first == _PLUS)
    is_dot = raw == _DOT
    dots, exponents = int(np.count_nonzero(is_dot)), np.flatnonzero((raw | 32) == _EXPONENT)
    after = raw[exponents + 1] if len(exponents) else exponents
    # Every character of a word must be a digit, a dot, a sign in front, or part of an exponent; any other gives None.
    marks = dots + int(np.count_nonzero(signed)) + len(exponents)
    marks += int(np.count_nonzero((after == _PLUS) | (after == _MINUS)))
    if int(np.count_nonzero(is_word)) != marks + int(np.count_nonzero(raw - np.uint8(48) < 10)):
        return None
    decimals = _count_decimals(starts, ends, dots, is_dot)
    if decimals is None:
        return None
    counts = ends - starts
    counts -= signed
    counts -= decimals >= 0
    # Beyond 15 digits the integer itself would be rounded, and the division once more.
    hard = counts > _EXACT_DIGITS
    hard[np.searchsorted(starts, exponents, side="right") - 1] = True
    # Most of them: some exporters write all 17 digits.  One call for the whole text beats picking them out.
    if 2 * int(np.count_nonzero(hard)) > len(hard):
        return _read_all(text, starts, ends)
    if np.any(counts < 1):
        return None
    values = _sum_digits(text, ends, counts, decimals)
    values *= 1.0 - 2.0 * negative
    return Decimals(values, starts, ends) if _read_hard(text, starts, ends, hard, values) else None


def read_numbers(text: str) -> Array | None:
    """All numbers of a text, between blanks; None if it has anything else."""
    if not text.isascii():
        return None
    content = f" {text} ".encode("ascii")
    tables: list[Array] = []
    start = 0
    while start < len(content) - 1:
        # from blank to blank, as much as stays in the processor's cache
        end = content.find(b" ", min(start + _CHUNK, len(content) - 1))
        found = find_decimals(content[start : end + 1])
        if found is None:
            return None
        tables.append(found.values)
        start = end
    return np.concatenate(tables)


def _read_all(text: bytes, starts: Places, ends: Places) -> Decimals | None:
    """Every number by ``float``; None where it refuses one."""
    try:
        return Decimals(np.array(text.split(), dtype=np.float64), starts, ends)
    except ValueError:
        return None


def _count_decimals(
    starts: Places, ends: Places, dots: int, is_dot: npt.NDArray[np.bool_]
) -> Places | np.int64 | None:
    """Characters behind the dot of each number, -1 without a dot; one for all where they are alike.

    None where a number has two dots.
    """
    if not dots:
        return np.int64(-1)
    # Files of one exporter mostly have as many decimals everywhere.
    if dots == len(starts):
        behind = np.int64(ends[0] - 1 - starts[0] - int(np.argmax(is_dot[starts[0] : ends[0]])))
        places = ends - (behind + 1)
        if np.all(places >= starts) and np.all(is_dot.take(places)):
            return behind
    found = np.flatnonzero(is_dot)
    # Every number has one dot.
    if len(found) == len(starts) and np.all(found >= starts) and np.all(found < ends):
        return ends - found - 1
    owners = np.searchsorted(starts, found, side="right") - 1
    if np.any(owners[1:] == owners[:-1]):
        return None
    decimals = np.full(len(starts), -1, dtype=np.int64)
    decimals[owners] = ends[owners] - found - 1
    return decimals


def _sum_digits(text: bytes, ends: Places, counts: Places, decimals: Places | np.int64) -> Array:
    """Numbers without their signs, of so many digits and decimals."""
    words = np.frombuffer(b" " * _AHEAD + text + b" " * (2 * _WIDTH - len(text) % _WIDTH), dtype="<u8")
    behind = np.maximum(decimals, 0)
    dots = ends - (behind + (decimals >= 0))
    total = _read_digits(words, dots, counts - behind)
    if np.any(behind):
        total *= _WHOLE_TENS[np.minimum(behind, _EXACT_DIGITS)]
        total += _read_digits(words, ends, behind)
    values: Array = total.astype(np.float64)
    values /= _TENS[np.minimum(behind, _EXACT_DIGITS)]
    return values


def _read_digits(words: Words, ends: Places, counts: Places | np.int64) -> Words:
    """The integers of at most 15 digits each that end before some places."""
    most = int(np.max(counts))
    if most <= _FEW:
        return _read_few(words, ends, counts, most)
    total = _read_eight(words, ends, counts)
    if most > _WIDTH:
        total += _read_eight(words, ends - _WIDTH, counts - _WIDTH) * _WHOLE_TENS[_WIDTH]
    return total


def _read_few(words: Words, ends: Places, counts: Places | np.int64, most: int) -> Words:
    """Integers of very few digits, one digit after the other."""
    raw = words.view(np.uint8)
    total = np.zeros(len(ends), dtype=np.uint64)
    for place in range(most):
        digits = (raw.take(ends + (_AHEAD - 1 - place)) & np.uint8(0x0F)).astype(np.uint64)
        if not np.all(counts > place):
            digits *= counts > place
        total += digits * _WHOLE_TENS[place]
    return total


def _read_eight(words: Words, ends: Places, counts: Places | np.int64) -> Words:
    """The last eight digits of integers: all of them in one number of 64 bits, which are added in pairs."""
    # A word of the text and the next one, moved so that the digits come last.
    place = ends + (_AHEAD - _WIDTH)
    shift = ((place & 7) << 3).view(np.uint64)
    place >>= 3
    digits = words.take(place) >> shift
    place += 1
    digits |= (words.take(place) << np.uint64(1)) << (np.uint64(63) - shift)
    digits &= _KEPT_DIGITS[np.clip(counts, 0, _WIDTH)]
    for factor, bits, mask in _PAIRS:
        above = digits >> bits
        digits *= factor
        digits += above
        digits &= mask
    return digits


def _read_hard(text: bytes, starts: Places, ends: Places, hard: npt.NDArray[np.bool_], values: Array) -> bool:
    """Numbers that need ``float``; False where it refuses one."""
    chosen = np.flatnonzero(hard)
    try:
        values[chosen] = [
            float(text[a:b]) for a, b in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)
        ]
    except ValueError:
        return False
    return True


Numbers = npt.NDArray[np.int32]

_OTHER, _POINT, _TEXCOORD, _NORMAL, _FACE = range(5)
_WORDS = {_POINT: b"v", _TEXCOORD: b"vt", _NORMAL: b"vn", _FACE: b"f"}
_NEWLINE, _SLASH = 10, 47
_CHUNK = 1 << 17
_MANY_RUNS = 256
_MAX_INDEX = 1 << 30


@dataclass(slots=True, eq=False)
class Columns:
    """What an OBJ file says.

    ``corners`` has the vertex, texture coordinate and normal of each face corner, from 0, -1 for none; ``materials``
    is a number of ``names`` for each face.
    """

    points: Array
    texcoords: Array
    normals: Array
    counts: Numbers
    corners: Numbers
    materials: Numbers
    names: dict[str, int]


@dataclass(slots=True)
class _Runs:
    """Lines of one kind, put together; for each run of faces: how many, of which material, after how many rows."""

    text: dict[int, list[bytes]] = field(default_factory=lambda: {kind: [] for kind in _WORDS})
    lines: dict[int, int] = field(default_factory=lambda: dict.fromkeys(_WORDS, 0))
    faces: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=lambda: {"": 0})


def read_columns(content: bytes) -> Columns | None:
    """The columns of a tidy file, else None."""
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    # A backslash joins lines and a lone return ends them: both are for the slow way.
    if b"\\" in content or b"\r" in content or b"\0" in content:
        return None
    # One function: a list of conditions, each of which sends the file to the slow way.
    runs = _split(content if content.endswith(b"\n") else content + b"\n")
    if runs is None or not runs.faces:
        return None
    points = _read_table(runs, _POINT, (3, 4, 6, 7))
    texcoords = _read_table(runs, _TEXCOORD, (2, 3))
    normals = _read_table(runs, _NORMAL, (3,))
    faces = _read_faces(runs.text[_FACE])
    if points is None or texcoords is None or normals is None or faces is None:
        return None
    counts, corners = faces
    # An index may only name what stands above it, as reading line by line has it.
    number, material, *limits = np.array(runs.faces, dtype=np.int32).T
    for column, limit in zip(corners.T, limits, strict=True):
        if np.any(column >= _repeat(limit, number, counts)):
            return None
    return Columns(points, texcoords, normals, counts, corners, np.repeat(material, number), runs.names)


def _repeat(limits: Numbers, number: Numbers, counts: Numbers) -> Any:
    """For each corner what holds for its run of faces; one number where it is the same for all."""
    # Most files have all points before all faces; one number is compared much faster than a column.
    return limits[0] if np.all(limits == limits[0]) else np.repeat(np.repeat(limits, number), counts)


def _split(content: bytes) -> _Runs | None:
    """Put lines of one kind together."""
    data = np.frombuffer(content, dtype=np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    kinds = _classify(data, starts)
    if kinds is None:
        return None
    edges = np.flatnonzero(np.diff(kinds)) + 1
    firsts, lasts = np.concatenate(([0], edges)), np.concatenate((edges, [len(kinds)]))
    found = kinds[firsts]
    runs = _Runs(lines={kind: int(np.count_nonzero(kinds == kind)) for kind in _WORDS})
    for kind in _WORDS:
        chosen = np.flatnonzero(found == kind)
        places = zip(starts[firsts[chosen]].tolist(), (ends[lasts[chosen] - 1] + 1).tolist(), strict=True)
        if len(chosen) < _MANY_RUNS:
            runs.text[kind] = [content[start:end] for start, end in places]
        else:
            # a normal after each point: one mask over the text beats a step of Python for each line
            runs.text[kind] = [data[np.repeat(kinds == kind, ends + 1 - starts)].tobytes()]
    above = [np.concatenate(([0], np.cumsum(kinds == kind)))[firsts] for kind in (_POINT, _TEXCOORD, _NORMAL)]
    material = 0
    is_told = (found == _FACE) | (found == _OTHER)
    for run in np.flatnonzero(is_told).tolist():
        first, last = int(firsts[run]), int(lasts[run])
        if found[run] == _OTHER:
            material = _take_name(runs.names, content[starts[first] : ends[last - 1] + 1], material)
        else:
            point, texcoord, normal = (int(column[run]) for column in above)
            runs.faces.append((last - first, material, point, texcoord, normal))
    return runs


def _classify(data: Bytes, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int8] | None:
    """The kind of each line by its first word; None where a line is indented."""
    last = len(data) - 1
    first, second, third = (data[np.minimum(starts + k, last)] for k in range(3))
    # An indented statement is legal but rare.
    if np.any((first == 32) | (first == 9)):
        return None
    blank = (second == 32) | (second == 9)
    third_blank = (third == 32) | (third == 9)
    kinds = np.zeros(len(starts), dtype=np.int8)
    kinds[(first == ord("v")) & blank] = _POINT
    kinds[(first == ord("v")) & (second == ord("t")) & third_blank] = _TEXCOORD
    kinds[(first == ord("v")) & (second == ord("n")) & third_blank] = _NORMAL
    kinds[(first == ord("f")) & blank] = _FACE
    # Statements such as "vp" or "fo" begin like these; the slow way knows what to make of them.
    bare = (kinds == _OTHER) & ((first == ord("v")) | (first == ord("f")))
    return None if np.any(bare) else kinds


def _take_name(names: dict[str, int], text: bytes, material: int) -> int:
    """The number of the last ``usemtl`` among lines that are no numbers; the one before it if there is none."""
    if b"usemtl" not in text:
        return material
    for line in text.decode("utf-8", "replace").split("\n"):
        words = line.split("#", 1)[0].split()
        if words and words[0] == "usemtl":
            material = names.setdefault(" ".join(words[1:]), len(names))
    return material


def _cut(pieces: list[bytes]) -> Iterator[bytes]:
    """Whole lines, some thousands at a time: what stays in the processor's cache is read twice as fast."""
    batch: list[bytes] = []
    size = 0
    for text in pieces:
        # Long runs are cut, short ones collected: a file may change between points and faces all the time.
        if len(text) >= _CHUNK:
            if batch:
                yield b"".join(batch)
                batch, size = [], 0
            yield from _slice(text)
            continue
        batch.append(text)
        size += len(text)
        if size >= _CHUNK:
            yield b"".join(batch)
            batch, size = [], 0
    if batch:
        yield b"".join(batch)


def _slice(text: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _CHUNK) + 1 or len(text)
        yield text[start:end]
        start = end


def _read_table(runs: _Runs, kind: int, widths: tuple[int, ...]) -> Array | None:
    """Lines of as many numbers each."""
    if not runs.lines[kind]:
        return np.zeros((0, widths[0]))
    tables: list[Array] = []
    for text in _cut(runs.text[kind]):
        table = _read_rows(text, _WORDS[kind])
        if table is None or table.shape[1] not in widths or table.shape[1] != (tables or [table])[0].shape[1]:
            return None
        tables.append(table)
    return np.concatenate(tables)


def _read_rows(text: bytes, word: bytes) -> Array | None:
    lines = _count(text, _NEWLINE)
    blanked = _blank_out(text, word, lines)
    found = None if blanked is None else find_decimals(blanked)
    if found is None or not np.all(np.isfinite(found.values)):
        return None
    width = len(found.values) // lines
    return found.values.reshape(lines, width) if _is_even(text, found, lines, width) else None


def _blank_out(text: bytes, word: bytes, lines: int) -> bytes | None:
    """The text without the word that each line begins with; None where its letters are elsewhere too."""
    raw = np.frombuffer(text, dtype=np.uint8)
    for letter in word:
        is_letter = raw == letter
        if int(np.count_nonzero(is_letter)) != lines:
            return None
        raw = np.where(is_letter, np.uint8(_BLANK), raw)
    return raw.tobytes()


def _count(text: bytes, character: int) -> int:
    # a fifth of the time of bytes.count, for a character of which there are many
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == character))


def _read_faces(pieces: list[bytes]) -> tuple[Numbers, Numbers] | None:
    """Corners of each face, and their three numbers from 0; the corners must all be of one form."""
    counts, corners, form = [], [], None
    for text in _cut(pieces):
        read = _read_corners(text)
        if read is None or form not in (None, read[2]):
            return None
        counts.append(read[0])
        corners.append(read[1])
        form = read[2]
    return np.concatenate(counts), np.concatenate(corners)


def _read_corners(text: bytes) -> tuple[Numbers, Numbers, list[int]] | None:
    lines = _count(text, _NEWLINE)
    blanked = _blank_out(text, b"f", lines)
    if blanked is None:
        return None
    text = blanked
    found = find_decimals(text.replace(b"/", b" "))
    if (
        found is None
        or not len(found.values)
        or np.any(found.values < 1.0)
        or found.values.max() > _MAX_INDEX
    ):
        return None
    # Indices are whole numbers.
    if any(mark in text for mark in (b".", b"e", b"E", b"+")):
        return None
    columns = _find_form(np.frombuffer(text, dtype=np.uint8), found, _count(text, _SLASH))
    if columns is None:
        return None
    starts = found.starts[:: len(columns)]
    corners = np.full((len(starts), 3), -1, dtype=np.int32)
    corners[:, columns] = found.values.reshape(-1, len(columns)) - 1.0
    if _is_even(text, found, lines, 3 * len(columns)):
        return np.full(lines, 3, dtype=np.int32), corners, columns
    newlines = _find_newlines(text)
    counts = np.diff(np.searchsorted(starts, newlines), prepend=0).astype(np.int32)
    return None if np.any(counts < 3) else (counts, corners, columns)


def _find_form(raw: Bytes, found: Decimals, slashes: int) -> list[int] | None:
    """Which of vertex, texture coordinate and normal the corners name, if all do alike."""
    total = len(found.values)
    if not slashes:
        return [0]
    # One function: the four forms of a corner (1, 1/2, 1//3, 1/2/3) are told apart by where slashes stand.
    behind = raw[found.ends] == _SLASH
    width = int(np.argmin(behind)) + 1
    if total % width or width > 3:
        return None
    doubled = width == 2 and raw[found.ends[0] + 1] == _SLASH
    forms = behind.reshape(-1, width)
    is_alike = bool(np.all(forms[:, :-1])) and not np.any(forms[:, -1])
    is_alike = is_alike and slashes == (total // width) * (2 if doubled else width - 1)
    if doubled:
        is_alike = is_alike and bool(np.all(raw[found.ends[::2] + 1] == _SLASH))
    if not is_alike or np.any(raw[found.starts[::width] - 1] == _SLASH):
        return None
    return [0, 2] if doubled else [0, 1, 2][:width]


def _find_newlines(text: bytes) -> Places:
    return np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE)


def _is_even(text: bytes, found: Decimals, lines: int, width: int) -> bool:
    """Has every line as many words?"""
    starts, ends = found.starts, found.ends
    if width < 1 or len(starts) != lines * width:
        return False
    # The usual line ends right behind its last word.
    if np.all(np.frombuffer(text, dtype=np.uint8).take(ends[width - 1 :: width]) == _NEWLINE):
        return True
    newlines = _find_newlines(text)
    is_before = np.all(starts[width - 1 :: width] < newlines)
    return bool(is_before and np.all(starts[width::width] > newlines[:-1]))
