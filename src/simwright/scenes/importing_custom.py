# SPDX-License-Identifier: Apache-2.0
"""Custom attributes of an asset as arrays: one row for each body, shape, joint, freedom, coordinate or articulation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.model.asset import Asset
from simwright.model.extras import CustomAttribute
from simwright.runtime.arrays import AnyArray
from simwright.runtime.custom import CustomArray
from simwright.scenes.builder import Builder
from simwright.scenes.importing_messages import ATTRIBUTE_LOST

_PLAIN: dict[str, tuple[str, tuple[int, ...]]] = {
    "bool": ("bool", ()),
    "int": ("int32", ()),
    "int64": ("int64", ()),
    "float": ("float32", ()),
    "string": ("object", ()),
    "quat": ("float32", (4,)),
}
_SIZED = re.compile(r"(i?vec|mat)([234])")
_OVER = ("once", "world")


def add_attributes(
    builder: Builder, asset: Asset, indices: Mapping[str, Mapping[str, int]], reporter: Reporter
) -> None:
    """Put the values of every attribute at the rows of its elements; the rows of others have the default."""
    for attribute in asset.custom_attributes:
        why = _add(builder, attribute, indices)
        if why:
            reporter.report(ATTRIBUTE_LOST, attribute.source, name=attribute.key, why=why)


def grow_attributes(builder: Builder) -> None:
    """Give rows to what was added after an attribute was read: zeros, or empty text."""
    for key, held in builder.custom.items():
        missing = _count(builder, held.frequency) - len(held.values)
        if missing > 0:
            more = np.zeros((missing, *held.values.shape[1:]), dtype=held.values.dtype)
            values = np.concatenate((held.values, more))
            builder.custom[key] = CustomArray(key, held.assignment, held.frequency, values)


def _add(builder: Builder, attribute: CustomAttribute, indices: Mapping[str, Mapping[str, int]]) -> str:
    """Empty if it went well, else the reason why not."""
    described = _describe(attribute.type)
    if described is None:
        return f"type {attribute.type!r}"
    if attribute.frequency not in _OVER and attribute.frequency not in indices:
        return f"frequency {attribute.frequency!r}"
    dtype, row = described
    key, rows = attribute.key, _count(builder, attribute.frequency)
    known = builder.custom.get(key)
    values: AnyArray = np.zeros((rows, *row), dtype=dtype)
    try:
        if attribute.default is not None:
            values[...] = _convert(attribute.default, attribute.type)
        # assets of one kind declare the same attribute: rows of the first stay
        if known is not None:
            if known.frequency != attribute.frequency or known.values.shape[1:] != row:
                return "another asset declares it differently"
            values[: len(known.values)] = known.values
        for element, value in attribute.values.items():
            for at, one in _spread(builder, attribute, indices, element, value):
                values[at] = _convert(one, attribute.type)
    except (ValueError, TypeError) as error:
        return str(error)
    builder.custom[key] = CustomArray(key, attribute.assignment, attribute.frequency, values)
    return ""


def _describe(kind: str) -> tuple[str, tuple[int, ...]] | None:
    """Type and shape of a row."""
    sized = _SIZED.fullmatch(kind)
    if sized is None:
        return _PLAIN.get(kind)
    size = int(sized[2])
    dtype = "int32" if sized[1] == "ivec" else "float32"
    return dtype, (size, size) if sized[1] == "mat" else (size,)


def _convert(value: Any, kind: str) -> Any:
    """Quaternions x, y, z, w as everywhere in the arrays."""
    if kind == "quat":
        w, x, y, z = value
        return x, y, z, w
    return value


def _count(builder: Builder, frequency: str) -> int:
    counts = {
        "body": builder.body_count,
        "shape": builder.shape_count,
        "joint": builder.joint_count,
        "joint_dof": len(builder.joint_qd),
        "joint_coord": len(builder.joint_q),
        "articulation": builder.articulation_count,
    }
    return counts.get(frequency, 1)


def _spread(
    builder: Builder,
    attribute: CustomAttribute,
    indices: Mapping[str, Mapping[str, int]],
    element: str,
    value: Any,
) -> list[tuple[int, Any]]:
    """Rows and values: one per element, or one per freedom or coordinate of a joint."""
    if attribute.frequency in _OVER:
        return [(0, value)]
    index = indices[attribute.frequency].get(element)
    if index is None:
        return []
    if attribute.frequency not in ("joint_dof", "joint_coord"):
        return [(index, value)]
    rows = builder.dofs_of(index) if attribute.frequency == "joint_dof" else builder.coords_of(index)
    # a list of another length is one value that is a list
    if isinstance(value, list) and len(value) == len(rows):
        return list(zip(rows, value, strict=True))
    return [(at, value) for at in rows]
