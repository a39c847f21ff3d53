"""Damage to crate (.usdc) files that stays behind what is compressed: tables whose entries do not fit each other.

A flipped bit in a compressed table is mostly noticed when it is unpacked.  Here a table is unpacked, changed, packed
again without compression and put at the end of the file, and the table of contents leads there.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import numpy as np

from simwright.usd.crate import CorruptDataError, decode_integers, decompress

_SECTION = struct.Struct("<16sqq")
_TYPES = 64
"""Value types are smaller."""
_FLAGS = (1 << 63, 1 << 62, 1 << 61)
"""An array, a value that stands in the entry itself, one that is compressed."""
_PLACE = (1 << 48) - 1
_TABLES = {"FIELDSETS": (1, 1), "PATHS": (2, 3), "SPECS": (1, 3)}
"""Tables of integers: words before the first block, and blocks."""


def damage_crate(data: bytes, rng: random.Random) -> bytes:
    """One entry or a few of a table, or a length in front of a value."""
    try:
        sections = _read_sections(data)
        return rng.choice(_DAMAGES)(data, sections, rng)
    except (struct.error, CorruptDataError, KeyError, ValueError, IndexError):
        return data


_Sections = dict[str, tuple[int, int, int]]


def _read_sections(data: bytes) -> _Sections:
    """Name -> place of the row in the table of contents, start, size."""
    (at,) = struct.unpack_from("<q", data, 16)
    (count,) = struct.unpack_from("<Q", data, at)
    rows = ((at + 8 + number * _SECTION.size) for number in range(min(count, 64)))
    found = ((row, *_SECTION.unpack_from(data, row)) for row in rows)
    return {name.split(b"\0")[0].decode(): (row, start, size) for row, name, start, size in found}


def _put(data: bytes, sections: _Sections, name: str, body: bytes) -> bytes:
    row, _, _ = sections[name]
    changed = bytearray(data) + body
    struct.pack_into("<qq", changed, row + 16, len(data), len(body))
    return bytes(changed)


def _read_blocks(data: bytes, at: int, count: int) -> list[memoryview]:
    blocks = []
    for _ in range(count):
        (size,) = struct.unpack_from("<Q", data, at)
        blocks.append(memoryview(data)[at + 8 : at + 8 + size])
        at += 8 + size
    return blocks


def _pack(raw: bytes) -> bytes:
    """One block of LZ4 that is a single run of literals."""
    head = bytearray([0, min(len(raw), 15) << 4])
    if len(raw) >= 15:
        head += b"\xff" * ((len(raw) - 15) // 255) + bytes([(len(raw) - 15) % 255])
    return struct.pack("<Q", len(head) + len(raw)) + head + raw


def _pack_integers(numbers: list[int]) -> bytes:
    """Integers as differences of four bytes each."""
    values = np.array([0, *numbers], np.int64)
    codes = b"\xff" * ((2 * len(numbers) + 7) // 8)
    return _pack(bytes(4) + codes + np.diff(values).astype("<i4").tobytes())


def _change_numbers(numbers: list[int], rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(numbers))
        other = rng.choice(numbers)
        numbers[at] = rng.choice(
            (
                other,
                other,
                numbers[at] + 1,
                numbers[at] - 1,
                0,
                -1,
                -2,
                len(numbers),
                max(numbers) + 1,
                2**31 - 1,
            )
        )


def _change_table(data: bytes, sections: _Sections, rng: random.Random) -> bytes:
    """Paths, field sets or specs."""
    name = rng.choice(list(_TABLES))
    words, count = _TABLES[name]
    _, start, _ = sections[name]
    heads = struct.unpack_from(f"<{words}Q", data, start)
    blocks = [
        decode_integers(block, heads[-1]).tolist() for block in _read_blocks(data, start + 8 * words, count)
    ]
    chosen = rng.choice(blocks)
    if rng.random() < 0.2:
        one, two = rng.randrange(len(chosen)), rng.randrange(len(chosen))
        for block in blocks:  # whole rows
            block[one], block[two] = block[two], block[one]
    else:
        _change_numbers(chosen, rng)
    return _put(
        data, sections, name, struct.pack(f"<{words}Q", *heads) + b"".join(map(_pack_integers, blocks))
    )


def _change_fields(data: bytes, sections: _Sections, rng: random.Random) -> bytes:
    """The name of a field, or its value: type, flags and place."""
    _, start, _ = sections["FIELDS"]
    (count,) = struct.unpack_from("<Q", data, start)
    names, values = _read_blocks(data, start + 8, 2)
    tokens = decode_integers(names, count).tolist()
    words = np.frombuffer(decompress(values, 8 * count), "<u8").tolist()
    if rng.random() < 0.3:
        _change_numbers(tokens, rng)
    else:
        for _ in range(rng.choice((1, 1, 1, 3))):
            at = rng.randrange(count)
            words[at] = _change_value(words[at], words, len(data), rng)
    body = struct.pack("<Q", count) + _pack_integers(tokens) + _pack(np.array(words, "<u8").tobytes())
    return _put(data, sections, "FIELDS", body)


def _change_value(word: int, words: list[int], size: int, rng: random.Random) -> int:
    choice = rng.random()
    if choice < 0.2:
        return rng.choice(words)
    if choice < 0.5:
        return word & ~(0xFF << 48) | rng.randrange(_TYPES) << 48
    if choice < 0.65:
        return word ^ rng.choice(_FLAGS)
    other = rng.choice(words) & _PLACE
    place = rng.choice(
        (other, other, other + rng.randint(-8, 8), 0, 1, size - 8, size - 1, rng.randrange(size), _PLACE)
    )
    return word & ~_PLACE | place & _PLACE


def _change_tokens(data: bytes, sections: _Sections, rng: random.Random) -> bytes:
    """Names: one for another, an empty one, one with signs that no name has."""
    _, start, _ = sections["TOKENS"]
    count, unpacked, packed = struct.unpack_from("<3Q", data, start)
    names = decompress(memoryview(data)[start + 24 : start + 24 + packed], unpacked).split(b"\0")[:count]
    for _ in range(rng.choice((1, 1, 2, 4))):
        signs = (
            b"",
            b".",
            b"/",
            b"..",
            b"{a=b}",
            b"a[",
            b"\xc3\xa9",
            b"-",
            b" ",
            b"a" * 3000,
            b"</x>",
            b"\x1b[2J",
        )
        names[rng.randrange(count)] = rng.choice((rng.choice(names), rng.choice(names), rng.choice(signs)))
    text = b"".join(name + b"\0" for name in names)
    return _put(data, sections, "TOKENS", struct.pack("<2Q", count, len(text)) + _pack(text))


def _change_lengths(data: bytes, sections: _Sections, rng: random.Random) -> bytes:
    """What stands at the places of values: lengths, indexes, jumps to further values."""
    _, start, _ = sections["FIELDS"]
    (count,) = struct.unpack_from("<Q", data, start)
    values = np.frombuffer(decompress(_read_blocks(data, start + 8, 2)[1], 8 * count), "<u8").tolist()
    places = [
        word & _PLACE for word in values if not word & _FLAGS[1] and 88 <= word & _PLACE <= len(data) - 32
    ]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.choice(places) + rng.choice((0, 0, 0, 1, 4, 8, 8, 12, 16, 24))
        size = rng.choice((1, 4, 8))
        word = rng.choice(
            (0, 1, 2, 255, rng.randrange(len(data)), rng.getrandbits(8 * size), (1 << 8 * size) - 8)
        )
        changed[at : at + size] = (word & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(changed[: len(data)])


_DAMAGES: tuple[Callable[[bytes, _Sections, random.Random], bytes], ...] = (
    _change_table,
    _change_fields,
    _change_fields,
    _change_tokens,
    _change_lengths,
)
