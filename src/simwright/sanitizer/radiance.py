# SPDX-License-Identifier: Apache-2.0
"""Reading Radiance .hdr images (RGBE), which Pillow does not: to make a PNG where nothing brighter than 1 is lost."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

_SIZE = re.compile(rb"-Y (\d+) \+X (\d+)\n")
_MAX_PIXELS = 1 << 26
_RUN = 128


class UnreadableError(ValueError):
    """The image cannot be read; the text says why."""


def decode_radiance(content: bytes) -> npt.NDArray[np.float32]:
    """Rows of linear colours, top first."""
    end = content.find(b"\n\n")
    size = _SIZE.match(content, end + 2) if end >= 0 else None
    if size is None or b"32-bit_rle_xyze" in content[:end]:
        raise UnreadableError("it is no Radiance image of the usual kind")
    height, width = int(size.group(1)), int(size.group(2))
    if not 0 < height * width <= _MAX_PIXELS:
        raise UnreadableError(f"it has {width} x {height} pixels")
    rows = _read_rows(memoryview(content)[size.end() :], width, height)
    scale = np.where(rows[..., 3] > 0, np.ldexp(np.float32(1.0), rows[..., 3].astype(np.int32) - 136), 0.0)
    colours: npt.NDArray[np.float32] = (rows[..., :3] * scale[..., None]).astype(np.float32)
    return colours


def _read_rows(data: memoryview, width: int, height: int) -> npt.NDArray[np.uint8]:
    rows = np.zeros((height, width, 4), dtype=np.uint8)
    place = 0
    for y in range(height):
        head = bytes(data[place : place + 4])
        is_packed = len(head) == 4 and head[0] == 2 and head[1] == 2 and (head[2] << 8 | head[3]) == width
        if not is_packed:
            flat = bytes(data[place : place + 4 * width])
            if len(flat) != 4 * width:
                raise UnreadableError("it ends too early")
            rows[y] = np.frombuffer(flat, dtype=np.uint8).reshape(width, 4)
            place += 4 * width
            continue
        place += 4
        for channel in range(4):
            rows[y, :, channel], place = _read_runs(data, place, width)
    return rows


def _read_runs(data: memoryview, place: int, width: int) -> tuple[npt.NDArray[np.uint8], int]:
    found = bytearray()
    while len(found) < width:
        if place + 1 >= len(data):
            raise UnreadableError("it ends too early")
        count = data[place]
        if count > _RUN:
            found += bytes([data[place + 1]]) * (count - _RUN)
            place += 2
        else:
            found += data[place + 1 : place + 1 + count]
            place += 1 + max(count, 1)
    if len(found) != width:
        raise UnreadableError("a row has more pixels than the image is wide")
    return np.frombuffer(bytes(found), dtype=np.uint8), place
