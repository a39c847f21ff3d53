# SPDX-License-Identifier: Apache-2.0
"""Numbers, vectors and quaternions as messages show them."""

from __future__ import annotations

from typing import Any


def show_number(value: float) -> str:
    """A number for messages, short."""
    return f"{value + 0.0:.6g}"


def show_numbers(values: Any) -> str:
    """Numbers for messages: ``(1, 0.5, 0)``."""
    return f"({', '.join(show_number(float(v)) for v in values)})"


def show_value(value: Any) -> str:
    """The value of an op for messages."""
    if hasattr(value, "GetReal"):
        return show_numbers((value.GetReal(), *value.GetImaginary()))
    try:
        return show_numbers(value)
    except (TypeError, ValueError):
        return show_number(value) if isinstance(value, (int, float)) else str(value)
