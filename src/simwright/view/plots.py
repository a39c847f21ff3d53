# SPDX-License-Identifier: Apache-2.0
"""Signals over time, drawn on the page as they come."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simwright.view.words import short

_SAMPLES = 600
_BETWEEN = 0.2
"""Time between two drawings [s]: charts cost more than poses."""
_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")
_MOST = len(_COLORS)


class SignalPlot:
    """A chart of signals that are chosen by name; ``take`` gives it the values of a moment."""

    def __init__(self, gui: Any, names: Sequence[str], chosen: Sequence[str] = ()) -> None:
        self._gui = gui
        self._shown = {short(name, 60): name for name in names}
        self.chosen: list[str] = [name for name in chosen if name in names][:_MOST]
        self._times: deque[float] = deque(maxlen=_SAMPLES)
        self._values: dict[str, deque[float]] = {}
        self._chart: Any = None
        self._last = 0.0
        self._folder = gui.add_folder("Signals", expand_by_default=True)
        with self._folder:
            self._choice = gui.add_dropdown("Show", ("choose", *self._shown), initial_value="choose")
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
        self._choice.value = "choose"
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
        series: list[dict[str, Any]] = [{"label": "s"}]
        series += [
            {"label": short(name, 30), "stroke": color, "width": 1.5}
            for name, color in zip(self.chosen, _COLORS, strict=False)
        ]
        with self._folder:
            self._chart = self._gui.add_uplot(
                tuple(np.zeros(1) for _ in series), tuple(series), height=200,
                scales={"x": {"time": False}}, legend={"show": True},
            )  # fmt: skip

    def take(self, moment: float, values: Mapping[str, float]) -> None:
        """The values of a moment [s], by name; those that are not chosen are left out."""
        if self._chart is None:
            return
        if self._times and moment < self._times[-1]:
            self._start()
        self._times.append(moment)
        for name, kept in self._values.items():
            kept.append(float(values.get(name, np.nan)))
        now = time.monotonic()
        if now - self._last >= _BETWEEN and len(self._times) > 1:
            self._last = now
            self._chart.data = (np.array(self._times), *(np.array(kept) for kept in self._values.values()))
