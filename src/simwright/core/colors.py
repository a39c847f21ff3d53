# SPDX-License-Identifier: Apache-2.0
"""Display colours (sRGB) and linear ones.

URDF, SDFormat, MJCF, OBJ and COLLADA files hold colours as they are meant to appear on a screen; OpenUSD and glTF
hold linear ones, which lights are multiplied with.  The curve is that of IEC 61966-2-1.
"""

from __future__ import annotations

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
