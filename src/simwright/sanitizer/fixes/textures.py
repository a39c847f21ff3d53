# SPDX-License-Identifier: Apache-2.0
"""Texture files that every tool reads (REP-0158 3.1, 3.2): 8-bit PNG beside the layer that names them, and no tiles.

The tiles of a set (UDIM) are put beside each other, pixel by pixel, and a UsdTransform2d leads the coordinates of the
meshes there; the meshes themselves stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from pxr import Ar, Gf, Sdf, Usd, UsdShade

from simwright.core.diag import Diagnostic
from simwright.core.files import read_bytes
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.images import MAX_BYTES, TextureImage, decode_image, read_asset
from simwright.sanitizer.preview import connect
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name

_ASSET = Sdf.ValueTypeNames.Asset
_SPACE = "inputs:sourceColorSpace"
_SOURCES = (".png", ".jpg", ".jpeg")


@fix("tex-png-jpeg")
def convert_texture(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """TGA, WebP, 16 bits and the like."""
    _convert_to_png(editor, finding)


@fix("tex-prohibited")
def convert_production(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """TIFF, and .hdr that is not brighter than 1."""
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


def find_source(prim: Usd.Prim, name: str) -> Usd.Attribute:
    """The attribute that an input takes its value from."""
    attribute = prim.GetAttribute(name)
    found = (
        UsdShade.Input(attribute).GetValueProducingAttributes() if UsdShade.Input.IsInput(attribute) else []
    )
    return found[0] if found else attribute


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
        raise Refused(f"nobody says {name}")
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
    """All tiles in one image."""
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
        raise Refused(f"nobody says {name}")
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
