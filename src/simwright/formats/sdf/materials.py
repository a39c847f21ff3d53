# SPDX-License-Identifier: Apache-2.0
"""``<material>`` of a visual (colours, material script, images), and ``<light>`` of worlds, models and links.

The plain colours among the scripts that Gazebo ships are known by name; other scripts are opened
(``formats/gazebo/materials``), as far as they say colours and an image.

An SDFormat light shines along ``<direction>``; a light of the model along its local -Z, so the pose is
turned.  Cone angles of a spot light are full angles in SDFormat and half-angles in the model.
"""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.errors import InputError
from simwright.core.math3d import IDENTITY, Pose, quat_between
from simwright.formats.gazebo.materials import (
    PREFIX,
    GazeboMaterial,
    ScriptMaterial,
    find_look,
    list_texture_folders,
    read_scripts,
)
from simwright.formats.sdf.context import LinkPlacement, SdfReadContext
from simwright.formats.sdf.document import SdfDocument
from simwright.formats.sdf.poses import scope_of
from simwright.formats.sdf.tree import NamedElement
from simwright.formats.xml import Element
from simwright.model.asset import Light, LightKind, Shape
from simwright.model.joint import WORLD
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
    "the material script {name!r} of {owner!r} is not read: {reason}",
    hint="write the colours or a <pbr> material beside it",
    doc="A material script (OGRE) is not there, or has no material of that name.",
    loss=True,
)

_MATERIAL_CARRIED = {"ambient", "diffuse", "specular", "emissive", "double_sided", "pbr", "script"}
_MATERIAL_KNOWN = {"shininess", "render_order", "lighting", "shader"}
_MAPS = {
    "albedo_map": ("diffuse", "rgb"),
    "roughness_map": ("roughness", "r"),
    "metalness_map": ("metallic", "r"),
    "normal_map": ("normal", "rgb"),
    "ambient_occlusion_map": ("occlusion", "r"),
    "emissive_map": ("emissive", "rgb"),
    "specular_map": ("specular", "rgb"),
}


def read_material(context: SdfReadContext, document: SdfDocument, visual: Element, shape: Shape) -> None:
    """Give the shape the render material of its ``<visual>``."""
    element = document.child(visual, "material")
    transparency = min(max(document.finite(visual, "transparency"), 0.0), 1.0)
    if element is None:
        if transparency:
            shape.color = (1.0, 1.0, 1.0, 1.0 - transparency)
        return
    material = RenderMaterial("", diffuse=(1.0, 1.0, 1.0), source=document.where(element))
    _read_colors(context, document, element, material, shape.name)
    # <transparency> of the visual comes on top of the alpha of its colours.
    material.opacity *= 1.0 - transparency
    material.double_sided = document.flag(element, "double_sided", default=material.double_sided)
    pbr = document.child(element, "pbr")
    if pbr is not None:
        _read_pbr(context, document, pbr, material, shape.name)
    context.keep_rest(document, element, shape.name, _MATERIAL_CARRIED, _MATERIAL_KNOWN)
    shape.material = _share_material(context, material, f"{shape.name}_material")


def _read_colors(
    context: SdfReadContext, document: SdfDocument, element: Element, material: RenderMaterial, owner: str
) -> None:
    diffuse = _read_color(document, element, "diffuse")
    ambient = _read_color(document, element, "ambient")
    glow: Rgb = (0.0, 0.0, 0.0)
    if document.child(element, "script") is not None:
        said = diffuse is not None or ambient is not None
        scripted = _read_script(context, document, element, material, owner, said=said)
        if scripted is not None:
            diffuse, glow = diffuse or (*scripted.diffuse, scripted.opacity), scripted.emissive
    # Some files give the ambient colour only.
    chosen = diffuse or ambient
    if chosen is not None:
        material.diffuse, material.opacity = chosen[:3], chosen[3]
    if ambient is not None and diffuse is not None and ambient[:3] != diffuse[:3]:
        # the model has one base colour; the ambient term of the old lighting model is only remembered
        context.keep_one(document, document.child(element, "ambient"), owner, "material")
    specular = _read_color(document, element, "specular")
    material.specular = specular[:3] if specular else material.specular
    emissive = _read_color(document, element, "emissive")
    material.emissive = emissive[:3] if emissive else glow


Rgba = tuple[float, float, float, float]


def _read_color(document: SdfDocument, element: Element, tag: str) -> Rgba | None:
    """Three or four numbers in 0..1."""
    child = document.child(element, tag)
    if child is None or not (child.text or "").strip():
        return None
    count = 3 if len(child.text.split()) == 3 else 4
    values = document.numbers(child, child.text, count, (1.0,) * count, f"<{tag}>")
    r, g, b, a = np.clip([*values, 1.0][:4], 0.0, 1.0).tolist()
    return (r, g, b, a)


