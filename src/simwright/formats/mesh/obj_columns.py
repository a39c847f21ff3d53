# SPDX-License-Identifier: Apache-2.0
"""The statements of an OBJ file as whole columns of numbers, without a step of Python per line.

Only tidy files are read this way, and nearly all are: one statement per line, equal columns throughout, corners of
one form, no negative indices.  For any other file :func:`read_columns` gives None, and ``obj.py`` goes through the
lines one by one, which also finds the line of an error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

_OTHER, _POINT, _TEXCOORD, _NORMAL, _FACE = range(5)
_WORDS = {_POINT: b"v", _TEXCOORD: b"vt", _NORMAL: b"vn", _FACE: b"f"}
_NEWLINE, _SLASH = 10, 47


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
    material: int = 0


def read_columns(content: bytes) -> Columns | None:
    """The columns of a tidy file, else None."""
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    if b"\\" in content or b"\r" in content or b"\0" in content:
        return None
    runs = _split(content if content.endswith(b"\n") else content + b"\n")
    if runs is None or not runs.faces:
        return None
    points = _read_table(runs, _POINT, (3, 4, 6, 7))
    texcoords = _read_table(runs, _TEXCOORD, (2, 3))
    normals = _read_table(runs, _NORMAL, (3,))
    faces = _read_faces(b"".join(runs.text[_FACE]), runs.lines[_FACE])
    if points is None or texcoords is None or normals is None or faces is None:
        return None
    counts, corners = faces
    number, material, *limits = np.array(runs.faces, dtype=np.int64).T
    known = np.stack(limits, axis=1)[np.repeat(np.repeat(np.arange(len(number)), number), counts)]
    if np.any(corners >= known):
        return None
    return Columns(points, texcoords, normals, counts, corners, np.repeat(material, number), runs.names)


def _split(content: bytes) -> _Runs | None:
    """Cut into runs of lines of one kind."""
    data = np.frombuffer(content, dtype=np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    kinds = _classify(data, starts)
    if kinds is None:
        return None
    edges = np.flatnonzero(np.diff(kinds)) + 1
    runs = _Runs()
    for first, last in zip([0, *edges.tolist()], [*edges.tolist(), len(kinds)], strict=True):
        text = content[starts[first] : ends[last - 1] + 1]
        kind = int(kinds[first])
        if kind == _OTHER:
            _take_names(runs, text)
            continue
        if kind == _FACE:
            sizes = runs.lines
            runs.faces.append((last - first, runs.material, sizes[_POINT], sizes[_TEXCOORD], sizes[_NORMAL]))
        runs.text[kind].append(text)
        runs.lines[kind] += last - first
    return runs


def _classify(data: Bytes, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int8] | None:
    """The kind of each line by its first word; None where a line is indented."""
    last = len(data) - 1
    first, second, third = (data[np.minimum(starts + k, last)] for k in range(3))
    if np.any((first == 32) | (first == 9)):
        return None
    blank = (second == 32) | (second == 9)
    third_blank = (third == 32) | (third == 9)
    kinds = np.zeros(len(starts), dtype=np.int8)
    kinds[(first == ord("v")) & blank] = _POINT
    kinds[(first == ord("v")) & (second == ord("t")) & third_blank] = _TEXCOORD
    kinds[(first == ord("v")) & (second == ord("n")) & third_blank] = _NORMAL
    kinds[(first == ord("f")) & blank] = _FACE
    bare = (kinds == _OTHER) & ((first == ord("v")) | (first == ord("f")))
    return None if np.any(bare) else kinds


def _take_names(runs: _Runs, text: bytes) -> None:
    """``usemtl`` among lines that are no numbers."""
    if b"usemtl" not in text:
        return
    for line in text.decode("utf-8", "replace").split("\n"):
        words = line.split("#", 1)[0].split()
        if words and words[0] == "usemtl":
            runs.material = runs.names.setdefault(" ".join(words[1:]), len(runs.names))


def _read_table(runs: _Runs, kind: int, widths: tuple[int, ...]) -> Array | None:
    """Lines of as many numbers each."""
    text, lines = b"".join(runs.text[kind]), runs.lines[kind]
    if not lines:
        return np.zeros((0, widths[0]))
    words, _ = _count_words(np.frombuffer(text, dtype=np.uint8))
    width = int(words[0]) - 1
    if width not in widths or np.any(words != words[0]) or text.count(b"v") != lines:
        return None
    values = _parse(text.replace(_WORDS[kind], b""), np.float64)
    if values is None or len(values) != lines * width or not np.all(np.isfinite(values)):
        return None
    return values.reshape(lines, width)


def _read_faces(text: bytes, lines: int) -> tuple[Numbers, Numbers] | None:
    """Corners of each face, and their three numbers from 0; the corners must all be of one form."""
    if text.count(b"f") != lines:
        return None
    text = text.replace(b"f", b" ")
    raw = np.frombuffer(text, dtype=np.uint8)
    counts, starts = _count_words(raw)
    slashes = raw == _SLASH
    blank = raw <= 32
    if not np.all(((raw >= 48) & (raw <= 57)) | slashes | blank) or np.any(counts < 3):
        return None
    ends = np.flatnonzero(~blank[:-1] & blank[1:])
    if np.any(slashes[starts]) or np.any(slashes[ends]):
        return None
    per_corner = np.diff(np.cumsum(slashes)[ends], prepend=0)
    doubled = int(np.count_nonzero(slashes[1:] & slashes[:-1]))
    form = int(per_corner[0])
    if np.any(per_corner != form) or form > 2 or doubled not in (0, len(starts)):
        return None
    columns = [0] if form == 0 else [0, 2] if doubled else [0, 1, 2][: form + 1]
    numbers = _parse(text.replace(b"/", b" "), np.int64)
    if numbers is None or len(numbers) != len(starts) * len(columns) or numbers.min() < 1:
        return None
    corners = np.full((len(starts), 3), -1, dtype=np.int64)
    corners[:, columns] = numbers.reshape(-1, len(columns)) - 1
    return counts, corners


def _count_words(raw: Bytes) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """Words of each line, and where each word starts."""
    blank = raw <= 32
    is_start = ~blank
    is_start[1:] &= blank[:-1]
    total = np.cumsum(is_start)[raw == _NEWLINE]
    return np.diff(total, prepend=0), np.flatnonzero(is_start)


def _parse(text: bytes, kind: type[np.float64 | np.int64]) -> npt.NDArray[Any] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, dtype=kind, sep=" ")
        except (DeprecationWarning, ValueError, OverflowError):
            return None
