# SPDX-License-Identifier: Apache-2.0
"""Numbers as text that means exactly the same number, and poses as ``<origin>``."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from lxml import etree

from simwright.core.math3d import Pose
from simwright.formats.xml import Element

UNBOUNDED = 1e100
"""What stands for "no end" where URDF wants a number: parsers do not read "inf"."""
_NOTHING = 1e-15
_LAST_BITS = 4.0
_DIGITS = 13


def format_number(value: float) -> str:
    """The shortest text of a double, whole ones without a point."""
    if not math.isfinite(value):
        value = 0.0 if math.isnan(value) else math.copysign(UNBOUNDED, value)
    return repr(float(value) + 0.0).removesuffix(".0")


def format_numbers(values: Iterable[float]) -> str:
    """Several, apart by spaces."""
    return " ".join(format_number(float(value)) for value in values)


def tidy(values: Iterable[float]) -> list[float]:
    """Numbers that were computed, without the rounding in their last bits; what is less than 1e-15 is nothing."""
    return [_tidy_number(float(value)) for value in values]


def _tidy_number(value: float) -> float:
    if abs(value) < _NOTHING:
        return 0.0
    short = float(f"{value:.{_DIGITS}g}")
    return short if abs(short - value) <= _LAST_BITS * float(np.spacing(abs(value))) else value


def write_origin(parent: Element, pose: Pose) -> None:
    """``<origin>``, left out for the identity."""
    position, turn = tidy(pose.p), tidy(pose.rpy)
    if any(position) or any(turn):
        etree.SubElement(parent, "origin", {"xyz": format_numbers(position), "rpy": format_numbers(turn)})
