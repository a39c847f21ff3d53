# SPDX-License-Identifier: Apache-2.0
"""Values of attributes times a factor: numbers, vectors, matrices, arrays; infinities and "none" stay what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.formats.usd.units import HUGE
from simwright.sanitizer.conversion.dimensions import Dimension


def scale_value(value: Any, factor: float, dimension: Dimension) -> Any:
    """A value with another unit; what is not a number comes back as it is."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return _scale_number(float(value), factor, dimension)
    numbers = _as_array(value)
    if numbers is None or not numbers.size:
        return value
    return _rebuild(value, _scale_array(numbers, factor, dimension))


def is_numeric(value: Any) -> bool:
    """Does a value hold numbers that may have a unit (whole numbers have none)?"""
    if isinstance(value, float):
        return True
    if isinstance(value, bool | str | int) or value is None:
        return False
    numbers = _as_array(value)
    return numbers is not None and numbers.dtype.kind == "f" and bool(np.any(numbers))


def transform_points(value: Any, linear: np.ndarray[Any, Any]) -> Any:
    """An array of vectors, or one vector, through a 3x3 matrix."""
    numbers = _as_array(value)
    if numbers is None or not numbers.size:
        return value
    return _rebuild(value, (numbers.reshape(-1, 3) @ linear.T).reshape(numbers.shape))


def _scale_number(value: float, factor: float, dimension: Dimension) -> float:
    # "no limit" is written as infinity, as a huge number or as -1: it stays what it is
    if abs(value) >= HUGE or (value < 0.0 and not dimension.signed):
        return value
    return value * factor


def _scale_array(numbers: np.ndarray[Any, Any], factor: float, dimension: Dimension) -> np.ndarray[Any, Any]:
    scaled = numbers.copy()
    match dimension.part:
        case "translation":
            # row vectors: the translation of a Gf matrix is its last row
            scaled[..., 3, :3] *= factor
        case "last":
            scaled[..., 3] *= factor
        case "third":
            # mjc:solimp: dmin, dmax, width, midpoint, power; only the width is a length
            scaled[2:3] *= factor
        case _:
            kept = np.abs(numbers) >= HUGE
            if not dimension.signed:
                kept |= numbers < 0.0
            scaled = np.where(kept, numbers, numbers * factor)
    return scaled


def _as_array(value: Any) -> np.ndarray[Any, Any] | None:
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers


def _rebuild(value: Any, numbers: np.ndarray[Any, Any]) -> Any:
    kind = type(value)
    if hasattr(kind, "FromNumpy"):
        source = np.array(value)
        return kind.FromNumpy(np.ascontiguousarray(numbers.reshape(source.shape).astype(source.dtype)))
    if numbers.ndim == 2:
        return kind(*(float(v) for v in numbers.reshape(-1)))
    return kind(*(float(v) for v in numbers))
