# SPDX-License-Identifier: Apache-2.0
"""``<custom>``: numbers, texts and tuples, as they were read, and the custom attributes of the model.

A custom attribute becomes one entry for its default and one per element that says otherwise,
``namespace:name`` and ``namespace:name/element``; MuJoCo reads numbers and texts, which is what values become.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from simwright.formats.mjcf.writer.draft import Draft
from simwright.model.extras import CustomAttribute

MAX_NUMBERS = 500
"""MuJoCo's own limit for one entry."""
_FAMILIES = {"joint": "joint", "body": "body", "xbody": "body", "geom": "geom", "site": "site", "tendon": "tendon",
             "actuator": "actuator", "camera": "camera", "light": "light", "sensor": "sensor"}  # fmt: skip


def write_custom(draft: Draft) -> None:
    """The section, if there is anything in it."""
    for key in draft.solver.find_keys("numeric/"):
        _add(draft, key.partition("/")[2], draft.solver.take(key, "data"))
    for key in draft.solver.find_keys("text/"):
        _add(draft, key.partition("/")[2], draft.solver.take(key, "data"))
    for key in draft.solver.find_keys("tuple/"):
        _add_tuple(draft, key.partition("/")[2], draft.solver.take(key, "elements"))
    lost = [
        attribute for attribute in draft.asset.custom_attributes if not _write_attribute(draft, attribute)
    ]
    draft.lose("custom attributes", lost, "MuJoCo holds short lists of numbers, and texts")


def find_plugin(draft: Draft, name: str) -> str | None:
    """An instance of a plugin in ``<extension>``, None if nothing is known of it; made when it is first asked for."""
    key = f"plugin/{name}"
    written = draft.name("plugin", name)
    kind = draft.solver.take(key, "plugin")
    if written is not None or kind is None:
        return written
    written = draft.claim("plugin", name)
    holder = draft.add(draft.section("extension"), "plugin", {"plugin": kind})
    instance = draft.add(holder, "instance", {"name": written})
    for word, value in (draft.solver.take(key, "config") or {}).items():
        draft.add(instance, "config", {"key": word, "value": value})
    return written


def _write_attribute(draft: Draft, attribute: CustomAttribute) -> bool:
    name = f"{attribute.namespace}:{attribute.name}" if attribute.namespace else attribute.name
    entries = {name: attribute.default} | {
        f"{name}/{element}": value for element, value in attribute.values.items()
    }
    plain = {key: _make_plain(value) for key, value in entries.items() if value is not None}
    if any(value is None for value in plain.values()):
        return False
    for key, value in plain.items():
        _add(draft, key, value)
    return True


def _make_plain(value: Any) -> list[float] | str | None:
    """Numbers as a flat list, texts as they are, None if it is too long."""
    if isinstance(value, str):
        return value
    try:
        numbers = np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        return json.dumps(value, default=str)
    return [float(v) for v in numbers] if len(numbers) <= MAX_NUMBERS else None


def _add(draft: Draft, name: str, value: Any) -> None:
    if isinstance(value, str):
        if value:
            draft.add(draft.section("custom"), "text", {"name": draft.claim("text", name), "data": value})
    elif len(value):
        draft.add(draft.section("custom"), "numeric", {"name": draft.claim("numeric", name), "data": value})


def _add_tuple(draft: Draft, name: str, rows: list[dict[str, Any]]) -> None:
    node = draft.add(draft.section("custom"), "tuple", {"name": draft.claim("tuple", name)})
    for row in rows:
        target = _find(draft, row["type"], row["name"])
        if target is not None:
            draft.add(
                node, "element", {"objtype": row["type"], "objname": target, "prm": row["value"] or None}
            )


def _find(draft: Draft, kind: str, name: str) -> str | None:
    if kind == "joint":
        freedom = draft.dofs.get(name)
        return freedom.name if freedom else None
    return draft.name(_FAMILIES.get(kind, kind), name) or name
