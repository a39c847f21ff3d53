# SPDX-License-Identifier: Apache-2.0
"""Images as 8-bit PNG (REP-0158 3.2): decoded by Pillow, or here, and written again without further loss."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Ar, Tf

from simwright.sanitizer.radiance import UnreadableError, decode_radiance
from simwright.usd.edit import Refused

MAX_BYTES = 1 << 28
_MAX_PIXELS = 1 << 28
_FORMATS = ("PNG", "JPEG", "TGA", "BMP", "TIFF", "WEBP", "GIF", "DDS", "PPM", "PSD", "SGI", "JPEG2000")
_CHANNELS = {"1": "L", "P": "RGB", "PA": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB", "LAB": "RGB"}
_PLAIN = frozenset({"L", "LA", "RGB", "RGBA"})
_WIDE = 16
_RADIANCE = (b"#?RADIANCE", b"#?RGBE")


@dataclass(slots=True)
class Picture:
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


def decode_image(content: bytes, address: str) -> Picture:
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


def _decode_bright(content: bytes, address: str) -> Picture:
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
    return Picture(Image.fromarray(np.round(colours * 255.0).astype(np.uint8), "RGB"), is_raw=True)


def _flatten(image: Any, content: bytes) -> Picture:
    """Eight bits a channel; wide samples are scaled down, not cut off."""
    mode = image.mode
    if mode.startswith("I") or mode == "F":
        wide = np.asarray(image, dtype=np.float64)
        full = 65535.0 if mode.startswith("I") else 1.0
        if wide.size and (wide.min() < 0.0 or wide.max() > full):
            raise ValueError("numbers beyond what a PNG can hold")
        from PIL import Image

        return Picture(Image.fromarray(np.round(wide * (255.0 / full)).astype(np.uint8), "L"), is_raw=True)
    if mode not in _PLAIN:
        has_alpha = "transparency" in image.info and _CHANNELS.get(mode) == "RGB"
        image = image.convert("RGBA" if has_alpha else _CHANNELS.get(mode, "RGBA"))
    return Picture(image, is_raw=_count_bits(content) >= _WIDE or image.mode in ("L", "LA"))


def _count_bits(content: bytes) -> int:
    """Bits a channel of a PNG; 8 for all others that Pillow gives as plain images."""
    return content[24] if content.startswith(b"\x89PNG") and len(content) > 24 else 8
