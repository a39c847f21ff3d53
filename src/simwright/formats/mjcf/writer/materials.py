# SPDX-License-Identifier: Apache-2.0
"""``<material>``: the metallic-roughness surface in MuJoCo's words.

MuJoCo's own renderer knows shininess, the opposite of roughness; the physical values are written beside it where they
say more.  An emission is a share of the colour.
"""

from __future__ import annotations

from typing import Any

from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.messages import LOOK_LOST
from simwright.formats.mjcf.writer.textures import TextureLibrary
from simwright.model.material import RenderMaterial, Texture

MATERIAL_DEFAULTS: dict[str, Any] = {
    "rgba": (1.0, 1.0, 1.0, 1.0), "emission": 0.0, "specular": 0.5, "shininess": 0.5, "reflectance": 0.0,
    "metallic": 0.0, "texuniform": False, "texrepeat": (1.0, 1.0),
}  # fmt: skip
_ROLES = {
    "diffuse": "rgb", "opacity": "opacity", "occlusion": "occlusion", "roughness": "roughness", "metallic": "metallic",
    "normal": "normal", "emissive": "emissive",
}  # fmt: skip
_PACKED = ("occlusion", "roughness", "metallic")
_KEPT = ("specular", "shininess", "reflectance", "texuniform", "texrepeat")
_ROLE_WORDS = (
    "rgb", "occlusion", "roughness", "metallic", "normal", "opacity", "emissive", "rgba", "orm", "user",
)  # fmt: skip


def write_materials(draft: Draft) -> None:
    """Every material, with its images."""
    library = TextureLibrary(draft)
    library.restore_generated()
    for material in draft.asset.materials:
        _write_material(draft, library, material)
    _report_losses(draft)


def _write_material(draft: Draft, library: TextureLibrary, material: RenderMaterial) -> None:
    layers = _choose_layers(draft, library, material)
    diffuse = material.textures.get("diffuse")
    tinted = diffuse is not None and any(role in ("rgb", "rgba") for role in layers)
    rgba = diffuse.gain if tinted and diffuse else (*material.diffuse, material.opacity)
    glow = max(material.emissive) / max(material.diffuse) if any(material.diffuse) else max(material.emissive)
    kept = draft.keep(material, "material", *_KEPT)
    shininess = kept.get("shininess", min(max(1.0 - material.roughness, 0.0), 1.0))
    values: dict[str, Any] = {
        "name": draft.claim("material", material.name),
        "rgba": rgba,
        "emission": glow,
        "shininess": shininess,
        "metallic": material.metallic,
        "roughness": None if material.roughness == 1.0 - shininess else material.roughness,
        **kept,
    }
    if diffuse is not None and "texrepeat" not in kept:
        values["texrepeat"] = diffuse.scale
    plain = list(layers) == ["rgb"]
    if plain:
        values["texture"] = layers["rgb"]
    node = draft.add(draft.section("asset"), "material", values, MATERIAL_DEFAULTS)
    for role, texture in () if plain else layers.items():
        draft.add(node, "layer", {"role": role, "texture": texture})


def _choose_layers(draft: Draft, library: TextureLibrary, material: RenderMaterial) -> dict[str, str]:
    """Texture names by MuJoCo's role."""
    textures = dict(material.textures)
    layers: dict[str, str] = {}
    packed = [textures[name].file for name in _PACKED if name in textures]
    if len(packed) == len(_PACKED) and len(set(packed)) == 1:
        _put(layers, "orm", library.find(material, textures[_PACKED[0]]))
        textures = {name: texture for name, texture in textures.items() if name not in _PACKED}
    opacity = textures.get("opacity")
    whole = opacity is not None and "diffuse" in textures and opacity.file == textures["diffuse"].file
    for name, texture in textures.items():
        if name in _ROLES and not (whole and name == "opacity"):
            role = "rgba" if whole and name == "diffuse" else _ROLES[name]
            _put(layers, role, library.find(material, texture))
    for role in _ROLE_WORDS:
        kept = draft.solver.get(material, "material", f"texture_{role}")
        _put(layers, role, draft.name("texture", kept) if kept else None)
    return layers


def _put(layers: dict[str, str], role: str, name: str | None) -> None:
    if name:
        layers.setdefault(role, name)


def _report_losses(draft: Draft) -> None:
    materials = draft.asset.materials
    lost: tuple[tuple[str, list[RenderMaterial]], ...] = (
        ("the coat", [m for m in materials if m.clearcoat]),
        (
            "the placement of images",
            [m for m in materials if any(_is_placed(t) for t in m.textures.values())],
        ),
        ("an image input", [m for m in materials if set(m.textures) - set(_ROLES)]),
    )
    for what, found in lost:
        if found:
            draft.reporter.report(
                LOOK_LOST, found[0].source, what=what, count=len(found), first=found[0].name
            )


def _is_placed(texture: Texture) -> bool:
    turned = texture.rotation != 0.0 or any(texture.offset)
    return (
        turned or {texture.wrap_s, texture.wrap_t} - {"repeat", "useMetadata"} != set() or any(texture.bias)
    )
