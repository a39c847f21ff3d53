# SPDX-License-Identifier: Apache-2.0
"""Tile sets (UDIM) as one image (REP-0158 3.1).

The tiles are put beside each other, pixel by pixel, and a UsdTransform2d leads the coordinates of the meshes there; the
meshes themselves stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.core.files import read_bytes
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.pictures import choose_name, find_source
from simwright.sanitizer.images import MAX_BYTES, Picture, decode_image
from simwright.sanitizer.preview import connect
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name

_KINDS = Sdf.ValueTypeNames
_MARKER = "<UDIM>"
_FIRST, _LAST, _ROW = 1001, 1999, 10
_MAX_SIDE = 16384


@fix("tex-no-udim", changes=("visuals", "materials"))
def pack_tiles(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
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
    file = editor.add_file(spec.layer, choose_name(address), picture.encode())
    editor.set_value(source.GetPrim(), source.GetName(), _KINDS.Asset, Sdf.AssetPath(file))


def _read_tiles(editor: Editor, folder: Path, address: str) -> dict[tuple[int, int], Picture]:
    """Images by column and row."""
    place = Path(address)
    before, after = place.name.split(_MARKER, 1)
    pattern = re.compile(re.escape(before) + r"(1\d{3})" + re.escape(after))
    home = folder / place.parent
    found: dict[tuple[int, int], Picture] = {}
    for file in sorted(home.iterdir()) if home.is_dir() else ():
        match = pattern.fullmatch(file.name)
        if match and _FIRST <= int(match.group(1)) <= _LAST and editor.gate.admits(file):
            row, column = divmod(int(match.group(1)) - _FIRST, _ROW)
            found[column, row] = decode_image(read_bytes(file, MAX_BYTES), file.name)
    if not found:
        raise Refused(f"no tile of {address} is there")
    if len({(p.image.size, p.is_raw) for p in found.values()}) > 1:
        raise Refused("the tiles differ in size or depth; pack them in a modelling tool")
    return found


def _pack(tiles: dict[tuple[int, int], Picture]) -> tuple[Picture, tuple[float, float], tuple[float, float]]:
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
    return Picture(whole, first.is_raw), (1.0 / wide, 1.0 / high), (-left / wide, -low / high)


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
