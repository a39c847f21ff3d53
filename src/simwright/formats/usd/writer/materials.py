# SPDX-License-Identifier: Apache-2.0
"""``materials.usda``: UsdPreviewSurface networks, images as PNG or JPEG of 8 bits, looks of mesh files (3.1, 3.2).

A visual without a material of its own has those of its mesh file (OBJ with MTL, COLLADA, glTF), one for each face set.
Images are copied as they are where the surface can use them, else converted by Pillow.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping
from typing import Any

from pxr import Sdf

from simwright.core.diag import Reporter
from simwright.core.errors import InputError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.core.math3d import DEGREE
from simwright.core.names import NameScope, make_identifier
from simwright.formats.mesh import load_image, name_image
from simwright.formats.parts.coordinates import MADE, OBJECT
from simwright.formats.parts.looks import FileLooks, is_plain, rename_looks
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.formats.usd.writer.messages import LOOK_HIGHLIGHTS, LOOK_UNREADABLE, TEXTURE_LEFT_OUT
from simwright.formats.usd.writer.plan import WritePlan
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh, MeshData
from simwright.model.material import RenderMaterial, Texture, make_linear

_MAX_BYTES = 256 * MIB
_MAX_PIXELS = 1 << 28
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PNG_DEPTH = 24
"""Where a PNG file says how many bits a sample has."""
_FORMATS = ("PNG", "JPEG", "TGA", "BMP", "TIFF", "WEBP", "GIF", "DDS", "PPM")
_MODES = frozenset({"L", "LA", "RGB", "RGBA"})


class TextureFiles:
    """Images to copy: name in the asset's folder -> content; ``origins`` -> the file of the source.

    ``only_png``: MuJoCo's reader of OpenUSD (4.0.0) refuses an asset with another image.
    """

    def __init__(self, *, only_png: bool = False) -> None:
        self._only_png = only_png
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
        # JPEG blurs numbers such as normals; REP-0158 3.2 wants PNG for them
        if not suffix or (suffix == ".jpg" and (self._only_png or not is_picture)):
            content, why = _convert(content)
            if why:
                return "", why
            suffix = ".png"
        # the same image under two names is stored once
        for path, known in self.files.items():
            if known == content:
                return path, ""
        path = f"textures/{self._names.claim(make_identifier(name_image(file)))}{suffix}"
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
        return b"", "it is not an image that can be read"
    return stream.getvalue(), ""


def _flatten(image: Any) -> Any:
    """Eight bits a channel; wide samples are scaled down, not cut off."""
    if image.mode.startswith("I"):
        # 65535 / 255: 16 bits to 8
        return image.convert("I").point(lambda value: value / 257).convert("L")
    if image.mode in _MODES:
        return image
    return image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB")


def settle_looks(asset: Asset, reporter: Reporter) -> None:
    """Complete the looks of an asset that may be changed."""
    _MeshFileLooks(asset, reporter).dress()


class _MeshFileLooks:
    """Dresses visuals in the looks of their mesh files."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._looks = FileLooks(asset, reporter, LOOK_UNREADABLE)
        self._meshes: dict[tuple[int, bool], tuple[Mesh, str]] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live

    def dress(self) -> None:
        """Every visual whose mesh has face sets that the asset knows no looks of."""
        for shape in self._asset.shapes:
            geometry = shape.geometry
            if shape.visual and isinstance(geometry, Mesh) and geometry.file:
                subsets = geometry.data.subsets
                if subsets and not any(subset.material in self._looks.own for subset in subsets):
                    self._dress(shape, geometry)
        self._looks.report_dimmed(LOOK_HIGHLIGHTS)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        """The looks of the file, or none of its own where the source gives the shape one."""
        key = (id(mesh), is_plain(shape))
        if key not in self._meshes:
            self._kept.append(mesh)
            names = {} if is_plain(shape) else self._looks.take(mesh)
            data, look = _wear(mesh.data, names)
            dressed = Mesh(
                data,
                load=lambda: _wear(mesh.data, names)[0],
                source=mesh.source,
                file=mesh.file,
                gate=mesh.gate,
                reloads=True,
            )
            self._meshes[key] = dressed, look
        shape.geometry, look = self._meshes[key]
        shape.material = shape.material or look


def _wear(data: MeshData, names: Mapping[str, str]) -> tuple[MeshData, str]:
    """A mesh with its looks by other names, and the look of all of it, which needs no face set."""
    changed = rename_looks(data, names)
    if len(changed.subsets) == 1 and len(changed.subsets[0].faces) == changed.face_count:
        return dataclasses.replace(changed, subsets=()), changed.subsets[0].material
    return changed, ""


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


def write_materials(plan: WritePlan, reporter: Reporter) -> tuple[LayerWriter, TextureFiles]:
    """Every look, and the images to put beside the layer."""
    layer, images = (
        LayerWriter(ROOT, f"Looks of {plan.asset.name}."),
        TextureFiles(only_png=plan.is_for_mujoco),
    )
    layer.define(ROOT, "Scope")
    for material in plan.asset.materials:
        path = f"{ROOT}/{plan.materials[material.name].rpartition('/')[2]}"
        layer.define(path, "Material")
        layer.name(path, material.name)
        _write_surface(layer, path, material)
        _connect(layer, f"{path}.outputs:surface", "token", f"{path}/surface.outputs:surface")
        if material.vertex_colors:
            _write_vertex_colors(layer, path)
        for key, texture in material.textures.items():
            if key in _INPUTS:
                is_picture = key in _COLORED and texture.channel != "a"
                file, why = images.take(texture.file, is_picture=is_picture)
            else:
                file, why = "", f"{key} is not a surface input"
            if file:
                _write_texture(layer, path, key, texture, file)
            else:
                where = material.source
                reporter.report(
                    TEXTURE_LEFT_OUT, where, file=_show_file(texture.file), name=material.name, why=why
                )
    return layer, images


