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


def compare_times(
    ours: Callable[[], object], theirs: Callable[[], object], repeat: int = 9
) -> tuple[list[float], list[float]]:
    """CPU and clock seconds of two functions that take turns: the least of ours, and that over the median ratio.

    The median of the ratios of neighbouring runs is what a busy moment or a change of clock speed moves least: the
    least time of each alone differs by 15 % from run to run on a shared machine.
    """
    cpu: list[tuple[float, float]] = []
    wall: list[tuple[float, float]] = []
    ours()
    theirs()
    for turn in range(repeat):
        spent = {}
        # the one that begins changes, so that what one leaves in the caches helps neither
        for function in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
            gc.collect()
            before, start = time.process_time(), time.perf_counter()
            function()
            spent[function] = (time.process_time() - before, time.perf_counter() - start)
        cpu.append((spent[ours][0], spent[theirs][0]))
        wall.append((spent[ours][1], spent[theirs][1]))
    return _pair(cpu), _pair(wall)


def _pair(runs: list[tuple[float, float]]) -> list[float]:
    """The least time of ours, and the time of theirs that gives the median ratio."""
    least = min(mine for mine, _ in runs)
    return [least, least / statistics.median(mine / max(other, 1e-9) for mine, other in runs)]


def compare_cpu(ours: Callable[[], object], theirs: Callable[[], object], repeat: int = 5) -> list[float]:
    """CPU seconds alone."""
    return compare_times(ours, theirs, repeat)[0]


def command_cpu_time(command: Sequence[str], repeat: int = 7, codes: Sequence[int] = (0,)) -> float:
    """Least CPU seconds (user and system) of a command that ends with one of some codes."""
    best = math.inf
    for _ in range(repeat + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        if ended.returncode not in codes:
            raise subprocess.CalledProcessError(ended.returncode, command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def growth(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """How time grows between the smallest and the largest size: the exponent of a power law."""
    exponent = math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])
    return f"grows as n^{exponent:.2f} over {sizes[0]:,} to {sizes[-1]:,}"


PYTHON = sys.executable
