# SPDX-License-Identifier: Apache-2.0
"""Values of no schema as custom attributes: the type follows from the value, what has none becomes JSON text."""

from __future__ import annotations

import json
import re
from typing import Any

from simwright.core.names import make_identifier
from simwright.formats.usd.writer.sheet import Sheet

JSON = "json"
"""Last word of an attribute whose text is JSON."""
_INTEGERS = 1 << 31


def write_plain(sheet: Sheet, path: str, name: str, value: Any) -> None:
    """A custom attribute; nothing for nothing."""
    if value is None:
        return
    kind = find_kind(value)
    if kind:
        sheet.set(path, name, kind, value, custom=True)
    else:
        sheet.set(path, f"{name}:{JSON}", "string", json.dumps(value, sort_keys=True), custom=True)


def write_typed(sheet: Sheet, path: str, name: str, value: Any, schema: str) -> None:
    """An attribute or relationship of a solver's schema, which is applied if it is known."""
    if schema:
        sheet.apply(path, schema)
    kind = find_type(name, value)
    if kind == "rel":
        sheet.relate(path, name, value, custom=not schema)
    elif kind is not None:
        sheet.set(path, name, kind, value, custom=not schema)


def find_type(name: str, value: Any) -> str | None:
    """The attribute type for a value that was read; None where there is no sure one.  MuJoCo's numbers are doubles."""
    number = "double" if name.startswith("mjc:") else "float"
    if isinstance(value, bool | int | float | str):
        return {bool: "bool", int: "int", float: number, str: "token"}[type(value)]
    if not isinstance(value, list | tuple) or not value:
        return None
    if all(isinstance(v, str) for v in value):
        return "rel" if value[0].startswith("/") else "token[]"
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
        return None
    if isinstance(value, tuple):
        return f"float{len(value)}" if len(value) in (2, 3, 4) else None
    return "int[]" if all(isinstance(v, int) for v in value) else f"{number}[]"


def find_kind(value: Any) -> str:
    """The attribute type for a Python value, doubles for numbers; empty where there is none."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int" if abs(value) < _INTEGERS else "int64"
        case float():
            return "double"
        case str():
            return "string"
    if not isinstance(value, list | tuple):
        return ""
    if value and all(isinstance(v, str) for v in value):
        return "string[]"
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
        return ""
    whole = bool(value) and all(isinstance(v, int) and abs(v) < _INTEGERS for v in value)
    return "int[]" if whole else "double[]"


def make_attribute_name(*words: str) -> str:
    """A legal attribute name: words by colons, each an identifier."""
    parts = [part for word in words for part in re.split(r"[.:/]", word) if part]
    return ":".join(make_identifier(part) for part in parts)
