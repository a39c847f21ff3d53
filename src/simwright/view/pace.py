# SPDX-License-Identifier: Apache-2.0
"""How fast a simulation goes while somebody watches it: run, pause, single steps, again from the beginning, speed."""

from __future__ import annotations

import contextlib
import math
import time
from queue import Empty, SimpleQueue
from typing import Any

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "as fast as possible")
RATE = 30.0
"""Pictures a second that are sent."""
_SHARE = 0.05
"""Most of the time that sending pictures may take: fewer are sent where they cost more."""
_BETWEEN = 0.2
"""Time between two texts that tell how far it is [s]."""
_LATE = 0.25
"""A simulation that is further behind than this is not made up for [s]."""


class Pace:
    """When a simulation may go on; ``speed`` is simulated over real time, None as fast as possible.

    Controls call :meth:`pause` and the others from any thread; the simulation asks from its own.
    """

    def __init__(self, *, speed: float | None = 1.0) -> None:
        self.speed = speed
        self.nap = 1.0 / RATE
        """The least that is slept between two rounds of steps [s]; less where others than people are to be answered."""
        self.is_paused = False
        self.is_ended = False
        self._steps = 0
        self._resets = False
        self._looks = False
        # not an Event: Ctrl-C in the midst of its wait() can leave its lock taken, and set() then never comes back
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._anchor = (time.perf_counter(), 0.0)
        self._next_picture = 0.0

    def pause(self, paused: bool) -> None:
        """Stand still, or go on."""
        self.is_paused = paused
        self._wake.put(None)

    def step(self) -> None:
        """One time step, standing still otherwise."""
        self.is_paused = True
        self._steps += 1
        self._wake.put(None)

    def reset(self) -> None:
        """Ask for the beginning."""
        self._resets = True
        self._wake.put(None)

    def look(self) -> None:
        """Ask for a picture, even where everything stands still."""
        self._looks = True
        self._wake.put(None)

    def end(self) -> None:
        """Ask for the end."""
        self.is_ended = True
        self._wake.put(None)

    def set_speed(self, speed: float | None) -> None:
        """Another speed from now on."""
        self.speed = speed
        self._wake.put(None)

    def take_reset(self) -> bool:
        """Was the beginning asked for since this was last called?"""
        asked, self._resets = self._resets, False
        return asked

    def begin(self, moment: float) -> None:
        """The clock stands at a moment of the simulation [s] now."""
        self._anchor = (time.perf_counter(), moment)

    def take_steps(self, moment: float, dt: float, most: int) -> int:
        """How many time steps are due; waits until there are some, or something else is to do (then there are none)."""
        while not self.is_ended and not self._resets:
            if self._looks:
                self._looks, self._next_picture = False, 0.0
                return 0
            if self.is_paused:
                if self._steps:
                    self._steps -= 1
                    self.begin(moment + dt)
                    return 1
                self._sleep(max(self.nap, 0.02) if self.nap < 1.0 / RATE else 0.5)
                self.begin(moment)
                return 0
            if self.speed is None:
                self.begin(moment)
                return most
            due = self._measure_due(moment)
            steps = min(most, math.floor(due / dt + 1e-9))
            if steps > 0:
                return steps
            # from picture to picture: waking for each of a thousand steps a second costs more than small steps do
            self._sleep(min(max((dt - due) / self.speed, self.nap), 0.05))
        return 0

    def _measure_due(self, moment: float) -> float:
        """Simulated time that may pass now [s]."""
        assert self.speed is not None
        start, first = self._anchor
        due = (time.perf_counter() - start) * self.speed - (moment - first)
        if due > _LATE * self.speed:
            self.begin(moment + _LATE * self.speed / 2)
            due = _LATE * self.speed / 2
        return due

    def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(Empty):
            self._wake.get(timeout=seconds)
            while True:
                self._wake.get_nowait()

    def is_picture_due(self) -> bool:
        """Is it time for the next picture?"""
        # a little early rather than one round of steps late
        return self.is_paused or time.perf_counter() >= self._next_picture - 0.3 / RATE

    def note_picture(self, cost: float) -> None:
        """A picture was sent, which took so long [s]."""
        now = time.perf_counter()
        # one that came early does not let the next come earlier too
        self._next_picture = max(max(self._next_picture, now - cost) + 1.0 / RATE, now + cost / _SHARE)


class PacePanel:
    """The controls of a pace; ``note`` is what else is told beside them, in Markdown."""

    def __init__(self, gui: Any, pace: Pace, *, can_reset: bool = True) -> None:
        self._pace, self.note, self._next = pace, "", 0.0
        self._told = (0.0, "")
        with gui.add_folder("Run"):
            self.status = gui.add_markdown("")
            self._buttons = gui.add_button_group("", ("Pause", "Step", *(("Reset",) if can_reset else ())))
            self._buttons.on_click(lambda event: self._press(event.target.value))
            now = "as fast as possible" if pace.speed is None else f"{pace.speed:g}x"
            self._speed = gui.add_dropdown(
                "Speed", SPEEDS if now in SPEEDS else (*SPEEDS, now), initial_value=now
            )
            self._speed.on_update(lambda event: pace.set_speed(read_speed(event.target.value)))

    def warn(self, text: str) -> None:
        """Stand still and say why, in Markdown."""
        self._pace.pause(True)
        self.note = text
        self._buttons.options = ("Run", *self._buttons.options[1:])

    def _press(self, word: str) -> None:
        if word in ("Pause", "Run"):
            self._pace.pause(word == "Pause")
        elif word == "Step":
            self._pace.step()
        elif word == "Reset":
            self._pace.reset()
        self.note = ""
        first = "Run" if self._pace.is_paused else "Pause"
        self._buttons.options = (first, *self._buttons.options[1:])
        # a simulation that stands still draws no further picture
        self._write()

    def show(self, moment: float, more: str = "") -> None:
        """Tell how far it is [s], a few times a second."""
        now = time.perf_counter()
        if now < self._next and not self._pace.is_paused:
            return
        self._next, self._told = now + _BETWEEN, (moment, more)
        self._write()

    def _write(self) -> None:
        moment, more = self._told
        state = "paused, " if self._pace.is_paused else ""
        warning = f"\n\n**{self.note}**" if self.note else ""
        self.status.content = f"{state}{moment:.3f} s{more}{warning}"


def read_speed(text: str) -> float | None:
    """``0.5x`` as a number; None for as fast as possible."""
    return float(text.removesuffix("x")) if text.endswith("x") else None
