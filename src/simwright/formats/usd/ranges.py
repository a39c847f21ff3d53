# SPDX-License-Identifier: Apache-2.0
"""Ranges of the MuJoCo schemas: two numbers and a switch that may say "auto"."""

from __future__ import annotations

from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source

Range = tuple[float, float]


def read_range(source: Source, scan: Scan, found: Found, name: str, switch: str) -> Range | None:
    """``mjc:NAME:min`` and ``max`` where they count; "auto" means that they count if they are not empty."""
    low = source.get_number(found, f"mjc:{name}:min", 0.0)
    high = source.get_number(found, f"mjc:{name}:max", 0.0)
    limited = source.get_text(found, f"mjc:{switch}", "auto")
    if limited == "true":
        return low, high
    if limited == "auto" and low < high and _limits_itself(source, scan):
        return low, high
    return None


def _limits_itself(source: Source, scan: Scan) -> bool:
    """MuJoCo's compiler flag "autolimits"."""
    return all(source.get_flag(scene.prim, "mjc:compiler:autoLimits", True) for scene in scan.scenes[:1])
