# SPDX-License-Identifier: Apache-2.0
"""``materials.usda``: UsdPreviewSurface networks, and the images they need (REP-0158 3.1, 3.2)."""

from __future__ import annotations

from typing import Any

from pxr import Sdf

from simwright.core.colors import make_linear
from simwright.core.diag import Reporter
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.images import Images
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import TEXTURE_LEFT_OUT
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.material import RenderMaterial, Texture

ROOT = "/materials"
_INPUTS = {
    "diffuse": ("diffuseColor", "color3f"),
    "emissive": ("emissiveColor", "color3f"),
    "specular": ("specularColor", "color3f"),
    "metallic": ("metallic", "float"),
    "roughness": ("roughness", "float"),
    "clearcoat": ("clearcoat", "float"),
    "clearcoat_roughness": ("clearcoatRoughness", "float"),
    "opacity": ("opacity", "float"),
    "normal": ("normal", "normal3f"),
    "occlusion": ("occlusion", "float"),
    "displacement": ("displacement", "float"),
}
_COLORED = frozenset({"diffuse", "emissive", "specular"})
_OUTPUTS = {"rgb": "float3", "r": "float", "g": "float", "b": "float", "a": "float"}


def write_materials(layout: Layout, reporter: Reporter) -> tuple[Sheet, Images]:
    """Every look, and the images to put beside the layer."""
    sheet, images = Sheet(ROOT, f"Looks of {layout.asset.name}."), Images()
    sheet.define(ROOT, "Scope")
    for material in layout.asset.materials:
        path = f"{ROOT}/{layout.materials[material.name].rpartition('/')[2]}"
        sheet.define(path, "Material")
        sheet.name(path, material.name)
        _write_surface(sheet, path, material)
        _connect(sheet, f"{path}.outputs:surface", "token", f"{path}/surface.outputs:surface")
        if material.vertex_colors:
            _write_vertex_colors(sheet, path)
        for key, texture in material.textures.items():
            if key in _INPUTS:
                is_picture = key in _COLORED and texture.channel != "a"
                file, why = images.take(texture.file, is_picture=is_picture)
            else:
                file, why = "", f"{key} is no surface input"
            if file:
                _write_texture(sheet, path, key, texture, file)
            else:
                where = material.source
                reporter.report(TEXTURE_LEFT_OUT, where, file=texture.file, name=material.name, why=why)
    return sheet, images


def _write_surface(sheet: Sheet, path: str, material: RenderMaterial) -> None:
    shader = f"{path}/surface"
    sheet.define(shader, "Shader")
    sheet.set(shader, "info:id", "token", "UsdPreviewSurface", uniform=True)
    values: list[tuple[str, str, Any, Any]] = [
        ("diffuseColor", "color3f", make_linear(material.diffuse), None),
        ("metallic", "float", material.metallic, None),
        ("roughness", "float", material.roughness, None),
        ("opacity", "float", material.opacity, 1.0),
        ("emissiveColor", "color3f", make_linear(material.emissive), (0.0, 0.0, 0.0)),
        ("clearcoat", "float", material.clearcoat, 0.0),
        ("clearcoatRoughness", "float", material.clearcoat_roughness, 0.01),
        ("ior", "float", material.ior, 1.5),
        ("opacityThreshold", "float", material.opacity_threshold, 0.0),
    ]
    if material.specular is not None:
        values.append(("specularColor", "color3f", make_linear(material.specular), None))
        sheet.set(shader, "inputs:useSpecularWorkflow", "int", 1)
    for name, kind, value, usual in values:
        if value != usual:
            sheet.set(shader, f"inputs:{name}", kind, value)
    sheet.set(shader, "outputs:surface", "token", None)


def _write_texture(sheet: Sheet, path: str, key: str, texture: Texture, file: str) -> None:
    """An image at ``file`` of the asset, its coordinates, and the wire to the surface."""
    image, reader = f"{path}/{key}_image", f"{path}/{key}_coordinates"
    sheet.define(image, "Shader")
    sheet.set(image, "info:id", "token", "UsdUVTexture", uniform=True)
    sheet.set(image, "inputs:file", "asset", Sdf.AssetPath(f"./{file}"))
    space = texture.color_space
    if space == "auto":
        space = "sRGB" if key in _COLORED else "raw"
    sheet.set(image, "inputs:sourceColorSpace", "token", space)
    sheet.set(image, "inputs:wrapS", "token", texture.wrap_s)
    sheet.set(image, "inputs:wrapT", "token", texture.wrap_t)
    if texture.gain != (1.0, 1.0, 1.0, 1.0):
        sheet.set(image, "inputs:scale", "float4", _settle_gain(key, texture))
    if texture.bias != (0.0, 0.0, 0.0, 0.0):
        sheet.set(image, "inputs:bias", "float4", texture.bias)
    sheet.define(reader, "Shader")
    sheet.set(reader, "info:id", "token", "UsdPrimvarReader_float2", uniform=True)
    sheet.set(reader, "inputs:varname", "string", "st")
    sheet.set(reader, "outputs:result", "float2", None)
    source = f"{reader}.outputs:result"
    if (texture.scale, texture.offset, texture.rotation) != ((1.0, 1.0), (0.0, 0.0), 0.0):
        source = _write_transform(sheet, f"{path}/{key}_placement", texture, source)
    _connect(sheet, f"{image}.inputs:st", "float2", source)
    channel = texture.channel if texture.channel in _OUTPUTS else "rgb"
    sheet.set(image, f"outputs:{channel}", _OUTPUTS[channel], None)
    name, kind = _INPUTS[key]
    _connect(sheet, f"{path}/surface.inputs:{name}", kind, f"{image}.outputs:{channel}")


def _settle_gain(key: str, texture: Texture) -> tuple[float, ...]:
    """What multiplies an image: linear where the input is a colour."""
    red, green, blue, alpha = texture.gain
    return (*make_linear((red, green, blue)), alpha) if key in _COLORED else texture.gain


def _write_vertex_colors(sheet: Sheet, path: str) -> None:
    """The diffuse colour is that of the mesh's vertices."""
    reader = f"{path}/vertex_colors"
    sheet.define(reader, "Shader")
    sheet.set(reader, "info:id", "token", "UsdPrimvarReader_float3", uniform=True)
    sheet.set(reader, "inputs:varname", "string", "displayColor")
    sheet.set(reader, "outputs:result", "float3", None)
    _connect(sheet, f"{path}/surface.inputs:diffuseColor", "color3f", f"{reader}.outputs:result")


def _write_transform(sheet: Sheet, path: str, texture: Texture, source: str) -> str:
    sheet.define(path, "Shader")
    sheet.set(path, "info:id", "token", "UsdTransform2d", uniform=True)
    sheet.set(path, "inputs:scale", "float2", texture.scale)
    sheet.set(path, "inputs:translation", "float2", texture.offset)
    sheet.set(path, "inputs:rotation", "float", texture.rotation / DEGREE)
    sheet.set(path, "outputs:result", "float2", None)
    _connect(sheet, f"{path}.inputs:in", "float2", source)
    return f"{path}.outputs:result"


def _connect(sheet: Sheet, attribute: str, kind: str, source: str) -> None:
    spec = sheet.layer.GetAttributeAtPath(attribute)
    if spec is None:
        path, _, name = attribute.partition(".")
        spec = Sdf.AttributeSpec(sheet.over(path), name, Sdf.ValueTypeNames.Find(kind))
    spec.connectionPathList.explicitItems = [Sdf.Path(source)]
