# SPDX-License-Identifier: Apache-2.0
"""``<material>`` of visuals: colours, and the metal workflow of ``<pbr>`` where a material says more than a colour."""

from __future__ import annotations

from dataclasses import replace

from simwright.formats.parts.images import Images
from simwright.formats.parts.numbers import tidy, tidy_number
from simwright.formats.sdf.writer.draft import Draft, add
from simwright.formats.xml import Element
from simwright.model.asset import Shape
from simwright.model.material import RenderMaterial, Texture

_MAPS = {
    "diffuse": "albedo_map", "roughness": "roughness_map", "metallic": "metalness_map", "normal": "normal_map",
    "occlusion": "ambient_occlusion_map", "emissive": "emissive_map",
}  # fmt: skip
_PLAIN = RenderMaterial("")


class Palette:
    """Looks of visuals."""

    def __init__(self, draft: Draft, images: Images) -> None:
        self._draft = draft
        self._images = images
        self._materials = {material.name: material for material in draft.asset.materials}

    def write(self, visual: Element, shape: Shape) -> None:
        """The look of a visual: its material, in its own colour where it has one."""
        material, color = self._materials.get(shape.material), shape.color
        if material is None and color is None:
            return
        if color is not None:
            base = material or RenderMaterial("")
            material = replace(base, diffuse=color[:3], opacity=color[3])
        assert material is not None
        if material.opacity < 1.0:
            add(visual, "transparency", tidy_number(1.0 - material.opacity))
        if shape.material or color is None or color[:3] != (1.0, 1.0, 1.0):
            self._write_material(add(visual, "material"), material)

    def _write_material(self, node: Element, material: RenderMaterial) -> None:
        image = material.textures.get("diffuse")
        tint = image.gain[:3] if image is not None else material.diffuse
        add(node, "ambient", tidy((*tint, 1.0)))
        add(node, "diffuse", tidy((*tint, 1.0)))
        if material.specular is not None:
            add(node, "specular", tidy((*material.specular, 1.0)))
        if any(material.emissive):
            add(node, "emissive", tidy((*material.emissive, 1.0)))
        if material.double_sided:
            add(node, "double_sided", True)
        maps = {tag: self._take(material, slot) for slot, tag in _MAPS.items() if slot in material.textures}
        has_surface = (material.metallic, material.roughness) != (_PLAIN.metallic, _PLAIN.roughness)
        if has_surface or any(maps.values()):
            metal = add(add(node, "pbr"), "metal")
            for tag, path in maps.items():
                if path:
                    add(metal, tag, path)
            add(metal, "metalness", float(material.metallic))
            add(metal, "roughness", float(material.roughness))

    def _take(self, material: RenderMaterial, slot: str) -> str:
        path = self._images.take(material.textures[slot].file, material.name)
        return f"{self._draft.options.side}{path}" if path else ""

    def report(self) -> None:
        """What materials say and SDFormat has no word for."""
        used = [m for m in self._draft.asset.materials if _is_used(self._draft, m)]
        packed = [m for m in used if any(_is_packed(slot, texture) for slot, texture in m.textures.items())]
        advice = "give each map an image of its own"
        self._draft.lose("material(s) with maps in one image", packed, advice, moves=False)
        others = [m for m in used if _list_other(m)]
        self._draft.lose(
            "material(s) with other image inputs", others, "bake them into the maps", moves=False
        )


def _is_used(draft: Draft, material: RenderMaterial) -> bool:
    return any(shape.visual and shape.material == material.name for shape in draft.asset.shapes)


def _list_other(material: RenderMaterial) -> set[str]:
    """Inputs that are no map; opacity in the alpha of the albedo map is one."""
    other = set(material.textures) - set(_MAPS)
    albedo, opacity = material.textures.get("diffuse"), material.textures.get("opacity")
    if albedo is not None and opacity is not None and albedo.file == opacity.file:
        other.discard("opacity")
    return other


def _is_packed(slot: str, texture: Texture) -> bool:
    return slot in ("roughness", "metallic", "occlusion") and texture.channel in ("g", "b", "a")
