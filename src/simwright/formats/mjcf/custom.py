# SPDX-License-Identifier: Apache-2.0
"""Custom numbers, texts and tuples: kept as extras of ``numeric/name``, ``text/name`` and ``tuple/name``.

So are the instances of plugins, of ``plugin/name``: the plugin's own name, and its settings by key.
"""

from __future__ import annotations

from typing import Any

from simwright.formats.mjcf.context import FAMILIES, Context


def read_custom(context: Context) -> None:
    """Keep the ``<custom>`` section, and the instances of ``<extension>``."""
    for index in range(context.count("plugin")):
        spec = context.spec_of("plugin", index)
        if spec is not None:
            context.keep("plugin", index, "plugin", str(spec.plugin_name))
            context.keep("plugin", index, "config", {str(k): str(v) for k, v in spec.config.items()})
    model = context.model
    for index in range(context.count("numeric")):
        start, size = int(model.numeric_adr[index]), int(model.numeric_size[index])
        context.keep("numeric", index, "data", model.numeric_data[start : start + size])
    for index in range(context.count("text")):
        start, size = int(model.text_adr[index]), int(model.text_size[index])
        data = bytes(model.text_data[start : start + size]).split(b"\0")[0]
        context.keep("text", index, "data", data.decode("utf-8", "replace"))
    for index in range(context.count("tuple")):
        start, size = int(model.tuple_adr[index]), int(model.tuple_size[index])
        rows = [_read_row(context, row) for row in range(start, start + size)]
        context.keep("tuple", index, "elements", rows)


def _read_row(context: Context, row: int) -> dict[str, Any]:
    model = context.model
    kind = str(context.mujoco.mjtObj(int(model.tuple_objtype[row])).name)[6:].lower()
    target = int(model.tuple_objid[row])
    family = "body" if kind == "xbody" else kind
    name = context.name(family, target) if family in FAMILIES else str(target)
    return {"type": kind, "name": name, "value": float(model.tuple_objprm[row])}
