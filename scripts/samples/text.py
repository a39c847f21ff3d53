# SPDX-License-Identifier: Apache-2.0
"""Numbers as short, stable text."""

from __future__ import annotations

from collections.abc import Iterable


def fixed(value: float, digits: int) -> str:
    """At most ``digits`` decimals, no trailing zeros, no minus zero."""
    text = f"{float(value):.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def short(value: float, digits: int = 7) -> str:
    """At most ``digits`` significant digits; noise below 1e-12 is zero."""
    number = float(value)
    if abs(number) < 1e-12:
        return "0"
    text = f"{number:.{digits}g}"
    return text.replace("e-0", "e-").replace("e+0", "e+")


def row(values: Iterable[float], digits: int = 7) -> str:
    """Numbers separated by spaces."""
    return " ".join(short(v, digits) for v in values)
