# SPDX-License-Identifier: Apache-2.0
"""The schema registry as data: every extension, its classes and their properties (REP-0158 4.2).

What is told here is read from the schema.usda files themselves, through Sdf and without composition, so it
needs no plugin to be registered and works for a stranger's submission too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import ParseError, UnknownNameError
from simwright.core.files import MIB, check_readable
from simwright.usd.plugins import SCHEMAS
from simwright.usd.silence import read_text
from simwright.usd.text import LineMap, map_lines

MAX_SCHEMA_BYTES = 4 * MIB
"""Largest schema layer that is read; the schema of all of UsdGeom is a twentieth of it."""

INSTANCE = "__INSTANCE_NAME__"
"""What stands for the instance in the property names of a multiple-apply schema."""

_API_BASE = "/APISchemaBase"
_COMPLAINT = re.compile(r":(?P<line>\d+):\d+: (?P<reason>[^'\n]+)")


@dataclass(frozen=True, slots=True)
class SchemaProperty:
    """A property of a schema class.  ``type`` is the Sdf name ("float[]"), or "rel" for a relationship.

    ``default`` is None where the schema gives no fallback; arrays are tuples.  Names of a multiple-apply
    schema hold :data:`INSTANCE` where the instance name goes.
    """

    name: str
    type: str
    variability: str = "varying"
    default: Any = None
    allowed_tokens: tuple[str, ...] = ()
    doc: str = ""
    line: int | None = None

    @property
    def is_relationship(self) -> bool:
        """Is it a relationship and not an attribute?"""
        return self.type == "rel"


@dataclass(frozen=True, slots=True)
class SchemaClass:
    """A schema class.  ``kind`` is singleApply, multipleApply, nonApplied, or "typed" for no API schema."""

    name: str
    cpp_name: str
    kind: str
    doc: str = ""
    builtins: tuple[str, ...] = ()
    can_only_apply_to: tuple[str, ...] = ()
    properties: tuple[SchemaProperty, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Extension:
    """One folder of the registry.  ``name`` is the folder's, ``library`` the plugin's.

    ``line`` is where the schema layer describes the library (its GLOBAL prim).
    """

    name: str
    library: str
    prefix: str
    codeless: bool
    summary: str
    folder: Path
    classes: tuple[SchemaClass, ...] = ()
    line: int | None = None

    @property
    def family(self) -> str:
        """core, control, physics, sensor or other, as the class prefixes tell."""
        return classify_schema(self.classes[0].name) if self.classes else "other"


CORE_CLASSES = frozenset({"RosContextAPI", "RosTopicAPI", "RosServiceAPI", "RosActionAPI", "RosFrameAPI"})
"""The classes of REP-0158 section 2: the only ones that carry transport metadata."""

_FAMILIES = (("RosControl", "control"), ("ExtendedPhysics", "physics"), ("Sensor", "sensor"), ("Ros", "ros"))


def classify_schema(name: str) -> str:
    """The family a schema class name belongs to."""
    if name in CORE_CLASSES:
        return "core"
    return next((family for prefix, family in _FAMILIES if name.startswith(prefix)), "other")


RATIFIED: dict[str, str] = {}
"""Extension classes that core OpenUSD has ratified -> their core class (REP-0158 4.2.1).

