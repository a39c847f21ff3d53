# SPDX-License-Identifier: Apache-2.0
"""Numbers as text that means exactly the same number, whole ones without a point."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

_NOTHING = 1e-15
_LAST_BITS = 4.0
_DIGITS = 13


def format_number(value: float) -> str:
    """The shortest text of a double; ``inf`` and ``nan`` as they are."""
    return repr(float(value) + 0.0).removesuffix(".0")


def make_finite(value: float, largest: float) -> float:
    """The number itself; ``largest`` of its sign for an infinity, zero for what is not a number."""
    if math.isfinite(value):
        return value
    return 0.0 if math.isnan(value) else math.copysign(largest, value)


def format_numbers(values: Iterable[float]) -> str:
    """Several, apart by spaces."""
    return " ".join(format_number(float(value)) for value in values)


def tidy(values: Iterable[float]) -> list[float]:
    """Numbers that were computed, without the rounding in their last bits; what is less than 1e-15 is nothing."""
    return [tidy_number(float(value)) for value in values]


def tidy_number(value: float) -> float:
    """One number: 0.0305 for 0.030499999999999996."""
    if abs(value) < _NOTHING:
        return 0.0
    if not math.isfinite(value):
        return value
    # Thirteen digits, if they are within a few units in the last place: noise of a computation, not content.
    short = float(f"{value:.{_DIGITS}g}")
    return short if abs(short - value) <= _LAST_BITS * float(np.spacing(abs(value))) else value
