# SPDX-License-Identifier: Apache-2.0
"""Materials: UsdPreviewSurface as metallic-roughness and the Khronos extensions (REP-0158 3.1).

A material is made for what wears it: which texture coordinates there are, whether both sides are seen, whether the
vertices bring the colour.  Equal results are one material.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.errors import InputError
from simwright.formats.gltf.messages import INPUT_LOST, TEXTURE_LEFT_OUT, WRAP_CHANGED
from simwright.formats.gltf.textures import Textures, is_sampled_alike
from simwright.formats.mesh import name_image
from simwright.model.material import RenderMaterial, Rgb, Texture

DEFAULT = RenderMaterial("default", diffuse=(0.5, 0.5, 0.5))
"""The look of what has none."""
_DIELECTRIC = 0.04
"""Reflectance of a surface of refractive index 1.5, which KHR_materials_specular is a multiple of."""
_USED = frozenset(
    {"diffuse", "opacity", "emissive", "metallic", "roughness", "normal", "occlusion", "specular", "clearcoat",
     "clearcoat_roughness"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MaterialUse:
    """What a material is used on: names of texture coordinates in order, whether both sides show, vertex colours."""

    uv_names: tuple[str, ...] = ()
    double_sided: bool = False
    colored: bool = False


class Materials:
    """The materials of the document."""

    def __init__(self, textures: Textures, reporter: Reporter) -> None:
        self.rows: list[dict[str, Any]] = []
        self.extensions: set[str] = set()
        self._textures = textures
        self._reporter = reporter
        self._known: dict[tuple[int, MaterialUse], int] = {}
        self._refused: set[tuple[str, str]] = set()
        self._kept: list[RenderMaterial] = []  # their ids are keys, so they must live
        self._usable: dict[int, dict[str, Texture]] = {}

    def find(self, material: RenderMaterial, use: MaterialUse) -> int:
        """The number of a material as it is needed there; made when it is first asked for."""
        key = (id(material), use)
        if key not in self._known:
            self._kept.append(material)
            row = _MaterialBuilder(self, self._textures, material, use).build()
            if row not in self.rows:
                self.rows.append(row)
            self._known[key] = self.rows.index(row)
        return self._known[key]

    def list_textures(self, material: RenderMaterial) -> dict[str, Texture]:
        """Images of a material that can be used; the others are reported once."""
        if id(material) not in self._usable:
            self._kept.append(material)
            self._usable[id(material)] = self._check_textures(material)
        return self._usable[id(material)]

    def _check_textures(self, material: RenderMaterial) -> dict[str, Texture]:
        usable = {}
        for key, texture in material.textures.items():
            # UsdPreviewSurface reads the specular colour only in the specular workflow.
            if key not in _USED or (key == "specular" and material.specular is None):
                what = (
                    f"the image of {key}"
                    if key not in _USED
                    else "the specular colour, which it does not use,"
                )
                self.say_lost(material, what)
                continue
            try:
                self._textures.pictures.read(texture.file)
                # Decoded now, so that a broken image is reported here and not in the middle of baking.
                if not self._textures.pictures.can_copy(texture.file):
                    self._textures.pictures.get_pixels(texture.file)
            except InputError as error:
                self._refuse(material, texture, error.message)
                continue
            usable[key] = texture
        if any("black" in (t.wrap_s, t.wrap_t) for t in usable.values()):
            self._reporter.report(WRAP_CHANGED, material.source, name=material.name)
        return usable

    def say_lost(self, material: RenderMaterial, what: str) -> None:
        """Report, once, what of a material is not written."""
        if (material.name, what) not in self._refused:
            self._refused.add((material.name, what))
            self._reporter.report(INPUT_LOST, material.source, what=what, name=material.name)

    def _refuse(self, material: RenderMaterial, texture: Texture, why: str) -> None:
        key = (material.name, texture.file)
        if key not in self._refused:
            self._refused.add(key)
            file = (
                name_image(texture.file) if texture.file.startswith("data:") else PurePath(texture.file).name
            )
            self._reporter.report(TEXTURE_LEFT_OUT, material.source, file=file, name=material.name, why=why)


class _MaterialBuilder:
    """One material row."""

    def __init__(
        self, owner: Materials, textures: Textures, material: RenderMaterial, use: MaterialUse
    ) -> None:
        self._owner = owner
        self._textures = textures
        self._material = material
        self._use = use
        # An image without its texture coordinates is left out; the mesh library reports it.
        usable = owner.list_textures(material)
        self._images = {key: t for key, t in usable.items() if t.uv_set in use.uv_names}
        self._extensions: dict[str, Any] = {}

    def build(self) -> dict[str, Any]:
        """The row, without what is glTF's default."""
        material = self._material
        row: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": self._build_core()}
        self._add_emission(row)
        if "normal" in self._images:
            image, strength = self._textures.place_normal(self._images["normal"])
            row["normalTexture"] = self._refer(image, "normal")
            if strength != 1.0:
                row["normalTexture"]["scale"] = strength
        if "occlusion" in self._images:
            image, _ = self._place_packed(("occlusion",))
            row["occlusionTexture"] = self._refer(image, "occlusion")
        self._add_alpha(row)
        if material.double_sided or self._use.double_sided:
            row["doubleSided"] = True
        self._add_clearcoat()
        self._add_reflection()
        if self._extensions:
            row["extensions"] = self._extensions
            self._owner.extensions.update(self._extensions)
        return row

    def _refer(self, image: int, key: str) -> dict[str, Any]:
        return self._textures.refer(image, self._images[key], self._use.uv_names)

    def _build_core(self) -> dict[str, Any]:
        material = self._material
        color, alpha = material.diffuse, material.opacity
        core: dict[str, Any] = {}
        opacity = self._images.get("opacity")
        diffuse = self._images.get("diffuse")
        # glTF multiplies vertex colours with the factor, which would tint them.
        if self._use.colored:
            color = (1.0, 1.0, 1.0)
        if opacity is not None:
            alpha = 1.0
        if diffuse is not None:
            together = opacity if opacity is None or is_sampled_alike(opacity, diffuse) else None
            if opacity is not None and together is None:
                self._say_lost("an opacity image that is sampled unlike the colour image")
            # An alpha channel nobody asked for would be blended; it is baked away then.
            has_alpha = self._has_alpha()
            image, shaped = self._textures.place_color(diffuse, opacity=together, keep_alpha=not has_alpha)
            core["baseColorTexture"] = self._refer(image, "diffuse")
            color = (1.0, 1.0, 1.0) if shaped else _first3(diffuse.gain)
        elif opacity is not None:
            core["baseColorTexture"] = self._refer(self._bake_alpha(opacity), "opacity")
        factor = [*_clamp(color), min(max(alpha, 0.0), 1.0)]
        if factor != [1.0, 1.0, 1.0, 1.0]:
            core["baseColorFactor"] = factor
        self._add_metal(core)
        return core

    def _bake_alpha(self, opacity: Texture) -> int:
        """White of varying opacity."""
        textures = self._textures
        return textures.bake(
            ("alpha", opacity),
            opacity.file,
            lambda: [None, None, None, textures.read_scalar(opacity, shaped=True)],
        )

    def _add_metal(self, core: dict[str, Any]) -> None:
        material = self._material
        # The specular workflow has no metalness.
        metallic = 0.0 if material.specular is not None else min(max(material.metallic, 0.0), 1.0)
        roughness = min(max(material.roughness, 0.0), 1.0)
        keys = ["roughness"] if material.specular is not None else ["metallic", "roughness"]
        keys = [key for key in keys if key in self._images]
        if keys:
            image, factors = self._place_packed(tuple(keys))
            core["metallicRoughnessTexture"] = self._refer(image, keys[0])
            metallic, roughness = factors.get("b", metallic), factors.get("g", roughness)
        if metallic != 1.0:
            core["metallicFactor"] = metallic
        if roughness != 1.0:
            core["roughnessFactor"] = roughness

    def _place_packed(self, keys: tuple[str, ...]) -> tuple[int, dict[str, float]]:
        """Occlusion, roughness and metallic in one image where they are sampled alike, else what is asked for."""
        letters = {"occlusion": "r", "roughness": "g", "metallic": "b"}
        lead = self._images[keys[0]]
        wanted = [key for key in letters if key in self._images]
        if self._material.specular is not None and "metallic" in wanted:
            wanted.remove("metallic")
        # One image can have one sampler and one transform only.
        alike = [key for key in wanted if is_sampled_alike(self._images[key], lead)]
        unlike = [key for key in keys if key not in alike]
        if unlike:
            self._say_lost(f"the image of {unlike[0]}, which is sampled unlike that of {keys[0]},")
        return self._textures.place_scalars({letters[key]: self._images[key] for key in alike}, exact="r")

    def _add_emission(self, row: dict[str, Any]) -> None:
        factor = self._material.emissive
        texture = self._images.get("emissive")
        if texture is not None:
            # Factors end at 1; what is brighter goes into KHR_materials_emissive_strength.
            strength = max(texture.gain[:3])
            scaled = texture
            if strength > 1.0 and not any(texture.bias[:3]):
                gain = tuple(value / strength for value in texture.gain[:3])
                scaled = _with_gain(texture, gain)
            image, shaped = self._textures.place_color(scaled, opacity=None, keep_alpha=True)
            row["emissiveTexture"] = self._refer(image, "emissive")
            factor = (1.0, 1.0, 1.0) if shaped else _first3(texture.gain)
        factor = _at_least_zero(factor)
        strength = max(factor)
        if strength > 1.0:
            factor = _clamp((factor[0] / strength, factor[1] / strength, factor[2] / strength))
            self._extensions["KHR_materials_emissive_strength"] = {"emissiveStrength": strength}
        if any(factor):
            row["emissiveFactor"] = list(factor)

    def _has_alpha(self) -> bool:
        return self._material.opacity < 1.0 or "opacity" in self._images

    def _add_alpha(self, row: dict[str, Any]) -> None:
        if not self._has_alpha():
            return
        threshold = self._material.opacity_threshold
        # UsdPreviewSurface cuts out where there is a threshold, and blends elsewhere.
        row["alphaMode"] = "MASK" if threshold > 0.0 else "BLEND"
        if threshold > 0.0 and threshold != 0.5:
            row["alphaCutoff"] = threshold

    def _add_clearcoat(self) -> None:
        material = self._material
        coat: dict[str, Any] = {}
        if material.clearcoat <= 0.0 and "clearcoat" not in self._images:
            return
        for key, letter, factor, value in (
            ("clearcoat", "r", "clearcoatFactor", material.clearcoat),
            ("clearcoat_roughness", "g", "clearcoatRoughnessFactor", material.clearcoat_roughness),
        ):
            number = min(max(value, 0.0), 1.0)
            if key in self._images:
                image, factors = self._textures.place_scalars({letter: self._images[key]})
                coat[factor.replace("Factor", "Texture")] = self._refer(image, key)
                number = factors[letter]
            if number:
                coat[factor] = number
        self._extensions["KHR_materials_clearcoat"] = coat

    def _add_reflection(self) -> None:
        """The specular workflow gives the reflectance, the metallic one the refractive index."""
        material = self._material
        if material.specular is None:
            if material.ior != 1.5:
                # KHR_materials_ior takes 0 or 1 and more.
                if material.ior >= 1.0:
                    self._extensions["KHR_materials_ior"] = {"ior": material.ior}
                else:
                    self._say_lost(f"the refractive index {material.ior:g}")
            return
        color = material.specular
        extension: dict[str, Any] = {}
        texture = self._images.get("specular")
        if texture is not None:
            image, shaped = self._textures.place_color(texture, opacity=None, keep_alpha=True)
            extension["specularColorTexture"] = self._refer(image, "specular")
            color = (1.0, 1.0, 1.0) if shaped else _first3(texture.gain)
        extension["specularColorFactor"] = [value / _DIELECTRIC for value in _at_least_zero(color)]
        self._extensions["KHR_materials_specular"] = extension

    def _say_lost(self, what: str) -> None:
        self._owner.say_lost(self._material, what)


def _first3(values: tuple[float, ...]) -> Rgb:
    red, green, blue = values[:3]
    return red, green, blue


def _with_gain(texture: Texture, gain: tuple[float, ...]) -> Texture:
    return dataclasses.replace(texture, gain=(gain[0], gain[1], gain[2], texture.gain[3]))


def _clamp(color: Rgb) -> Rgb:
    red, green, blue = (min(max(float(value), 0.0), 1.0) for value in color)
    return red, green, blue


def _at_least_zero(color: Rgb) -> Rgb:
    red, green, blue = (max(float(value), 0.0) for value in color)
    return red, green, blue
