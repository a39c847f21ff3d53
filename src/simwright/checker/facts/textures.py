# SPDX-License-Identifier: Apache-2.0
"""What an image file really is, from its first bytes (REP-0158 3.2).

Extensions lie, so files are opened through OpenUSD's asset resolver (packages, ``package://`` and search paths
work) and their headers read, a bounded number of bytes each, once per resolved path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from pxr import Ar, Tf

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import StageSnapshot

Read: TypeAlias = Callable[[int, int], bytes]
"""``read(count, offset)`` gives at most ``count`` bytes."""

_SEGMENTS = 64
"""Chunks or segments looked at in one file."""

NAMES = {
    "png": "PNG", "jpeg": "JPEG", "exr": "OpenEXR", "tiff": "TIFF", "hdr": "Radiance HDR", "ktx": "KTX",
    "ktx2": "KTX2", "basis": "Basis Universal", "webp": "WebP", "bmp": "BMP", "gif": "GIF", "dds": "DDS",
    "psd": "Photoshop", "tga": "TGA", "dpx": "DPX", "cin": "Cineon", "sgi": "SGI", "iff": "Maya IFF",
    "pfm": "PFM", "jp2": "JPEG 2000", "jxl": "JPEG XL", "avif": "AVIF/HEIF", "svg": "SVG", "ppm": "PPM",
    "unknown": "not an image format known to us",
}  # fmt: skip

CONTAINERS = frozenset({"ktx", "ktx2", "basis"})
"""GPU texture containers, for glTF downstream only."""
PRODUCTION = frozenset({"exr", "tiff", "hdr", "psd", "dpx", "cin", "sgi", "iff", "pfm"})
"""High dynamic range and content-creation formats without a way to glTF."""

_EXTENSIONS = {
    "png": "png", "jpg": "jpeg", "jpeg": "jpeg", "exr": "exr", "tif": "tiff", "tiff": "tiff", "tx": "tiff",
    "hdr": "hdr", "rgbe": "hdr", "ktx": "ktx", "ktx2": "ktx2", "basis": "basis", "webp": "webp", "bmp": "bmp",
    "gif": "gif", "dds": "dds", "psd": "psd", "psb": "psd", "tga": "tga", "dpx": "dpx", "cin": "cin",
    "sgi": "sgi", "rgb": "sgi", "iff": "iff", "pfm": "pfm", "jp2": "jp2", "j2k": "jp2", "jxl": "jxl",
    "avif": "avif", "heic": "avif", "heif": "avif", "svg": "svg", "ppm": "ppm", "pgm": "ppm",
}  # fmt: skip

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"\xabKTX 20\xbb\r\n\x1a\n", "ktx2"),
    (b"\xabKTX 11\xbb\r\n\x1a\n", "ktx"),
    (b"\x76\x2f\x31\x01", "exr"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"II+\0", "tiff"),
    (b"MM\0+", "tiff"),
    (b"#?RADIANCE", "hdr"),
    (b"#?RGBE", "hdr"),
    (b"GIF8", "gif"),
    (b"DDS ", "dds"),
    (b"8BPS", "psd"),
    (b"SDPX", "dpx"),
    (b"XPDS", "dpx"),
    (b"\x80\x2a\x5f\xd7", "cin"),
    (b"\x01\xda", "sgi"),
    (b"FOR4", "iff"),
    (b"PF\n", "pfm"),
    (b"Pf\n", "pfm"),
    (b"P6", "ppm"),
    (b"P5", "ppm"),
    (b"\0\0\0\x0cjP  ", "jp2"),
    # the naked codestream; the next one is the container
    (b"\xff\x0a", "jxl"),
    (b"\0\0\0\x0cJXL ", "jxl"),
    (b"<svg", "svg"),
    (b"BM", "bmp"),
)


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image file: ``format`` is a key of :data:`NAMES`; ``bits`` per channel, 0 if not looked for.

    ``found`` says whether the bytes were read; else the format is what the extension says.
    """

    format: str
    bits: int = 0
    has_alpha: bool = False
    found: bool = True
    extension: str = ""

    @property
    def name(self) -> str:
        """The format's name to show."""
        return NAMES[self.format]

    @property
    def extension_lies(self) -> bool:
        """Does the extension stand for another format than the bytes?"""
        said = _EXTENSIONS.get(self.extension)
        return self.found and said is not None and said != self.format


