# SPDX-License-Identifier: Apache-2.0
"""A UsdPreviewSurface that comes close to a renderer's own shader (REP-0158 3.1): its constants by their usual names.

Colours, metalness, roughness, opacity, index of refraction and the picture of the base colour are carried over; all
else has no place in a preview.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade

from simwright.checker.facts.shading import read_input

_KINDS = Sdf.ValueTypeNames
_COLOURS = {
    "diffuseColor": (
        "diffuse_color_constant",
        "base_color",
        "baseColor",
        "diffuse_color",
        "diffuseColor",
        "albedo",
    ),
    "emissiveColor": ("emissive_color", "emission_color", "emissiveColor"),
}
_NUMBERS = {
    "metallic": ("metallic_constant", "metalness", "base_metalness", "metallic"),
    "roughness": ("reflection_roughness_constant", "specular_roughness", "roughness_constant", "roughness"),
    "opacity": ("opacity_constant", "geometry_opacity", "opacity"),
    "ior": ("specular_IOR", "specular_ior", "ior_constant", "ior"),
}
_PICTURES = ("diffuse_texture", "base_color_texture", "albedo_texture")
_SWITCHES = {"emissiveColor": "enable_emission", "opacity": "enable_opacity"}
"""Inputs that switch others off where they are there and false."""
_READABLE = (".png", ".jpg", ".jpeg")


@dataclass(slots=True)
class PreviewInputs:
    """Inputs of a UsdPreviewSurface; ``picture`` is the image of the base colour, as ``layer`` names it."""

    inputs: dict[str, tuple[Sdf.ValueTypeName, Any]] = field(default_factory=dict)
    picture: str = ""
    layer: Sdf.Layer | None = None


def derive_preview(shader: Usd.Prim | None, shapes: list[Usd.Prim]) -> PreviewInputs:
    """Inputs of a preview that comes close: from the shader, else from the colour of the shapes of the material."""
    preview = PreviewInputs()
    if shader is not None:
        _read_constants(shader, preview)
        for name in _PICTURES:
            value = read_input(shader, name)
            if (
                isinstance(value, Sdf.AssetPath)
                and value.resolvedPath
                and value.path.lower().endswith(_READABLE)
            ):
                # an address counts from the layer that says it, which is not always the one of the shader
                said = UsdShade.Shader(shader).GetInput(name).GetValueProducingAttributes()[0]
                preview.picture, preview.layer = value.path, said.GetPropertyStack()[0].layer
                break
    if "diffuseColor" not in preview.inputs:
        colours = {colour for prim in shapes if (colour := _read_colour(prim)) is not None}
        # shapes of several colours wear the material: none of them is its colour
        if len(colours) == 1:
            preview.inputs["diffuseColor"] = (_KINDS.Color3f, Gf.Vec3f(*colours.pop()))
    return preview


def _read_constants(shader: Usd.Prim, preview: PreviewInputs) -> None:
    for names, kind in ((_COLOURS, _KINDS.Color3f), (_NUMBERS, _KINDS.Float)):
        # names of OmniPBR (MDL) and of the Standard and OpenPBR surfaces of MaterialX
        for wanted, candidates in names.items():
            if wanted in _SWITCHES and read_input(shader, _SWITCHES[wanted]) in (False, 0):
                continue
            found = (read_input(shader, name) for name in candidates)
            value = next((v for v in found if v is not None), None)
            fitted = _fit(value, kind)
            if fitted is not None:
                preview.inputs[wanted] = (kind, fitted)


def _fit(value: Any, kind: Sdf.ValueTypeName) -> Any:
    """A number or a colour, whatever precision it has; None for anything else."""
    try:
        if kind == _KINDS.Float:
            return float(value)
        return Gf.Vec3f(float(value[0]), float(value[1]), float(value[2]))
    except (TypeError, ValueError, IndexError):
        return None


def _read_colour(prim: Usd.Prim) -> tuple[float, float, float] | None:
    if not prim.IsA(UsdGeom.Gprim):
        return None
    values = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()
    if values is None or len(values) != 1:
        return None
    red, green, blue = values[0]
    return (float(red), float(green), float(blue))


def define_preview(layer: Sdf.Layer, place: Sdf.Path, preview: PreviewInputs) -> Callable[[], None]:
    """The edit that makes the shader, with an image and its coordinates where there is a picture."""

    def apply() -> None:
        shader = _define(layer, place, "UsdPreviewSurface")
        has_picture = (
            bool(preview.picture) and preview.layer == layer
        )  # elsewhere its address means another file
        for name, (kind, value) in preview.inputs.items():
            if not (has_picture and name == "diffuseColor"):
                Sdf.AttributeSpec(shader, f"inputs:{name}", kind).default = value
        Sdf.AttributeSpec(shader, "outputs:surface", _KINDS.Token)
        if has_picture:
            _define_picture(layer, place, shader, preview.picture)

    return apply


def _define(layer: Sdf.Layer, place: Sdf.Path, identity: str) -> Sdf.PrimSpec:
    shader = Sdf.CreatePrimInLayer(layer, place)
    shader.specifier, shader.typeName = Sdf.SpecifierDef, "Shader"
    known = shader.properties.get("info:id")
    said = known or Sdf.AttributeSpec(shader, "info:id", _KINDS.Token, Sdf.VariabilityUniform)
    said.default = identity
    return shader


def _define_picture(layer: Sdf.Layer, place: Sdf.Path, surface: Sdf.PrimSpec, picture: str) -> None:
    image = _define(layer, place.GetParentPath().AppendChild(f"{place.name}_image"), "UsdUVTexture")
    reader = _define(layer, place.GetParentPath().AppendChild(f"{place.name}_st"), "UsdPrimvarReader_float2")
    Sdf.AttributeSpec(image, "inputs:file", _KINDS.Asset).default = Sdf.AssetPath(picture)
    for name in ("inputs:wrapS", "inputs:wrapT"):
        Sdf.AttributeSpec(image, name, _KINDS.Token).default = "repeat"
    Sdf.AttributeSpec(image, "outputs:rgb", _KINDS.Float3)
    Sdf.AttributeSpec(reader, "inputs:varname", _KINDS.String).default = "st"
    Sdf.AttributeSpec(reader, "outputs:result", _KINDS.Float2)
    connect(image, "inputs:st", _KINDS.Float2, reader.path.AppendProperty("outputs:result"))
    connect(surface, "inputs:diffuseColor", _KINDS.Color3f, image.path.AppendProperty("outputs:rgb"))


def connect(spec: Sdf.PrimSpec, name: str, kind: Sdf.ValueTypeName, source: Sdf.Path) -> None:
    """Let an input or output take its value from another one, and from nothing else."""
    attribute = spec.properties.get(name) or Sdf.AttributeSpec(spec, name, kind)
    attribute.connectionPathList.ClearEditsAndMakeExplicit()
    attribute.connectionPathList.explicitItems = [source]


def list_bound_shapes(stage: Usd.Stage) -> dict[Sdf.Path, list[Usd.Prim]]:
    """By material, shapes that it is bound to, on themselves or above."""
    shapes = [prim for prim in stage.Traverse(Usd.TraverseInstanceProxies()) if prim.IsA(UsdGeom.Gprim)]
    bound, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(shapes)
    found: dict[Sdf.Path, list[Usd.Prim]] = {}
    for shape, material in zip(shapes, bound, strict=True):
        if material:
            found.setdefault(material.GetPath(), []).append(shape)
    return found


def find_source(prim: Usd.Prim, name: str) -> Usd.Attribute:
    """The attribute that an input takes its value from."""
    attribute = prim.GetAttribute(name)
    found = (
        UsdShade.Input(attribute).GetValueProducingAttributes() if UsdShade.Input.IsInput(attribute) else []
    )
    return found[0] if found else attribute
