# SPDX-License-Identifier: Apache-2.0
"""A drawing as a list of marks in pixels, y down, written as SVG or painted as PNG.

Both writers know four marks: areas, discs, lines and words.  Colours are red, green and blue from 0 to 255.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Ink: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Area:
    """A filled polygon, with an outline if ``width`` [px] is positive."""

    points: Sequence[Point]
    fill: Ink | None
    outline: Ink | None = None
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle."""

    center: Point
    radius: float
    fill: Ink
    outline: Ink | None = None
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; ``dash`` is the length of dashes and gaps [px], 0 for none."""

    points: Sequence[Point]
    color: Ink
    width: float
    dash: float = 0.0


@dataclass(frozen=True, slots=True)
class Words:
    """Text around a point, with a halo that keeps it readable on anything."""

    center: Point
    text: str
    size: float
    color: Ink
    halo: Ink | None = None
    bold: bool = False


Mark: TypeAlias = Area | Disc | Line | Words


@dataclass(slots=True)
class Drawing:
    """Marks in the order of painting."""

    width: int
    height: int
    background: Ink
    marks: list[Mark] = field(default_factory=list)

    def add(self, mark: Mark) -> None:
        """Paint over what is there."""
        self.marks.append(mark)


def mix(color: Sequence[float], other: Ink, share: float) -> Ink:
    """A colour (0 to 1) with a share of another one; 0 is the colour itself."""
    red, green, blue = (
        round(255 * min(1.0, max(0.0, c)) * (1 - share) + o * share)
        for c, o in zip(color, other, strict=True)
    )
    return red, green, blue


def measure_words(text: str, size: float) -> tuple[float, float]:
    """About how wide and high a text is [px]."""
    return 0.56 * size * len(text), 1.15 * size
