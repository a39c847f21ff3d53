# SPDX-License-Identifier: Apache-2.0
"""Signals over time, drawn on the page as they come."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simwright.core.math3d import Array
from simwright.view.words import list_choices, short

_SAMPLES = 600
_BETWEEN = 0.2
"""Time between two drawings [s]: charts cost more than poses."""
_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")
_MOST = len(_COLORS)
_CHOOSE = "choose"


class SignalPlot:
    """A chart of signals that are chosen by name; ``take`` gives it the values of a moment."""

    def __init__(self, gui: Any, names: Sequence[str], chosen: Sequence[str] = ()) -> None:
        self._gui = gui
        self._shown = list_choices(names, 60, (_CHOOSE,))
        self.chosen: list[str] = [name for name in chosen if name in names][:_MOST]
        self._times: deque[float] = deque(maxlen=_SAMPLES)
        self._values: dict[str, deque[float]] = {}
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
        self._times.clear()
        self._values = {name: deque(maxlen=_SAMPLES) for name in self.chosen}
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
        if self._times and moment < self._times[-1]:
            # it began again
            for kept in (self._times, *self._values.values()):
                kept.clear()
        self._times.append(moment)
        for name, kept in self._values.items():
            kept.append(float(values.get(name, np.nan)))
        now = time.monotonic()
        if now - self._last >= _BETWEEN and len(self._times) > 1:
            self._last = now
            self._chart.data = (np.array(self._times), *(np.array(kept) for kept in self._values.values()))


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
        data, tuple(series), height=200, scales={"x": {"time": False}}, legend={"show": True}
    )
