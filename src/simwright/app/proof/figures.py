# SPDX-License-Identifier: Apache-2.0
"""The figures of a page: lines over time as SVG, and the robot as MuJoCo draws it.

The SVG needs no script: values above, differences from the reference below, and the numbers of a moment while the
pointer is over its band.  Lines differ in colour, dashes and marks, so that no reader needs the colours.  Phones get a
second one, with the names below and no bands.  Where MuJoCo cannot draw without a screen, there are no pictures.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array
from simwright.core.visible import make_visible
from simwright.engines.films import encode_png
from simwright.engines.layout import Layout
from simwright.model.asset import Asset

TOP, MIDDLE = 18, 236
"""Upper and lower end of the values [px]."""
LOW, BOTTOM = 268, 380
"""Upper and lower end of the differences [px]."""
HEIGHT = 420
"""Of the panels with what is written below them [px]."""
_ROW = 27
_SMALLEST = 1e-12
"""Differences below this are drawn as this: a logarithm of nothing has no place."""
_MARKS = 7
"""Marks on each line."""
DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "12 4", "1 4", "6 2 1 2 1 2")
STYLES = len(DASHES)
_SHAPES = (
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
    "M-3.2-3.2h6.4v6.4h-6.4z",
    "M0-4.2L4 3H-4z",
    "M0-4.5L4.5 0L0 4.5L-4.5 0z",
    "M0 4.2L4-3H-4z",
    "M-4-1.3H-1.3V-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4z",
    "M-4 0L-2-3.5H2L4 0L2 3.5H-2z",
    "M-3.5-3.5L3.5 3.5M-3.5 3.5L3.5-3.5",
)

STYLE = (
    """
.chart { display: block; width: 100%; height: auto; font: 12px/1.2 system-ui, sans-serif; }
.chart.narrow { display: none; max-width: 30rem; }
@media (max-width: 44rem) { .chart.wide { display: none; } .chart.narrow { display: block; } }
.chart text { fill: var(--text); } .chart .soft { fill: var(--soft); }
.chart .grid { stroke: var(--line); stroke-width: 1; } .chart .frame { fill: var(--card); stroke: var(--line); }
.chart .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.chart .reference { stroke: var(--text); stroke-width: 4.5; stroke-opacity: 0.22; }
.chart .at { stroke: var(--soft); stroke-width: 1; }
.chart .band rect { fill: transparent; } .chart .tip { display: none; pointer-events: none; }
.chart .band:hover .tip { display: inline; } .chart .bands:hover ~ .rest { display: none; }
.chart .number { font-variant-numeric: tabular-nums; text-anchor: end; }
.chart .name { font-weight: 600; }
"""
    + "".join(f".chart .s{n} {{ stroke: var(--s{n}); }} .chart .m{n} {{ fill: var(--s{n}); stroke: var(--s{n}); }}\n"
              for n in range(STYLES))
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChartLayout:
    """Where the parts of a chart are [px]: sides of the panels, names and ends of numbers, and the first name.

    ``ticks`` is how many numbers are along the time, ``bands`` whether each moment shows its numbers.
    """

    kind: str
    width: int
    left: int
    right: int
    names: int
    numbers: int
    first: int
    ticks: int
    bands: bool

    def find_height(self, rows: int) -> int:
        """Of a chart with so many names."""
        return max(HEIGHT, self.find_row(rows - 1) + 14)

    def find_row(self, number: int) -> int:
        """The line of a name."""
        return self.first + 38 + _ROW * number


WIDE = ChartLayout("wide", 900, 70, 620, 640, 890, TOP, 6, bands=True)
NARROW = ChartLayout("narrow", 380, 62, 374, 8, 374, HEIGHT - 8, 4, bands=False)
"""For phones: names below the panels, as large as the text around them."""


@dataclass(frozen=True, slots=True)
class EngineLine:
    """One engine: a value for each time, and how far it is from what it is held against."""

    name: str
    style: int
    values: Sequence[float]
    errors: Sequence[float]


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over the same times [s]; ``unit`` is that of all values.

    ``references`` are what engines are held against, with a name each: all with the same machine, or some with what
    their format has no place for left out.
    """

    title: str
    unit: str
    times: Sequence[float]
    references: Sequence[tuple[str, Sequence[float]]]
    lines: Sequence[EngineLine] = field(default_factory=list)


