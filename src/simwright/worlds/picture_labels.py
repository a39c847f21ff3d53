# SPDX-License-Identifier: Apache-2.0
"""Names that do not cover each other: each tries its place, then those around it; the less important ones give way."""

from __future__ import annotations

from simwright.worlds.picture import Drawing, Ink, Point, Words, measure_words

_HALO: Ink = (252, 251, 249)


class PictureLabels:
    """The names in a picture and the boxes they take."""

    def __init__(self, picture: Drawing) -> None:
        self._picture = picture
        self._boxes: list[tuple[float, float, float, float]] = []

    def block(self, x: float, y: float, radius: float) -> None:
        """Keep names away from a disc."""
        self._boxes.append((x - radius, y - radius, x + radius, y + radius))

    def put(
        self,
        text: str,
        center: Point,
        size: float,
        color: Ink,
        *,
        apart: float,
        outside: bool = False,
        bold: bool = False,
        force: bool = False,
    ) -> None:
        """Write a name at ``center`` (not if ``outside``) or ``apart`` [px] from it; with ``force`` in any case."""
        width, height = measure_words(text, size)
        x, y = center
        beside = width / 2 + apart
        spots = [(x, y - apart), (x, y + apart), (x + beside, y), (x - beside, y)]
        spots += [(x, y - 2 * apart), (x, y + 2 * apart)]
        if not outside:
            spots.insert(0, center)
        for spot in spots:
            box = (spot[0] - width / 2, spot[1] - height / 2, spot[0] + width / 2, spot[1] + height / 2)
            if self._is_free(box):
                break
        else:
            if not force:
                return
            spot, box = center, (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        self._boxes.append(box)
        self._picture.add(Words(spot, text, size, color, _HALO, bold))

    def _is_free(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        if left < 2 or top < 2 or right > self._picture.width - 2 or bottom > self._picture.height - 40:
            return False
        return all(
            right <= other[0] or left >= other[2] or bottom <= other[1] or top >= other[3]
            for other in self._boxes
        )