def _read_script(
    context: SdfReadContext,
    document: SdfDocument,
    element: Element,
    material: RenderMaterial,
    owner: str,
    *,
    said: bool,
) -> GazeboMaterial | None:
    """The look that a material script gives: its colours; its image goes into ``material``."""
    script = document.child(element, "script")
    assert script is not None
    name = document.text(script, "name")
    # Other scripts may have the same name for something else.
    known = find_look(name) if name.startswith(PREFIX) else None
    if known is not None:
        return known
    context.keep(document, script, owner, "material")
    places, reasons = _find_scripts(context, document, script)
    try:
        found = read_scripts(places, context.gate).get(name)
    except (InputError, OSError) as error:
        found = None
        reasons.append(str(error))
    if found is None:
        # Colours that stand beside the script are what Gazebo uses where it has no scripts.
        if not said:
            reason = "; ".join(reasons) or f"no script has a material {name!r}"
            where = document.where(script)
            context.reporter.report(SCRIPT_NOT_READ, where, name=name, owner=owner, reason=reason)
        return None
    image = _find_script_image(context, found, places)
    if image is not None:
        material.textures["diffuse"] = Texture(str(image), "rgb", "sRGB")
    elif found.texture:
        reason = "it is in no folder that <script> names, nor in textures beside the script"
        data: dict[str, Any] = {
            "uri": found.texture,
            "owner": owner,
            "reason": reason,
            "advice": "name its folder in a <uri>",
        }
        context.reporter.report(TEXTURE_FAILED, document.where(script), **data)
    diffuse = found.rgb("diffuse") or found.rgb("ambient") or (1.0, 1.0, 1.0)
    material.specular = found.rgb("specular")
    material.double_sided = found.double_sided
    return GazeboMaterial(diffuse, found.rgb("emissive") or (0.0, 0.0, 0.0), found.opacity)


def _find_scripts(
    context: SdfReadContext, document: SdfDocument, script: Element
) -> tuple[list[Path], list[str]]:
    """The files and folders that a ``<script>`` names, and why others are not there."""
    places, reasons = [], []
    for uri in document.children(script, "uri"):
        text = (uri.text or "").strip()
        # Gazebo's own script, whose colours are known without it.
        if not text or text.startswith("file://media/materials/"):
            continue
        try:
            places.append(context.resolve(document, uri, text))
        except InputError as error:
            reasons.append(error.message)
    return places, reasons


def _find_script_image(context: SdfReadContext, found: ScriptMaterial, places: list[Path]) -> Path | None:
    files = (folder / found.texture for folder in list_texture_folders(places) if found.texture)
    return next((file.resolve() for file in files if file.is_file() and context.gate.admits(file)), None)


def _read_pbr(
    context: SdfReadContext, document: SdfDocument, pbr: Element, material: RenderMaterial, owner: str
) -> None:
    """The metal workflow, else the specular one (glossiness becomes roughness)."""
    flow = document.child(pbr, "metal")
    if flow is None:
        flow = document.child(pbr, "specular")
    if flow is None:
        return
    if flow.tag == "metal":
        # 0.5 is the default of the specification for both.
        material.metallic = document.finite(flow, "metalness", default=0.5)
        material.roughness = document.finite(flow, "roughness", default=0.5)
    else:
        material.roughness = 1.0 - document.finite(flow, "glossiness", default=0.0)
    for child in document.children(flow):
        uri = (child.text or "").strip()
        if child.tag in _MAPS and uri:
            _read_texture(context, document, child, material, owner)
    carried = {*_MAPS, "metalness", "roughness", "glossiness"}
    context.keep_rest(document, flow, owner, carried)
    for other in document.children(pbr):
        if other is not flow:
            context.keep_one(document, other, owner, "pbr")


def _read_texture(
    context: SdfReadContext, document: SdfDocument, element: Element, material: RenderMaterial, owner: str
) -> None:
    uri = element.text.strip()
    try:
        file = context.resolve(document, element, uri)
    except InputError as error:
        advice = error.hint or "correct the address"
        data = {"uri": uri[:200], "owner": owner, "reason": error.message, "advice": advice}
        context.reporter.report(TEXTURE_FAILED, document.where(element), **data)
        return
    target, channel = _MAPS[element.tag]
    # Colours are stored for the screen; roughness and normals are data.
    color_space = "sRGB" if target in ("diffuse", "emissive", "specular") else "raw"
    # The diffuse colour tints the albedo map.
    gain = (*material.diffuse, 1.0) if target == "diffuse" else (1.0, 1.0, 1.0, 1.0)
    material.textures[target] = Texture(str(file), channel, color_space, gain=gain)