None so far (OpenUSD 26.11).  Properties keep their names but for the prefix: ``ext_physics:`` becomes ``physics:``.
"""


def find_core_name(name: str) -> str:
    """What a property of a ratified extension is called in core; empty where it has no place there."""
    return name.removeprefix("ext_") if name.startswith("ext_physics:") else ""


@cache
def list_extensions() -> tuple[Extension, ...]:
    """Every extension we ship: the core first, the others by name."""
    found = [read_extension(file.parent) for file in SCHEMAS.glob("*/schema.usda")]
    return tuple(sorted(found, key=lambda extension: (extension.family != "core", extension.name)))


def list_classes() -> Iterator[tuple[Extension, SchemaClass]]:
    """Every schema class we ship, with its extension."""
    for extension in list_extensions():
        for schema in extension.classes:
            yield extension, schema


def find_extension(name: str) -> Extension:
    """An extension by folder, library or class name; an unknown name lists the known ones."""
    for extension in list_extensions():
        if name in (extension.name, extension.library) or any(c.name == name for c in extension.classes):
            return extension
    known = [e.name for e in list_extensions()] + [schema.name for _, schema in list_classes()]
    raise UnknownNameError("schema extension", name, known)


def find_class(name: str) -> SchemaClass:
    """A schema class by name; an unknown name lists the known ones."""
    for _, schema in list_classes():
        if schema.name == name:
            return schema
    raise UnknownNameError("schema class", name, [schema.name for _, schema in list_classes()])


def read_extension(folder: Path) -> Extension:
    """Read ``folder/schema.usda``; a ParseError if it is not a USD layer."""
    file = folder / "schema.usda"
    layer = open_layer(file)
    lines = map_lines(file.read_text(encoding="utf-8", errors="replace"))
    library = dict(layer.GetPrimAtPath("/GLOBAL").customData) if layer.GetPrimAtPath("/GLOBAL") else {}
    prefix = str(library.get("libraryPrefix", ""))
    return Extension(
        name=folder.resolve().name,
        library=str(library.get("libraryName", "")),
        prefix=prefix,
        codeless=bool(library.get("skipCodeGeneration", False)),
        summary=layer.comment or layer.documentation,
        folder=folder,
        classes=read_classes(layer, prefix, lines),
        line=lines.find("/GLOBAL"),
    )


def open_layer(file: Path) -> Any:
    """The ``Sdf.Layer`` of a file, detached from OpenUSD's layer cache; a ParseError if it is not one."""
    from pxr import Sdf, Tf

    check_readable(file, MAX_SCHEMA_BYTES)
    try:
        # not the cached layer of that path: the file may have been written again since
        layer, complaint = Sdf.Layer.OpenAsAnonymous(str(file)), ""
    except Tf.ErrorException as error:
        layer, complaint = None, read_text(error.__str__)
    if layer is None:
        found = _COMPLAINT.search(complaint)
        raise ParseError(
            "is not a valid USD layer" + (f": {found['reason'].strip()}" if found else ""),
            hint="usdcat shows the same complaint; correct the text there",
            where=Where(str(file), line=int(found["line"]) if found else None),
        )
    return layer


def read_classes(layer: Any, prefix: str = "", lines: LineMap | None = None) -> tuple[SchemaClass, ...]:
    """The class prims of a schema layer (or of a generated one), in file order."""
    from pxr import Sdf

    lines = lines or LineMap()
    return tuple(
        _read_class(spec, prefix, lines) for spec in layer.rootPrims if spec.specifier == Sdf.SpecifierClass
    )


def _read_class(spec: Any, prefix: str, lines: LineMap) -> SchemaClass:
    data = dict(spec.customData)
    bases = [str(path) for path in spec.inheritPathList.GetAddedOrExplicitItems()]
    # generatedSchema.usda has no inherits: there a class without a base is an API schema as well
    is_api = not spec.typeName and (_API_BASE in bases or not bases)
    name = str(spec.name)
    # the source of a multiple-apply schema leaves out what usdGenSchema puts in front of each property
    lead = f"{data['propertyNamespacePrefix']}:{INSTANCE}:" if "propertyNamespacePrefix" in data else ""
    return SchemaClass(
        name=name,
        cpp_name=prefix + str(data.get("className", name)),
        kind=str(data.get("apiSchemaType", "singleApply")) if is_api else "typed",
        doc=inspect.cleandoc(spec.documentation),
        builtins=_list_items(spec, "apiSchemas"),
        can_only_apply_to=tuple(str(item) for item in data.get("apiSchemaCanOnlyApplyTo", ())),
        properties=tuple(_read_property(prop, lead, lines) for prop in spec.properties),
        line=lines.find(str(spec.path)),
    )


def _read_property(spec: Any, lead: str, lines: LineMap) -> SchemaProperty:
    from pxr import Sdf

    name, doc, line = (
        lead + spec.name,
        inspect.cleandoc(spec.documentation),
        lines.find(str(spec.owner.path), spec.name),
    )
    if isinstance(spec, Sdf.RelationshipSpec):
        return SchemaProperty(name, "rel", doc=doc, line=line)
    return SchemaProperty(
        name=name,
        type=str(spec.typeName),
        variability="uniform" if spec.variability == Sdf.VariabilityUniform else "varying",
        default=_to_python(spec.default),
        allowed_tokens=tuple(str(token) for token in spec.allowedTokens or ()),
        doc=doc,
        line=line,
    )


def _to_python(value: Any) -> Any:
    """A plain value: OpenUSD's arrays become tuples, its vectors too, an asset path its text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "path"):
        return value.path
    try:
        return tuple(_to_python(item) for item in value)
    except TypeError:
        return str(value)


def _list_items(spec: Any, key: str) -> tuple[str, ...]:
    """The items of a list operation, whichever way they are added."""
    operation = spec.GetInfo(key)
    return tuple(str(item) for item in operation.GetAddedOrExplicitItems()) if operation else ()
