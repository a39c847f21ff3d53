# SPDX-License-Identifier: Apache-2.0
"""A layer as text for people: long arrays shortened, and the difference of two such texts."""

from __future__ import annotations

import difflib
import re
from typing import Any

_MAX_LINE = 200
_NUMBERS = re.compile(r"\[([^\[\]]{160,})\]")


def describe_layer(layer: Any) -> list[str]:
    """The lines of a layer; arrays of many values are counted instead of listed."""
    text: str = layer.ExportToString()
    return [_shorten(line) for line in text.splitlines()]


def diff_layers(before: list[str], after: list[str], name: str) -> str:
    """A unified difference; empty if the two are the same.  A layer that is new has no lines before."""
    old = f"a/{name}" if before else "/dev/null"
    lines = difflib.unified_diff(before, after, old, f"b/{name}", lineterm="", n=3)
    return "\n".join(lines)


def _shorten(line: str) -> str:
    if len(line) <= _MAX_LINE:
        return line
    short = _NUMBERS.sub(_count, line)
    return short if len(short) <= 2 * _MAX_LINE else f"{short[:_MAX_LINE]}... ({len(line)} characters)"


def _count(match: re.Match[str]) -> str:
    """A few values, their number, and a sum that shows when any other one changes."""
    import zlib

    body = match.group(1)
    depth_free = re.sub(r"\([^()]*\)", "x", body)
    count = depth_free.count(",") + 1
    return f"[{body[:40]}... {count} values, {zlib.crc32(body.encode()):08x}]"
