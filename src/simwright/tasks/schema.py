# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of robot manifests, generated from the models, for editors to complete and check by.

It is published as ``robot.schema.json`` beside this module.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simwright.core.documents.expressions import NUMBER_SCHEMA
from simwright.tasks.manifest import RobotManifest

FILE = Path(__file__).with_name("robot.schema.json")
_TITLE = "Simwright robot manifest, schema version 1"


def build_schema() -> dict[str, Any]:
    """The schema as data."""
    schema = RobotManifest.model_json_schema(mode="validation")
    _tidy(schema)
    schema["$defs"]["Number"] = NUMBER_SCHEMA
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": _TITLE}


def render_schema() -> str:
    """The schema as text, as it is published."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False) + "\n"


def _tidy(node: Any) -> None:
    """Take out titles that only repeat the key, and describe numbers once."""
    if isinstance(node, list):
        for item in node:
            _tidy(item)
        return
    if not isinstance(node, dict):
        return
    if node.get("anyOf") == NUMBER_SCHEMA["anyOf"]:
        del node["anyOf"]
        node.pop("examples", None)
        if node.get("description") == NUMBER_SCHEMA["description"]:
            del node["description"]
        node["$ref"] = "#/$defs/Number"
    for inner in (node.get("properties") or {}).values():
        inner.pop("title", None)
        if inner.get("default", 0) is None:
            del inner["default"]
    for value in node.values():
        _tidy(value)