def draw(chart: LineChart) -> str:
    """The SVG elements: one for screens that are wide enough for names beside the lines, one for phones."""
    return "\n".join([*_write(chart, WIDE), *_write(chart, NARROW)])


def _write(chart: LineChart, layout: ChartLayout) -> Iterator[str]:
    across, up, decades = _choose_scales(chart, layout)
    title = _text(chart.title)
    height = layout.find_height(len(chart.references) + len(chart.lines))
    yield f'<svg class="chart {layout.kind}" viewBox="0 0 {layout.width} {height}" role="img" aria-label="{title}">'
    yield f"<title>{title}</title>"
    yield from _write_frame(chart, layout, across, up, decades)
    for number, (_, expected) in enumerate(chart.references):
        trace = _trace(chart.times, expected, across, up)
        yield f'<path class="line reference"{_dash_reference(number)} d="{trace}"/>'
    for line in chart.lines:
        errors = [_log(value) for value in line.errors]
        for values, scale in ((line.values, up), (errors, decades)):
            trace = _trace(chart.times, values, across, scale)
            yield f'<path class="line s{line.style}"{_dash(line.style)} d="{trace}"/>'
            yield from _write_marks(line.style, chart.times, values, across, scale)
    yield from _write_names(chart, layout)
    if layout.bands:
        yield '<g class="bands">'
        yield from _write_bands(chart, layout, across)
        yield "</g>"
    yield '<g class="rest">'
    end = layout.numbers
    yield f'<text class="soft number" x="{end}" y="{layout.first + 12}">largest difference</text>'
    for number, line in enumerate(chart.lines, len(chart.references)):
        worst = max((abs(v) for v in line.errors if math.isfinite(v)), default=math.nan)
        told = f"{_tell(worst)} {_text(chart.unit)}"
        yield f'<text class="number" x="{end}" y="{layout.find_row(number)}">{told}</text>'
    yield "</g></svg>"


def _choose_scales(chart: LineChart, layout: ChartLayout) -> tuple[_Scale, _Scale, _Scale]:
    """Of times, of values, and of the powers of ten of differences."""
    last = max(chart.times[-1], chart.times[0] + 1e-9)
    across = _Scale(chart.times[0], last, layout.left, layout.right)
    rows = [*(values for _, values in chart.references), *(line.values for line in chart.lines)]
    numbers = [value for row in rows for value in row if math.isfinite(value)]
    low, high = _widen(min(numbers, default=0.0), max(numbers, default=0.0))
    up = _Scale(low, high, MIDDLE, TOP)
    sizes = [abs(v) for line in chart.lines for v in line.errors if math.isfinite(v) and v != 0.0]
    largest = math.ceil(math.log10(max(sizes, default=1e-6)) + 0.05)
    smallest = math.floor(math.log10(max(min(sizes, default=1e-9), _SMALLEST)))
    return across, up, _Scale(min(smallest, largest - 3), largest, BOTTOM, LOW)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Values from ``low`` to ``high`` as pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(max(share, -0.02), 1.02)


