# SPDX-License-Identifier: Apache-2.0
"""Colours: a name, a hexadecimal text, ``rgb()`` or ``hsl()``, or red, green and blue from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, shorten

if TYPE_CHECKING:
    from simwright.worlds.read_state import WorldReading

Rgb = tuple[float, float, float]


def read_color(reading: WorldReading, entry: WorldEntry, default: Rgb) -> Rgb:
    """The colour of an entity; ``default`` where it says none."""
    value = entry.get("color")
    return default if value is None else parse_color(reading, entry, value)


def read_category_color(reading: WorldReading, entry: WorldEntry, default: Rgb) -> tuple[Rgb, Any]:
    """The colour of a category, and the one PyRoboSim would have: it does not read the text of a category's colour."""
    value = entry.get("color")
    if value is None:
        return default, default
    try:
        return parse_color(reading, entry, value), value
    except Refusal as refusal:
        if not reading.reference:
            reading.settle(refusal)
        return default, value


def parse_color(reading: WorldReading, entry: WorldEntry, value: Any) -> Rgb:
    """Red, green and blue from 0 to 1."""
    if isinstance(value, str):
        return _parse_text(entry, value)
    if not isinstance(value, list) or len(value) != 3:
        raise _refuse(entry, value)
    red, green, blue = (entry.check_number(part, "color", index) for index, part in enumerate(value))
    if reading.reference or all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        return red, green, blue
    reading.report(messages.COLOR_RANGE, entry.find_where("color"), found=shorten(value))
    return tuple(min(1.0, max(0.0, part)) for part in (red, green, blue))  # type: ignore[return-value]


def _parse_text(entry: WorldEntry, text: str) -> Rgb:
    from PIL import ImageColor

    try:
        channels = ImageColor.getrgb(text)
    except ValueError:
        raise _refuse(entry, text) from None
    return channels[0] / 255.0, channels[1] / 255.0, channels[2] / 255.0


def _refuse(entry: WorldEntry, value: Any) -> Refusal:
    return Refusal(messages.BAD_COLOR, entry.find_where("color"), found=shorten(value))
