# SPDX-License-Identifier: Apache-2.0
"""Numbers as text that means exactly the same number, whole ones without a point."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

UNBOUNDED = 1e10
"""What stands for "no end" where MJCF wants both ends of a range."""


_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def make_legal(text: str) -> str:
    """Without characters that XML cannot hold."""
    return _ILLEGAL.sub("_", text)


def format_number(value: float) -> str:
    """The shortest text of a double; infinities become numbers that MuJoCo reads."""
    if not math.isfinite(value):
        value = 0.0 if math.isnan(value) else math.copysign(UNBOUNDED, value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def format_value(value: Any) -> str:
    """The text of an attribute: numbers, lists of them, flags and words."""
    if isinstance(value, str):
        return make_legal(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.number):
        return format_number(float(value))
    assert isinstance(value, Iterable), f"no attribute value: {value!r}"
    return " ".join(format_number(float(v)) for v in value)


def is_equal(value: Any, default: Any) -> bool:
    """Is it the default?  Lists are equal if their numbers are."""
    if default is None or value is None:
        return value is default
    if isinstance(value, int | float | str) or isinstance(default, str):
        return bool(value == default)
    ours, theirs = np.atleast_1d(value), np.atleast_1d(default)
    return ours.shape == theirs.shape and bool(np.all(ours == theirs))


_NOTHING = 1e-15
_LAST_BITS = 4.0
_DIGITS = 13


def tidy(values: Any) -> list[float]:
    """Numbers that were computed, without the rounding in their last bits: 0.0305 for 0.030499999999999996.

    What is less than a femtometre, or than the precision of a unit quaternion, is nothing.
    """
    return [_tidy_number(float(v)) for v in values]


def _tidy_number(value: float) -> float:
    if abs(value) < _NOTHING:
        return 0.0
    short = float(f"{value:.{_DIGITS}g}")
    return short if abs(short - value) <= _LAST_BITS * float(np.spacing(abs(value))) else value
