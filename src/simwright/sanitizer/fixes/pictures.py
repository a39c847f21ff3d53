# SPDX-License-Identifier: Apache-2.0
"""Texture files that every tool reads (REP-0158 3.2): converted to 8-bit PNG beside the layer that names them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from pxr import Ar, Sdf, Usd, UsdShade

from simwright.core.diag import Diagnostic
from simwright.core.files import read_bytes
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.images import MAX_BYTES, Picture, decode_image, read_asset
from simwright.usd.edit import Editor, Refused

_ASSET = Sdf.ValueTypeNames.Asset
_SPACE = "inputs:sourceColorSpace"
_SOURCES = (".png", ".jpg", ".jpeg")


@fix("tex-png-jpeg")
def convert_texture(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """TGA, WebP, 16 bits and the like."""
    _convert(editor, finding)


@fix("tex-prohibited")
def convert_production(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """TIFF, and .hdr that is not brighter than 1."""
    _convert(editor, finding)


@fix("tex-data-png")
def convert_data(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """What a JPEG has lost is lost; no more is, from now on."""
    _convert(editor, finding)


@fix("tex-color-jpeg")
def add_alpha(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The alpha that is read is 1, as it was."""
    _convert(editor, finding, with_alpha=True)


@fix("tex-hdr-dome")
def convert_sky(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A picture of a light; one of high dynamic range keeps it only as .hdr on a dome."""
    prim = editor.find_prim(finding.where.prim)
    attribute = prim.GetAttribute(finding.where.prop)
    address, picture = _read_picture(editor, attribute)
    if picture.is_raw and prim.GetTypeName() != "RectLight":
        raise Refused(f"{address} has a high range; convert it to Radiance .hdr")
    _name_png(editor, attribute, address, picture.encode())


@fix("tex-ktx2")
def name_source(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The PNG or JPEG of the same name beside it."""
    address = str(finding.data.get("path", ""))
    layer = editor.find_layer(finding.where.file)
    stem = address.removesuffix(PurePosixPath(address).suffix)
    folder = Path(editor.find_original(layer.realPath)).parent
    for suffix in _SOURCES:
        file = folder / f"{stem}{suffix}"
        if f"{stem}{suffix}" != address and file.is_file() and editor.gate.admits(file):
            new = editor.add_file(layer, choose_name(address, suffix), read_bytes(file, MAX_BYTES))
            editor.rename_address(layer, address, new)
            return
    raise Refused(
        f"no PNG or JPEG of the same name is beside {address}; export one from its source and name it"
    )


def _convert(editor: Editor, finding: Diagnostic, *, with_alpha: bool = False) -> None:
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


def _read_picture(editor: Editor, attribute: Usd.Attribute) -> tuple[str, Picture]:
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
    new = editor.add_file(spec.layer, choose_name(address), content)
    editor.set_value(prim, name, _ASSET, Sdf.AssetPath(new))


def choose_name(address: str, suffix: str = ".png") -> str:
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
