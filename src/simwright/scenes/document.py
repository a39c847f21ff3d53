# SPDX-License-Identifier: Apache-2.0
"""A scene file as a validated document, schema version 1, and the JSON Schema that is made from it.

``read_scene`` gives a :class:`SceneFile`: the validated :class:`SceneDocument`, and the text's tree, which knows the
place of every value.  ``compat="sap"`` reads as SAP Warp does: unknown keys are left out silently, numbers stay as
written.

The schema is published as ``scene.schema.json`` beside this module, for editors to use.  What the
loader takes in several spellings (aliases, ``identity``, plain strings for sources, null for "not said") is in it; what
only reading can tell is not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from simwright.core.diag import NOWHERE, Reporter, Where
from simwright.core.documents.expressions import NUMBER_SCHEMA
from simwright.core.documents.read import (
    DEFAULT_LIMITS,
    DocumentLimits,
    Syntax,
    parse_document,
    read_document,
)
from simwright.core.documents.record import Record, refuse
from simwright.core.documents.tree import Document, Step
from simwright.core.documents.validate import validate_document
from simwright.core.errors import UsageError
from simwright.scenes.builder_config import ALIASES
from simwright.scenes.document_assets import SceneAsset
from simwright.scenes.document_mechanics import InitialPosition, InlineArticulation, InlineBody, InlineJoint
from simwright.scenes.document_settings import (
    BuilderSettings,
    ControlSource,
    Ground,
    Replicate,
    SimulationSettings,
)
from simwright.scenes.document_shapes import ALIASES_OF, Material, ShapeFields
from simwright.scenes.messages import ID_REPEATED, KEY_WITHOUT_EFFECT
from simwright.scenes.ops.registry import AnyOperation
from simwright.scenes.selectors import RANGE_SCHEMA

SCHEMA_VERSION = 1
_KEEPS_NULL = frozenset({"joint_ordering"})
_INSTEAD = {
    "kd": "contact dissipation is 'tau' [s]",
    "kf": "contact friction is 'mu'",
    "ka": "there is no adhesion",
}
FILE = Path(__file__).with_name("scene.schema.json")
_TITLE = "Simwright scene, schema version 1"
_MATERIAL = ("margin", "gap", "mu", "ke", "tau")


class SceneDocument(Record):
    """Everything a scene file may say."""

    schema_version: int = Field(
        default=SCHEMA_VERSION, description="version of this format: 1", json_schema_extra={"enum": [1]}
    )
    name: str = Field(default="", description="name of the scene")
    simulation: SimulationSettings = Field(
        default_factory=SimulationSettings, description="how the scene is run"
    )
    builder: BuilderSettings = Field(default_factory=BuilderSettings, description="defaults of what is built")
    ground: Ground = Field(default_factory=Ground, description="the ground plane; false for none")
    assets: list[SceneAsset] = Field(default_factory=list, description="external assets")
    bodies: list[InlineBody] = Field(default_factory=list, description="inline bodies")
    joints: list[InlineJoint] = Field(default_factory=list, description="inline joints")
    articulations: list[InlineArticulation] = Field(
        default_factory=list, description="joints solved together"
    )
    initial_joint_q: list[InitialPosition] = Field(default_factory=list, description="initial positions")
    post_build: list[AnyOperation] = Field(default_factory=list, description="edits, in this order")
    replicate: Replicate = Field(default_factory=Replicate, description="copies of the world")
    control: ControlSource | None = Field(default=None, description="position targets over time")

    @field_validator("schema_version", mode="before")
    @classmethod
    def _check_version(cls, value: Any, info: ValidationInfo) -> Any:
        del info
        try:
            # SAP Warp takes whatever int() makes 1 of; True is not a version
            if int(value) == SCHEMA_VERSION and not isinstance(value, bool):
                return SCHEMA_VERSION
        except (TypeError, ValueError, OverflowError):
            pass
        raise refuse(f"schema version {value!r} is not known; this is version {SCHEMA_VERSION}")

    def choose_worlds(self, asked: int | None = None) -> int:
        """How many worlds: what is asked for, else simulation, else replicate, else one."""
        # the order of SAP Warp: argument, simulation, replicate
        for count in (asked, self.simulation.num_worlds, self.replicate.num_worlds):
            if count is not None:
                return max(1, count)
        return 1


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A scene and where it is written.  ``ignored`` are keys that ``compat="sap"`` left out."""

    scene: SceneDocument
    document: Document
    folder: Path
    compat: str | None = None
    ignored: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its file."""
        return self.document.file

    def find_where(self, *path: Step, key: bool = False) -> Where:
        """The place of a value: ``find_where("assets", 0, "source")``."""
        return self.document.find_where(*path, key=key)


def read_scene(
    path: str | os.PathLike[str],
    *,
    compat: str | None = None,
    limits: DocumentLimits = DEFAULT_LIMITS,
    reporter: Reporter | None = None,
) -> SceneFile:
    """Read and validate a scene file; an InvalidDocumentError lists everything that is wrong."""
    document = read_document(path, limits)
    return validate_scene(document, Path(path).parent, compat=compat, reporter=reporter)


def parse_scene(
    text: str,
    *,
    folder: str | os.PathLike[str] = ".",
    name: str = "",
    syntax: Syntax = "yaml",
    compat: str | None = None,
    reporter: Reporter | None = None,
) -> SceneFile:
    """The same for a text; relative paths in it count from ``folder``."""
    return validate_scene(
        parse_document(text, name=name, syntax=syntax), Path(folder), compat=compat, reporter=reporter
    )


def validate_scene(
    document: Document, folder: Path, *, compat: str | None = None, reporter: Reporter | None = None
) -> SceneFile:
    """Hold a document against the schema; what is odd but allowed goes to ``reporter``."""
    if compat not in {None, "sap"}:
        raise UsageError(f"compat is {compat!r}", hint="there is 'sap', and None", where=NOWHERE)
    ignored: list[str] = []
    scene = validate_document(
        SceneDocument,
        document,
        what="scene",
        context={"compat": compat},
        prepare=drop_nulls,
        aliases=ALIASES_OF,
        # SAP Warp leaves unknown keys out silently: a typo has no effect there
        ignored=ignored if compat else None,
    )
    if reporter is not None and not compat:
        review_scene(scene, document, reporter)
    return SceneFile(scene, document, folder, compat, tuple(ignored))


def drop_nulls(data: Any) -> Any:
    """A key whose value is null says nothing, except where null has a meaning."""
    if isinstance(data, dict):
        return {
            key: drop_nulls(value) for key, value in data.items() if value is not None or key in _KEEPS_NULL
        }
    if isinstance(data, list):
        return [drop_nulls(value) for value in data]
    return data


def review_scene(scene: SceneDocument, document: Document, reporter: Reporter) -> None:
    """Report keys without effect and ids that are there twice."""
    for path, fields in _list_fields(scene):
        said = fields.list_without_effect()
        if fields.sdf_texture_format is not None:
            said.append("sdf_texture_format")
        for key in said:
            reporter.report(
                KEY_WITHOUT_EFFECT,
                document.find_where(*path, key, key=True),
                key=key,
                hint=_INSTEAD.get(key.rsplit("_", 1)[-1], ""),
            )
    if scene.builder.register_mujoco_custom_attributes is not None:
        key = "register_mujoco_custom_attributes"
        where = document.find_where("builder", key, key=True)
        hint = "attributes of MuJoCo are read in any case"
        reporter.report(KEY_WITHOUT_EFFECT, where, key=key, hint=hint)
    _report_repeated(scene.bodies, "bodies", "body", document, reporter)
    _report_repeated(scene.joints, "joints", "joint", document, reporter)


def _list_fields(scene: SceneDocument) -> Iterator[tuple[tuple[Step, ...], ShapeFields]]:
    """Every block of shape fields and its path."""
    yield ("builder", "defaults", "shape"), scene.builder.defaults.shape
    yield from _list_blocks(scene.ground, ("ground",))
    for name in ("assets", "bodies", "post_build"):
        for number, entry in enumerate(getattr(scene, name)):
            if isinstance(entry, Material):
                yield from _list_blocks(entry, (name, number))
            for inner, shape in enumerate(getattr(entry, "shapes", ())):
                yield from _list_blocks(shape, (name, number, "shapes", inner))


def _list_blocks(
    material: Material, path: tuple[Step, ...]
) -> Iterator[tuple[tuple[Step, ...], ShapeFields]]:
    for key in ("physics", "shape", "cfg"):
        block = getattr(material, key)
        if block is not None:
            yield (*path, key), block


def _report_repeated(
    entries: Iterable[Any], key: str, what: str, document: Document, reporter: Reporter
) -> None:
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        if entry.id in seen:
            where = document.find_where(key, number, "id")
            reporter.report(ID_REPEATED, where, what=what, name=entry.id)
        seen.add(entry.id)


def build_schema() -> dict[str, Any]:
    """The schema as data."""
    schema = SceneDocument.model_json_schema(mode="validation")
    definitions = schema["$defs"]
    # they are read in compat mode only: nobody should be offered them
    hidden = {name for name in definitions if name.startswith("Unsupported")}
    for name in hidden:
        del definitions[name]
    _walk(schema, {f"#/$defs/{name}" for name in hidden})
    for definition in definitions.values():
        _add_aliases(definition)
    _share(schema, "Number", NUMBER_SCHEMA)
    _share(schema, "Range", RANGE_SCHEMA)
    definitions |= {"Number": NUMBER_SCHEMA, "Range": RANGE_SCHEMA}
    _allow(definitions["TransformFields"], {"const": "identity"})
    _allow(definitions["SourceFields"], {"type": "string", "description": "a path, or XML"})
    # pydantic's schema does not know what validators before the model take
    _allow(definitions["Ground"], {"type": "boolean"})
    for name, definition in definitions.items():
        if "op" in definition.get("properties", {}):
            word = definition["properties"]["op"].get("const", name)
            definition["title"] = str(word)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": _TITLE}


def render_schema() -> str:
    """The schema as text, as it is published."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False) + "\n"


