# SPDX-License-Identifier: Apache-2.0
"""``<material>``: colours and textures, defined for the robot or inside a visual.

A visual names a material that is defined anywhere in the file, or defines one itself.  The same name with
two definitions gives two materials, each visual keeping what it says.  Colours are taken as written.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.errors import InputError
from simwright.core.names import NameScope
from simwright.formats.urdf.reader import TEXTURE_MISSING, UrdfReader
from simwright.formats.xml import Element
from simwright.model.material import RenderMaterial, Texture

MATERIAL_UNDEFINED = declare(
    "urdf-material-undefined",
    Level.WARNING,
    "material {material!r} of link {link!r} is defined nowhere",
    hint="give it a <color> or a <texture>",
    doc="A visual names a material that no part of the file defines.",
)
MATERIAL_CONFLICT = declare(
    "urdf-material-conflict",
    Level.WARNING,
    "material {material!r} is defined twice, differently",
    hint="this one is read as {new!r}; give it a name of its own",
    doc="One material name has two definitions; other tools use the first one for both.",
)
COLOR_RANGE = declare(
    "urdf-color-range",
    Level.WARNING,
    "material {material!r} has rgba {text!r}",
    hint="components lie between 0 and 1; they are clamped",
    doc="A colour component is below 0 or above 1, as where 0..255 was meant.",
)

Color = tuple[float, float, float, float]


class MaterialTable:
    """The materials of a reader by name."""

    def __init__(self, reader: UrdfReader) -> None:
        self._reader = reader
        self._names = NameScope()
        self._known: dict[str, list[RenderMaterial]] = {}
        self._undefined: set[str] = set()
        # read twice, a wrong colour would be reported twice
        self._read_before: dict[Element, RenderMaterial | None] = {}

    def read_global(self) -> None:
        """Definitions of the robot, then named definitions inside visuals."""
        reader = self._reader
        for element in reader.children(reader.root, "material"):
            name = reader.named(element, "the material is left out")
            if name:
                self._define(element, name)
        # a visual may use what another one further down defines
        for element in reader.root.iterfind("link/visual/material"):
            name = str(element.get("name") or "").strip()
            if name:
                self._define(element, name)

    def of_visual(self, visual: Element, link: str) -> tuple[str, Color | None]:
        """Name of the material of a visual and its colour; empty and None where it has none."""
        element = visual.find("material")
        if element is None:
            return "", None
        name = str(element.get("name") or "").strip()
        # a definition inside the visual wins over the one of the robot
        wanted = self._read(element, name)
        candidates = self._known.get(name, [])
        if wanted is None:
            if not candidates:
                self._report_undefined(element, name, link)
                return "", None
            found = candidates[0]
        else:
            found = next((m for m in candidates if _same(m, wanted)), None) or self._define(
                element, name or f"{link}_material"
            )
        return found.name, (*found.diffuse, found.opacity)

    def _report_undefined(self, element: Element, name: str, link: str) -> None:
        if name not in self._undefined:
            self._undefined.add(name)
            where = self._reader.where(element)
            self._reader.reporter.report(MATERIAL_UNDEFINED, where, material=name, link=link)

    def _define(self, element: Element, name: str) -> RenderMaterial:
        material = self._read(element, name)
        known = self._known.setdefault(name, [])
        if material is None:
            return known[0] if known else RenderMaterial(name)
        same = next((m for m in known if _same(m, material)), None)
        if same is not None:
            return same
        unique = self._names.claim(name)
        # ROS tools would show the first definition for both
        if known:
            where = self._reader.where(element)
            self._reader.reporter.report(MATERIAL_CONFLICT, where, material=name, new=unique)
        material.name = unique
        known.append(material)
        self._reader.asset.materials.append(material)
        return material

    def _read(self, element: Element, name: str) -> RenderMaterial | None:
        """The definition an element holds, read once; None if it only names a material."""
        if element not in self._read_before:
            self._read_before[element] = self._parse(element, name)
        return self._read_before[element]

    def _parse(self, element: Element, name: str) -> RenderMaterial | None:
        color, texture = element.find("color"), element.find("texture")
        if color is None and (texture is None or not texture.get("filename")):
            return None
        # white, so that a texture shows its own colours
        material = RenderMaterial(name, diffuse=(1.0, 1.0, 1.0), source=self._reader.where(element))
        if color is not None:
            red, green, blue, alpha = self._read_color(color, name)
            material.diffuse, material.opacity = (red, green, blue), alpha
        if texture is not None and texture.get("filename"):
            self._read_texture(material, texture)
        return material

    def _read_color(self, element: Element, name: str) -> Color:
        reader = self._reader
        text = element.get("rgba") or ""
        # some exporters leave the alpha out
        width = 3 if len(text.split()) == 3 else 4
        default = (0.7, 0.7, 0.7, 1.0)[:width]
        rgba = reader.vector(element, "rgba", width, default)
        clamped = np.clip(rgba, 0.0, 1.0)
        if np.any(clamped != rgba):
            reader.reporter.report(COLOR_RANGE, reader.where(element), material=name, text=text)
        red, green, blue, alpha = (*clamped.tolist(), 1.0)[:4]
        return red, green, blue, alpha

    def _read_texture(self, material: RenderMaterial, element: Element) -> None:
        uri, where = element.get("filename"), self._reader.where(element)
        try:
            path = self._reader.resolve(uri, where)
        except InputError as error:
            self._reader.reporter.report(
                TEXTURE_MISSING,
                where,
                uri=uri,
                material=material.name,
                reason=error.message,
                advice=error.hint,
            )
            return
        material.textures["diffuse"] = Texture(str(path))


def _same(a: RenderMaterial, b: RenderMaterial) -> bool:
    """The same look, whatever name and place."""
    return a == dataclasses.replace(b, name=a.name, source=a.source)
