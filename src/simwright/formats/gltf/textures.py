# SPDX-License-Identifier: Apache-2.0
"""Images of a material, each in the slot and the form glTF wants: samplers, transforms, packed channels.

glTF fixes what UsdPreviewSurface leaves open: which channel means what, that colours are sRGB and data are not, that
an image has no scale and bias of its own.  An image that fits is copied byte for byte (PNG and JPEG); one that does
not is baked: its channels are taken, made linear, scaled, shifted, put where glTF wants them and stored as PNG.

Texture coordinates of glTF count v downwards; a transform is turned over with them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import InputError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.core.names import NameScope, make_identifier
from simwright.formats.mesh import load_image, name_image
from simwright.model.material import Texture

Channel = npt.NDArray[np.float32]
MAX_BYTES = 256 * MIB
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_FORMATS = ("PNG", "JPEG", "TGA", "BMP", "TIFF", "WEBP", "GIF", "DDS", "PPM")
_IGNORED = (b"iCCP", b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"acTL", b"fcTL", b"fdAT")
_CHUNK_FRAME = 12
"""Bytes of a chunk of a PNG besides its content: length, name, checksum."""
_DEPTH_AT, _COLOR_AT, _WIDE = 24, 25, 16


class ImageError(InputError):
    """An image that cannot be used."""

    code = "bad-picture"


class ImageCache:
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
        # PNG colour types 0 and 2 have no alpha, unless a tRNS chunk makes one colour transparent.
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
            # Counted before decoding: a small file can hold a huge picture.
            tally.add("baked-pixels", image.width * image.height)
            # Sixteen-bit PNGs; converting them to RGBA would clip their values at 255.
            if image.mode.startswith("I"):
                wide = np.asarray(image.convert("I"), dtype=np.float32) / np.float32(65535.0)
                ones = np.ones_like(wide)
                return np.stack((wide, wide, wide, ones), axis=-1)
            pixels = np.asarray(image.convert("RGBA"), dtype=np.float32)
            return np.asarray(pixels / np.float32(255.0))
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        raise ImageError("it is not an image that can be read") from None


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


def drop_ignored(content: bytes) -> bytes:
    """A PNG without its colour profile, gamma, shape of pixels and further frames; the pixels are the same bytes.

    glTF says what colours mean, whatever the image says, and its validator warns of an image that says otherwise.
    """
    if not content.startswith(PNG) or not any(chunk in content for chunk in _IGNORED):
        return content
    parts, place = [PNG], len(PNG)
    while place + _CHUNK_FRAME <= len(content):
        length = int.from_bytes(content[place : place + 4], "big")
        end = place + _CHUNK_FRAME + length
        if content[place + 4 : place + 8] not in _IGNORED:
            parts.append(content[place:end])
        place = end
    return b"".join(parts)


def make_linear(values: Channel) -> Channel:
    """Display values made linear (IEC 61966-2-1)."""
    curved = ((values + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4)
    return np.where(values <= np.float32(0.04045), values / np.float32(12.92), curved)


def make_display(values: Channel) -> Channel:
    """The inverse."""
    safe = np.clip(values, 0.0, 1.0)
    curved = np.float32(1.055) * safe ** np.float32(1.0 / 2.4) - np.float32(0.055)
    return np.where(safe <= np.float32(0.0031308), safe * np.float32(12.92), curved)


_WRAPS = {"repeat": 10497, "clamp": 33071, "mirror": 33648, "black": 33071}
_LINEAR, _MIPMAPS = 9729, 9987
_CHANNELS = "rgba"
_STANDARD = ((2.0, 2.0, 2.0), (-1.0, -1.0, -1.0))
_PLAIN = ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))


@dataclass(slots=True)
class GltfImage:
    """An image of the document."""

    name: str
    content: bytes

    @property
    def kind(self) -> str:
        """Its media type."""
        return "image/jpeg" if self.content.startswith(JPEG) else "image/png"


@dataclass(slots=True)
class Textures:
    """Images, samplers and textures of the document, each distinct one once."""

    pictures: ImageCache = field(default_factory=ImageCache)
    images: list[GltfImage] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    textures: list[dict[str, Any]] = field(default_factory=list)
    extensions: set[str] = field(default_factory=set)
    _numbers: dict[bytes, int] = field(default_factory=dict)
    _baked: dict[tuple[object, ...], int] = field(default_factory=dict)
    _names: NameScope = field(default_factory=NameScope)

    def refer(self, image: int, texture: Texture, uv_names: tuple[str, ...]) -> dict[str, Any]:
        """A texture info: the image, how it is sampled, by which coordinates."""
        sampler = {
            "magFilter": _LINEAR,
            "minFilter": _MIPMAPS,
            "wrapS": _WRAPS[texture.wrap_s],
            "wrapT": _WRAPS[texture.wrap_t],
        }
        row = {"sampler": _find(self.samplers, sampler), "source": image}
        info: dict[str, Any] = {"index": _find(self.textures, row)}
        # texCoord names the TEXCOORD_n of the primitive.
        number = uv_names.index(texture.uv_set)
        if number:
            info["texCoord"] = number
        transform = make_transform(texture)
        if transform:
            info["extensions"] = {"KHR_texture_transform": transform}
            self.extensions.add("KHR_texture_transform")
        return info

    def copy(self, file: str) -> int:
        """An image as it is, without what glTF has readers ignore."""
        return self._keep(file, drop_ignored(self.pictures.read(file)))

    def bake(self, key: tuple[object, ...], file: str, make: Callable[[], list[Channel | None]]) -> int:
        """An image made from channels, once for each ``key``."""
        if key not in self._baked:
            self._baked[key] = self._keep(file, encode(make()))
        return self._baked[key]

    def _keep(self, file: str, content: bytes) -> int:
        number = self._numbers.get(content)
        if number is None:
            number = self._numbers[content] = len(self.images)
            name = self._names.claim(make_identifier(name_image(file)))
            self.images.append(GltfImage(name, content))
        return number

    def is_srgb(self, texture: Texture, *, is_color: bool) -> bool:
        """Are the values of an image display values?  Left open, pictures are and data are not."""
        return is_color if texture.color_space == "auto" else texture.color_space == "sRGB"

    def read_scalar(self, texture: Texture, *, shaped: bool) -> Channel:
        """The channel an input reads, linear; ``shaped`` applies scale and bias."""
        pixels = self.pictures.get_pixels(texture.file)
        number = max(_CHANNELS.find(texture.channel), 0)
        values = pixels[..., number]
        if number < 3 and self.is_srgb(texture, is_color=False):
            values = make_linear(values)
        if shaped:
            values = values * np.float32(texture.gain[number]) + np.float32(texture.bias[number])
        return values

    def read_color(self, texture: Texture, *, is_color: bool, shaped: bool) -> Channel:
        """Three channels, linear; a single channel is grey."""
        pixels = self.pictures.get_pixels(texture.file)
        if len(texture.channel) == 1:
            grey = self.read_scalar(texture, shaped=shaped)
            return np.stack((grey, grey, grey), axis=-1)
        values = pixels[..., :3]
        if self.is_srgb(texture, is_color=is_color):
            values = make_linear(values)
        if shaped:
            values = values * np.array(texture.gain[:3], np.float32) + np.array(texture.bias[:3], np.float32)
        return values

    def place_color(self, texture: Texture, *, opacity: Texture | None, keep_alpha: bool) -> tuple[int, bool]:
        """The image of a colour input, and whether scale and bias are in it; alpha is that of ``opacity``."""
        # An image is copied only if glTF reads it exactly as UsdPreviewSurface does.
        fits = texture.channel in ("rgb", "rgba") and self.is_srgb(texture, is_color=True)
        fits = fits and _is_factor(texture) and self.pictures.can_copy(texture.file)
        if opacity is not None:
            fits = fits and is_alpha_of(opacity, texture)
        elif not keep_alpha:
            fits = fits and not self.pictures.has_alpha(texture.file)
        if fits:
            return self.copy(texture.file), False
        # A scale within 0 to 1 is a factor of the material; anything else is baked into the pixels.
        shaped = not _is_factor(texture)
        key = ("color", texture, opacity, shaped)

        def make() -> list[Channel | None]:
            color = make_display(self.read_color(texture, is_color=True, shaped=shaped))
            planes: list[Channel | None] = [color[..., k] for k in range(3)]
            return planes if opacity is None else [*planes, self.read_scalar(opacity, shaped=True)]

        return self.bake(key, texture.file, make), shaped

    def place_scalars(self, slots: dict[str, Texture], exact: str = "") -> tuple[int, dict[str, float]]:
        """One image with a channel for each of ``r``, ``g`` and ``b``; and the factor of each.

        An image that has the channels in these places is copied.  Those in ``exact`` take no factor.
        """
        first = next(iter(slots.values()))
        if self._fits_slots(slots, exact) and self.pictures.can_copy(first.file):
            return self.copy(first.file), {slot: _scalar_gain(texture) for slot, texture in slots.items()}

        def make() -> list[Channel | None]:
            return [self.read_scalar(slots[c], shaped=True) if c in slots else None for c in "rgb"]

        key = ("scalars", *sorted(slots.items(), key=lambda item: item[0]))
        return self.bake(key, first.file, make), dict.fromkeys(slots, 1.0)

    def _fits_slots(self, slots: dict[str, Texture], exact: str) -> bool:
        """Is it one linear image with every channel in its slot and nothing but factors to apply?"""
        # One expression per condition; all five must hold for the image to be used as it is.
        in_place = all(
            texture.channel == slot or (texture.channel in ("rgb", "rgba") and slot == "r")
            for slot, texture in slots.items()
        )
        linear = not any(self.is_srgb(texture, is_color=False) for texture in slots.values())
        plain = all(_is_scalar_factor(texture) for texture in slots.values())
        plain = plain and all(_scalar_gain(slots[slot]) == 1.0 for slot in exact if slot in slots)
        return len({texture.file for texture in slots.values()}) == 1 and in_place and linear and plain

    def place_normal(self, texture: Texture) -> tuple[int, float]:
        """The image of a normal map and its strength."""
        strength = find_strength(texture)
        is_linear = not self.is_srgb(texture, is_color=False)
        if strength is not None and is_linear and self.pictures.can_copy(texture.file):
            return self.copy(texture.file), strength

        def make() -> list[Channel | None]:
            shaped = (texture.gain[:3], texture.bias[:3]) != _PLAIN
            values = self.read_color(texture, is_color=False, shaped=shaped)
            if shaped:
                values = (values + np.float32(1.0)) / np.float32(2.0)
            return [values[..., k] for k in range(3)]

        return self.bake(("normal", texture), texture.file, make), 1.0


def find_strength(texture: Texture) -> float | None:
    """The scale of a normal map whose x and y are scaled alike; None where it has to be baked.

    A map without scale and bias is taken as one that has the usual ones: 0 to 1 stands for -1 to 1.
    """
    gain, bias = texture.gain[:3], texture.bias[:3]
    if (gain, bias) in (_PLAIN, _STANDARD):
        return 1.0
    strength = gain[0] / 2.0
    usual = math.isclose(gain[1], gain[0]) and math.isclose(bias[0], -strength)
    usual = usual and math.isclose(bias[1], -strength) and gain[2] == 2.0 and bias[2] == -1.0
    return strength if usual and strength > 0.0 else None


def make_transform(texture: Texture) -> dict[str, Any]:
    """KHR_texture_transform of a UsdTransform2d: scaled, turned, moved, seen with v downwards."""
    (sx, sy), (tx, ty), angle = texture.scale, texture.offset, texture.rotation
    if (sx, sy, tx, ty, angle) == (1.0, 1.0, 0.0, 0.0, 0.0):
        return {}
    # v is turned over before and after: (u, v) -> (u, 1 - v) on both sides of the transform.
    offset = [tx - math.sin(angle) * sy, 1.0 - ty - math.cos(angle) * sy]
    result: dict[str, Any] = {}
    if any(abs(value) > 1e-12 for value in offset):
        result["offset"] = offset
    if angle:
        result["rotation"] = angle
    if (sx, sy) != (1.0, 1.0):
        result["scale"] = [sx, sy]
    return result


def is_alpha_of(opacity: Texture, color: Texture) -> bool:
    """Is it the alpha of the same image, sampled the same way and as it is?"""
    same = opacity.file == color.file and opacity.channel == "a" and _is_scalar_factor(opacity)
    return same and is_sampled_alike(opacity, color) and _scalar_gain(opacity) == 1.0


def is_sampled_alike(a: Texture, b: Texture) -> bool:
    """Same coordinates, same transform, same borders?"""
    names = ("wrap_s", "wrap_t", "scale", "offset", "rotation", "uv_set")
    return all(getattr(a, name) == getattr(b, name) for name in names)


def _is_factor(texture: Texture) -> bool:
    """Can scale and bias be said by a factor?"""
    return not any(texture.bias[:3]) and all(0.0 <= value <= 1.0 for value in texture.gain[:3])


def _is_scalar_factor(texture: Texture) -> bool:
    number = max(_CHANNELS.find(texture.channel), 0)
    return texture.bias[number] == 0.0 and 0.0 <= texture.gain[number] <= 1.0


def _scalar_gain(texture: Texture) -> float:
    return float(texture.gain[max(_CHANNELS.find(texture.channel), 0)])


def _find(rows: list[dict[str, Any]], row: dict[str, Any]) -> int:
    """The number of a row, added where it is new."""
    if row not in rows:
        rows.append(row)
    return rows.index(row)
