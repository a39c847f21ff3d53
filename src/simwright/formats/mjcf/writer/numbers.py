# SPDX-License-Identifier: Apache-2.0
"""Numbers as text that means exactly the same number, whole ones without a point."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from simwright.formats.parts.numbers import make_finite
from simwright.formats.parts.words import clean_text

UNBOUNDED = 1e10
"""What stands for "no end" where MJCF wants both ends of a range."""


def format_number(value: float) -> str:
    """The shortest text of a double; infinities become numbers that MuJoCo reads."""
    value = make_finite(value, UNBOUNDED)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def format_value(value: Any) -> str:
    """The text of an attribute: numbers, lists of them, flags and words."""
    if isinstance(value, str):
        return clean_text(value)
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
