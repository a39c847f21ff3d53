# SPDX-License-Identifier: Apache-2.0
"""Reading the compressed integers of a crate file: LZ4 blocks in chunks, around delta-coded integers.

Only what :mod:`simwright.usd.crate` needs to look at a path tree before OpenUSD does.  Written from the
public description of the LZ4 block format; every read is bounded.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

MAX_RATIO = 256
"""A compressed byte never stands for more bytes than this (a property of LZ4)."""


class CorruptDataError(Exception):
    """The bytes do not follow the format."""


def decode_integers(packed: memoryview, count: int) -> npt.NDArray[np.int64]:
    """``count`` 32-bit integers: a common delta, two-bit codes, and the deltas the codes announce."""
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
                _copy_back(result, back, length + 4, most)
            if len(result) > most:
                raise CorruptDataError("a compressed block is larger than it says")
    except IndexError:
        raise CorruptDataError("a compressed block is cut off") from None
    return result


def _read_length(data: bytes, at: int, length: int) -> tuple[int, int]:
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
        result += (bytes(result[start:]) * (length // back + 1))[:length]
