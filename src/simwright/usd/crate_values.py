# SPDX-License-Identifier: Apache-2.0
"""The field values of a crate file: where they lie, how long they say they are, which names they list.

A value is eight bytes: type, flags and either the value itself or its place in the file.  OpenUSD believes
the lengths it finds there (and asks for that much memory), and follows a list of children with an unknown
name around in a circle until the stack is full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.usd.lz4 import MAX_RATIO, CorruptDataError

Words = npt.NDArray[np.uint64]

_ARRAY, _INLINED, _COMPRESSED = (np.uint64(1 << bit) for bit in (63, 62, 61))
_PLACE = np.uint64((1 << 48) - 1)
_PATHS, _TOKENS, _SAMPLES, _DOUBLES, _OFFSETS, _STRINGS = 40, 41, 46, 48, 49, 50
_VECTORS = (_PATHS, _TOKENS, _DOUBLES, _OFFSETS, _STRINGS)
"""Value types that start with their length."""
_SIZES = np.ones(256, dtype=np.uint64)
"""Bytes of one element, by value type."""
_SIZES[3:31] = (
    4,
    4,
    8,
    8,
    2,
    4,
    8,
    4,
    4,
    4,
    32,
    72,
    128,
    32,
    16,
    8,
    16,
    8,
    4,
    8,
    24,
    12,
    6,
    12,
    32,
    16,
    8,
    16,
)
_SIZES[[_PATHS, _TOKENS, _DOUBLES, _OFFSETS, _STRINGS, 56]] = (4, 4, 8, 16, 4, 8)
_WIDE_COUNTS = (0, 7, 0)
"""Since this version the length of an array has 64 bits."""


def check_values(data: memoryview, values: Words, tokens: list[bytes]) -> None:
    """Raise CorruptDataError for a value that is outside the file, too long, or lists unknown names."""
    source = np.frombuffer(data, dtype=np.uint8)
    stored = values[(values & _INLINED) == 0]
    _check_lengths(source, stored)
    times = _read_sample_times(source, stored)
    _check_lengths(source, times[(times & _INLINED) == 0])
    _check_names(source, stored, tokens)


def _check_lengths(source: npt.NDArray[np.uint8], values: Words) -> None:
    places = _places(values)
    if np.any(places >= len(source)):
        raise CorruptDataError("a value lies outside the file")
    kinds = _kinds(values)
    listed = np.isin(kinds, _VECTORS)
    if tuple(source[8:11]) >= _WIDE_COUNTS:
        listed |= (values & _ARRAY) != 0
    listed &= places > 0
    counts = _read_words(source, places[listed])
    room = (len(source) - places[listed]).astype(np.uint64)
    packed = (values[listed] & _COMPRESSED) != 0
    room = np.where(packed, room * np.uint64(MAX_RATIO * 4), room // _SIZES[kinds[listed]])
    if np.any(counts > room):
        raise CorruptDataError("a list is longer than the file")


def _read_sample_times(source: npt.NDArray[np.uint8], values: Words) -> Words:
    """The values that hold the times of time samples: a jump leads from the samples to them."""
    places = _places(values[_kinds(values) == _SAMPLES])
    jumps = _read_words(source, places).view(np.int64)
    if np.any((jumps < 0) | (jumps >= len(source))):
        raise CorruptDataError("time samples lie outside the file")
    return _read_words(source, places + jumps)


def _check_names(source: npt.NDArray[np.uint8], values: Words, tokens: list[bytes]) -> None:
    """Lists of names (children, properties, variants) name tokens that exist and are not empty."""
    places = np.unique(_places(values[(_kinds(values) == _TOKENS) & ((values & _ARRAY) == 0)]))
    known = np.array([bool(token) for token in tokens], dtype=np.bool_)
    counts = _read_words(source, places).astype(np.int64)
    for place, count in zip(places.tolist(), counts.tolist(), strict=True):
        end = place + 8 + 4 * count
        if end > len(source):
            raise CorruptDataError("a list of names is longer than the file")
        indexes = source[place + 8 : end].copy().view("<u4")
        if np.any(indexes >= len(known)) or not np.all(known[indexes]):
            raise CorruptDataError("a list of names has an unknown name")


def _read_words(source: npt.NDArray[np.uint8], places: npt.NDArray[np.int64]) -> Words:
    if np.any(places > len(source) - 8):
        raise CorruptDataError("a value is cut off")
    words: Any = source[places[:, None] + np.arange(8)].copy().view("<u8")
    return np.asarray(words[:, 0], dtype=np.uint64)


def _places(values: Words) -> npt.NDArray[np.int64]:
    return (values & _PLACE).astype(np.int64)


def _kinds(values: Words) -> npt.NDArray[np.int64]:
    return ((values >> np.uint64(48)) & np.uint64(0xFF)).astype(np.int64)
