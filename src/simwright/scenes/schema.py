# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of scene files, generated from the models, for editors to complete and check by.

It is published as ``scene.schema.json`` beside this module.  What the loader takes in several spellings (aliases,
``identity``, plain strings for sources, null for "not said") is in it; what only reading can tell is not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simwright.core.documents.expressions import NUMBER_SCHEMA
from simwright.scenes.builder_config import ALIASES
from simwright.scenes.document import Scene
from simwright.scenes.selectors import RANGE_SCHEMA

FILE = Path(__file__).with_name("scene.schema.json")
_TITLE = "Simwright scene, schema version 1"
_MATERIAL = ("margin", "gap", "mu", "ke", "tau")


def build_schema() -> dict[str, Any]:
    """The schema as data."""
    schema = Scene.model_json_schema(mode="validation")
    definitions = schema["$defs"]
    hidden = {name for name in definitions if name.startswith("Unsupported")}
    for name in hidden:
        del definitions[name]
    _walk(schema, {f"#/$defs/{name}" for name in hidden})
    for definition in definitions.values():
        _add_aliases(definition)
    _share(schema, "Number", NUMBER_SCHEMA)
    _share(schema, "Range", RANGE_SCHEMA)
    definitions |= {"Number": NUMBER_SCHEMA, "Range": RANGE_SCHEMA}
    _allow(definitions["Transform"], {"const": "identity"})
    _allow(definitions["Source"], {"type": "string", "description": "a path, or XML"})
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
