# SPDX-License-Identifier: Apache-2.0
"""One URDF document while it is read: typed access to its elements, and what has been built so far.

Elements that came out of xacro carry the place they were written at in the attribute :data:`ORIGIN`
("number:line", a number of :attr:`UrdfReader.files`), so findings point into the xacro file, not into its
expansion.

Free-form Gazebo blocks are plain settings: the leaves of an element by their snake_case path (``horizontal_samples``,
``clip_near``); the element named like the kind of sensor and ``scan`` are left out of the path.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError
from simwright.core.gate import Gate
from simwright.core.math3d import HUGE, IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.formats.mesh import MESH_EXTENSIONS, MeshLibrary
from simwright.formats.resources import resolve_resource
from simwright.formats.xml import Element, XmlReader
from simwright.model.asset import Asset
from simwright.model.geometry import Mesh

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
                reason, advice = "it is no file", "name a mesh file"
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
_CONTAINERS = {"camera", "ray", "lidar", "scan", "imu", "contact", "force_torque", "gps", "navsat", "sonar"}
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
        inner = prefix if child.tag in _CONTAINERS and len(child) else f"{prefix}{snake_case(child.tag)}_"
        for attribute, value in child.attrib.items():
            if attribute not in ("name", ORIGIN):
                settings[f"{inner}{snake_case(str(attribute))}"] = read_value(str(value))
        if len(child):
            _collect_settings(child, inner, settings, depth + 1)
        elif (child.text or "").strip():
            settings[inner.rstrip("_")] = read_value(child.text.strip())


def snake_case(name: str) -> str:
    """``updateRate`` -> ``update_rate``."""
    return _LOWER_UPPER.sub("_", name).replace("-", "_").lower()


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
