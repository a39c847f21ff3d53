# SPDX-License-Identifier: Apache-2.0
"""docs/model.md from the dataclasses of the neutral model."""

from __future__ import annotations

import dataclasses
import inspect
import re

from generate import NOTE
from simwright.model import asset, elements, extras, geometry, inertia, joint, material, ros

MODULES = (asset, elements, joint, geometry, material, inertia, ros, extras)


def generate() -> str:
    """A section per module, a table per class."""
    parts = [
        NOTE,
        "# The neutral model\n\nSI units, radians, Z-up, quaternions w, x, y, z. ",
        "Elements refer to each other by name; the world is the empty name. ",
        "Geometry, poses and arrays are values: replace them, never write into them.\n",
    ]
    for module in MODULES:
        parts.append(f"\n## {module.__name__}\n\n{_paragraph(inspect.getdoc(module))}\n")
        parts.extend(_class_section(cls) for _, cls in inspect.getmembers(module, inspect.isclass)
                     if cls.__module__ == module.__name__ and dataclasses.is_dataclass(cls))  # fmt: skip
    return "".join(parts)


def _class_section(cls: type) -> str:
    lines = [
        f"\n### {cls.__name__}\n",
        f"{_paragraph(inspect.getdoc(cls))}\n",
        "| field | type | default |",
        "|---|---|---|",
    ]
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        kind = str(field.type).replace("|", "\\|")
        lines.append(f"| `{field.name}` | {kind} | {_default(field)} |")
    return "\n".join(lines) + "\n"


def _default(field: dataclasses.Field[object]) -> str:
    if field.default is not dataclasses.MISSING:
        value = field.default
        text = str(value.value) if hasattr(value, "value") else repr(value)
        return f"`{text}`" if len(text) < 60 else "identity" if "Pose" in text else "see code"
    if field.default_factory is dataclasses.MISSING:
        return "required"
    made = field.default_factory()
    return (
        "empty"
        if isinstance(made, (list, dict))
        else f"`{type(made).__name__}`"
        if dataclasses.is_dataclass(made)
        else f"`{_short(made)}`"
    )


def _short(value: object) -> str:
    return re.sub(r"\s+", " ", str(value.tolist() if hasattr(value, "tolist") else value))


def _paragraph(text: str | None) -> str:
    return (text or "").replace("``", "`")
