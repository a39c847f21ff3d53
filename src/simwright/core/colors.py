# SPDX-License-Identifier: Apache-2.0
"""Display colours (sRGB) and linear ones.

URDF, SDFormat, MJCF, OBJ and COLLADA files hold colours as they are meant to appear on a screen, and so does the
model; OpenUSD and glTF hold linear ones, which lights are multiplied with: their readers and writers convert.  The
curve is that of IEC 61966-2-1.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Rgb: TypeAlias = tuple[float, float, float]
_LINEAR_PART = 0.04045


def to_linear(value: float) -> float:
    """The linear value of a display value; what is outside 0 to 1 is left alone."""
    if not 0.0 < value < 1.0:
        return value
    return value / 12.92 if value <= _LINEAR_PART else float(((value + 0.055) / 1.055) ** 2.4)


def to_display(value: float) -> float:
    """The display value of a linear one: the inverse of :func:`to_linear`."""
    if not 0.0 < value < 1.0:
        return value
    return value * 12.92 if value <= _LINEAR_PART / 12.92 else float(1.055 * value ** (1.0 / 2.4) - 0.055)


def make_linear(color: Rgb) -> Rgb:
    """:func:`to_linear` of red, green and blue."""
    red, green, blue = color
    return to_linear(red), to_linear(green), to_linear(blue)


def make_display(color: Rgb) -> Rgb:
    """:func:`to_display` of red, green and blue."""
    red, green, blue = color
    return to_display(red), to_display(green), to_display(blue)


def make_all_linear(colors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """:func:`to_linear` of every entry."""
    values = np.asarray(colors, dtype=np.float64)
    # clipped only for the power, which gives NaN below zero; values outside stay what they are
    inside = np.clip(values, 0.0, 1.0)
    curved = np.where(inside <= _LINEAR_PART, inside / 12.92, ((inside + 0.055) / 1.055) ** 2.4)
    return np.where((values > 0.0) & (values < 1.0), curved, values)


def make_all_display(colors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """:func:`to_display` of every entry."""
    values = np.asarray(colors, dtype=np.float64)
    inside = np.clip(values, 0.0, 1.0)
    curved = np.where(inside <= _LINEAR_PART / 12.92, inside * 12.92, 1.055 * inside ** (1.0 / 2.4) - 0.055)
    return np.where((values > 0.0) & (values < 1.0), curved, values)
