# SPDX-License-Identifier: Apache-2.0
"""Signals over time, drawn on the page as they come."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simwright.core.math3d import Array
from simwright.view.words import list_choices, short

_SAMPLES = 600
_BETWEEN = 0.4
"""Time between two drawings [s]: a chart costs as much as three pictures."""
_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")
_MOST = len(_COLORS)
_CHOOSE = "choose"
_STEPS = tuple(float(f"{digit}e{power}") for power in range(-3, 13) for digit in (1, 2, 5))
"""Between two numbers beside a chart: uPlot writes three decimals, and numbers of more would all be called 0."""


class SignalPlot:
    """A chart of signals that are chosen by name; ``take`` gives it the values of a moment."""

    def __init__(self, gui: Any, names: Sequence[str], chosen: Sequence[str] = ()) -> None:
        self._gui = gui
        self._shown = list_choices(names, 60, (_CHOOSE,))
        self.chosen: list[str] = [name for name in chosen if name in names][:_MOST]
        self._kept, self._count = np.zeros((1, 2 * _SAMPLES)), 0
        self._chart: Any = None
        self._last = 0.0
        self._folder = gui.add_folder("Signals", expand_by_default=True)
        with self._folder:
            self._choice = gui.add_dropdown("Show", (_CHOOSE, *self._shown), initial_value=_CHOOSE)
            self._choice.on_update(lambda event: self.add(self._shown.get(event.target.value, "")))
            clear = gui.add_button_group("", ("Clear",))
            clear.on_click(lambda _: self.clear())
        self._start()

    def add(self, name: str) -> None:
        """Draw one more; the oldest goes where there are too many."""
        if name and name not in self.chosen:
            self.chosen = [*self.chosen, name][-_MOST:]
            self._start()

    def clear(self) -> None:
        """Draw nothing."""
        self.chosen = []
        self._choice.value = _CHOOSE
        self._start()

    def _start(self) -> None:
        """An empty chart for what is chosen."""
        self._kept, self._count = np.zeros((1 + len(self.chosen), 2 * _SAMPLES)), 0
        if self._chart is not None:
            self._chart.remove()
            self._chart = None
        if not self.chosen:
            return
        with self._folder:
            self._chart = add_chart(
                self._gui, self.chosen, tuple(np.zeros(1) for _ in range(len(self.chosen) + 1))
            )

    def take(self, moment: float, values: Mapping[str, float]) -> None:
        """The values of a moment [s], by name; those that are not chosen are left out."""
        if self._chart is None:
            return
        if self._count and moment < self._kept[0, self._count - 1]:
            self._count = 0  # it began again
        if self._count == self._kept.shape[1]:
            self._kept[:, :_SAMPLES] = self._kept[:, _SAMPLES:]
            self._count = _SAMPLES
        self._kept[:, self._count] = (moment, *(values.get(name, np.nan) for name in self.chosen))
        self._count += 1
        now = time.monotonic()
        if now - self._last >= _BETWEEN and self._count > 1:
            self._last = now
            self._chart.data = tuple(self._kept[:, max(0, self._count - _SAMPLES) : self._count].copy())


class SeriesPlot:
    """A chart of signals whose values are all known."""

    def __init__(self, gui: Any, times: Array, signals: Mapping[str, Array]) -> None:
        self._gui, self._times, self._signals = gui, times, signals
        self.chosen = list(signals)[:1]
        self._chart: Any = None
        shown = list_choices(signals, 60, (_CHOOSE,))
        self._folder = gui.add_folder("Signals", expand_by_default=True)
        with self._folder:
            choice = gui.add_dropdown("Show", (_CHOOSE, *shown), initial_value=_CHOOSE)
            choice.on_update(lambda event: self.add(shown.get(event.target.value, "")))
            clear = gui.add_button_group("", ("Clear",))
            clear.on_click(lambda _: self.clear())
        self._draw()

    def add(self, name: str) -> None:
        """Draw one more."""
        if name and name not in self.chosen:
            self.chosen = [*self.chosen, name][-_MOST:]
            self._draw()

    def clear(self) -> None:
        """Draw nothing."""
        self.chosen = []
        self._draw()

    def _draw(self) -> None:
        if self._chart is not None:
            self._chart.remove()
            self._chart = None
        if self.chosen and len(self._times) > 1:
            step = max(1, len(self._times) // 2000)
            data = (self._times[::step], *(self._signals[name][::step] for name in self.chosen))
            with self._folder:
                self._chart = add_chart(self._gui, self.chosen, data)


def add_chart(gui: Any, names: Sequence[str], data: tuple[Array, ...]) -> Any:
    """A chart of signals over time [s]."""
    series: list[dict[str, Any]] = [{"label": "s"}]
    series += [
        {"label": short(name, 30), "stroke": color, "width": 1.5}
        for name, color in zip(names, _COLORS, strict=False)
    ]
    return gui.add_uplot(
        data, tuple(series), height=200, scales={"x": {"time": False}}, legend={"show": True},
        # uPlot leaves 50 pixels for numbers, which cuts the sign off negative ones of three digits
        axes=({}, {"size": 64, "incrs": _STEPS}),
    )  # fmt: skip
