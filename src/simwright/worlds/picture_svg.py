# SPDX-License-Identifier: Apache-2.0
"""A picture as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from simwright.worlds.picture import Area, Disc, Drawing, Ink, Line, Mark, Point, Words

_FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"


def write_svg(picture: Drawing) -> str:
    """The text of an SVG file."""
    size = f'width="{picture.width}" height="{picture.height}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {picture.width} {picture.height}" '
        f'font-family="{_FONT}" stroke-linejoin="round" stroke-linecap="round">'
    )
    lines = [head, f'<rect {size} fill="{_hex(picture.background)}"/>']
    lines += [_write_mark(mark) for mark in picture.marks]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _write_mark(mark: Mark) -> str:
    if isinstance(mark, Area):
        return f'<polygon points="{_points(mark.points)}" {_paint(mark.fill, mark.outline, mark.width)}/>'
    if isinstance(mark, Disc):
        x, y = mark.center
        paint = _paint(mark.fill, mark.outline, mark.width)
        return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{mark.radius:.2f}" {paint}/>'
    if isinstance(mark, Line):
        dash = f' stroke-dasharray="{mark.dash:g}"' if mark.dash else ""
        paint = _paint(None, mark.color, mark.width)
        return f'<polyline points="{_points(mark.points)}" {paint}{dash}/>'
    return _write_words(mark)


def _write_words(words: Words) -> str:
    x, y = words.center
    halo = ""
    if words.halo is not None:
        halo = f' stroke="{_hex(words.halo)}" stroke-width="{words.size * 0.3:.1f}" paint-order="stroke"'
    weight = ' font-weight="600"' if words.bold else ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{words.size:g}" fill="{_hex(words.color)}"{halo}{weight} '
        f'text-anchor="middle" dominant-baseline="central">{escape(words.text)}</text>'
    )


def _paint(fill: Ink | None, outline: Ink | None, width: float) -> str:
    text = f'fill="{_hex(fill)}"' if fill is not None else 'fill="none"'
    if outline is not None and width > 0.0:
        text += f' stroke="{_hex(outline)}" stroke-width="{width:g}"'
    return text


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _hex(color: Ink) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
