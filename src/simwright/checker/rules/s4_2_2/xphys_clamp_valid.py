# SPDX-License-Identifier: Apache-2.0
"""A clamping table has as many efforts as positions, and its positions increase.

Why: the limit is interpolated between entries.  A table whose positions go back and forth, or whose columns differ
in length, has no value at some positions and two at others.

Fails: three positions and two efforts; `lookupPositions = [0, -30, 30]`; equal positions; a negative effort; no table.
Passes: `lookupPositions = [-30, 0, 30]` with `lookupEfforts = [5, 10, 5]`.

Fix: unsafe.  Pairs are sorted by position; whether the pairs belong together is not known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

POSITIONS = "ext_physics:clamp_position:lookupPositions"
EFFORTS = "ext_physics:clamp_position:lookupEfforts"


@rule(
    "xphys-clamp-valid",
    "4.2.2",
    "must",
    on="api:ExtendedPhysicsPositionBasedClampingAPI",
    fix="unsafe",
    fix_title="sort the table by position",
)
# one function: the checks of one small table, the later ones only where the earlier passed
def xphys_clamp_valid(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Both columns are read as authored."""
    positions, efforts = _read(node.authored(POSITIONS)), _read(node.authored(EFFORTS))
    if not positions or not efforts:
        missing = POSITIONS if not positions else EFFORTS
        yield Finding(f"{missing} has no values", hint=f"write float[] {missing} = [...]", prop=missing)
        return
    if len(positions) != len(efforts):
        yield Finding(
            f"the table has {len(positions)} positions and {len(efforts)} efforts",
            hint="give one effort per position",
            prop=EFFORTS,
        )
    if any(not math.isfinite(value) for value in positions):
        yield Finding("the table has a position that is not finite", hint="write numbers", prop=POSITIONS)
        return
    fall = next(((a, b) for a, b in pairwise(positions) if b <= a), None)
    if fall:
        yield Finding(
            f"the positions do not increase: {fall[1]:g} follows {fall[0]:g}",
            hint="sort the pairs by position and keep each position once",
            prop=POSITIONS,
        )
    # written with not, so that nan is found too
    low = next((value for value in efforts if not value >= 0), None)
    if low is not None:
        yield Finding(
            f"the effort {low:g} is negative or not a number; it is the largest magnitude at its position",
            hint="write efforts of zero or more",
            prop=EFFORTS,
        )


def _read(value: Any) -> list[float]:
    try:
        return [float(item) for item in value]
    except (TypeError, ValueError):
        return []
