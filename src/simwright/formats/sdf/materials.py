# SPDX-License-Identifier: Apache-2.0
"""``<material>`` of a visual: colours and PBR workflows as a render material.

Gazebo's material scripts are not opened; the plain colours among the scripts Gazebo ships are known by name.
"""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.errors import InputError
from simwright.formats.gazebo.colors import PREFIX, Look, find_look
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import Document
from simwright.formats.xml import Element
from simwright.model.asset import Shape
from simwright.model.material import RenderMaterial, Rgb, Texture

TEXTURE_FAILED = declare(
    "sdf-texture-failed",
    Level.WARNING,
    "the texture {uri!r} of {owner!r} is left out: {reason}",
    hint="{advice}",
    doc="An image of a material cannot be found.",
    loss=True,
)
SCRIPT_NOT_READ = declare(
    "sdf-material-script",
    Level.WARNING,
    "the material script {name!r} of {owner!r} is not read",
    hint="write the colours or a <pbr> material beside it",
    doc="Material scripts (OGRE) are programs for one renderer; only Gazebo's plain colours are known.",
    loss=True,
)

_CARRIED = {"ambient", "diffuse", "specular", "emissive", "double_sided", "pbr", "script"}
_KNOWN = {"shininess", "render_order", "lighting", "shader"}
_MAPS = {
    "albedo_map": ("diffuse", "rgb"),
    "roughness_map": ("roughness", "r"),
    "metalness_map": ("metallic", "r"),
    "normal_map": ("normal", "rgb"),
    "ambient_occlusion_map": ("occlusion", "r"),
    "emissive_map": ("emissive", "rgb"),
    "specular_map": ("specular", "rgb"),
}


def read_material(reading: Reading, document: Document, visual: Element, shape: Shape) -> None:
    """Give the shape the render material of its ``<visual>``."""
    element = document.child(visual, "material")
    transparency = min(max(document.finite(visual, "transparency"), 0.0), 1.0)
    if element is None:
        if transparency:
            shape.color = (1.0, 1.0, 1.0, 1.0 - transparency)
        return
    material = RenderMaterial("", diffuse=(1.0, 1.0, 1.0), source=document.where(element))
    _read_colors(reading, document, element, material, shape.name)
    material.opacity *= 1.0 - transparency
    material.double_sided = document.flag(element, "double_sided")
    pbr = document.child(element, "pbr")
    if pbr is not None:
        _read_pbr(reading, document, pbr, material, shape.name)
    reading.keep_rest(document, element, shape.name, _CARRIED, _KNOWN)
    shape.material = _share(reading, material, f"{shape.name}_material")


def _read_colors(
    reading: Reading, document: Document, element: Element, material: RenderMaterial, owner: str
) -> None:
    diffuse = _read_color(document, element, "diffuse")
    ambient = _read_color(document, element, "ambient")
    glow: Rgb = (0.0, 0.0, 0.0)
    if document.child(element, "script") is not None:
        scripted = _read_script(
            reading, document, element, owner, said=diffuse is not None or ambient is not None
        )
        if scripted is not None:
            diffuse, glow = diffuse or (*scripted.diffuse, scripted.opacity), scripted.emissive
    chosen = diffuse or ambient
    if chosen is not None:
        material.diffuse, material.opacity = chosen[:3], chosen[3]
    if ambient is not None and diffuse is not None and ambient[:3] != diffuse[:3]:
        # the model has one base colour; the ambient term of the old lighting model is only remembered
        reading.keep_one(document, document.child(element, "ambient"), owner, "material")
    specular = _read_color(document, element, "specular")
    material.specular = specular[:3] if specular else None
    emissive = _read_color(document, element, "emissive")
    material.emissive = emissive[:3] if emissive else glow


Rgba = tuple[float, float, float, float]


def _read_color(document: Document, element: Element, tag: str) -> Rgba | None:
    """Three or four numbers in 0..1."""
    child = document.child(element, tag)
    if child is None or not (child.text or "").strip():
        return None
    count = 3 if len(child.text.split()) == 3 else 4
    values = document.numbers(child, child.text, count, (1.0,) * count, f"<{tag}>")
    r, g, b, a = np.clip([*values, 1.0][:4], 0.0, 1.0).tolist()
    return (r, g, b, a)


def _read_script(
    reading: Reading, document: Document, element: Element, owner: str, *, said: bool
) -> Look | None:
    script = document.child(element, "script")
    assert script is not None
    name = document.text(script, "name")
    known = find_look(name) if name.startswith(PREFIX) else None
    if known is not None:
        return known
    if not said:
        reading.reporter.report(SCRIPT_NOT_READ, document.where(script), name=name, owner=owner)
    reading.keep(document, script, owner, "material")
    return None


def _read_pbr(
    reading: Reading, document: Document, pbr: Element, material: RenderMaterial, owner: str
) -> None:
    """The metal workflow, else the specular one (glossiness becomes roughness)."""
    flow = document.child(pbr, "metal")
    if flow is None:
        flow = document.child(pbr, "specular")
    if flow is None:
        return
    if flow.tag == "metal":
        material.metallic = document.finite(flow, "metalness", default=0.5)
        material.roughness = document.finite(flow, "roughness", default=0.5)
    else:
        material.roughness = 1.0 - document.finite(flow, "glossiness", default=0.0)
    for child in document.children(flow):
        uri = (child.text or "").strip()
        if child.tag in _MAPS and uri:
            _read_texture(reading, document, child, material, owner)
    carried = {*_MAPS, "metalness", "roughness", "glossiness"}
    reading.keep_rest(document, flow, owner, carried)
    for other in document.children(pbr):
        if other is not flow:
            reading.keep_one(document, other, owner, "pbr")


def _read_texture(
    reading: Reading, document: Document, element: Element, material: RenderMaterial, owner: str
) -> None:
    uri = element.text.strip()
    try:
        file = reading.resolve(document, element, uri)
    except InputError as error:
        advice = error.hint or "correct the address"
        data = {"uri": uri[:200], "owner": owner, "reason": error.message, "advice": advice}
        reading.reporter.report(TEXTURE_FAILED, document.where(element), **data)
        return
    target, channel = _MAPS[element.tag]
    color_space = "sRGB" if target in ("diffuse", "emissive", "specular") else "raw"
    gain = (*material.diffuse, 1.0) if target == "diffuse" else (1.0, 1.0, 1.0, 1.0)
    material.textures[target] = Texture(str(file), channel, color_space, gain=gain)


def _share(reading: Reading, material: RenderMaterial, name: str) -> str:
    """The name of an equal material that is there already, else of this one, added."""
    for known in reading.asset.materials:
        if astuple(replace(known, name="", source=material.source)) == astuple(material):
            return known.name
    material.name = reading.claim("material", name)
    reading.asset.materials.append(material)
    return material.name
