# SPDX-License-Identifier: Apache-2.0
"""Images: are they what they say, and their numbers as the samples of a height map or a floor plan.

Only the formats named here are opened, and only up to a size: an image is input like any other.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import ParseError
from simwright.core.files import MIB, check_readable
from simwright.core.limits import Tally
from simwright.core.math3d import Array

MAX_BYTES = 512 * MIB
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "PPM")


_DELIVERED = (*_FORMATS, "TGA", "WEBP", "GIF", "DDS")
_SIGNATURES = (b"\x76\x2f\x31\x01", b"#?RADIANCE", b"#?RGBE", b"\xabKTX 20\xbb")
"""How OpenEXR, Radiance and KTX2 files begin, which Pillow does not read."""
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_PALETTE = 3
_PNG_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), _PNG_PALETTE: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""Kinds of colours of PNG -> bits of each channel that the standard allows."""


@contextmanager
def _sizes_judged_here() -> Iterator[None]:
    """Without Pillow's own limit, which is per image and cannot be raised by the user."""
    from PIL import Image

    # The limit is ours: the tally of the asset, which users can raise.
    before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = before


def check_image(content: bytes, where: Where, tally: Tally) -> None:
    """An InputError if bytes are no image, or one that makes too many pixels of an asset; nothing is decoded whole."""
    # Formats that Pillow does not know are passed on; whether an engine reads them is its own affair.
    if content.startswith(_SIGNATURES) or content[4:12] == b"ftypavif":
        return
    size = measure_png(content)
    if size is not None:
        tally.add("image-pixels", size[0] * size[1], where)
        return
    from PIL import (
        Image,
        UnidentifiedImageError,
    )  # a tenth of a second and some MiB that most robots can do without

    try:
        with _sizes_judged_here(), Image.open(io.BytesIO(content), formats=_DELIVERED) as image:
            tally.add("image-pixels", image.width * image.height, where)
            # Checks the structure without decoding the pixels.
            image.verify()
    # Pillow 13.0 verifies a PNG file without pixel data (IDAT) by an index that is not there.
    except (
        UnidentifiedImageError,
        OSError,
        ValueError,
        SyntaxError,
        IndexError,
        Image.DecompressionBombError,
    ):
        raise ParseError(
            "it is not an image that can be read", hint="provide it as PNG", where=where
        ) from None


def measure_png(content: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG file whose chunks are all sound; None for any other file, which Pillow may judge."""
    # the first chunk is the header, of 13 bytes
    if not content.startswith(_PNG + b"\0\0\0\rIHDR"):
        return None
    found: list[bytes] = []
    place = len(_PNG)
    while place + 12 <= len(content) and found[-1:] != [b"IEND"]:
        end = place + 8 + int.from_bytes(content[place : place + 4])
        if zlib.crc32(memoryview(content)[place + 4 : end]) != int.from_bytes(content[end : end + 4]):
            return None
        found.append(content[place + 4 : place + 8])
        place = end + 4
    if found[-1:] != [b"IEND"]:
        return None
    width, height, depth, colors, *ways = struct.unpack(">IIBBBBB", content[16:29])
    is_known = depth in _PNG_DEPTHS.get(colors, ()) and ways[:2] == [0, 0] and ways[2] in (0, 1)
    is_whole = b"IDAT" in found and found.count(b"IHDR") == 1
    is_shown = colors != _PNG_PALETTE or b"PLTE" in found
    return (width, height) if is_known and is_whole and is_shown and width and height else None


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows of an image, top first: one value per pixel, and the value that stands for white.

    ``full`` is None where values mean what they say (elevation models: floating point and 32 bits).
    """

    values: Array
    full: float | None


def load_samples(path: Path, tally: Tally) -> Samples:
    """The first channel of an image; whatever is wrong with it is an InputError that names it.

    Its pixels count as height samples of the asset.
    """
    from PIL import Image, UnidentifiedImageError

    where = Where(str(path))
    check_readable(path, MAX_BYTES)
    try:
        with _sizes_judged_here(), Image.open(path, formats=_FORMATS) as image:
            width, height = image.size
            tally.add("height-samples", width * height, where)
            return _take_samples(image)
    except UnidentifiedImageError:
        raise ParseError(
            f"{path.name!r} is not an image of a known kind", hint=f"convert it to {_FORMATS[0]}", where=where
        ) from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ParseError(
            f"the image {path.name!r} cannot be read: {reason}", hint="is it complete?", where=where
        ) from None


def _take_samples(image: Any) -> Samples:
    mode = image.mode
    # Palettes and other colour models are brought to what their first channel means.
    if mode in ("1", "P", "LA", "PA", "CMYK", "YCbCr", "HSV", "LAB"):
        image = image.convert("L" if mode in ("1", "LA") else "RGB")
    values = np.asarray(image, dtype=np.float64)
    if values.ndim == 3:
        values = values[:, :, 0]
    if image.mode.startswith("I;16"):
        return Samples(values, 65535.0)
    # Elevation models have floating point or 32 bits; their numbers are metres.
    return Samples(values, None if image.mode in ("F", "I") else 255.0)
