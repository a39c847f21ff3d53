# SPDX-License-Identifier: Apache-2.0
"""Run a job through an executor: it takes items and gives their outcomes back, in whatever order they are done.

An executor (:class:`JobExecutor`) knows where work is done, and nothing else.  :class:`LocalExecutor` works in this
process or in worker processes; ``simwright.app.jobs.ray`` has the one for a cluster.  Outcomes go to a list
(:func:`run_items`) or to a store (:func:`run_stored`); what is in a store is not done again.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from simwright.app.jobs.model import (
    ItemOutcome,
    JobItem,
    JobSpec,
    do_item,
    find_known,
    hold_environment,
    lose_item,
)
from simwright.core.errors import UsageError
from simwright.core.pool import run_each
from simwright.core.registry import Registry

if TYPE_CHECKING:
    from simwright.app.jobs.store import JobStore

POOL_WORTHWHILE = 4
"""Fewer items than this are done in this process: a worker takes a moment to start."""

JobListener: TypeAlias = Callable[[int, int], None]
"""Told how many items are done, and of how many."""


class JobExecutor(Protocol):
    """Where items are worked on.

    ``run`` returns when each item was given to ``keep`` once, from this thread; ``handed`` is told which items went to
    which worker.  Items are taken from the iterable as there is room for them, not all at once.
    """

    def run(
        self,
        spec: JobSpec,
        items: Iterable[JobItem],
        keep: Callable[[JobItem, ItemOutcome], None],
        handed: Callable[[str, Sequence[JobItem]], None],
    ) -> None:
        """Do all items."""


class ExecutorMaker(Protocol):
    """Makes an executor: number of workers (None for all there are), address of a cluster, whether assets travel."""

    def __call__(self, *, jobs: int | None, address: str | None, ship: bool) -> JobExecutor:
        """The executor."""


JOB_EXECUTORS: Registry[ExecutorMaker] = Registry(
    "executor",
    "simwright.job_executors",
    {"local": "simwright.app.jobs.running:make_local", "ray": "simwright.app.jobs.ray:RayExecutor"},
)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """This machine: ``jobs`` processes, or this one for few items without limits.

    ``least`` is the number of items from which on processes are started; 1 isolates every item.
    """

    jobs: int = 1
    least: int = 2

    def run(
        self,
        spec: JobSpec,
        items: Iterable[JobItem],
        keep: Callable[[JobItem, ItemOutcome], None],
        handed: Callable[[str, Sequence[JobItem]], None],
    ) -> None:
        """See :class:`JobExecutor`."""
        waiting = iter(items)
        begun = list(self._take_unknown(spec, waiting, keep))
        isolated = self.least <= 1 or any(spec.find_limits(item) for item in begun)
        if not begun:
            return
        # limits on time and memory can only be held in a process of its own
        if isolated or (self.jobs > 1 and len(begun) >= self.least):
            run_each(
                functools.partial(do_item, spec),
                itertools.chain(begun, waiting),
                keep,
                functools.partial(lose_item, spec),
                jobs=self.jobs,
                limits=spec.find_limits,
                retries=spec.retries,
                handed=lambda worker, chunk: handed(f"process {worker}", chunk),
            )
            return
        for item in itertools.chain(begun, waiting):
            handed(f"process {os.getpid()}", [item])
            keep(item, do_item(spec, item))

    def _take_unknown(
        self, spec: JobSpec, waiting: Iterator[JobItem], keep: Callable[[JobItem, ItemOutcome], None]
    ) -> Iterator[JobItem]:
        """The first items that need work, as many as tell whether processes are worth it.

        A run in which nothing changed starts none.  Once they are started, they look for themselves what is known.
        """
        found = 0
        for item in waiting:
            known = find_known(spec, item)
            if known is not None:
                keep(item, known)
                continue
            yield item
            found += 1
            # alone in this process everything is looked at first, as cheap outcomes come first
            if self.jobs > 1 and found >= self.least:
                return


def make_local(*, jobs: int | None, address: str | None, ship: bool) -> LocalExecutor:
    """An executor of worker processes on this machine, one for each core unless ``jobs`` says otherwise."""
    if address is not None or ship:
        word = "address" if address is not None else "ship"
        raise UsageError(f"--{word} is for a cluster", hint="add --executor ray")
    return LocalExecutor(jobs or count_cores(), least=1)


def run_items(
    spec: JobSpec,
    items: Sequence[JobItem],
    executor: JobExecutor,
    listener: JobListener | None = None,
) -> list[ItemOutcome]:
    """Run items without a store; their outcomes, in the order of the items."""
    done: dict[int, ItemOutcome] = {}

    def keep(item: JobItem, outcome: ItemOutcome) -> None:
        done[item.number] = outcome
        if listener is not None:
            listener(len(done), len(items))

    executor.run(spec, items, keep, lambda _worker, _items: None)
    return [done[item.number] for item in items]


def run_stored(
    store: JobStore,
    executor: JobExecutor,
    listener: JobListener | None = None,
    told: Callable[[JobItem, ItemOutcome], None] | None = None,
) -> None:
    """Do the items of a store that are not done; ``told`` gets each outcome when it is stored."""
    spec = store.spec
    done, total = store.count_done(), store.count_items()

    def keep(item: JobItem, outcome: ItemOutcome) -> None:
        nonlocal done
        store.keep(item, outcome)
        done += 1
        if told is not None:
            told(item, outcome)
        if listener is not None:
            listener(done, total)

    with hold_environment(spec):
        executor.run(spec, store.list_waiting(), keep, store.note_handed)
    store.finish()


def count_cores() -> int:
    """Cores that this process may use."""
    try:
        # not os.cpu_count: a container or a CI job often may use fewer cores than the machine has
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
