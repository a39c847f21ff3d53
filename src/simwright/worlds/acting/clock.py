# SPDX-License-Identifier: Apache-2.0
"""Simulated time: tasks that say how long they wait, resumed in the order in which they are due."""

from __future__ import annotations

import math
from collections.abc import Generator
from heapq import heappop, heappush
from typing import Any

Task = Generator[float, None, Any]
_NOW = 1e-9


class Clock:
    """At most one task for each number; of two that are due at once, the smaller number goes first."""

    def __init__(self) -> None:
        self.time = 0.0
        """Simulated time [s]."""
        self._tasks: dict[int, tuple[Task, int]] = {}
        self._queue: list[tuple[float, int, int]] = []
        self._serial = 0

    def begin(self, number: int, task: Task) -> None:
        """Start a task now: it runs up to where it first waits."""
        assert number not in self._tasks, "one task at a time"
        self._serial += 1
        self._tasks[number] = (task, self._serial)
        self._resume(number)

    def is_busy(self, number: int) -> bool:
        """Is there a task of that number?"""
        return number in self._tasks

    def stop(self, number: int) -> bool:
        """End a task where it is; False where there is none."""
        found = self._tasks.pop(number, None)
        if found is not None:
            found[0].close()
        return found is not None

    def stop_all(self) -> None:
        """End all of them."""
        for number in list(self._tasks):
            self.stop(number)

    @property
    def next_time(self) -> float:
        """When something is due next [s]; infinite where nothing is."""
        queue = self._queue
        while queue and self._tasks.get(queue[0][1], (None, -1))[1] != queue[0][2]:
            heappop(queue)
        return queue[0][0] if queue else math.inf

    def advance(self) -> None:
        """Go to what is due next, and let it happen."""
        self.time = max(self.time, self.next_time)
        self._resume(heappop(self._queue)[1])

    def pass_time(self, dt: float) -> None:
        """Let an amount of time pass [s]."""
        until = self.time + dt
        while self.next_time <= until + _NOW:
            self.advance()
        self.time = until

    def _resume(self, number: int) -> None:
        task, serial = self._tasks[number]
        try:
            wait = next(task)
        except StopIteration:
            self._tasks.pop(number, None)
        except BaseException:
            self._tasks.pop(number, None)
            raise
        else:
            heappush(self._queue, (self.time + wait, number, serial))
