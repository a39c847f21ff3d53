# SPDX-License-Identifier: Apache-2.0
"""The values of a crate (.usdc) file, checked before OpenUSD reads them.

A field holds a word of 64 bits: flags (array, inlined, compressed), the type, and the value itself or its place in the
file.  Arrays and lists begin with their length, compressed arrays of numbers may be indexes into a table; time samples,
dictionaries and values of values hold further words.  OpenUSD reads on where a length or an index says so, and follows
words that lead back to themselves until the stack is full.

Numbers and texts are compressed in LZ4 blocks, read here by code written from the public description of the block
format; every read is bounded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_RATIO = 256
"""A compressed byte never stands for more bytes than this (a property of LZ4)."""


class CorruptDataError(Exception):
    """The bytes do not follow the format."""


def list_distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Every value once, sorted.

    As ``np.unique``, which loads masked arrays when it is first called: a tenth of a check.
    """
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def are_among(values: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which values occur in ``wanted``, which is sorted?"""
    if not len(wanted):
        return np.zeros(len(values), np.bool_)
    places = np.searchsorted(wanted, values)
    found: npt.NDArray[np.bool_] = wanted.take(places, mode="clip") == values
    return found


def are_any_of(values: npt.NDArray[Any], wanted: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Which values are one of a few?"""
    found = np.zeros(len(values), np.bool_)
    for one in wanted:
        found |= values == one
    return found


def decode_integers(packed: memoryview, count: int) -> npt.NDArray[np.int64]:
    """``count`` 32-bit integers: a common delta, two-bit codes, and the deltas the codes announce."""
    # layout: the most common delta (int32), a two-bit code for each integer, then the deltas whose code says
    # that 1, 2 or 4 bytes follow; code 0 stands for the common delta
    code_bytes = (count * 2 + 7) // 8
    raw = decompress(packed, 4 + code_bytes + 4 * count)
    if len(raw) < 4 + code_bytes:
        raise CorruptDataError("integers are cut off")
    (common,) = struct.unpack_from("<i", raw)
    bits = np.frombuffer(raw, np.uint8, code_bytes, 4)
    pairs = (bits[:, None] >> np.array((0, 2, 4, 6), np.uint8)) & 3
    codes = pairs.reshape(-1)[:count].astype(np.uint8)
    sizes = np.array((0, 1, 2, 4), np.int64)[codes]
    offsets = 4 + code_bytes + np.cumsum(sizes) - sizes
    if 4 + code_bytes + int(sizes.sum()) > len(raw):
        raise CorruptDataError("integers are cut off")
    return np.cumsum(_gather_deltas(raw, codes, offsets, common))


def _gather_deltas(
    raw: bytes, codes: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], common: int
) -> npt.NDArray[np.int64]:
    source = np.frombuffer(raw, np.uint8)
    deltas = np.full(len(codes), common, dtype=np.int64)
    for code, width, kind in ((1, 1, "<i1"), (2, 2, "<i2"), (3, 4, "<i4")):
        chosen = codes == code
        at = offsets[chosen]
        if len(at):
            deltas[chosen] = source[at[:, None] + np.arange(width)].copy().view(kind)[:, 0]
    return deltas


def decompress(packed: memoryview, most: int) -> bytes:
    """The unpacked bytes of one or several LZ4 blocks, at most ``most`` of them."""
    if not len(packed):
        raise CorruptDataError("a compressed block is empty")
    chunks = packed[0]
    # OpenUSD's framing of LZ4: the first byte counts the blocks; 0 stands for one block without a size
    if chunks == 0:
        return bytes(_decompress_block(packed[1:], most))
    result = bytearray()
    at = 1
    for _ in range(chunks):
        if at + 4 > len(packed):
            raise CorruptDataError("a compressed block is cut off")
        (size,) = struct.unpack_from("<i", packed, at)
        at += 4
        if size < 0 or at + size > len(packed):
            raise CorruptDataError("a compressed block is cut off")
        result += _decompress_block(packed[at : at + size], most - len(result))
        at += size
    return bytes(result)


