# SPDX-License-Identifier: Apache-2.0
"""Measuring: the best CPU time of several runs, ratios and growth exponents."""

from __future__ import annotations

import gc
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One row: what was measured, against what, and what the ratio should stay under (None: for reading)."""

    name: str
    seconds: float
    reference: str
    reference_seconds: float
    limit: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """Our time over the reference's."""
        return self.seconds / self.reference_seconds

    @property
    def verdict(self) -> str:
        """``ok``, ``over`` or nothing where there is no limit."""
        if self.limit is None:
            return ""
        return "ok" if self.ratio <= self.limit else "over"


def cpu_time(function: Callable[[], object], repeat: int = 5, *, warm: bool = True) -> float:
    """Least CPU seconds of this process over ``repeat`` runs, after one to warm up unless told otherwise."""
    if warm:
        function()
    best = math.inf
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return max(best, 1e-9)


def cpu_times(functions: Sequence[Callable[[], object]], repeat: int = 9) -> list[float]:
    """Median CPU seconds of several warm functions that take turns, so that a busy machine is busy for all of them.

    What the process holds by then is kept out of the collector's way: between runs it would look through all of it,
    and so empty the processor's caches for whoever comes next.
    """
    taken: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    gc.collect()
    gc.freeze()
    for _ in range(repeat):
        for function, seconds in zip(functions, taken, strict=True):
            gc.collect()
            start = time.process_time()
            function()
            seconds.append(time.process_time() - start)
    gc.unfreeze()
    return [max(statistics.median(seconds), 1e-9) for seconds in taken]


def command_cpu_time(command: Sequence[str], repeat: int = 7) -> float:
    """Least CPU seconds (user and system) of a command."""
    best = math.inf
    for _ in range(repeat + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def growth(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """How time grows between the smallest and the largest size: the exponent of a power law."""
    exponent = math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])
    return f"grows as n^{exponent:.2f} over {sizes[0]:,} to {sizes[-1]:,}"


PYTHON = sys.executable
