# SPDX-License-Identifier: Apache-2.0
"""Numbers as text that means exactly the same number, and poses as ``<origin>``."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from simwright.core.math3d import Pose
from simwright.formats.parts import numbers
from simwright.formats.parts.numbers import tidy
from simwright.formats.xml import Element

__all__ = ["UNBOUNDED", "format_number", "format_numbers", "tidy", "write_origin"]
UNBOUNDED = 1e100
"""What stands for "no end" where URDF wants a number: parsers do not read "inf"."""


def format_number(value: float) -> str:
    """The shortest text of a double, whole ones without a point."""
    return numbers.format_number(numbers.make_finite(value, UNBOUNDED))


def format_numbers(values: Iterable[float]) -> str:
    """Several, apart by spaces."""
    return " ".join(format_number(float(value)) for value in values)


def write_origin(parent: Element, pose: Pose) -> None:
    """``<origin>``, left out for the identity."""
    position, turn = tidy(pose.p), tidy(pose.rpy)
    if any(position) or any(turn):
        etree.SubElement(parent, "origin", {"xyz": format_numbers(position), "rpy": format_numbers(turn)})
