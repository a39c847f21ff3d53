# SPDX-License-Identifier: Apache-2.0
"""Authored numbers, read with care: blocked values, samples only, and types that a schema did not mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pxr import Usd

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node


def read_authored(node: Node, name: str) -> Any:
    """An authored value; the first sample where it is only time-sampled."""
    if not node.may_say(name):
        return None
    value = node.authored(name)
    return node.authored(name, Usd.TimeCode.EarliestTime()) if value is None else value


def read_number(node: Node, name: str) -> float | None:
    """An authored number; None where there is none, or something else."""
    value = read_authored(node, name)
    if type(value) is float:
        return value
    return float(value) if isinstance(value, int | float) else None


def read_vector(node: Node, name: str) -> tuple[float, ...] | None:
    """Three or four authored numbers, a quaternion's real part first; None where there is something else."""
    value = read_authored(node, name)
    if value is None:
        return None
    try:
        if hasattr(value, "GetImaginary"):
            return (float(value.GetReal()), *(float(v) for v in value.GetImaginary()))
        return tuple(float(v) for v in value)
    except (TypeError, ValueError):
        return None
