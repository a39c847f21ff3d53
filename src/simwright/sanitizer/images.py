# SPDX-License-Identifier: Apache-2.0
"""Images as 8-bit PNG (REP-0158 3.2): decoded by Pillow, or here, and written again without further loss.

Radiance .hdr images (RGBE), which Pillow does not read, are decoded here: they become a PNG where nothing in them is
brighter than 1.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Ar, Tf

from simwright.usd.edit import Refused

MAX_BYTES = 1 << 28
_MAX_PIXELS = 1 << 28
_FORMATS = ("PNG", "JPEG", "TGA", "BMP", "TIFF", "WEBP", "GIF", "DDS", "PPM", "PSD", "SGI", "JPEG2000")
_CHANNELS = {"1": "L", "P": "RGB", "PA": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB", "LAB": "RGB"}
_PLAIN = frozenset({"L", "LA", "RGB", "RGBA"})
_WIDE = 16
_RADIANCE = (b"#?RADIANCE", b"#?RGBE")


@dataclass(slots=True)
class TextureImage:
    """An image of 8 bits a channel; ``is_raw`` says that OpenUSD took the source for numbers, not for a picture."""

    image: Any
    is_raw: bool = False

    def encode(self, *, with_alpha: bool = False) -> bytes:
        """The bytes of a PNG file; ``with_alpha`` adds an alpha of 1 where there is none."""
        image = self.image
        if with_alpha and "A" not in image.getbands():
            image = image.convert("LA" if image.mode == "L" else "RGBA")
        stream = io.BytesIO()
        image.save(stream, "PNG")
        return stream.getvalue()


def read_asset(address: str, resolved: str) -> bytes:
    """The bytes of a file of the stage, also one inside a package."""
    if not resolved:
        raise Refused(f"{address} is not there; it has to be found first")
    try:
        asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(resolved))
        size = asset.GetSize() if asset is not None else 0
        if size > MAX_BYTES:
            raise Refused(f"{address} has {size} bytes; make it smaller first")
        return bytes(asset.Read(size, 0)) if asset is not None else b""
    except (Tf.ErrorException, RuntimeError):
        raise Refused(f"{address} cannot be opened") from None


def decode_image(content: bytes, address: str) -> TextureImage:
    """Any image that can be read here; the others are refused with what has to be done."""
    from PIL import Image

    if content.startswith(_RADIANCE):
        return _decode_bright(content, address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Pillow has to say of damage shows in what can be read
            image = Image.open(io.BytesIO(content), formats=_FORMATS)
            if image.width * image.height > _MAX_PIXELS:
                raise Refused(f"{address} has {image.width} x {image.height} pixels; make it smaller first")
            image.load()
            return _flatten(image, content)
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        raise Refused(
            f"{address} cannot be decoded here; export it as an 8-bit PNG from its source"
        ) from None


def _decode_bright(content: bytes, address: str) -> TextureImage:
    from PIL import Image

    try:
        colours = decode_radiance(content)
    except UnreadableError as reason:
        raise Refused(
            f"{address} cannot be decoded ({reason}); export it as an 8-bit PNG from its source"
        ) from None
    if float(colours.max(initial=0.0)) > 1.0:
        raise Refused(
            f"{address} is brighter than a PNG can be; choose an exposure and export it as an 8-bit PNG"
        )
    return TextureImage(Image.fromarray(np.round(colours * 255.0).astype(np.uint8), "RGB"), is_raw=True)


def _flatten(image: Any, content: bytes) -> TextureImage:
    """Eight bits a channel; wide samples are scaled down, not cut off."""
    mode = image.mode
    if mode.startswith("I") or mode == "F":
        wide = np.asarray(image, dtype=np.float64)
        full = 65535.0 if mode.startswith("I") else 1.0
        if wide.size and (wide.min() < 0.0 or wide.max() > full):
            raise ValueError("numbers beyond what a PNG can hold")
        from PIL import Image

        return TextureImage(
            Image.fromarray(np.round(wide * (255.0 / full)).astype(np.uint8), "L"), is_raw=True
        )
    if mode not in _PLAIN:
        has_alpha = "transparency" in image.info and _CHANNELS.get(mode) == "RGB"
        image = image.convert("RGBA" if has_alpha else _CHANNELS.get(mode, "RGBA"))
    return TextureImage(image, is_raw=_count_bits(content) >= _WIDE or image.mode in ("L", "LA"))


def _count_bits(content: bytes) -> int:
    """Bits a channel of a PNG; 8 for all others that Pillow gives as plain images."""
    return content[24] if content.startswith(b"\x89PNG") and len(content) > 24 else 8


_RADIANCE_SIZE = re.compile(rb"-Y (\d+) \+X (\d+)\n")
_MAX_RADIANCE_PIXELS = 1 << 26
_RUN_FLAG = 128


class UnreadableError(ValueError):
    """The image cannot be read; the text says why."""


def decode_radiance(content: bytes) -> npt.NDArray[np.float32]:
    """Rows of linear colours, top first."""
    end = content.find(b"\n\n")
    size = _RADIANCE_SIZE.match(content, end + 2) if end >= 0 else None
    if size is None or b"32-bit_rle_xyze" in content[:end]:
        raise UnreadableError("it is no Radiance image of the usual kind")
    height, width = int(size.group(1)), int(size.group(2))
    if not 0 < height * width <= _MAX_RADIANCE_PIXELS:
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
        if count > _RUN_FLAG:
            found += bytes([data[place + 1]]) * (count - _RUN_FLAG)
            place += 2
        else:
            found += data[place + 1 : place + 1 + count]
            place += 1 + max(count, 1)
    if len(found) != width:
        raise UnreadableError("a row has more pixels than the image is wide")
    return np.frombuffer(bytes(found), dtype=np.uint8), place