def read_image(path: str, resolved: str, snapshot: StageSnapshot) -> ImageFile:
    """The image at a resolved path; by the extension of ``path`` where there is no file to open."""
    images = snapshot.shared("images", lambda _: _Images())
    key = resolved or path
    if key not in images:
        outer = Ar.SplitPackageRelativePathOuter(resolved)[0]
        images[key] = _open_image(path, resolved if outer and snapshot.gate.admits(outer) else "")
    return images[key]


class _Images(dict[str, ImageFile]):
    """Images by resolved path."""


def extension_of(path: str) -> str:
    """Lower-case extension without the dot, that of the inner file for a path into a package."""
    inner = path[:-1].rpartition("[")[2] if path.endswith("]") else path
    return PurePosixPath(inner.replace("\\", "/")).suffix[1:].lower()


def _open_image(path: str, resolved: str) -> ImageFile:
    extension = extension_of(path)
    said = _EXTENSIONS.get(extension, "unknown")
    if not resolved:
        return ImageFile(said, found=False, extension=extension)
    try:
        asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(resolved))
        if asset is None:
            return ImageFile(said, found=False, extension=extension)
        size = asset.GetSize()

        def read(count: int, offset: int) -> bytes:
            left = min(count, size - offset)
            return bytes(asset.Read(left, offset)) if left > 0 else b""

        return identify(read, extension)
    except (Tf.ErrorException, ValueError, OSError, RuntimeError):
        return ImageFile(said, found=False, extension=extension)


# one function: signatures in the order in which they can be told apart
def identify(read: Read, extension: str = "") -> ImageFile:
    """What the bytes are.  Formats without a signature (TGA, Basis) are believed by their extension."""
    head = read(32, 0)
    if head.startswith(b"\x89PNG"):
        return _read_png(read, extension)
    if head.startswith(b"\xff\xd8\xff"):
        return ImageFile("jpeg", _find_jpeg_bits(read), extension=extension)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return ImageFile("webp", 8, extension=extension)
    if head[4:8] == b"ftyp" and head[8:11] in (b"avi", b"hei", b"mif"):
        return ImageFile("avif", extension=extension)
    if extension == "basis" and head.startswith(b"sB"):
        return ImageFile("basis", extension=extension)
    found = next((name for magic, name in _MAGIC if head.startswith(magic)), "")
    if not found:
        # TGA has no signature at its start
        found = "tga" if extension == "tga" else "unknown"
    return ImageFile(found, extension=extension)


def _read_png(read: Read, extension: str) -> ImageFile:
    """Bit depth and colour type from IHDR; transparency of the other types is a tRNS chunk before the data."""
    header = read(26, 0)
    if len(header) < 26 or header[12:16] != b"IHDR":
        return ImageFile("png", extension=extension)
    depth, color = header[24], header[25]
    alpha = color in (4, 6)
    offset = 33
    for _ in range(_SEGMENTS):
        chunk = read(8, offset)
        if alpha or len(chunk) < 8 or chunk[4:] in (b"IDAT", b"IEND"):
            break
        alpha = chunk[4:] == b"tRNS"
        # length, type and checksum around the data
        offset += 12 + int.from_bytes(chunk[:4], "big")
    return ImageFile("png", depth, alpha, extension=extension)


def _find_jpeg_bits(read: Read) -> int:
    """Sample precision from the frame header; 0 if there is none in sight."""
    offset = 2
    for _ in range(_SEGMENTS):
        segment = read(5, offset)
        if len(segment) < 5 or segment[0] != 0xFF:
            return 0
        marker = segment[1]
        # start-of-frame markers; C4, C8 and CC are tables and extensions
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return segment[4]
        offset += 2 + int.from_bytes(segment[2:4], "big")
    return 0
