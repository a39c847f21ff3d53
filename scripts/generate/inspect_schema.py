# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of ``simwright inspect --format json``, from the types of the model."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import types
import typing
from typing import Any

import numpy as np

from simwright.app.describe import _PLAIN_LISTS, VERSION
from simwright.core.diag import Where
from simwright.core.math3d import Pose
from simwright.model import asset as model
from simwright.model.extras import Resolved
from simwright.model.filtering import ArticulationContents
from simwright.model.inertia import Inertial

NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}
NUMBERS: dict[str, Any] = {
    "type": "array",
    "description": "numbers, nested by row for matrices",
    "items": {"anyOf": [*NUMBER["anyOf"], {"type": "array", "items": {}}]},
}
ANYTHING: dict[str, Any] = {}


def generate() -> str:
    """The schema text."""
    hints = typing.get_type_hints(model.Asset)
    body = _object(model.Body)
    body["properties"]["inertial"] = {
        "description": "authored, or computed from the colliders",
        "type": "object",
        "required": ["mass", "com", "inertia", "authored"],
        "properties": {
            "mass": NUMBER,
            "com": _vector(3),
            "inertia": {**_list_of(_vector(3), 3), "description": "about the centre of mass, three rows"},
            "authored": {"type": "boolean"},
        },
    }
    joint = _object(typing.get_args(hints["joints"])[0])
    joint["properties"]["public_name"] = {"type": "string", "description": "the name ROS uses"}
    shape = _object(model.Shape)
    shape["properties"]["geometry"] = {"type": "integer", "description": "index into geometries"}
    properties: dict[str, Any] = {
        "version": {"const": VERSION},
        "name": {"type": "string"},
        "provenance": _object(model.Provenance),
        "summary": {"type": "object", "description": "counts; mass in kg"},
        "environment": _object(model.Environment),
        "bodies": {"type": "array", "items": body},
        "joints": {"type": "array", "items": joint},
        "tree": {
            "type": "object",
            "description": "spanning forest of the joints",
            "required": ["roots", "edges", "loops", "dangling", "disabled"],
            "properties": {
                "edges": _list_of({"type": "object", "required": ["joint", "parent", "child", "reversed"]}),
                **{name: _list_of({"type": "string"}) for name in ("roots", "loops", "dangling", "disabled")},
            },
        },
        "shapes": {"type": "array", "items": shape},
        "geometries": {
            "type": "array",
            "items": {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}},
        },
        "articulations": {"type": "array", "items": _articulation()},
        "filtered_pairs": {
            "description": "colliders that never touch, from joints, articulations, groups, bits and filters",
            **_list_of(_list_of({"type": "string"}, 2)),
        },
        **{
            name: {"type": "array", "items": _object(typing.get_args(hints[name])[0])}
            for name in _PLAIN_LISTS
        },
        "extras": {"type": "object", "description": "solver namespace -> element -> attribute -> value"},
        "schema_attrs": {"type": "object", "description": "solver -> prim -> attribute -> authored value"},
        "origins": {
            "type": "object",
            "description": "prim -> resolver key -> which schema attribute decided a value",
            "additionalProperties": {"type": "object", "additionalProperties": _origin()},
        },
        "findings": {"type": "array", "items": {"type": "object", "required": ["kind", "level", "message"]}},
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "simwright inspect",
        "description": "A neutral asset: SI units, radians, Z-up, quaternions w, x, y, z.",
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=2) + "\n"


def _articulation() -> dict[str, Any]:
    row, members = _object(model.Articulation), _object(ArticulationContents)
    row["required"] += members["required"]
    row["properties"] |= members["properties"]
    return row


def _list_of(items: dict[str, Any], count: int | None = None) -> dict[str, Any]:
    length = {} if count is None else {"minItems": count, "maxItems": count}
    return {"type": "array", "items": items, **length}


def _vector(count: int) -> dict[str, Any]:
    return _list_of(NUMBER, count)


def _origin() -> dict[str, Any]:
    row = _object(Resolved)
    row["properties"]["lost"] = {
        "type": "array",
        "items": {"type": "object", "required": ["namespace", "attribute", "value"]},
    }
    return row


def _object(cls: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    properties = {field.name: _schema(hints[field.name]) for field in dataclasses.fields(cls)}
    return {
        "type": "object",
        "description": (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " "),
        "required": list(properties),
        "properties": properties,
    }


_SIMPLE: dict[Any, dict[str, Any]] = {
    type(None): {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: NUMBER,
    str: {"type": "string"},
    dict: {"type": "object"},
    Pose: {
        "type": "object",
        "required": ["position", "quaternion"],
        "properties": {"position": _vector(3), "quaternion": _vector(4)},
    },
    Where: {"anyOf": [{"type": "null"}, {"type": "object", "description": "file, line, column, prim, prop"}]},
    Inertial: ANYTHING,
}


def _schema(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(argument) for argument in arguments]}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if origin is np.ndarray:
        return NUMBERS
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is dict:
        return {"type": "object"}
    if dataclasses.is_dataclass(hint):
        return _object(hint)
    return ANYTHING
