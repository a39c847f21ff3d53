# SPDX-License-Identifier: Apache-2.0
"""How far two values are apart.

Numbers: ``|a - b| / max(|a|, |b|, scale)``, so 1e-6 means six digits; ``scale`` is the size of a number that
counts as something (the length of the robot, the span of a range), so that noise around zero does not.  Vectors
are measured by their largest entry.  Texts, flags and missing values are the same (0) or not (infinite).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.compare.difference import Item, Section
from simwright.core.math3d import Pose, quat_angle

TINY = 1e-12
"""Numbers below this are zero, whatever their unit."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """``rtol`` decides what is equal; ``length`` [m] is the size of the machine."""

    rtol: float
    length: float

    def compare(
        self, section: Section, element: str, what: str, a: Any, b: Any, *, scale: float = 0.0
    ) -> None:
        """Add an item where two values differ."""
        error = measure(a, b, scale)
        if error > self.rtol:
            section.items.append(Item(element, what, a, b, error=error))

    def compare_pose(self, section: Section, element: str, a: Pose, b: Pose) -> None:
        """Positions against the size of the machine, rotations in radians."""
        shift = float(np.linalg.norm(a.p - b.p)) / self.length
        turn = quat_angle(a.q, b.q)
        if shift > self.rtol:
            section.items.append(Item(element, "position", a.p.tolist(), b.p.tolist(), error=shift))
        if turn > self.rtol:
            section.items.append(Item(element, "orientation", a.q.tolist(), b.q.tolist(), error=turn))


def measure(a: Any, b: Any, scale: float = 0.0) -> float:
    """The relative error between two values of any kind."""
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    if isinstance(a, str | bool) or isinstance(b, str | bool):
        return 0.0 if a == b else math.inf
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if a.keys() != b.keys():
            return math.inf
        return max((measure(a[key], b[key], scale) for key in a), default=0.0)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return _measure_numbers(float(a), float(b), scale)
    return _measure_rows(a, b, scale)


def _measure_numbers(a: float, b: float, scale: float) -> float:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    gap = abs(a - b)
    return gap / max(abs(a), abs(b), scale) if gap > TINY else 0.0


def _measure_rows(a: Any, b: Any, scale: float) -> float:
    try:
        first, second = (np.asarray(v, dtype=np.float64) for v in (a, b))
    except (TypeError, ValueError):
        if isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
            return max((measure(x, y, scale) for x, y in zip(a, b, strict=True)), default=0.0)
        return 0.0 if str(a) == str(b) else math.inf
    if first.shape != second.shape:
        return math.inf
    if first.size == 0:
        return 0.0
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
        return max(_measure_numbers(x, y, scale) for x, y in pairs)
    gap = float(np.abs(first - second).max())
    size = max(float(np.abs(first).max()), float(np.abs(second).max()), scale)
    return gap / size if gap > TINY else 0.0
