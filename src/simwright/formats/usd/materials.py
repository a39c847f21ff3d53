# SPDX-License-Identifier: Apache-2.0
"""Materials: UsdPreviewSurface networks (REP-0158 3.1, 3.2) and UsdPhysicsMaterialAPI."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pxr import Usd, UsdShade

from simwright.core.colors import make_display
from simwright.core.diag import Level, declare
from simwright.formats.usd.bindings import Bindings
from simwright.formats.usd.source import Source, as_rows
from simwright.formats.usd.textures import read_texture
from simwright.model.material import PhysicsMaterial, RenderMaterial, Rgb, Texture

SURFACE_FOREIGN = declare(
    "usd-surface-foreign",
    Level.WARNING,
    "material {name!r} has no UsdPreviewSurface (found {found}); its look is not carried",
    hint="wire a UsdPreviewSurface to outputs:surface",
    doc="The universal surface output of a material is missing or is another shader.",
    section="3.1",
    loss=True,
)
INPUT_UNTRANSLATED = declare(
    "usd-surface-input",
    Level.WARNING,
    "{input} of material {name!r} is connected to {node}, which is not carried; its constant is used",
    hint="bake the network to images (UsdUVTexture)",
    doc="A surface input is driven by a node that is no image, such as a procedural pattern.",
    section="3.3",
    loss=True,
)

_TEXTURED = {
    "diffuseColor": "diffuse",
    "emissiveColor": "emissive",
    "specularColor": "specular",
    "metallic": "metallic",
    "roughness": "roughness",
    "clearcoat": "clearcoat",
    "clearcoatRoughness": "clearcoat_roughness",
    "opacity": "opacity",
    "normal": "normal",
    "occlusion": "occlusion",
    "displacement": "displacement",
}
COLORED = frozenset({"diffuse", "emissive", "specular"})
"""Inputs of the model that are colours: linear here, display colours there."""


def read_materials(source: Source, bindings: Bindings) -> None:
    """Add every look and every contact material."""
    for name, prim in bindings.looks():
        material = _read_look(source, name, prim)
        source.uv_names.update(texture.uv_set for texture in material.textures.values())
        source.asset.materials.append(material)
    for name, prim in bindings.contacts():
        source.asset.physics_materials.append(_read_contact(source, name, prim))


def _read_contact(source: Source, name: str, prim: Usd.Prim) -> PhysicsMaterial:
    def read(attribute: str) -> float | None:
        value = source.get_optional(prim, f"physics:{attribute}")
        return value if value is not None and math.isfinite(value) and value >= 0.0 else None

    density = read("density")
    return PhysicsMaterial(
        name=name,
        static_friction=read("staticFriction"),
        dynamic_friction=read("dynamicFriction"),
        restitution=read("restitution"),
        density=density * source.units.density if density else None,
        source=source.where(prim),
    )


def _read_look(source: Source, name: str, prim: Usd.Prim) -> RenderMaterial:
    where = source.where(prim)
    shader, *_ = UsdShade.Material(prim).ComputeSurfaceSource()
    shader_id = shader.GetIdAttr().Get() if shader else None
    if shader_id != "UsdPreviewSurface":
        found = shader_id or (shader.GetPath() if shader else "nothing at outputs:surface")
        source.reporter.report(SURFACE_FOREIGN, where, name=name, found=found)
        return RenderMaterial(name, source=where)
    inputs = _Inputs(source, name, shader)
    specular = inputs.number("useSpecularWorkflow", 0.0) == 1.0
    return RenderMaterial(
        name=name,
        diffuse=inputs.color("diffuseColor", (0.18, 0.18, 0.18)),
        opacity=inputs.number("opacity", 1.0),
        emissive=inputs.color("emissiveColor", (0.0, 0.0, 0.0)),
        metallic=inputs.number("metallic", 0.0),
        roughness=inputs.number("roughness", 0.5),
        specular=inputs.color("specularColor", (0.0, 0.0, 0.0)) if specular else None,
        clearcoat=inputs.number("clearcoat", 0.0),
        clearcoat_roughness=inputs.number("clearcoatRoughness", 0.01),
        ior=inputs.number("ior", 1.5),
        opacity_threshold=inputs.number("opacityThreshold", 0.0),
        vertex_colors=inputs.reads_vertices("diffuseColor"),
        textures=inputs.textures(),
        source=where,
    )


class _Inputs:
    """Values and images of a surface shader, through any nesting of node graphs."""

    def __init__(self, source: Source, name: str, shader: UsdShade.Shader) -> None:
        self._source = source
        self._name = name
        self._shader = shader

    def number(self, name: str, default: float) -> float:
        """A scalar constant."""
        value = self._constant(name)
        return float(value) if isinstance(value, (int, float)) else default

    def color(self, name: str, default: Rgb) -> Rgb:
        """A colour constant as it appears on a screen; the default is linear, as the schema has it."""
        rows = as_rows(self._constant(name), 3)
        red, green, blue = rows[0].tolist() if len(rows) == 1 else default
        return make_display((red, green, blue))

    def textures(self) -> dict[str, Texture]:
        """Images by model input; what is connected to something else is reported."""
        result: dict[str, Texture] = {}
        for name, key in _TEXTURED.items():
            output = self._find_output(name)
            if output is None or (name == "diffuseColor" and self.reads_vertices(name)):
                continue
            texture = read_texture(self._source, output)
            if texture is not None:
                red, green, blue, alpha = texture.gain
                if key in COLORED:
                    texture = replace(texture, gain=(*make_display((red, green, blue)), alpha))
                result[key] = texture
            else:
                node = UsdShade.Shader(output.GetPrim()).GetIdAttr().Get() or output.GetPrim().GetPath()
                where = self._source.where(self._shader.GetPrim(), f"inputs:{name}")
                self._source.reporter.report(
                    INPUT_UNTRANSLATED, where, input=name, name=self._name, node=node
                )
        return result

    def reads_vertices(self, name: str) -> bool:
        """Is a colour that of the mesh's vertices (``primvars:displayColor``)?"""
        output = self._find_output(name)
        node = None if output is None else UsdShade.Shader(output.GetPrim())
        if node is None or node.GetIdAttr().Get() != "UsdPrimvarReader_float3":
            return False
        entry = node.GetInput("varname")
        return entry is not None and bool(entry) and str(entry.Get(self._source.time) or "") == "displayColor"

    def _attributes(self, name: str) -> list[Usd.Attribute]:
        entry = self._shader.GetInput(name)
        return list(entry.GetValueProducingAttributes()) if entry else []

    def _constant(self, name: str) -> Any:
        for attribute in self._attributes(name):
            if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Input:
                return attribute.Get(self._source.time)
        entry = self._shader.GetInput(name)
        return entry.GetAttr().Get(self._source.time) if entry else None

    def _find_output(self, name: str) -> Usd.Attribute | None:
        for attribute in self._attributes(name):
            if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Output:
                return attribute
        return None
