# SPDX-License-Identifier: Apache-2.0
"""Images for glTF: as they are where glTF reads them the same way, else made again from their channels.

glTF fixes what UsdPreviewSurface leaves open: which channel means what, that colours are sRGB and data are not, that
an image has no scale and bias of its own.  An image that fits is copied byte for byte (PNG and JPEG); one that does
not is baked: its channels are taken, made linear, scaled, shifted, put where glTF wants them and stored as PNG.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import InputError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.formats.mesh import load_image

Channel = npt.NDArray[np.float32]
MAX_BYTES = 256 * MIB
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_FORMATS = ("PNG", "JPEG", "TGA", "BMP", "TIFF", "WEBP", "GIF", "DDS", "PPM")
_DEPTH_AT, _COLOR_AT, _WIDE = 24, 25, 16


class PictureError(InputError):
    """An image that cannot be used."""

    code = "bad-picture"


class Pictures:
    """Image files by name, each read and taken apart once."""

    def __init__(self) -> None:
        self._content: dict[str, bytes] = {}
        self._pixels: dict[str, Channel] = {}
        self._copied: dict[str, bool] = {}
        self._tally = Tally()

    def read(self, file: str) -> bytes:
        """The bytes of an image; an InputError says why not."""
        if file not in self._content:
            self._content[file] = load_image(file, MAX_BYTES, self._tally)
        return self._content[file]

    def can_copy(self, file: str) -> bool:
        """Is it a sound PNG of 8 bits or a JPEG file?  A damaged one is an InputError."""
        if file not in self._copied:
            content = self.read(file)
            plain = content.startswith(JPEG)
            if content.startswith(PNG) and len(content) > _COLOR_AT:
                plain = content[_DEPTH_AT] < _WIDE
            self._copied[file] = plain
        return self._copied[file]

    def has_alpha(self, file: str) -> bool:
        """Is any pixel not opaque?"""
        content = self.read(file)
        if content.startswith(JPEG):
            return False
        is_plain = content.startswith(PNG) and content[_COLOR_AT] in (0, 2) and b"tRNS" not in content[:4096]
        return not is_plain and bool((self.get_pixels(file)[..., 3] < 1.0).any())

    def get_pixels(self, file: str) -> Channel:
        """``(height, width, 4)`` values from 0 to 1 as the file has them."""
        if file not in self._pixels:
            self._pixels[file] = _decode(self.read(file), self._tally)
        return self._pixels[file]


def _decode(content: bytes, tally: Tally) -> Channel:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            tally.add("baked-pixels", image.width * image.height)
            if image.mode.startswith("I"):
                wide = np.asarray(image.convert("I"), dtype=np.float32) / np.float32(65535.0)
                ones = np.ones_like(wide)
                return np.stack((wide, wide, wide, ones), axis=-1)
            pixels = np.asarray(image.convert("RGBA"), dtype=np.float32)
            return np.asarray(pixels / np.float32(255.0))
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        raise PictureError("it is no image that can be read") from None


def encode(channels: list[Channel | None], fill: float = 1.0) -> bytes:
    """A PNG of three or four channels, all brought to the size of the largest; None is filled."""
    from PIL import Image

    given = [channel for channel in channels if channel is not None]
    height, width = max(c.shape[0] for c in given), max(c.shape[1] for c in given)
    planes = []
    for channel in channels:
        if channel is None:
            planes.append(Image.new("L", (width, height), round(fill * 255.0)))
            continue
        levels = np.rint(np.clip(np.nan_to_num(channel), 0.0, 1.0) * 255.0).astype(np.uint8)
        plane = Image.fromarray(levels)
        planes.append(
            plane
            if plane.size == (width, height)
            else plane.resize((width, height), Image.Resampling.BILINEAR)
        )
    image: Any = Image.merge("RGB" if len(planes) == 3 else "RGBA", planes)
    stream = io.BytesIO()
    image.save(stream, "PNG", compress_level=6)
    return stream.getvalue()


def make_linear(values: Channel) -> Channel:
    """Display values made linear (IEC 61966-2-1)."""
    curved = ((values + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4)
    return np.where(values <= np.float32(0.04045), values / np.float32(12.92), curved)


def make_display(values: Channel) -> Channel:
    """The inverse."""
    safe = np.clip(values, 0.0, 1.0)
    curved = np.float32(1.055) * safe ** np.float32(1.0 / 2.4) - np.float32(0.055)
    return np.where(safe <= np.float32(0.0031308), safe * np.float32(12.92), curved)
