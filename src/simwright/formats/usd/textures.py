# SPDX-License-Identifier: Apache-2.0
"""Images of a preview surface: UsdUVTexture, UsdTransform2d and UsdPrimvarReader_float2 (REP-0158 3.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, Usd, UsdShade

from simwright.core.diag import Level, declare
from simwright.core.units import DEGREE
from simwright.formats.usd.source import Source, as_rows
from simwright.model.material import Texture

TEXTURE_MISSING = declare(
    "usd-texture-missing",
    Level.WARNING,
    "the image {file!r} cannot be found",
    hint="check the path, or give the package with --package NAME=DIR",
    doc="A UsdUVTexture names a file that does not resolve.",
    section="3.2",
)

_CHANNELS = frozenset({"rgb", "rgba", "r", "g", "b", "a"})
_WRAPS = frozenset({"repeat", "clamp", "mirror", "black"})
_CHAIN_LIMIT = 8


def read_texture(source: Source, output: Usd.Attribute) -> Texture | None:
    """The image behind a shader output; None if the shader is no UsdUVTexture."""
    shader = UsdShade.Shader(output.GetPrim())
    if not shader or shader.GetIdAttr().Get() != "UsdUVTexture":
        return None
    channel = str(UsdShade.Utils.GetBaseNameAndType(output.GetName())[0])
    coordinates = _read_coordinates(source, shader)
    return Texture(
        file=_read_file(source, shader),
        channel=channel if channel in _CHANNELS else "rgb",
        color_space=str(_value(source, shader, "sourceColorSpace") or "auto"),
        wrap_s=_read_wrap(source, shader, "wrapS"),
        wrap_t=_read_wrap(source, shader, "wrapT"),
        gain=_row(_value(source, shader, "scale"), (1.0, 1.0, 1.0, 1.0)),
        bias=_row(_value(source, shader, "bias"), (0.0, 0.0, 0.0, 0.0)),
        **coordinates,
    )


def _read_file(source: Source, shader: UsdShade.Shader) -> str:
    value = _value(source, shader, "file")
    if not isinstance(value, Sdf.AssetPath):
        return ""
    where = source.where(shader.GetPrim(), "inputs:file")
    if value.resolvedPath:
        outer = Ar.SplitPackageRelativePathOuter(value.resolvedPath)[0]
        admitted = source.gate.take(outer, where, str(value.path))
        return str(value.resolvedPath) if admitted is not None else ""
    if "<UDIM>" not in value.path:
        source.reporter.report(TEXTURE_MISSING, where, file=str(value.path))
    # anchored where it was looked for: a path that is relative would be counted from the current folder
    return str(Path(source.file).absolute().parent / str(value.path))


def _read_wrap(source: Source, shader: UsdShade.Shader, name: str) -> str:
    """``useMetadata``, the fallback, means that the image decides; images say nothing, so they repeat."""
    wrap = str(_value(source, shader, name) or "")
    return wrap if wrap in _WRAPS else "repeat"


def _read_coordinates(source: Source, shader: UsdShade.Shader) -> dict[str, Any]:
    """Texture coordinate set and transform, walking from the image to the primvar."""
    result: dict[str, Any] = {}
    node = _upstream(shader, "st")
    for _ in range(_CHAIN_LIMIT):
        if node is None:
            break
        kind = node.GetIdAttr().Get()
        if kind == "UsdTransform2d" and "scale" not in result:
            rotation = _value(source, node, "rotation")
            result["scale"] = _row(_value(source, node, "scale"), (1.0, 1.0))
            result["offset"] = _row(_value(source, node, "translation"), (0.0, 0.0))
            result["rotation"] = rotation * DEGREE if isinstance(rotation, (int, float)) else 0.0
        elif kind == "UsdPrimvarReader_float2":
            result["uv_set"] = str(_value(source, node, "varname") or "st")
        node = _upstream(node, "in")
    return result


def _upstream(shader: UsdShade.Shader, name: str) -> UsdShade.Shader | None:
    entry = shader.GetInput(name)
    for attribute in entry.GetValueProducingAttributes() if entry else ():
        if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Output:
            return UsdShade.Shader(attribute.GetPrim())
    return None


def _value(source: Source, shader: UsdShade.Shader, name: str) -> Any:
    entry = shader.GetInput(name)
    for attribute in entry.GetValueProducingAttributes() if entry else ():
        if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Input:
            return attribute.Get(source.time)
    return None


def _row(value: Any, default: tuple[float, ...]) -> Any:
    """As many numbers as the default has, else the default."""
    rows = as_rows(value, len(default))
    return tuple(rows[0].tolist()) if len(rows) == 1 else default