def _walk(node: Any, hidden: set[str]) -> None:
    """Tidy every part: members nobody should write, titles that only repeat the key, defaults that say nothing."""
    # one visit of a node does all of it: a second walk would see what the first one changed
    if isinstance(node, list):
        for item in node:
            _walk(item, hidden)
        return
    if not isinstance(node, dict):
        return
    for key in ("oneOf", "anyOf"):
        if isinstance(node.get(key), list):
            node[key] = [item for item in node[key] if item.get("$ref") not in hidden]
    for name, inner in (node.get("properties") or {}).items():
        if isinstance(inner, dict):
            inner.pop("title", None)
            if inner.get("default", 0) is None:
                del inner["default"]
            _allow_null(node, name)
    for value in node.values():
        _walk(value, hidden)


def _share(node: Any, name: str, shared: dict[str, Any]) -> None:
    """Refer to a definition instead of repeating it."""
    if isinstance(node, list):
        for item in node:
            _share(item, name, shared)
    elif isinstance(node, dict):
        if node.get("anyOf") == shared["anyOf"]:
            del node["anyOf"]
            node.pop("examples", None)
            if node.get("description") == shared["description"]:
                del node["description"]
            node["$ref"] = f"#/$defs/{name}"
        for value in node.values():
            _share(value, name, shared)


def _allow_null(owner: dict[str, Any], name: str) -> None:
    """A key that may be left out may also be null."""
    inner = owner["properties"][name]
    if name in owner.get("required", ()) or "const" in inner:
        return
    if "anyOf" in inner:
        if {"type": "null"} not in inner["anyOf"]:
            inner["anyOf"].append({"type": "null"})
        return
    kept = {key: inner.pop(key) for key in ("description", "default", "examples") if key in inner}
    body = dict(inner)
    inner.clear()
    inner.update(kept)
    inner["anyOf"] = [body, {"type": "null"}]


def _allow(definition: dict[str, Any], other: dict[str, Any]) -> None:
    """Let a mapping also be written in another way."""
    body = {key: definition.pop(key) for key in list(definition) if key not in {"title", "description"}}
    definition["anyOf"] = [body, other]


def _add_aliases(definition: dict[str, Any]) -> None:
    properties = definition.get("properties", {})
    if not all(name in properties for name in _MATERIAL):
        return
    for word, meant in ALIASES.items():
        properties.setdefault(word, {**properties[meant], "description": f"the same as {meant}"})
