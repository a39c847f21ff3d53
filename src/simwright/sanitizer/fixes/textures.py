# SPDX-License-Identifier: Apache-2.0
"""Texture files that every tool reads (REP-0158 3.1, 3.2): 8-bit PNG beside the layer that names them, and no tiles.

Images are decoded by Pillow, or here (Radiance .hdr, which Pillow does not read), and written again without further
loss.  The tiles of a set (UDIM) are put beside each other, pixel by pixel, and a UsdTransform2d leads the coordinates
of the meshes there; the meshes themselves stay as they are.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Ar, Gf, Sdf, Tf, Usd

from simwright.core.diag import Diagnostic
from simwright.core.files import read_bytes
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.preview import connect, find_source
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name

MAX_BYTES = 1 << 28
_MAX_PIXELS = 1 << 28
_IMAGE_FORMATS = ("PNG", "JPEG", "TGA", "BMP", "TIFF", "WEBP", "GIF", "DDS", "PPM", "PSD", "SGI", "JPEG2000")
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
    """Decode an image; one that cannot be read here is refused with what has to be done."""
    from PIL import Image

    if content.startswith(_RADIANCE):
        return _decode_bright(content, address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Pillow has to say of damage shows in what can be read
            image = Image.open(io.BytesIO(content), formats=_IMAGE_FORMATS)
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
        # Pillow cuts off when it converts 16 bits to 8; scaled, every shade keeps its place
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
        raise UnreadableError("it is not a Radiance image of the usual kind")
    height, width = int(size.group(1)), int(size.group(2))
    if not 0 < height * width <= _MAX_RADIANCE_PIXELS:
        raise UnreadableError(f"it has {width} x {height} pixels")
    rows = _read_rows(memoryview(content)[size.end() :], width, height)
    # RGBE: mantissas of 8 bits and a shared exponent with a bias of 128, so 128 + 8; exponent 0 is black
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


_ASSET = Sdf.ValueTypeNames.Asset
_SPACE = "inputs:sourceColorSpace"
_SOURCES = (".png", ".jpg", ".jpeg")


@fix("tex-png-jpeg")
def convert_texture(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Convert TGA, WebP, 16-bit images and the like to 8-bit PNG."""
    _convert_to_png(editor, finding)


