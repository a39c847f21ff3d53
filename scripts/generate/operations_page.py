# SPDX-License-Identifier: Apache-2.0
"""docs/operations.md: what scene files can do to what they have built, from the signatures of the operations."""

from __future__ import annotations

from typing import get_args

from pydantic.fields import FieldInfo

from generate import NOTE
from simwright.scenes.ops.operation import Operation
from simwright.scenes.ops.registry import OPERATIONS

INTRO = """# Operations of scenes

Entries of `post_build` in a [scene file](scenes.md#operations), each with its `op` and the keys below; one without a
default has to be said. Lengths are metres, angles radians.
"""


def generate() -> str:
    """The page: ours, whatever packages are installed here."""
    parts = [NOTE + INTRO]
    parts += [_describe(OPERATIONS.get(name)) for name in OPERATIONS.names(plugins=False)]
    return "\n".join(parts)


def _describe(operation: Operation) -> str:
    model = operation.models[0]
    base = model.__bases__[0]
    summary = (model.__doc__ or "").strip().replace("``", "`")
    keys = {key: field for key, field in model.model_fields.items() if key not in {"op", *base.model_fields}}
    lines = [f"## {operation.name}\n", f"{summary}\n"]
    if keys:
        lines += ["| key | default | meaning |", "|---|---|---|"]
        lines += [
            f"| `{key}` | {_show_default(field)} | {field.description or ''} |" for key, field in keys.items()
        ]
        lines.append("")
    if base.__name__.endswith("Selector"):
        lines.append("It acts on what [selectors](scenes.md#what-an-operation-acts-on) choose.\n")
    elif len(operation.models) > 1:
        kinds = ", ".join(f"`{get_args(one.model_fields['type'].annotation)[0]}`" for one in operation.models)
        shapes = "[such a shape](scenes.md#inline-bodies-and-shapes)"
        lines.append(f"`type` is one of {kinds}; each has the keys of {shapes}.\n")
    return "\n".join(lines)


def _show_default(field: FieldInfo) -> str:
    if field.is_required():
        return ""
    return "not said" if field.default is None else f"`{field.default}`"