def _decompress_block(view: memoryview, most: int) -> bytearray:
    data = bytes(view)
    result = bytearray()
    at, end = 0, len(data)
    try:
        while at < end:
            token = data[at]
            literals, at = _read_length(data, at + 1, token >> 4)
            if at + literals > end:
                raise CorruptDataError("a compressed block is cut off")
            result += data[at : at + literals]
            at += literals
            if at < end:
                back = data[at] | data[at + 1] << 8
                length, at = _read_length(data, at + 2, token & 15)
                # a match is at least four bytes long, which the token leaves out
                _copy_back(result, back, length + 4, most)
            if len(result) > most:
                raise CorruptDataError("a compressed block is larger than it says")
    except IndexError:
        raise CorruptDataError("a compressed block is cut off") from None
    return result


def _read_length(data: bytes, at: int, length: int) -> tuple[int, int]:
    # 15 in the token: bytes follow that are added up, until one of them is not 255
    if length < 15:
        return length, at
    while True:
        more = data[at]
        at += 1
        length += more
        if more != 255:
            return length, at


def _copy_back(result: bytearray, back: int, length: int, most: int) -> None:
    if not 0 < back <= len(result) or len(result) + length > most:
        raise CorruptDataError("a compressed block points outside itself")
    start = len(result) - back
    if back >= length:
        result += result[start : start + length]
    else:
        # a match that overlaps its own output repeats it: that is how LZ4 says a run
        result += (bytes(result[start:]) * (length // back + 1))[:length]


Words = npt.NDArray[np.uint64]

_ARRAY, _INLINED, _COMPRESSED = (np.uint64(1 << bit) for bit in (63, 62, 61))
_OFFSET = np.uint64((1 << 48) - 1)
_FLOATS = (7, 8, 9)
_TOKEN = 11
_DICTIONARY, _PATHS, _TOKENS, _SELECTIONS, _SAMPLES, _PAYLOAD, _DOUBLES, _OFFSETS, _STRINGS = (
    31, 40, 41, 45, 46, 47, 48, 49, 50
)  # fmt: skip
_VALUE, _UNREGISTERED, _RELOCATES, _SPLINE = 52, 53, 58, 59
_VECTORS = (_PATHS, _TOKENS, _SELECTIONS, _DOUBLES, _OFFSETS, _STRINGS, _RELOCATES)
"""Value types that start with their length."""
_LISTS = {32: 4, 33: 4, 34: 4, 35: 32, 36: 4, 37: 8, 38: 4, 39: 8, 54: 8, 55: 8}
"""List edits, by value type: the fewest bytes that one item takes."""
_REFERENCES = 35
_EDITS = (2, 4, 32, 64, 8, 16)
"""Bits of a list edit, one for each list that follows, in their order."""
_SIZES = np.ones(256, dtype=np.uint64)
"""Bytes of one element, by value type."""
# type numbers 3 to 30 of the format, in rows: integers; half, float, double; string, token, asset path; matrices of
# 2, 3 and 4; quaternions d, f, h; vectors of 2, of 3 and of 4 as d, f, h, i.  Types not listed count as one byte.
_SIZES[3:31] = (
    4, 4, 8, 8,
    2, 4, 8,
    4, 4, 4,
    32, 72, 128,
    32, 16, 8,
    16, 8, 4, 8,
    24, 12, 6, 12,
    32, 16, 8, 16,
)  # fmt: skip
_SIZES[[_PATHS, _TOKENS, _SELECTIONS, _DOUBLES, _OFFSETS, _STRINGS, 56, _RELOCATES]] = (
    4,
    4,
    8,
    8,
    16,
    4,
    8,
    8,
)
_WIDE_COUNTS = (0, 7, 0)
"""Since this version the length of an array has 64 bits."""
_MIN_COMPRESSED = 16
"""Shorter arrays are not compressed."""
_DEEPEST = 64
"""Most dictionaries inside each other."""
_MOST_ENTRIES = 1_000_000
"""Most entries of dictionaries and lists, each counted as often as it is reached."""
_ONLY_IN = {_SAMPLES: b"timeSamples", _OFFSETS: b"subLayerOffsets"}
"""Types that Python has no value for, and the one field that has each."""

_KINDS = {
    b"apiSchemas": 32, b"variantSetNames": 33, b"inheritPaths": 34, b"specializes": 34, b"targetPaths": 34,
    b"connectionPaths": 34, b"references": 35,
}  # fmt: skip
"""Fields that hold list edits, and of which type: OpenUSD hands on whatever else is there as what it is not."""


@dataclass(frozen=True, slots=True)
class CrateFields:
    """All fields of a file: the word of each, and the index of its name among the tokens."""

    values: Words
    names: npt.NDArray[np.int64]


def check_values(data: memoryview, fields: CrateFields, tokens: list[bytes]) -> None:
    """Raise CorruptDataError for a value that is outside the file, too long, endless, or lists unknown names."""
    source = np.frombuffer(data, dtype=np.uint8)
    kinds = _find_types(fields.values)
    for kind, name in _ONLY_IN.items():
        for index in list_distinct(fields.names[kinds == kind]).tolist():
            if tokens[index] != name:
                raise CorruptDataError("a field has a value of another kind")
    for index, token in enumerate(tokens):
        if token in _KINDS and np.any(kinds[fields.names == index] != _KINDS[token]):
            raise CorruptDataError("a field has a value of another kind")
    # many fields share one value: each is looked at once
    stored = list_distinct(fields.values[(fields.values & _INLINED) == 0])
    walk = _ValueWalk(data)
    seen = stored
    while len(stored):
        _check_lengths(source, stored)
        _check_tables(data, stored)
        _check_names(source, stored, tokens)
        # samples lead to words that no field has, and so do entries of dictionaries
        found = np.concatenate([_read_samples(source, stored), walk.follow(stored)])
        stored = list_distinct(found[(found & _INLINED) == 0])
        stored = stored[~are_among(stored, seen)]
        seen = list_distinct(np.concatenate([seen, stored]))


def find_tokens(values: Words, tokens: list[bytes]) -> list[bytes]:
    """The tokens that are the values of fields, empty where a value is none."""
    indexes = _find_offsets(values)
    is_token = (_find_types(values) == _TOKEN) & ((values & _INLINED) != 0) & ((values & _ARRAY) == 0)
    is_token &= indexes < len(tokens)
    return [tokens[index] if known else b"" for index, known in zip(indexes, is_token, strict=True)]


def find_arrays(values: Words) -> npt.NDArray[np.bool_]:
    """Which words stand for an array in the file?"""
    found: npt.NDArray[np.bool_] = (values & (_ARRAY | _INLINED)) == _ARRAY
    return found


def read_lengths(data: memoryview, values: Words) -> npt.NDArray[np.int64] | None:
    """Numbers of elements of arrays; None for a file of an old version, whose lengths are not looked at."""
    source = np.frombuffer(data, dtype=np.uint8)
    if tuple(source[8:11]) < _WIDE_COUNTS:
        return None
    places = _find_offsets(values)
    # offset 0 stands for an empty array
    lengths = np.zeros(len(places), np.int64)
    lengths[places > 0] = _gather_words(source, places[places > 0]).astype(np.int64)
    return lengths


def read_names(data: memoryview, value: int) -> list[int]:
    """The list of names (indexes of tokens) that a checked word stands for; no other kind of value has children."""
    # plain integers: this is asked for every prim
    kind, place = value >> 48 & 0xFF, value & int(_OFFSET)
    if kind != _TOKENS or value >> 62:
        raise CorruptDataError("a list of children is not a list of names")
    if not place:
        return []
    (count,) = struct.unpack_from("<Q", data, place)
    return list(struct.unpack_from(f"<{count}I", data, place + 8))


def _check_lengths(source: npt.NDArray[np.uint8], values: Words) -> None:
    places = _find_offsets(values)
    if np.any(places >= len(source)):
        raise CorruptDataError("a value lies outside the file")
    kinds = _find_types(values)
    arrays = (values & _ARRAY) != 0
    single = ~arrays & ~are_any_of(kinds, (*_VECTORS, *_LISTS))
    if np.any(places[single] + _SIZES[kinds[single]].astype(np.int64) > len(source)):
        raise CorruptDataError("a value is cut off")
    listed = are_any_of(kinds, _VECTORS)
    # older arrays have a length of 32 bits, which is not looked at here
    if tuple(source[8:11]) >= _WIDE_COUNTS:
        listed |= arrays
    # offset 0 stands for an empty array
    listed &= places > 0
    counts = _gather_words(source, places[listed])
    room = (len(source) - places[listed]).astype(np.uint64)
    packed = (values[listed] & _COMPRESSED) != 0
    # compressed integers take two bits each before LZ4: four of them fit in an unpacked byte
    room = np.where(packed, room * np.uint64(MAX_RATIO * 4), room // _SIZES[kinds[listed]])
    if np.any(counts > room):
        raise CorruptDataError("a list is longer than the file")


def _check_tables(data: memoryview, values: Words) -> None:
    """Compressed arrays of numbers: integers, or indexes into a table of the numbers that occur."""
    kinds = _find_types(values)
    both = _ARRAY | _COMPRESSED
    chosen = are_any_of(kinds, _FLOATS) & ((values & both) == both)
    wide = tuple(data[8:11]) >= _WIDE_COUNTS
    for place, kind in zip(_find_offsets(values[chosen]).tolist(), kinds[chosen].tolist(), strict=True):
        count = struct.unpack_from("<Q" if wide else "<I", data, place)[0] if place else 0
        at = place + (8 if wide else 4)
        if count < _MIN_COMPRESSED or bytes(data[at : at + 1]) != b"t":
            continue
        (entries,) = struct.unpack_from("<I", data, at + 1)
        at += 5 + entries * int(_SIZES[kind])
        (size,) = struct.unpack_from("<Q", data, at)
        if size > len(data) - at - 8:
            raise CorruptDataError("a compressed array is cut off")
        indexes = decode_integers(data[at + 8 : at + 8 + size], count)
        if indexes.min() < 0 or indexes.max() >= entries:
            raise CorruptDataError("a compressed array points outside its table")


def _read_samples(source: npt.NDArray[np.uint8], values: Words) -> Words:
    """The words of time samples: one for the times, and one for each value."""
    places = _find_offsets(values[_find_types(values) == _SAMPLES])
    if not len(places):
        return np.zeros(0, np.uint64)
    times = _jump(source, places)
    counts = _jump(source, times + 8)
    numbers = _gather_words(source, counts)
    if np.any(numbers > ((len(source) - counts) // 8).astype(np.uint64)):
        raise CorruptDataError("time samples are longer than the file")
    words = [_gather_words(source, times)]
    for place, number in zip(counts.tolist(), numbers.tolist(), strict=True):
        if place + 8 + 8 * number > len(source):
            raise CorruptDataError("time samples are longer than the file")
        words.append(source[place + 8 : place + 8 + 8 * number].copy().view("<u8"))
    found = list_distinct(np.concatenate(words))
    # a value of a sample is never samples in turn: OpenUSD would follow them for ever
    if np.any(_find_types(found) == _SAMPLES):
        raise CorruptDataError("time samples hold time samples")
    return found


def _jump(source: npt.NDArray[np.uint8], places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where the jumps at places lead."""
    jumps = _gather_words(source, places).view(np.int64)
    if np.any((jumps < 8) | (jumps >= len(source))) or np.any(places + jumps > len(source) - 8):
        raise CorruptDataError("time samples lie outside the file")
    return places + jumps


class _ValueWalk:
    """Values inside values: dictionaries, list edits, values of values."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.entries = 0
        self.found: list[int] = []
        self.payload_size = 24 if tuple(data[8:11]) >= (0, 8, 0) else 8

    def follow(self, values: Words) -> Words:
        """The words inside values, all levels of them."""
        self.found = []
        containers = are_any_of(_find_types(values), (_DICTIONARY, _VALUE, _UNREGISTERED, *_LISTS))
        for word in values[containers & ((values & _ARRAY) == 0)].tolist():
            self.visit(word, 0)
        return np.array(self.found, np.uint64)

    def visit(self, word: int, depth: int) -> None:
        kind, place = word >> 48 & 0xFF, word & int(_OFFSET)
        if word & int(_INLINED | _ARRAY):
            return
        if depth > _DEEPEST:
            raise CorruptDataError("values hold values without end")
        if kind == _DICTIONARY:
            self.read_dictionary(place, depth)
        elif kind in (_VALUE, _UNREGISTERED):
            self.read_value(place, depth)
        elif kind in _LISTS:
            self.read_list(kind, place, depth)

    def count(self, number: int, size: int, place: int) -> None:
        """Note that entries follow at a place, each of at least so many bytes."""
        self.entries += number
        if number * size > len(self.data) - place or self.entries > _MOST_ENTRIES:
            raise CorruptDataError("a list is longer than the file")

    def read_value(self, at: int, depth: int) -> int:
        """Follow the word that a jump at a place leads to; where the file goes on behind it."""
        (jump,) = struct.unpack_from("<q", self.data, at)
        if not 8 <= jump <= len(self.data) - at - 8:
            raise CorruptDataError("a value lies outside the file")
        (word,) = struct.unpack_from("<Q", self.data, at + jump)
        if word >> 48 & 0xFF == _SAMPLES:
            raise CorruptDataError("a value holds time samples")
        self.found.append(word)
        self.visit(word, depth + 1)
        return at + int(jump) + 8

    def read_dictionary(self, at: int, depth: int) -> int:
        (number,) = struct.unpack_from("<Q", self.data, at)
        at += 8
        self.count(number, 20, at)
        for _ in range(number):
            at = self.read_value(at + 4, depth)
        return at

    def read_list(self, kind: int, at: int, depth: int) -> None:
        bits = self.data[at]
        at += 1
        for _ in range(sum(bool(bits & bit) for bit in _EDITS)):
            (number,) = struct.unpack_from("<Q", self.data, at)
            at += 8
            self.count(number, _LISTS[kind], at)
            if kind == _REFERENCES:
                for _ in range(number):
                    # asset, prim, offset and scale, then a dictionary
                    at = self.read_dictionary(at + 24, depth)
            elif kind == 54:
                for _ in range(number):
                    at = self.read_value(at, depth)
            else:
                at += number * (self.payload_size if kind == 55 else _LISTS[kind])
        if at > len(self.data):
            raise CorruptDataError("a list is longer than the file")


def _check_names(source: npt.NDArray[np.uint8], values: Words, tokens: list[bytes]) -> None:
    """Lists of names (children, properties, variants) name tokens that exist and are not empty."""
    # thousands of prims may share one list of children: each list is looked at once
    places = list_distinct(_find_offsets(values[(_find_types(values) == _TOKENS) & ((values & _ARRAY) == 0)]))
    known = np.array([bool(token) for token in tokens], dtype=np.bool_)
    counts = _gather_words(source, places).astype(np.int64)
    for place, count in zip(places.tolist(), counts.tolist(), strict=True):
        end = place + 8 + 4 * count
        if end > len(source):
            raise CorruptDataError("a list of names is longer than the file")
        indexes = source[place + 8 : end].copy().view("<u4")
        if np.any(indexes >= len(known)) or not np.all(known[indexes]):
            raise CorruptDataError("a list of names has an unknown name")


def _gather_words(source: npt.NDArray[np.uint8], places: npt.NDArray[np.int64]) -> Words:
    if np.any(places > len(source) - 8):
        raise CorruptDataError("a value is cut off")
    words: Any = source[places[:, None] + np.arange(8)].copy().view("<u8")
    return np.asarray(words[:, 0], dtype=np.uint64)


def _find_offsets(values: Words) -> npt.NDArray[np.int64]:
    return (values & _OFFSET).astype(np.int64)


def _find_types(values: Words) -> npt.NDArray[np.int64]:
    return ((values >> np.uint64(48)) & np.uint64(0xFF)).astype(np.int64)
