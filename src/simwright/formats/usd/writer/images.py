# SPDX-License-Identifier: Apache-2.0
"""Images of looks, brought into the asset's folder as PNG or JPEG of 8 bits (REP-0158 3.2).

PNG and JPEG files are copied as they are, where they are what the surface can use: maps of numbers (normals,
roughness ...) and images with alpha must be PNG.  All else is converted by Pillow, if that is installed.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from simwright.core.errors import InputError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.core.names import NameScope, make_identifier
from simwright.formats.mesh import load_image

_MAX_BYTES = 256 * MIB
_MAX_PIXELS = 1 << 28
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PNG_DEPTH = 24
"""Where a PNG file says how many bits a sample has."""
_FORMATS = ("PNG", "JPEG", "TGA", "BMP", "TIFF", "WEBP", "GIF", "DDS", "PPM")
_MODES = frozenset({"L", "LA", "RGB", "RGBA"})


class Images:
    """Images to copy: name in the asset's folder -> content; ``origins`` -> the file of the source."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.origins: dict[str, str] = {}
        self._known: dict[tuple[str, bool], tuple[str, str]] = {}
        self._names = NameScope()
        self._tally = Tally()

    def take(self, file: str, *, is_picture: bool = True) -> tuple[str, str]:
        """The path of an image inside the asset, or an empty one and the reason."""
        key = (file, is_picture)
        if key not in self._known:
            self._known[key] = self._bring(file, is_picture)
        return self._known[key]

    def _bring(self, file: str, is_picture: bool) -> tuple[str, str]:
        try:
            content = load_image(file, _MAX_BYTES, self._tally)
        except InputError as error:
            return "", error.message
        suffix = _find_suffix(content)
        if not suffix or (suffix == ".jpg" and not is_picture):
            content, why = _convert(content)
            if why:
                return "", why
            suffix = ".png"
        for path, known in self.files.items():
            if known == content:
                return path, ""
        path = f"textures/{self._names.claim(make_identifier(Path(file).stem))}{suffix}"
        self.files[path] = content
        self.origins[path] = file
        return path, ""


def _find_suffix(content: bytes) -> str:
    """The ending of an image that may stay as it is; empty for all others."""
    if content.startswith(_JPEG):
        return ".jpg"
    is_plain = content.startswith(_PNG) and len(content) > _PNG_DEPTH and content[_PNG_DEPTH] <= 8
    return ".png" if is_plain else ""


def _convert(content: bytes) -> tuple[bytes, str]:
    """An image as PNG of 8 bits, or the reason why not."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            if image.width * image.height > _MAX_PIXELS:
                return b"", f"it has {image.width} x {image.height} pixels"
            stream = io.BytesIO()
            _flatten(image).save(stream, "PNG")
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        return b"", "it is no image that can be read"
    return stream.getvalue(), ""


def _flatten(image: Any) -> Any:
    """Eight bits a channel; wide samples are scaled down, not cut off."""
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value / 257).convert("L")
    if image.mode in _MODES:
        return image
    return image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB")
