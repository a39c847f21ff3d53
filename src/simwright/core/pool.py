# SPDX-License-Identifier: Apache-2.0
"""Working on many files in worker processes, none of which can take more with it than its own file.

The parent knows what every worker is at: a worker that dies costs its file one retry in a fresh process, and one that
takes too long or too much memory is ended.  Workers are fresh processes: threads and a half-used OpenUSD do not survive
a fork.
"""

from __future__ import annotations

import contextlib
import enum
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from simwright.core.diag import Diagnostic, Level, Reporter, Where, declare
from simwright.core.errors import UsageError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")
R = TypeVar("R")
_TICK = 0.1
"""How often limits are looked after [s]."""
_GIB = 1 << 30


class Loss(enum.Enum):
    """Why there is no result of a file."""

    DIED = "died"
    TIME = "time"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What one file may take: ``seconds`` of work and ``gibibytes`` of memory; None is not a limit."""

    seconds: float | None = None
    gibibytes: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("time", self.seconds), ("memory", self.gibibytes)):
            if value is not None and not value > 0:
                raise UsageError(f"the limit of {name} has to be positive, not {value}")

    def __bool__(self) -> bool:
        return self.seconds is not None or self.gibibytes is not None


NO_LIMITS = JobLimits()
OUT_OF_TIME = declare(
    "asset-timeout",
    Level.ERROR,
    "it took more than {limit:g} s and was given up",
    hint="raise --timeout; the other files were done",
    doc="One of several files took longer than the limit that was set for each.",
)
OUT_OF_MEMORY = declare(
    "asset-memory",
    Level.ERROR,
    "it took more than {limit:g} GiB of memory and was given up",
    hint="raise --max-memory; the other files were done",
    doc="One of several files took more memory than the limit that was set for each.",
)


def describe_loss(loss: Loss, file: str, limits: JobLimits, died: Any) -> Diagnostic:
    """The finding for a file without a result; ``died`` is the kind for a process that died."""
    reporter = Reporter()
    if loss is Loss.TIME:
        reporter.report(OUT_OF_TIME, Where(file), limit=limits.seconds)
    elif loss is Loss.MEMORY:
        reporter.report(OUT_OF_MEMORY, Where(file), limit=limits.gibibytes)
    else:
        reporter.report(died, Where(file))
    return reporter.found[0]


def run_each(
    work: Callable[[T], R],
    tasks: Sequence[T],
    keep: Callable[[T, R], None],
    lose: Callable[[T, Loss], R],
    *,
    jobs: int,
    limits: JobLimits = NO_LIMITS,
) -> None:
    """Do ``work`` with every task in at most ``jobs`` processes; ``keep`` gets each result as it comes.

    ``work`` and everything it takes and gives can be pickled; an exception of it is raised here.  ``lose`` makes the
    result of a task of which there is none.
    """
    pool = _Pool(work, deque(_Job(task) for task in tasks), limits)
    try:
        while pool.waiting or pool.workers:
            pool.hand_out(min(jobs, len(tasks)))
            for job, result, loss in pool.collect():
                keep(job.task, result if loss is None else lose(job.task, loss))
    finally:
        pool.close()


@dataclass(slots=True)
class _Job(Generic[T]):
    task: T
    tries: int = 0


@dataclass(slots=True)
class _Worker:
    """A process, our end of its pipe, and what it is at; ``begun`` is when it began, by our clock."""

    process: Any
    pipe: Connection
    job: _Job[Any] | None = None
    begun: float | None = None


@dataclass(slots=True)
class _Pool:
    work: Callable[[Any], Any]
    waiting: deque[_Job[Any]]
    limits: JobLimits
    workers: list[_Worker] = field(default_factory=list)

    def hand_out(self, most: int) -> None:
        """Give every idle worker a task, start workers where more are wanted, and end those without work."""
        for worker in [worker for worker in self.workers if worker.job is None]:
            if self.waiting:
                self._give(worker)
            else:
                self._end(worker)
        while self.waiting and len(self.workers) < most:
            self.workers.append(self._start())
            self._give(self.workers[-1])

    def collect(self) -> list[tuple[_Job[Any], Any, Loss | None]]:
        """Wait for something to happen, and give the jobs that are over."""
        # one function, although long: it is the loop over what workers say, and each word changes the
        # same lists
        from multiprocessing.connection import wait

        pipes: dict[Any, _Worker] = {worker.pipe: worker for worker in self.workers}
        done: list[tuple[_Job[Any], Any, Loss | None]] = []
        for pipe in wait(list(pipes), _TICK if self.limits else None) if pipes else ():
            worker = pipes[pipe]
            job = worker.job
            assert job is not None
            try:
                word, value = worker.pipe.recv()
            except (EOFError, OSError):
                self._end(worker)
                job.tries += 1
                if job.tries > 1:
                    done.append((job, None, Loss.DIED))
                else:
                    self.waiting.appendleft(job)
                continue
            # the clock starts when the worker has begun: starting a process and importing OpenUSD takes
            # seconds
            if word == "begun":
                worker.begun = time.monotonic()
                continue
            if word == "raised":
                raise value
            worker.job = worker.begun = None
            done.append((job, value, None))
        for worker in list(self.workers):
            loss = self._find_excess(worker)
            if loss is not None and worker.job is not None:
                done.append((worker.job, None, loss))
                self._end(worker)
        return done

    def close(self) -> None:
        """End all workers, whatever they are at."""
        for worker in list(self.workers):
            self._end(worker)

    def _start(self) -> _Worker:
        import multiprocessing

        # fork would copy locks that threads of OpenUSD or of a notebook hold
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self.work), daemon=True)
        process.start()
        # our copy of the other end: while it is open, a worker that died would never give an end of file
        theirs.close()
        return _Worker(process, ours)

    def _give(self, worker: _Worker) -> None:
        worker.job, worker.begun = self.waiting.popleft(), None
        with contextlib.suppress(OSError):  # a worker that is dead already is met when its answer is read
            worker.pipe.send(worker.job.task)

    def _end(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.pipe.close()
        # kill and not terminate: a worker in C++ code may not come to handle a signal
        worker.process.kill()
        worker.process.join()
        worker.process.close()

    def _find_excess(self, worker: _Worker) -> Loss | None:
        if worker.begun is None:
            return None
        if self.limits.seconds is not None and time.monotonic() - worker.begun > self.limits.seconds:
            return Loss.TIME
        most = self.limits.gibibytes
        if most is not None and _measure_memory(worker.process.pid) > most * _GIB:
            return Loss.MEMORY
        return None


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """What a worker does until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's, who ends us
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = pipe.recv()
            pipe.send(("begun", None))
            try:
                answer = ("done", work(task))
            except Exception as error:  # noqa: BLE001 - the parent raises it
                answer = ("raised", error)
            pipe.send(answer)


def _measure_memory(pid: int) -> int:
    """Resident memory of a process [bytes]; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