def _show_file(file: str) -> str:
    # an embedded image is an address of many thousand characters
    return name_image(file) if file.startswith("data:") else file


def _write_surface(layer: LayerWriter, path: str, material: RenderMaterial) -> None:
    shader = f"{path}/surface"
    layer.define(shader, "Shader")
    layer.set(shader, "info:id", "token", "UsdPreviewSurface", uniform=True)
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
        layer.set(shader, "inputs:useSpecularWorkflow", "int", 1)
    for name, kind, value, usual in values:
        # the fallbacks of UsdPreviewSurface need no opinion; colour and roughness are authored in any case
        if value != usual:
            layer.set(shader, f"inputs:{name}", kind, value)
    layer.set(shader, "outputs:surface", "token", None)


def _write_texture(layer: LayerWriter, path: str, key: str, texture: Texture, file: str) -> None:
    """An image at ``file`` of the asset, its coordinates, and the wire to the surface."""
    image, reader = f"{path}/{key}_image", f"{path}/{key}_coordinates"
    layer.define(image, "Shader")
    layer.set(image, "info:id", "token", "UsdUVTexture", uniform=True)
    layer.set(image, "inputs:file", "asset", Sdf.AssetPath(f"./{file}"))
    space = texture.color_space
    if space == "auto":
        # auto means that renderers guess, differently, from the bit depth
        space = "sRGB" if key in _COLORED else "raw"
    layer.set(image, "inputs:sourceColorSpace", "token", space)
    layer.set(image, "inputs:wrapS", "token", texture.wrap_s)
    layer.set(image, "inputs:wrapT", "token", texture.wrap_t)
    if texture.gain != (1.0, 1.0, 1.0, 1.0):
        layer.set(image, "inputs:scale", "float4", _settle_gain(key, texture))
    if texture.bias != (0.0, 0.0, 0.0, 0.0):
        layer.set(image, "inputs:bias", "float4", texture.bias)
    layer.define(reader, "Shader")
    layer.set(reader, "info:id", "token", "UsdPrimvarReader_float2", uniform=True)
    # meshes are written with their own coordinates as st
    layer.set(reader, "inputs:varname", "string", texture.uv_set if texture.uv_set in MADE else OBJECT)
    layer.set(reader, "outputs:result", "float2", None)
    source = f"{reader}.outputs:result"
    if (texture.scale, texture.offset, texture.rotation) != ((1.0, 1.0), (0.0, 0.0), 0.0):
        source = _write_transform(layer, f"{path}/{key}_placement", texture, source)
    _connect(layer, f"{image}.inputs:st", "float2", source)
    channel = texture.channel if texture.channel in _OUTPUTS else "rgb"
    layer.set(image, f"outputs:{channel}", _OUTPUTS[channel], None)
    name, kind = _INPUTS[key]
    _connect(layer, f"{path}/surface.inputs:{name}", kind, f"{image}.outputs:{channel}")


def _settle_gain(key: str, texture: Texture) -> tuple[float, ...]:
    """What multiplies an image: linear where the input is a colour."""
    red, green, blue, alpha = texture.gain
    return (*make_linear((red, green, blue)), alpha) if key in _COLORED else texture.gain


def _write_vertex_colors(layer: LayerWriter, path: str) -> None:
    """The diffuse colour is that of the mesh's vertices."""
    reader = f"{path}/vertex_colors"
    layer.define(reader, "Shader")
    layer.set(reader, "info:id", "token", "UsdPrimvarReader_float3", uniform=True)
    layer.set(reader, "inputs:varname", "string", "displayColor")
    layer.set(reader, "outputs:result", "float3", None)
    _connect(layer, f"{path}/surface.inputs:diffuseColor", "color3f", f"{reader}.outputs:result")


def _write_transform(layer: LayerWriter, path: str, texture: Texture, source: str) -> str:
    layer.define(path, "Shader")
    layer.set(path, "info:id", "token", "UsdTransform2d", uniform=True)
    layer.set(path, "inputs:scale", "float2", texture.scale)
    layer.set(path, "inputs:translation", "float2", texture.offset)
    layer.set(path, "inputs:rotation", "float", texture.rotation / DEGREE)
    layer.set(path, "outputs:result", "float2", None)
    _connect(layer, f"{path}.inputs:in", "float2", source)
    return f"{path}.outputs:result"


def _connect(layer: LayerWriter, attribute: str, kind: str, source: str) -> None:
    spec = layer.sdf.GetAttributeAtPath(attribute)
    if spec is None:
        path, _, name = attribute.partition(".")
        spec = Sdf.AttributeSpec(layer.over(path), name, Sdf.ValueTypeNames.Find(kind))
    spec.connectionPathList.explicitItems = [Sdf.Path(source)]
