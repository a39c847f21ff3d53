# SPDX-License-Identifier: Apache-2.0
"""Crate (.usdc) files, checked before OpenUSD maps them.

OpenUSD trusts parts of a crate.  A table of contents that points outside the file makes it write to stderr, a wrong
count makes it ask for gigabytes, a very deep path tree overflows the stack, and a list of children with an unknown name
is followed in a circle until the stack is full.  So the header, the sections, the counts, the path tree and the field
values are checked here, from the published layout of the format (bootstrap, table of contents, and the compressed
sections of version 0.4.0 and later).  The LZ4 blocks are read by code written from the public description of the block
format; every read is bounded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.core.errors import LimitError, ParseError

MAX_RATIO = 256
"""A compressed byte never stands for more bytes than this (a property of LZ4)."""


class CorruptDataError(Exception):
    """The bytes do not follow the format."""


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


MAGIC = b"PXR-USDC"
_BOOTSTRAP = 88
_SECTION = struct.Struct("<16sqq")
_NEEDED = ("TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS")
_MAX_SECTIONS = 64
_SPEC_TYPES = 11
_OLDEST_COMPRESSED = (0, 4, 0)
MAX_ITEMS = 10_000_000
"""Most tokens, fields, paths or specs one crate may claim to have."""
_PACKED = (("FIELDS", 1, 2), ("FIELDSETS", 1, 1), ("PATHS", 2, 3), ("SPECS", 1, 3))
"""Sections of integers: name, words before the first block, number of blocks."""


@dataclass(frozen=True, slots=True)
class CrateSection:
    """A named part of the file."""

    name: str
    start: int
    size: int


def check_crate(data: memoryview, where: Where, max_depth: int) -> None:
    """Raise ParseError or LimitError if the file would be dangerous to open."""
    try:
        sections = _read_contents(data)
        _check_counts(data, sections)
        _check_fields(data, sections)
        _check_specs(data, sections)
        depth = _measure_depth(data, sections["PATHS"])
    except (struct.error, CorruptDataError) as error:
        raise ParseError(
            f"the crate file is corrupt or truncated: {error}",
            hint="copy or export the file again",
            where=where,
        ) from None
    except _TooManyError as error:
        raise LimitError(
            f"the crate file claims {error}", hint="is it the right file?", where=where
        ) from None
    if depth > max_depth:
        raise LimitError(
            f"prims are nested {depth} deep; the limit is {max_depth}",
            hint="flatten the hierarchy",
            where=where,
        )


class _TooManyError(Exception):
    """A count beyond what is reasonable."""


def _read_contents(data: memoryview) -> dict[str, CrateSection]:
    """The sections, all of them inside the file, of a version that is read."""
    if len(data) < _BOOTSTRAP:
        raise CorruptDataError("the header is cut off")
    version = tuple(data[8:11])
    # older crates have sections of another layout, which this code could only wave through
    if version[0] != 0 or version < _OLDEST_COMPRESSED:
        raise CorruptDataError("version {}.{}.{} is not read".format(*version))
    (offset,) = struct.unpack_from("<q", data, 16)
    if not _BOOTSTRAP <= offset <= len(data) - 8:
        raise CorruptDataError("the table of contents lies outside the file")
    (count,) = struct.unpack_from("<Q", data, offset)
    if not 0 < count <= _MAX_SECTIONS:
        raise CorruptDataError(f"the table of contents has {count} sections")
    sections: dict[str, CrateSection] = {}
    for number in range(count):
        raw, start, size = _SECTION.unpack_from(data, offset + 8 + number * _SECTION.size)
        name = raw.split(b"\0")[0].decode("ascii", "replace")
        if start < _BOOTSTRAP or size < 0 or start + size > len(data):
            raise CorruptDataError(f"section {name!r} lies outside the file")
        sections[name] = CrateSection(name, start, size)
    for name in _NEEDED:
        if name not in sections:
            raise CorruptDataError(f"section {name!r} is missing")
    return sections


def _check_counts(data: memoryview, sections: dict[str, CrateSection]) -> None:
    """Every count must be possible for the size of its section."""
    tokens = _read_words(data, sections["TOKENS"], 3)
    count, unpacked, packed = tokens
    _check_count("tokens", count, unpacked)
    if packed > sections["TOKENS"].size - 24 or unpacked > packed * MAX_RATIO:
        raise CorruptDataError("the token section has impossible sizes")
    (strings,) = _read_words(data, sections["STRINGS"], 1)
    _check_count("strings", strings, sections["STRINGS"].size // 4)
    for name, lead, blocks in _PACKED:
        section = sections[name]
        (items,) = _read_words(data, section, 1)
        # two bits per item before LZ4: at most four items in an unpacked byte
        _check_count(name.lower(), items, section.size * MAX_RATIO * 4)
        # reading the sizes is the check: a block that leaves its section raises
        for _ in _read_blocks(data, section, section.start + 8 * lead, blocks):
            pass


def _check_fields(data: memoryview, sections: dict[str, CrateSection]) -> None:
    """Unpack the tokens and the field values, and check the values (:mod:`simwright.usd.crate`)."""
    tokens = sections["TOKENS"]
    count, unpacked, packed = _read_words(data, tokens, 3)
    start = tokens.start + 24
    text = decompress(data[start : start + packed], unpacked) if count else b""
    try:
        text.decode()
    except UnicodeDecodeError:  # OpenUSD hands it on, and Python cannot take it
        raise CorruptDataError("a token is not UTF-8 text") from None
    names = text.split(b"\0")[:count] if count else []
    fields = sections["FIELDS"]
    (number,) = _read_words(data, fields, 1)
    raw = b""
    if number:
        raw = decompress(list(_read_blocks(data, fields, fields.start + 8, 2))[1], 8 * number)
    if len(raw) != 8 * number or len(names) != count:
        raise CorruptDataError("tokens or fields are cut off")
    check_values(data, np.frombuffer(raw, dtype="<u8"), names)


def _check_specs(data: memoryview, sections: dict[str, CrateSection]) -> None:
    """Every spec has a path, a field set and a type that exist."""
    section = sections["SPECS"]
    (count,) = _read_words(data, section, 1)
    (paths,) = _read_words(data, sections["PATHS"], 1)
    (field_sets,) = _read_words(data, sections["FIELDSETS"], 1)
    if not count:
        raise CorruptDataError("there is no root")
    # the three blocks: index of the path, index of the field set, type of the spec (0 is none)
    limits = ((0, paths), (0, field_sets), (1, _SPEC_TYPES + 1))
    for block, (low, high) in zip(_read_blocks(data, section, section.start + 8, 3), limits, strict=True):
        numbers = decode_integers(block, count)
        if numbers.min() < low or numbers.max() >= high:
            raise CorruptDataError("a spec points nowhere")


def _check_count(what: str, count: int, most: int) -> None:
    if count > most:
        raise CorruptDataError(f"{count} {what} do not fit their section")
    if count > MAX_ITEMS:
        raise _TooManyError(f"{count} {what}; the limit is {MAX_ITEMS}")


def _read_words(data: memoryview, section: CrateSection, count: int) -> tuple[int, ...]:
    if section.size < 8 * count:
        raise CorruptDataError(f"section {section.name!r} is too short")
    return struct.unpack_from(f"<{count}Q", data, section.start)


def _measure_depth(data: memoryview, section: CrateSection) -> int:
    """Deepest level of the path tree, whose jumps must describe a proper tree."""
    paths, encoded = _read_words(data, section, 2)
    if encoded > paths:
        raise CorruptDataError("the path tree has more entries than paths")
    if not encoded:
        return 0
    blocks = list(_read_blocks(data, section, section.start + 16, 3))
    return _walk_tree(decode_integers(blocks[2], encoded))


def _read_blocks(data: memoryview, section: CrateSection, at: int, count: int) -> Iterator[memoryview]:
    """``count`` blocks, each led by its size."""
    end = section.start + section.size
    for _ in range(count):
        if at + 8 > end:
            raise CorruptDataError(f"section {section.name!r} is cut off")
        (size,) = struct.unpack_from("<Q", data, at)
        at += 8
        if size > end - at:
            raise CorruptDataError(f"section {section.name!r} is cut off")
        yield data[at : at + size]
        at += size


def _walk_tree(jumps: npt.NDArray[np.int64]) -> int:
    """Depth of the tree stored in depth-first order.

    Per entry: -2 a leaf, -1 a child follows, 0 a sibling follows, n > 0 a child follows and the sibling is
    n entries on.
    """
    # a loop and no recursion: this has to survive the trees that overflow OpenUSD's stack
    waiting: list[tuple[int, int]] = []
    depth = deepest = 0
    last = len(jumps) - 1
    for index, jump in enumerate(jumps.tolist()):
        if jump > 0:
            waiting.append((index + jump, depth))
        if jump > 0 or jump == -1:
            depth += 1
            deepest = max(deepest, depth)
        elif jump == -2:
            if not waiting:
                if index != last:
                    raise CorruptDataError("the path tree ends early")
                return deepest
            follower, depth = waiting.pop()
            if follower != index + 1:
                raise CorruptDataError("the path tree is inconsistent")
        elif jump != 0:
            raise CorruptDataError("the path tree is inconsistent")
    raise CorruptDataError("the path tree does not end")


Words = npt.NDArray[np.uint64]

_ARRAY, _INLINED, _COMPRESSED = (np.uint64(1 << bit) for bit in (63, 62, 61))
_OFFSET = np.uint64((1 << 48) - 1)
_PATHS, _TOKENS, _SAMPLES, _DOUBLES, _OFFSETS, _STRINGS = 40, 41, 46, 48, 49, 50
_VECTORS = (_PATHS, _TOKENS, _DOUBLES, _OFFSETS, _STRINGS)
"""Value types that start with their length."""
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
_SIZES[[_PATHS, _TOKENS, _DOUBLES, _OFFSETS, _STRINGS, 56]] = (4, 4, 8, 16, 4, 8)
_WIDE_COUNTS = (0, 7, 0)
"""Since this version the length of an array has 64 bits."""


def check_values(data: memoryview, values: Words, tokens: list[bytes]) -> None:
    """Raise CorruptDataError for a value that is outside the file, too long, or lists unknown names."""
    source = np.frombuffer(data, dtype=np.uint8)
    stored = values[(values & _INLINED) == 0]
    _check_lengths(source, stored)
    # the times of samples are a value that no field names: only the samples lead to it
    times = _read_sample_times(source, stored)
    _check_lengths(source, times[(times & _INLINED) == 0])
    _check_names(source, stored, tokens)


def _check_lengths(source: npt.NDArray[np.uint8], values: Words) -> None:
    places = _find_offsets(values)
    if np.any(places >= len(source)):
        raise CorruptDataError("a value lies outside the file")
    kinds = _find_types(values)
    listed = np.isin(kinds, _VECTORS)
    # older arrays have a length of 32 bits, which is not looked at here
    if tuple(source[8:11]) >= _WIDE_COUNTS:
        listed |= (values & _ARRAY) != 0
    # offset 0 stands for an empty array
    listed &= places > 0
    counts = _gather_words(source, places[listed])
    room = (len(source) - places[listed]).astype(np.uint64)
    packed = (values[listed] & _COMPRESSED) != 0
    # compressed integers take two bits each before LZ4: four of them fit in an unpacked byte
    room = np.where(packed, room * np.uint64(MAX_RATIO * 4), room // _SIZES[kinds[listed]])
    if np.any(counts > room):
        raise CorruptDataError("a list is longer than the file")


def _read_sample_times(source: npt.NDArray[np.uint8], values: Words) -> Words:
    """The values that hold the times of time samples: a jump leads from the samples to them."""
    places = _find_offsets(values[_find_types(values) == _SAMPLES])
    jumps = _gather_words(source, places).view(np.int64)
    if np.any((jumps < 0) | (jumps >= len(source))):
        raise CorruptDataError("time samples lie outside the file")
    return _gather_words(source, places + jumps)


def _check_names(source: npt.NDArray[np.uint8], values: Words, tokens: list[bytes]) -> None:
    """Lists of names (children, properties, variants) name tokens that exist and are not empty."""
    # thousands of prims may share one list of children: each list is looked at once
    places = np.unique(_find_offsets(values[(_find_types(values) == _TOKENS) & ((values & _ARRAY) == 0)]))
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
