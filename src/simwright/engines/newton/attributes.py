# SPDX-License-Identifier: Apache-2.0
"""Custom attributes: declared on the builder, and their values put on the elements they belong to."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter
from simwright.engines.newton.frames import as_xyzw
from simwright.engines.newton.messages import ATTRIBUTE_LOST
from simwright.model.extras import CustomAttribute

_TYPES = {
    "bool": "bool",
    "int": "int32",
    "float": "float32",
    "vec2": "vec2",
    "vec3": "vec3",
    "vec4": "vec4",
    "quat": "quat",
}
_ALIASES = {
    "half": "float", "double": "float", "float32": "float", "float64": "float",
    "int32": "int", "int64": "int", "uint": "int",
    "float2": "vec2", "float3": "vec3", "float4": "vec4",
    "quatf": "quat", "quatd": "quat", "quath": "quat",
}  # fmt: skip


def add_attributes(
    builder: Any,
    attributes: list[CustomAttribute],
    indices: dict[str, dict[str, int]],
    reporter: Reporter,
) -> None:
    """Declare every attribute and set its values; ``indices`` maps a frequency to element indices by name."""
    for attribute in attributes:
        why = _add_attribute(builder, attribute, indices)
        if why:
            reporter.report(ATTRIBUTE_LOST, attribute.source, name=attribute.key, why=why)


def _add_attribute(builder: Any, attribute: CustomAttribute, indices: dict[str, dict[str, int]]) -> str:
    """Empty if it went well, else the reason why not."""
    import newton
    import warp

    kind = _ALIASES.get(attribute.type, attribute.type)
    if kind not in _TYPES:
        return f"type {attribute.type!r}"
    frequency = getattr(newton.Model.AttributeFrequency, attribute.frequency.upper(), None)
    assignment = getattr(newton.Model.AttributeAssignment, attribute.assignment.upper(), None)
    if frequency is None or assignment is None:
        return f"frequency {attribute.frequency!r}, assignment {attribute.assignment!r}"
    try:
        builder.add_custom_attribute(
            newton.ModelBuilder.CustomAttribute(
                name=attribute.name,
                dtype=getattr(warp, _TYPES[kind]),
                frequency=frequency,
                assignment=assignment,
                namespace=attribute.namespace or None,
                default=_convert(attribute.default, kind),
            )
        )
    except ValueError as error:
        return str(error)
    values = builder.custom_attributes[attribute.key].values
    known = indices.get(attribute.frequency, {})
    for element, value in attribute.values.items():
        for at, one in _spread(builder, attribute.frequency, known.get(element), value):
            values[at] = _convert(one, kind)
    return ""


def _spread(builder: Any, frequency: str, index: int | None, value: Any) -> list[tuple[int, Any]]:
    """Builder indices and values: one per element, or one per freedom or coordinate of a joint."""
    if frequency in ("once", "world"):
        return [(0, value)]
    if index is None:
        return []
    if frequency not in ("joint_dof", "joint_coord"):
        return [(index, value)]
    dofs = frequency == "joint_dof"
    starts = builder.joint_qd_start if dofs else builder.joint_q_start
    total = builder.joint_dof_count if dofs else builder.joint_coord_count
    start = starts[index]
    end = starts[index + 1] if index + 1 < len(starts) else total
    if isinstance(value, list) and len(value) == end - start:
        return list(zip(range(start, end), value, strict=True))
    return [(at, value) for at in range(start, end)]


def _convert(value: Any, kind: str) -> Any:
    import warp

    if value is None:
        return None
    if kind == "quat":
        return warp.normalize(warp.quat(*as_xyzw(value)))
    if kind.startswith("vec"):
        return getattr(warp, kind)(*(float(v) for v in value))
    return {"bool": bool, "int": int, "float": float}[kind](value)