def _share_material(context: SdfReadContext, material: RenderMaterial, name: str) -> str:
    """The name of an equal material that is there already, else of this one, added."""
    for known in context.asset.materials:
        if astuple(replace(known, name="", source=material.source)) == astuple(material):
            return known.name
    material.name = context.claim("material", name)
    context.asset.materials.append(material)
    return material.name


UNKNOWN_LIGHT = declare(
    "sdf-unknown-light",
    Level.ERROR,
    "light {name!r} has the type {kind!r}",
    hint="write point, directional or spot; it is read as a point light",
    doc="A light whose type SDFormat does not have.",
)

_KINDS = {"point": LightKind.POINT, "directional": LightKind.DIRECTIONAL, "spot": LightKind.SPOT}
_CARRIED = {"pose", "cast_shadows", "intensity", "diffuse", "direction", "attenuation", "spot", "light_on"}
_KNOWN = {"specular", "visualize"}


def read_world_light(context: SdfReadContext, item: NamedElement) -> None:
    """A light that stands in the world or in a model's frame."""
    placer, document = item.placer, item.placer_document
    if placer is None or document is None:
        placer, document = item.element, item.document
    scope = scope_of(item.model)
    pose = context.graph.place(document, placer, scope, scope.model)
    link = context.graph.link_of(scope.model)
    model = context.graph.pose(scope.model)
    # A light of a model moves with its canonical link.
    if link is None or link.model.static:
        _read_light(context, item.document, item.element, WORLD, pose=model @ pose, name=item.name)
        return
    assert link.frame is not None
    local = ~context.graph.pose(link.frame) @ model @ pose
    _read_light(context, item.document, item.element, link.key, pose=local, name=item.name)


def read_link_light(
    context: SdfReadContext, document: SdfDocument, element: Element, placement: LinkPlacement
) -> None:
    """A light on a link."""
    pose = context.place(placement, document, element)
    name = element.get("name", "light")
    _read_light(context, document, element, placement.body, pose=pose, name=name, owner=placement.link.key)


def _read_light(
    context: SdfReadContext,
    document: SdfDocument,
    element: Element,
    body: str,
    *,
    pose: Pose,
    name: str,
    owner: str = "",
) -> None:
    where = document.where(element)
    kind = element.get("type", "point")
    if kind not in _KINDS:
        context.reporter.report(UNKNOWN_LIGHT, where, name=name, kind=kind)
    light = Light(
        context.claim("light", name, owner),
        _KINDS.get(kind, LightKind.POINT),
        body,
        pose @ _read_direction(document, element),
        intensity=document.finite(element, "intensity", default=1.0),
        cast_shadows=document.flag(element, "cast_shadows"),
        source=where,
    )
    light.color = _read_diffuse(document, element)
    light.range = document.amount(element, "attenuation", "range")
    spot = document.child(element, "spot")
    if light.kind is LightKind.SPOT:
        inner, outer = (document.finite(spot, tag, default=0.0) for tag in ("inner_angle", "outer_angle"))
        light.cone = (inner / 2.0, outer / 2.0)
    if not document.flag(element, "light_on", default=True):
        # The model has no switch; the intensity is kept so that it can be switched on again.
        context.asset.extras.keep("gazebo", light.name, "intensity", light.intensity, where)
        light.intensity = 0.0
    context.asset.lights.append(light)
    for child in (document.child(element, "attenuation"), spot):
        if child is not None:
            context.keep_rest(document, child, light.name, {"range", "inner_angle", "outer_angle"})
    context.keep_rest(document, element, light.name, _CARRIED, _KNOWN)


def _read_direction(document: SdfDocument, element: Element) -> Pose:
    direction = document.values(element, "direction", 3, (0.0, 0.0, -1.0))
    # A point light shines everywhere; turning it would only cost digits.
    if element.get("type") == "point" or float(np.linalg.norm(direction)) < 1e-12:
        return IDENTITY
    return Pose.of(q=quat_between((0.0, 0.0, -1.0), direction))


def _read_diffuse(document: SdfDocument, element: Element) -> tuple[float, float, float]:
    child = document.child(element, "diffuse")
    if child is None or not (child.text or "").strip():
        return (1.0, 1.0, 1.0)
    count = 3 if len(child.text.split()) == 3 else 4
    r, g, b = document.numbers(child, child.text, count, (1.0,) * count, "<diffuse>")[:3].tolist()
    return (r, g, b)