def _write_frame(
    chart: LineChart, layout: ChartLayout, across: _Scale, up: _Scale, decades: _Scale
) -> Iterator[str]:
    left, right = layout.left, layout.right
    for upper, lower in ((TOP, MIDDLE), (LOW, BOTTOM)):
        yield f'<rect class="frame" x="{left}" y="{upper}" width="{right - left}" height="{lower - upper}"/>'
    for value in _choose_ticks(across.low, across.high, layout.ticks):
        x = across(value)
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{MIDDLE}M{x:.1f} {LOW}V{BOTTOM}"/>'
        yield f'<text class="soft" x="{x:.1f}" y="{BOTTOM + 16}" text-anchor="middle">{value:g}</text>'
    for value in _choose_ticks(up.low, up.high, 5):
        y = up(value)
        yield f'<path class="grid" d="M{left} {y:.1f}H{right}"/>'
        yield f'<text class="soft" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
    count = round(decades.high - decades.low)
    for power in range(round(decades.low), round(decades.high) + 1, max(1, math.ceil(count / 4))):
        y = decades(power)
        yield f'<path class="grid" d="M{left} {y:.1f}H{right}"/>'
        yield f'<text class="soft" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">1e{power}</text>'
    middle = (left + right) / 2
    yield f'<text class="soft" x="{middle:.0f}" y="{HEIGHT - 6}" text-anchor="middle">time [s]</text>'
    for label, y in (
        (f"value [{chart.unit}]", (TOP + MIDDLE) / 2),
        (f"difference [{chart.unit}]", (LOW + BOTTOM) / 2),
    ):
        turned = f'transform="translate(12 {y:.0f}) rotate(-90)"'
        yield f'<text class="soft" {turned} text-anchor="middle">{_text(label)}</text>'


def _write_names(chart: LineChart, layout: ChartLayout) -> Iterator[str]:
    for number, (name, _) in enumerate(chart.references):
        y = layout.find_row(number)
        yield f'<path class="line reference"{_dash_reference(number)} d="M{layout.names} {y - 4}h34"/>'
        yield f'<text class="name" x="{layout.names + 42}" y="{y}">{_text(name, 34)}</text>'
    for number, line in enumerate(chart.lines, len(chart.references)):
        y = layout.find_row(number)
        yield f'<path class="line s{line.style}"{_dash(line.style)} d="M{layout.names} {y - 4}h34"/>'
        place = f"{layout.names + 17} {y - 4}"
        yield f'<path class="m{line.style}" d="{_SHAPES[line.style]}" transform="translate({place})"/>'
        yield f'<text class="name" x="{layout.names + 42}" y="{y}">{_text(line.name, 22)}</text>'


def _write_bands(chart: LineChart, layout: ChartLayout, across: _Scale) -> Iterator[str]:
    times, end = chart.times, layout.numbers
    for number, time in enumerate(times):
        x = across(time)
        first = layout.left if not number else (x + across(times[number - 1])) / 2
        last = layout.right if number == len(times) - 1 else (x + across(times[number + 1])) / 2
        yield f'<g class="band"><rect x="{first:.1f}" y="{TOP}" width="{last - first:.1f}" height="{BOTTOM - TOP}"/>'
        yield f'<g class="tip"><path class="at" d="M{x:.1f} {TOP}V{BOTTOM}"/>'
        yield f'<text class="soft number" x="{end}" y="{layout.first + 12}">at {time:.3g} s</text>'
        for row, (_, values) in enumerate(chart.references):
            expected = _text(f"{values[number]:.5g} {chart.unit}")
            yield f'<text class="number" x="{end}" y="{layout.find_row(row)}">{expected}</text>'
        for row, line in enumerate(chart.lines, len(chart.references)):
            error = line.errors[number]
            told = f"{line.values[number]:.5g} ({'+' if error >= 0 else '-'}{_tell(abs(error))})"
            yield f'<text class="number" x="{end}" y="{layout.find_row(row)}">{told}</text>'
        yield "</g></g>"


