# SPDX-License-Identifier: Apache-2.0
"""Sizes a small text can ask for: a few characters of MJCF can mean billions of elements or pixels.

``replicate``, ``composite`` and ``flexcomp`` multiply; textures and height fields are generated at any
size.  The product is computed here, before MuJoCo allocates anything.
"""

from __future__ import annotations

import math

from simwright.core.diag import Where
from simwright.core.errors import LimitError
from simwright.formats.xml import Element

MAX_COPIES = 100_000
MAX_ELEMENTS = 1_000_000
MAX_RESOLUTION = 1000
MAX_PIXELS = 16384 * 16384
MAX_HEIGHTS = 4096 * 4096
MAX_MEMORY = 1 << 36

_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}


def multiply_copies(element: Element, copies: int, where: Where) -> int:
    """``copies`` times the counts of every ``replicate`` around an element."""
    for parent in element.iterancestors("replicate"):
        copies *= max(1, _whole(parent.get("count")))
    _check(copies, MAX_COPIES, "copies of one element", where)
    return copies


def check_elements(elements: int, where: Where) -> None:
    """Refuse a model that is small only as text."""
    _check(elements, MAX_ELEMENTS, "elements", where)


def check_size(element: Element, copies: int, where: Where) -> None:
    """Refuse an element that asks for more than the limits of this module."""
    tag = element.tag
    total = copies
    if tag in ("replicate", "composite", "flexcomp"):
        total = multiply_copies(element, copies, where) * max(1, _product(element.get("count")))
        _check(total, MAX_COPIES, f"elements made by <{tag}>", where)
    elif tag == "texture":
        pixels = max(1, _whole(element.get("width"))) * max(1, _whole(element.get("height")))
        _check(pixels, MAX_PIXELS, "pixels in a texture", where)
    elif tag == "hfield":
        heights = max(1, _whole(element.get("nrow"))) * max(1, _whole(element.get("ncol")))
        _check(heights, MAX_HEIGHTS, "heights in a height field", where)
    elif tag == "mesh" and element.get("builtin"):
        finest = max(_whole(part.partition(".")[0]) for part in (element.get("params") or "1").split())
        _check(finest, MAX_RESOLUTION, "points along one side of a generated mesh", where)
    elif tag == "size":
        _check(_memory(element.get("memory")), MAX_MEMORY, "bytes of simulation memory", where)


def _check(value: int, limit: int, what: str, where: Where) -> None:
    if value > limit:
        raise LimitError(
            f"the file asks for {value:,} {what}; the limit is {limit:,}",
            hint="is it the right file?",
            where=where,
        )


def _whole(text: str | None) -> int:
    """The number if it is one; MuJoCo reports the others."""
    try:
        return int(text or "1")
    except ValueError:
        return 1


def _product(text: str | None) -> int:
    return math.prod(max(1, _whole(part)) for part in (text or "1").split())


def _memory(text: str | None) -> int:
    value = (text or "0").strip().lower()
    unit = _UNITS.get(value[-1:], 0)
    digits = value[:-1] if unit else value
    return int(digits) << unit if digits.isdigit() and len(digits) < 20 else 0
