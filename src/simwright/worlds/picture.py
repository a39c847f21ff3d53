# SPDX-License-Identifier: Apache-2.0
"""A drawing as a list of marks in pixels, y down, written as SVG or painted as PNG.

Both writers know four marks: areas, discs, lines and words.  Colours are red, green and blue from 0 to 255.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

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


_FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"


def write_svg(picture: Drawing) -> str:
    """The text of an SVG file."""
    # viewBox beside the size, so that viewers may scale it
    size = f'width="{picture.width}" height="{picture.height}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {picture.width} {picture.height}" '
        f'font-family="{_FONT}" stroke-linejoin="round" stroke-linecap="round">'
    )
    lines = [head, f'<rect {size} fill="{_hex(picture.background)}"/>']
    lines += [_svg_mark(mark) for mark in picture.marks]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _svg_mark(mark: Mark) -> str:
    if isinstance(mark, Area):
        return f'<polygon points="{_svg_points(mark.points)}" {_svg_paint(mark.fill, mark.outline, mark.width)}/>'
    if isinstance(mark, Disc):
        x, y = mark.center
        paint = _svg_paint(mark.fill, mark.outline, mark.width)
        return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{mark.radius:.2f}" {paint}/>'
    if isinstance(mark, Line):
        dash = f' stroke-dasharray="{mark.dash:g}"' if mark.dash else ""
        paint = _svg_paint(None, mark.color, mark.width)
        return f'<polyline points="{_svg_points(mark.points)}" {paint}{dash}/>'
    return _svg_words(mark)


def _svg_words(words: Words) -> str:
    x, y = words.center
    halo = ""
    if words.halo is not None:
        halo = f' stroke="{_hex(words.halo)}" stroke-width="{words.size * 0.3:.1f}" paint-order="stroke"'
    weight = ' font-weight="600"' if words.bold else ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{words.size:g}" fill="{_hex(words.color)}"{halo}{weight} '
        f'text-anchor="middle" dominant-baseline="central">{escape(words.text)}</text>'
    )


def _svg_paint(fill: Ink | None, outline: Ink | None, width: float) -> str:
    text = f'fill="{_hex(fill)}"' if fill is not None else 'fill="none"'
    if outline is not None and width > 0.0:
        text += f' stroke="{_hex(outline)}" stroke-width="{width:g}"'
    return text


def _svg_points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _hex(color: Ink) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


_SCALE = 2


def write_png(picture: Drawing) -> bytes:
    """The bytes of a PNG file."""
    from PIL import Image, ImageDraw

    size = (picture.width * _SCALE, picture.height * _SCALE)
    image = Image.new("RGB", size, picture.background)
    draw = ImageDraw.Draw(image)
    for mark in picture.marks:
        _paint_mark(draw, mark)
    # Pillow draws without smoothing: painted larger and reduced
    small = image.resize((picture.width, picture.height), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    small.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _paint_mark(draw: Any, mark: Mark) -> None:
    if isinstance(mark, Area):
        points = _scale_points(mark.points)
        if mark.fill is not None:
            draw.polygon(points, fill=mark.fill)
        if mark.outline is not None and mark.width > 0.0:
            # beyond the first corner, so that the joint there is drawn too
            _stroke(draw, [*points, points[0], points[1]], mark.outline, mark.width)
    elif isinstance(mark, Disc):
        (x, y), radius = _scale_points([mark.center])[0], mark.radius * _SCALE
        width = round(mark.width * _SCALE)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), mark.fill, mark.outline, width)
    elif isinstance(mark, Line):
        for part in _dashes(mark.points, mark.dash) if mark.dash else [mark.points]:
            _stroke(draw, _scale_points(part), mark.color, mark.width)
    else:
        _paint_words(draw, mark)


def _stroke(draw: Any, points: list[Point], color: Any, width: float) -> None:
    draw.line(points, fill=color, width=max(1, round(width * _SCALE)), joint="curve")


def _paint_words(draw: Any, words: Words) -> None:
    font = _load_font(round(words.size * _SCALE))
    halo = (
        {}
        if words.halo is None
        else {"stroke_width": round(words.size * 0.18 * _SCALE), "stroke_fill": words.halo}
    )
    point = _scale_points([words.center])[0]
    draw.text(point, words.text, fill=words.color, font=font, anchor="mm", **halo)
    if words.bold:
        # the built-in font has one weight: a second time, half a pixel to the side
        draw.text((point[0] + 1, point[1]), words.text, fill=words.color, font=font, anchor="mm")


@lru_cache(maxsize=32)
def _load_font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _scale_points(points: Sequence[Point]) -> list[Point]:
    return [(x * _SCALE, y * _SCALE) for x, y in points]


def _dashes(points: Sequence[Point], length: float) -> Iterator[list[Point]]:
    """The painted parts of a dashed line."""
    for (x, y), (to_x, to_y) in pairwise(points):
        distance = math.dist((x, y), (to_x, to_y))
        at = 0.0
        while at < distance:
            stop = min(at + length, distance)
            yield [
                (x + (to_x - x) * at / distance, y + (to_y - y) * at / distance),
                (x + (to_x - x) * stop / distance, y + (to_y - y) * stop / distance),
            ]
            at += 2 * length