@fix("tex-prohibited")
def convert_production(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Convert TIFF, and .hdr that is not brighter than 1, to 8-bit PNG."""
    _convert_to_png(editor, finding)


@fix("tex-data-png")
def convert_data(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """What a JPEG has lost is lost; no more is, from now on."""
    _convert_to_png(editor, finding)


@fix("tex-color-jpeg")
def add_alpha(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The alpha that is read is 1, as it was."""
    _convert_to_png(editor, finding, with_alpha=True)


@fix("tex-hdr-dome")
def convert_sky(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A picture of a light; one of high dynamic range keeps it only as .hdr on a dome."""
    prim = editor.find_prim(finding.where.prim)
    attribute = prim.GetAttribute(finding.where.prop)
    address, picture = _read_picture(editor, attribute)
    # a picture of 8 bits would cut the sun off
    if picture.is_raw and prim.GetTypeName() != "RectLight":
        raise Refused(f"{address} has a high range; convert it to Radiance .hdr")
    _name_png(editor, attribute, address, picture.encode())


@fix("tex-ktx2")
def name_source(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The PNG or JPEG of the same name beside it."""
    address = str(finding.data.get("path", ""))
    layer = editor.find_layer(finding.where.file)
    stem = address.removesuffix(PurePosixPath(address).suffix)
    folder = Path(editor.find_original(layer.realPath)).parent
    for suffix in _SOURCES:
        file = folder / f"{stem}{suffix}"
        if f"{stem}{suffix}" != address and file.is_file() and editor.gate.admits(file):
            new = editor.add_file(layer, choose_file_name(address, suffix), read_bytes(file, MAX_BYTES))
            editor.rename_address(layer, address, new)
            return
    raise Refused(
        f"no PNG or JPEG of the same name is beside {address}; export one from its source and name it"
    )


def _convert_to_png(editor: Editor, finding: Diagnostic, *, with_alpha: bool = False) -> None:
    prim = editor.find_prim(finding.where.prim)
    attribute = find_source(prim, finding.where.prop)
    address, picture = _read_picture(editor, attribute)
    _name_png(editor, attribute, address, picture.encode(with_alpha=with_alpha))
    if picture.is_raw and len(picture.image.getbands()) > 2:
        _keep_raw(editor, prim)


def _read_picture(editor: Editor, attribute: Usd.Attribute) -> tuple[str, TextureImage]:
    if attribute.GetNumTimeSamples():
        raise Refused(f"{attribute.GetName()} changes over time")
    value = attribute.Get()
    if not isinstance(value, Sdf.AssetPath):
        raise Refused(f"{attribute.GetName()} names several files")
    outer = Ar.SplitPackageRelativePathOuter(value.resolvedPath)[0]
    if outer and not editor.gate.admits(outer):
        raise Refused(f"{value.path} lies outside the asset; allow its folder with --allow-outside")
    return value.path, decode_image(read_asset(value.path, value.resolvedPath), value.path)


def _name_png(editor: Editor, attribute: Usd.Attribute, address: str, content: bytes) -> None:
    prim, name = attribute.GetPrim(), attribute.GetName()
    spec = editor.find_strongest(prim, name)
    if spec is None:
        raise Refused(f"{name} is not authored")
    new = editor.add_file(spec.layer, choose_file_name(address), content)
    editor.set_value(prim, name, _ASSET, Sdf.AssetPath(new))


def choose_file_name(address: str, suffix: str = ".png") -> str:
    """A name for a file beside a layer, in the same folder as before if that is below it."""
    path = PurePosixPath(address.replace("\\", "/"))
    if address.endswith("]"):
        path = PurePosixPath(address[:-1].rpartition("[")[2])
    is_below = not path.is_absolute() and ".." not in path.parts and ":" not in address
    return str((path if is_below else PurePosixPath("textures") / path.name).with_suffix(suffix))


def _keep_raw(editor: Editor, prim: Usd.Prim) -> None:
    """A wide image was read as numbers; one of 8 bits is only if that is said."""
    said = prim.GetAttribute(_SPACE)
    if prim.GetAttribute("info:id").Get() == "UsdUVTexture" and (not said or said.Get() in (None, "auto")):
        editor.set_value(prim, _SPACE, Sdf.ValueTypeNames.Token, "raw")


_KINDS = Sdf.ValueTypeNames
_MARKER = "<UDIM>"
_FIRST_TILE, _LAST_TILE, _TILES_PER_ROW = 1001, 1999, 10
_MAX_SIDE = 16384


@fix("tex-no-udim", changes=("visuals", "materials"))
def pack_tiles(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Put all tiles into one image."""
    shader = editor.find_prim(finding.where.prim)
    name = finding.where.prop
    if shader.GetTypeName() != "Shader":
        raise Refused(
            "its coordinates lie in tiles, and one image is there for all of them; pack the coordinates"
        )
    source = find_source(shader, name)
    value = source.Get()
    if not isinstance(value, Sdf.AssetPath) or _MARKER not in value.path:
        raise Refused(
            "whether the files beside it are tiles of one set has to be decided; name each by itself"
        )
    spec = editor.find_strongest(source.GetPrim(), source.GetName())
    if spec is None:
        raise Refused(f"{name} is not authored")
    tiles = _read_tiles(editor, Path(spec.layer.realPath).parent, value.path)
    picture, scale, shift = _pack(tiles)
    _transform_coordinates(editor, shader, scale, shift)
    address = value.path.replace(_MARKER, "").replace("..", ".").replace("_.", ".").replace("-.", ".")
    file = editor.add_file(spec.layer, choose_file_name(address), picture.encode())
    editor.set_value(source.GetPrim(), source.GetName(), _KINDS.Asset, Sdf.AssetPath(file))


def _read_tiles(editor: Editor, folder: Path, address: str) -> dict[tuple[int, int], TextureImage]:
    """Images by column and row."""
    place = Path(address)
    before, after = place.name.split(_MARKER, 1)
    pattern = re.compile(re.escape(before) + r"(1\d{3})" + re.escape(after))
    home = folder / place.parent
    found: dict[tuple[int, int], TextureImage] = {}
    for file in sorted(home.iterdir()) if home.is_dir() else ():
        match = pattern.fullmatch(file.name)
        if match and _FIRST_TILE <= int(match.group(1)) <= _LAST_TILE and editor.gate.admits(file):
            row, column = divmod(int(match.group(1)) - _FIRST_TILE, _TILES_PER_ROW)
            found[column, row] = decode_image(read_bytes(file, MAX_BYTES), file.name)
    if not found:
        raise Refused(f"no tile of {address} is there")
    if len({(p.image.size, p.is_raw) for p in found.values()}) > 1:
        raise Refused("the tiles differ in size or depth; pack them in a modelling tool")
    return found


def _pack(
    tiles: dict[tuple[int, int], TextureImage],
) -> tuple[TextureImage, tuple[float, float], tuple[float, float]]:
    """One image of all tiles, and the scale and shift that lead coordinates into it."""
    from PIL import Image

    columns, rows = ([place[axis] for place in tiles] for axis in (0, 1))
    left, low = min(columns), min(rows)
    wide, high = max(columns) - left + 1, max(rows) - low + 1
    first = next(iter(tiles.values()))
    width, height = first.image.size
    if wide * width > _MAX_SIDE or high * height > _MAX_SIDE:
        raise Refused(
            f"the tiles make an image of {wide * width} x {high * height} pixels; make them smaller first"
        )
    modes = {picture.image.mode for picture in tiles.values()}
    mode = modes.pop() if len(modes) == 1 else "RGBA"
    whole: Any = Image.new(mode, (wide * width, high * height))
    for (column, row), picture in tiles.items():
        # rows of tiles count from the bottom, rows of pixels from the top
        whole.paste(picture.image.convert(mode), ((column - left) * width, (high - 1 - row + low) * height))
    return TextureImage(whole, first.is_raw), (1.0 / wide, 1.0 / high), (-left / wide, -low / high)


def _transform_coordinates(
    editor: Editor, shader: Usd.Prim, scale: tuple[float, float], shift: tuple[float, float]
) -> None:
    """Put a UsdTransform2d between the texture and what gives its coordinates."""
    spec = editor.find_strongest(shader, "inputs:st")
    sources = list(spec.connectionPathList.explicitItems) if isinstance(spec, Sdf.AttributeSpec) else []
    if spec is None or len(sources) != 1:
        raise Refused("where the texture takes its coordinates from is not said; connect inputs:st")
    owner = spec.owner
    parent = shader.GetParent().GetPath()
    name = claim_name(editor, parent, f"{shader.GetName()}_tiles")
    place = owner.path.GetParentPath().AppendChild(name)
    apply = _bind_transform(owner, place, sources[0], (Gf.Vec2f(*scale), Gf.Vec2f(*shift)))
    editor.add(owner.layer, place, f"UsdTransform2d {name}", apply)


def _bind_transform(
    owner: Sdf.PrimSpec, place: Sdf.Path, source: Sdf.Path, values: tuple[Gf.Vec2f, Gf.Vec2f]
) -> Callable[[], None]:
    layer, path = owner.layer, owner.path

    def apply() -> None:
        node = Sdf.CreatePrimInLayer(layer, place)
        node.specifier, node.typeName = Sdf.SpecifierDef, "Shader"
        identity = Sdf.AttributeSpec(node, "info:id", _KINDS.Token, Sdf.VariabilityUniform)
        identity.default = "UsdTransform2d"
        connect(node, "inputs:in", _KINDS.Float2, source)
        for name, value in zip(("inputs:scale", "inputs:translation"), values, strict=True):
            Sdf.AttributeSpec(node, name, _KINDS.Float2).default = value
        Sdf.AttributeSpec(node, "outputs:result", _KINDS.Float2)
        result = place.StripAllVariantSelections().AppendProperty("outputs:result")
        connect(layer.GetPrimAtPath(path), "inputs:st", _KINDS.Float2, result)

    return apply
