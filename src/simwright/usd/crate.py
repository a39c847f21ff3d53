# SPDX-License-Identifier: Apache-2.0
"""The outside of a crate (.usdc) file, checked before OpenUSD maps it.

OpenUSD trusts parts of a crate: a table of contents that points outside the file makes it write to stderr,
a wrong count makes it ask for gigabytes, and a very deep path tree overflows the stack.  So the header, the
sections, the counts and the depth of the path tree are checked here, from the published layout of the
format (bootstrap, table of contents, and the compressed sections of version 0.4.0 and later).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.core.errors import LimitError, ParseError
from simwright.usd.crate_values import check_values
from simwright.usd.lz4 import MAX_RATIO, CorruptDataError, decode_integers, decompress

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
class Section:
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


def _read_contents(data: memoryview) -> dict[str, Section]:
    """The sections, all of them inside the file, of a version that is read."""
    if len(data) < _BOOTSTRAP:
        raise CorruptDataError("the header is cut off")
    version = tuple(data[8:11])
    if version[0] != 0 or version < _OLDEST_COMPRESSED:
        raise CorruptDataError("version {}.{}.{} is not read".format(*version))
    (offset,) = struct.unpack_from("<q", data, 16)
    if not _BOOTSTRAP <= offset <= len(data) - 8:
        raise CorruptDataError("the table of contents lies outside the file")
    (count,) = struct.unpack_from("<Q", data, offset)
    if not 0 < count <= _MAX_SECTIONS:
        raise CorruptDataError(f"the table of contents has {count} sections")
    sections: dict[str, Section] = {}
    for number in range(count):
        raw, start, size = _SECTION.unpack_from(data, offset + 8 + number * _SECTION.size)
        name = raw.split(b"\0")[0].decode("ascii", "replace")
        if start < _BOOTSTRAP or size < 0 or start + size > len(data):
            raise CorruptDataError(f"section {name!r} lies outside the file")
        sections[name] = Section(name, start, size)
    for name in _NEEDED:
        if name not in sections:
            raise CorruptDataError(f"section {name!r} is missing")
    return sections


def _check_counts(data: memoryview, sections: dict[str, Section]) -> None:
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
        for _ in _read_blocks(data, section, section.start + 8 * lead, blocks):
            pass


def _check_fields(data: memoryview, sections: dict[str, Section]) -> None:
    """Unpack the tokens and the field values, and check the values (:mod:`simwright.usd.crate_values`)."""
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


def _check_specs(data: memoryview, sections: dict[str, Section]) -> None:
    """Every spec has a path, a field set and a type that exist."""
    section = sections["SPECS"]
    (count,) = _read_words(data, section, 1)
    (paths,) = _read_words(data, sections["PATHS"], 1)
    (field_sets,) = _read_words(data, sections["FIELDSETS"], 1)
    if not count:
        raise CorruptDataError("there is no root")
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


def _read_words(data: memoryview, section: Section, count: int) -> tuple[int, ...]:
    if section.size < 8 * count:
        raise CorruptDataError(f"section {section.name!r} is too short")
    return struct.unpack_from(f"<{count}Q", data, section.start)


def _measure_depth(data: memoryview, section: Section) -> int:
    """Deepest level of the path tree, whose jumps must describe a proper tree."""
    paths, encoded = _read_words(data, section, 2)
    if encoded > paths:
        raise CorruptDataError("the path tree has more entries than paths")
    if not encoded:
        return 0
    blocks = list(_read_blocks(data, section, section.start + 16, 3))
    return _walk_tree(decode_integers(blocks[2], encoded))


def _read_blocks(data: memoryview, section: Section, at: int, count: int) -> Iterator[memoryview]:
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