def _write_marks(
    style: int, times: Sequence[float], values: Sequence[float], across: _Scale, scale: _Scale
) -> Iterator[str]:
    # each style begins elsewhere: marks of lines that lie on each other stay apart
    step = max(1, len(times) // _MARKS)
    for number in range((style * step) // STYLES + step // 2, len(times), step):
        if math.isfinite(values[number]):
            place = f"{across(times[number]):.1f} {scale(values[number]):.1f}"
            yield f'<path class="m{style}" d="{_SHAPES[style]}" transform="translate({place})"/>'


def _trace(times: Sequence[float], values: Sequence[float], across: _Scale, up: _Scale) -> str:
    parts, pen = [], "M"
    for time, value in zip(times, values, strict=True):
        # a motion that runs away leaves a gap
        if not math.isfinite(value):
            pen = "M"
            continue
        parts.append(f"{pen}{across(time):.1f} {up(value):.1f}")
        pen = "L"
    return "".join(parts)


def _dash(style: int) -> str:
    return f' stroke-dasharray="{DASHES[style]}"' if DASHES[style] else ""


def _dash_reference(number: int) -> str:
    return ' stroke-dasharray="3 3"' if number else ""


def _log(value: float) -> float:
    return math.log10(max(abs(value), _SMALLEST)) if math.isfinite(value) else math.nan


def _tell(value: float) -> str:
    return f"{value:.1e}" if math.isfinite(value) else "out of range"


def _widen(low: float, high: float) -> tuple[float, float]:
    """A little more than the values need; at least something where they are all the same."""
    room = max((high - low) * 0.06, abs(high) * 1e-6, 1e-6)
    return low - room, high + room


def _choose_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers within a range."""
    span = (high - low) / most
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= span)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]


def _text(text: str, longest: int = 200) -> str:
    shown = make_visible(text)
    return html.escape(shown if len(shown) <= longest else shown[: longest - 1] + "…")


_DRAWN = (800, 600)
"""What is drawn [px]; what is shown is cut to what there is to see."""
_PASSES = 8
"""How often: edges are smooth enough for the size that is shown, and most of the time of a page goes here."""
_MARGIN = 12


@dataclass(frozen=True, slots=True)
class RobotPicture:
    """A PNG, and what it shows."""

    title: str
    png: bytes


def draw_assets(assets: Sequence[Asset], seed: int = 0) -> list[list[RobotPicture]]:
    """Each asset in its reference pose and in the first configuration of a seed; nothing where it cannot be drawn."""
    return [_draw(asset, seed) for asset in assets]


def _draw(asset: Asset, seed: int) -> list[RobotPicture]:
    from simwright.app.rendering import draw_states, find_positions

    try:
        layout = Layout(asset)
        states, titles = [find_positions(asset, layout)], ["in its reference pose"]
        moved = _find_configuration(asset, states[0], seed)
        if moved is not None:
            states.append(moved)
            titles.append("in the first configuration")
        painted = draw_states(asset, states, _DRAWN, _PASSES)
    # graphics are missing in many ways, and a proof is worth more than its picture
    except (SimwrightError, RuntimeError, OSError, ImportError, AttributeError, ValueError):
        return []
    box = _find_box(np.any([picture[..., 3] > 0 for picture in painted], axis=0))
    return [
        RobotPicture(title, _encode(picture, box)) for title, picture in zip(titles, painted, strict=True)
    ]


def _find_configuration(asset: Asset, start: Array, seed: int) -> Array | None:
    """Positions of the first configuration that engines are asked about; None where nothing can be moved."""
    from simwright.prover.asking import ReferenceRobot, choose_configurations
    from simwright.prover.workers.seen import name_of

    robot = ReferenceRobot(asset)
    zeros = robot.list_zeros()
    wanted = choose_configurations(robot.describe(), 1, seed)[1]["joints"]
    places = start.copy()
    moved = False
    for freedom in Layout(asset).freedoms:
        name = name_of(freedom.name)
        if name in wanted and freedom.positions.stop - freedom.positions.start == 1:
            places[freedom.positions] = wanted[name] + zeros.get(name, 0.0)
            moved = True
    return places if moved else None


def _find_box(drawn: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is drawn in any of the pictures, with a margin [px]."""
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    if not len(rows):
        return 0, 0, drawn.shape[1], drawn.shape[0]
    left, right, top, bottom = columns[0], columns[-1] + 1, rows[0], rows[-1] + 1
    edge = _MARGIN
    return (
        int(max(left - edge, 0)),
        int(max(top - edge, 0)),
        int(min(right + edge, drawn.shape[1])),
        int(min(bottom + edge, drawn.shape[0])),
    )


def _encode(picture: npt.NDArray[np.uint8], box: tuple[int, int, int, int]) -> bytes:
    """A PNG that is transparent where nothing is drawn, so that it stands on a page of any colour."""
    left, top, right, bottom = box
    return encode_png(picture[top:bottom, left:right])
