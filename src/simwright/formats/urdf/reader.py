# SPDX-License-Identifier: Apache-2.0
"""One URDF document while it is read: typed access to its elements, its materials, and what has been built so far.

Elements that came out of xacro carry the place they were written at in the attribute :data:`ORIGIN`
("number:line", a number of :attr:`UrdfReader.files`), so findings point into the xacro file, not into its
expansion.

Free-form Gazebo blocks are plain settings: the leaves of an element by their snake_case path
(``scan_horizontal_samples``, ``clip_near``); the element named like the kind of sensor is left out of the path.

A visual names a ``<material>`` that is defined anywhere in the file, or defines one itself.  The same name with two
definitions gives two materials, each visual keeping what it says.  Colours are taken as written.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError
from simwright.core.gate import Gate
from simwright.core.math3d import HUGE, IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.formats.mesh import MESH_EXTENSIONS, MeshLibrary
from simwright.formats.resources import resolve_resource
from simwright.formats.xml import Element, XmlReader, spell
from simwright.model.asset import Asset
from simwright.model.geometry import Mesh
from simwright.model.material import RenderMaterial, Texture

ORIGIN = "simwright-origin"
"""Attribute that holds where an element was written, put there by ``xacro``."""

MISSING_ATTRIBUTE = declare(
    "urdf-missing-attribute",
    Level.ERROR,
    "<{tag}> has no {attribute!r}",
    hint="{consequence}",
    doc="An attribute that URDF requires is not there.",
)
DUPLICATE_NAME = declare(
    "urdf-duplicate-name",
    Level.ERROR,
    "{what} {name!r} is defined twice",
    hint="{consequence}; give it a name of its own",
    doc="Two links, joints or transmissions have the same name.",
)
MESH_MISSING = declare(
    "mesh-missing",
    Level.ERROR,
    "mesh {uri!r} of link {link!r} cannot be used: {reason}",
    hint="{advice}",
    doc="A shape names a mesh file that cannot be found or is of no known format; the shape is left out.",
)
TEXTURE_MISSING = declare(
    "texture-missing",
    Level.WARNING,
    "texture {uri!r} of material {material!r} cannot be used: {reason}",
    hint="{advice}",
    doc="A material names an image that cannot be found; the material keeps its colour.",
)


class UrdfReader(XmlReader):
    """A URDF reader, the asset that grows from it, and the services its readers share."""

    def __init__(
        self, path: Path, root: Element, gate: Gate, reporter: Reporter, files: Sequence[str] = ()
    ) -> None:
        super().__init__(str(path), reporter)
        self.root = root
        self.files = list(files)
        # relative addresses are relative to the file itself, not to a link to it
        self.base = path.resolve().parent
        self.gate = gate
        self.meshes = MeshLibrary(gate, reporter)
        self.asset = Asset(root.get("name") or path.name.split(".")[0] or "robot")
        self.shape_names = NameScope()

    def where(self, element: Element) -> Where:
        """The file and line an element was written at."""
        number, colon, line = (element.get(ORIGIN) or "").partition(":")
        if colon:
            return Where(self.files[int(number)], int(line))
        # the lines of expanded text mean nothing to anybody
        return Where(self.file) if self.files else Where(self.file, element.sourceline)

    def named(self, element: Element, consequence: str) -> str:
        """The ``name`` of an element; its absence is reported."""
        return self.required(element, "name", consequence)

    def required(self, element: Element, attribute: str, consequence: str) -> str:
        """A non-empty attribute; its absence is reported and gives an empty text."""
        value = str(element.get(attribute) or "").strip()
        if not value:
            self.reporter.report(
                MISSING_ATTRIBUTE,
                self.where(element),
                tag=element.tag,
                attribute=attribute,
                consequence=consequence,
            )
        return value

    def origin(self, element: Element) -> Pose:
        """The ``<origin xyz rpy>`` (or ``quat_xyzw``) child of an element, identity where there is none."""
        child = element.find("origin")
        if child is None:
            return IDENTITY
        xyz = self.vector(child, "xyz", 3, (0.0, 0.0, 0.0))
        # an extension of URDF 1.1; scalar last, where the model has it first
        if child.get("quat_xyzw"):
            x, y, z, w = self.vector(child, "quat_xyzw", 4, (0.0, 0.0, 0.0, 1.0))
            return Pose.of(xyz, (w, x, y, z))
        return Pose.from_rpy(xyz, self.vector(child, "rpy", 3, (0.0, 0.0, 0.0)))

    def bound(self, element: Element, attribute: str) -> float | None:
        """A number that may be infinite ("inf", or beyond every use: 1.8e308); None if it is absent or wrong."""
        # ".inf" is how YAML, and xacro with it, writes infinity
        text = (element.get(attribute) or "").strip().lower().replace(".inf", "inf")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        return math.copysign(math.inf, value) if abs(value) > HUGE else self.optional(element, attribute)

    def resolve(self, uri: str, where: Where) -> Path:
        """The file of an address in this reader."""
        return resolve_resource(uri, self.base, self.gate, where)

    def mesh(self, element: Element, uri: str, link: str) -> Mesh | None:
        """The lazy mesh of an address; a missing or foreign file is reported."""
        where = self.where(element)
        reason, advice = "", ""
        try:
            path = self.resolve(uri, where)
            if not path.is_file():
                reason, advice = "it is not a file", "name a mesh file"
            elif path.suffix.lower() not in MESH_EXTENSIONS:
                reason = f"files ending in {path.suffix!r} are not supported"
                advice = f"convert it to one of {' '.join(MESH_EXTENSIONS)}"
        except InputError as error:
            reason, advice = error.message, error.hint
        if reason:
            self.reporter.report(MESH_MISSING, where, uri=uri, link=link, reason=reason, advice=advice)
            return None
        return self.meshes.mesh(path, where)


def format_xml(element: Element) -> str:
    """An element as text, without the marks of this reader."""
    # a copy, because marks of origin are needed further on
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    for each in copy.iter():
        each.attrib.pop(ORIGIN, "")
    return str(etree.tostring(copy, encoding="unicode"))


# elements whose name says only what kind of sensor it is
_CONTAINERS = {"camera", "ray", "lidar", "imu", "contact", "force_torque", "gps", "navsat", "sonar"}
_LOWER_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# far deeper than SDFormat nests: a bound for damaged files
_MAX_DEPTH = 16


def read_settings(element: Element) -> dict[str, Any]:
    """The leaves of an element by their path; plugins, poses and containers are left out."""
    settings: dict[str, Any] = {}
    _collect_settings(element, "", settings, 0)
    return settings


def _collect_settings(element: Element, prefix: str, settings: dict[str, Any], depth: int) -> None:
    for child in element:
        if not isinstance(child.tag, str) or child.tag in ("plugin", "pose") or depth > _MAX_DEPTH:
            continue
        # what a prefix is declared as does not count, and is no name
        inner = prefix if child.tag in _CONTAINERS and len(child) else f"{prefix}{snake_case(spell(child))}_"
        for attribute, value in child.attrib.items():
            if attribute not in ("name", ORIGIN):
                word = snake_case(str(attribute).rpartition("}")[2])
                settings[f"{inner}{word}"] = read_value(str(value))
        if len(child):
            _collect_settings(child, inner, settings, depth + 1)
        elif (child.text or "").strip():
            settings[inner.rstrip("_")] = read_value(child.text.strip())


def snake_case(name: str) -> str:
    """``updateRate`` -> ``update_rate``."""
    return _LOWER_UPPER.sub("_", name).replace("-", "_").replace(":", "_").lower()


def read_value(text: str) -> Any:
    """A number or truth value where the text is one, else the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = float(text)
    except ValueError:
        return text
    if not math.isfinite(value):
        return text
    # "1.0" stays a float: it is written again as it was
    return int(value) if value.is_integer() and re.fullmatch(r"[+-]?\d+", text) else value


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
