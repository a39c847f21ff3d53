# SPDX-License-Identifier: Apache-2.0
"""``<material>`` elements.

A visual has one ``<material>``; what has a look for each set of faces keeps them in its mesh file.  Colours are those
of the model: as they appear on a screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from simwright.formats.parts.images import ImageFiles
from simwright.formats.urdf.writer.draft import Draft
from simwright.formats.urdf.writer.numbers import format_numbers, tidy
from simwright.formats.xml import Element
from simwright.model.asset import Shape
from simwright.model.geometry import Mesh
from simwright.model.material import RenderMaterial

_SINGLE = 3e-8


class Palette:
    """``<material>`` of visuals: named ones are defined once, at the robot."""

    def __init__(self, draft: Draft, images: ImageFiles) -> None:
        self._draft = draft
        self._images = images
        self._materials = {material.name: material for material in draft.asset.materials}
        self._colors: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}

    def define(self) -> None:
        """The robot's materials, when its meshes are written: those that visuals have, and those that nothing has."""
        shapes = self._draft.asset.shapes
        own = {shape.material for shape in shapes}
        meshes = {
            id(s.geometry): s.geometry
            for s in shapes
            if isinstance(s.geometry, Mesh) and s.geometry.is_loaded
        }
        in_meshes = {subset.material for mesh in meshes.values() for subset in mesh.data.subsets}
        for name, material in self._materials.items():
            if name in own or name not in in_meshes:
                node = etree.SubElement(self._draft.root, "material", {"name": self._name(name)})
                self._describe(node, (*material.diffuse, material.opacity), material)

    def _name(self, material: str) -> str:
        if material not in self._names:
            self._names[material] = self._draft.claim("material", material)
        return self._names[material]

    def write(self, visual: Element, shape: Shape) -> None:
        """The look of a visual: its material, in its own colour where it has one."""
        material = self._materials.get(shape.material)
        color = shape.color
        if material is not None and (
            color is None or _is_close(color, (*material.diffuse, material.opacity))
        ):
            etree.SubElement(visual, "material", {"name": self._name(material.name)})
        elif color is not None:
            key = (shape.material, format_numbers(self._shorten(color)))
            if key not in self._colors:
                word = shape.material or f"{shape.name}_color"
                self._colors[key] = self._draft.claim("material", f"{word}_tint" if shape.material else word)
            node = etree.SubElement(visual, "material", {"name": self._colors[key]})
            self._describe(node, color, material)

    def _shorten(self, color: Sequence[float]) -> list[float]:
        """A colour without the noise of the single precision that OpenUSD keeps it in."""
        if self._draft.asset.provenance.format != "usd":
            return tidy(color)
        return [short if abs((short := round(v, 6)) - v) < _SINGLE else v for v in color]

    def _describe(
        self, node: Element, color: tuple[float, float, float, float], material: RenderMaterial | None
    ) -> None:
        image = ""
        if material is not None and "diffuse" in material.textures:
            image = self._images.take(material.textures["diffuse"].file, material.name)
        if not image or any(value != 1.0 for value in color):
            etree.SubElement(node, "color", {"rgba": format_numbers(self._shorten(color))})
        if image:
            etree.SubElement(node, "texture", {"filename": self._draft.locate(image)})


def _is_close(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(abs(x - y) < 1e-6 for x, y in zip(a, b, strict=True))
