# SPDX-License-Identifier: Apache-2.0
"""A picture as PNG, painted at twice its size and reduced, so that edges are smooth."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from simwright.worlds.picture import Area, Disc, Drawing, Line, Mark, Point, Words

_SCALE = 2


def write_png(picture: Drawing) -> bytes:
    """The bytes of a PNG file."""
    from PIL import Image, ImageDraw

    size = (picture.width * _SCALE, picture.height * _SCALE)
    image = Image.new("RGB", size, picture.background)
    draw = ImageDraw.Draw(image)
    for mark in picture.marks:
        _paint(draw, mark)
    small = image.resize((picture.width, picture.height), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    small.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _paint(draw: Any, mark: Mark) -> None:
    if isinstance(mark, Area):
        points = _scale(mark.points)
        if mark.fill is not None:
            draw.polygon(points, fill=mark.fill)
        if mark.outline is not None and mark.width > 0.0:
            _stroke(draw, [*points, points[0], points[1]], mark.outline, mark.width)
    elif isinstance(mark, Disc):
        (x, y), radius = _scale([mark.center])[0], mark.radius * _SCALE
        width = round(mark.width * _SCALE)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), mark.fill, mark.outline, width)
    elif isinstance(mark, Line):
        for part in _dashes(mark.points, mark.dash) if mark.dash else [mark.points]:
            _stroke(draw, _scale(part), mark.color, mark.width)
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
    point = _scale([words.center])[0]
    draw.text(point, words.text, fill=words.color, font=font, anchor="mm", **halo)
    if words.bold:
        # the built-in font has one weight: a second time, half a pixel to the side
        draw.text((point[0] + 1, point[1]), words.text, fill=words.color, font=font, anchor="mm")


@lru_cache(maxsize=32)
def _load_font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _scale(points: Sequence[Point]) -> list[Point]:
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
