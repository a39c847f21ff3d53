# SPDX-License-Identifier: Apache-2.0
"""Working on many files in worker processes, none of which can take more with it than its own file.

The parent knows what every worker is at: a worker that dies costs its file one retry in a fresh process, and one that
takes too long or too much memory is ended.  Workers are fresh processes: threads and a half-used OpenUSD do not survive
a fork.
"""

from __future__ import annotations

import contextlib
import enum
import itertools
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
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
_CHUNK_SECONDS = 1.0
"""How much work goes to a worker at once [s]: enough that handing it out costs nothing, little enough to lose."""
_LARGEST_CHUNK = 256
_MOST_TASKS = 4000
"""After so many tasks a worker is replaced: what libraries keep of each adds up."""
_MOST_IDLE = 2 * _GIB
"""A worker that holds so much between two tasks is replaced [bytes]."""
_PR_SET_PDEATHSIG = 1
"""Of ``prctl(2)``."""


class PoolStoppedError(Exception):
    """Somebody stopped the pool while it worked, or before."""


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
    "it took more than {limit:g} s and was stopped",
    hint="raise --timeout; the other files were done",
    doc="One of several files took longer than the limit that was set for each.",
)
OUT_OF_MEMORY = declare(
    "asset-memory",
    Level.ERROR,
    "it took more than {limit:g} GiB of memory and was stopped",
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
    tasks: Iterable[T],
    keep: Callable[[T, R], None],
    lose: Callable[[T, Loss], R],
    *,
    jobs: int,
    limits: JobLimits | Callable[[T], JobLimits] = NO_LIMITS,
    retries: int = 1,
    handed: Callable[[int, list[T]], None] | None = None,
) -> None:
    """Do ``work`` with every task in at most ``jobs`` processes; ``keep`` gets each result as it comes.

    ``work`` and everything it takes and gives can be pickled; an exception of it is raised here.  ``lose`` makes the
    result of a task of which there is none.  ``limits`` are those of each task, or a function that gives them.  A
    task whose process dies is tried again ``retries`` times; one that takes too long or too much is not.

    Tasks are taken from the iterable as workers have room for them, and go out in chunks worth about a second; of
    these ``handed`` is told, with the id of the process.  A worker that is lost costs the task it was at; the rest of
    its chunk goes to others.
    """
    pool = WorkerPool(work, limits, retries=retries, handed=handed)
    try:
        for task, result, loss in pool.run(tasks, jobs):
            keep(task, result if loss is None else lose(task, loss))
    finally:
        pool.close()


@dataclass(slots=True)
class _Job(Generic[T]):
    task: T
    tries: int = 0


@dataclass(slots=True)
class _Worker:
    """A process, our end of its pipe, and what it was given; the first of it is what it is at.

    ``begun`` is when it began with that, by our clock; ``done`` counts what it has done.
    """

    process: Any
    pipe: Connection
    jobs: deque[_Job[Any]] = field(default_factory=deque)
    begun: float | None = None
    done: int = 0


class WorkerPool(Generic[T, R]):
    """Worker processes that stay warm from one call of :meth:`run` to the next, until :meth:`close`."""

    def __init__(
        self,
        work: Callable[[T], R],
        limits: JobLimits | Callable[[T], JobLimits] = NO_LIMITS,
        *,
        retries: int = 1,
        handed: Callable[[int, list[T]], None] | None = None,
    ) -> None:
        self._work, self._retries, self._handed = work, retries, handed
        self._limits: Callable[[T], JobLimits] = limits if callable(limits) else lambda _task: limits
        self._workers: list[_Worker] = []
        self._again: deque[_Job[T]] = deque()
        self._seconds = 0.0
        """How long a task takes: a mean that follows what comes."""
        self._stopped = False

    def run(self, tasks: Iterable[T], jobs: int) -> Iterator[tuple[T, Any, Loss | None]]:
        """Each task with its result, or with the reason why there is none, as they come."""
        waiting = (_Job(task) for task in tasks)
        try:
            while self._hand_out(waiting, jobs):
                for job, result, loss in self._collect():
                    yield job.task, result, loss
        except BaseException:
            # whoever stops listening must not find old results in the pipes
            self.close()
            raise

    def close(self) -> None:
        """End all workers, whatever they are at."""
        for worker in list(self._workers):
            self._end(worker)
        self._again.clear()

    def stop(self) -> None:
        """From another thread: let :meth:`run` end its workers and raise PoolStoppedError, now and from now on.

        It is noticed at the next result, and where tasks have limits within a moment.
        """
        self._stopped = True

    def _hand_out(self, waiting: Iterator[_Job[T]], most: int) -> bool:
        """Give every idle worker something, start workers where more are wanted; False when all is done."""
        if self._stopped:
            raise PoolStoppedError
        for worker in [worker for worker in self._workers if not worker.jobs]:
            if worker.done >= _MOST_TASKS or _measure_memory(worker.process.pid) > _MOST_IDLE:
                self._end(worker)
                continue
            chunk = self._take(waiting)
            if chunk:
                self._give(worker, chunk)
        while len(self._workers) < most and (chunk := self._take(waiting)):
            self._workers.append(self._start())
            self._give(self._workers[-1], chunk)
        return any(worker.jobs for worker in self._workers)

    def _take(self, waiting: Iterator[_Job[T]]) -> list[_Job[T]]:
        # what killed a process before goes alone: it would take the time of others with it
        if self._again:
            return [self._again.popleft()]
        count = 1 if not self._seconds else min(max(int(_CHUNK_SECONDS / self._seconds), 1), _LARGEST_CHUNK)
        return list(itertools.islice(waiting, count))

    def _collect(self) -> list[tuple[_Job[T], Any, Loss | None]]:
        """Wait for something to happen, and give the jobs that are over."""
        from multiprocessing.connection import wait

        pipes: dict[Any, _Worker] = {worker.pipe: worker for worker in self._workers if worker.jobs}
        limited = any(self._limits(worker.jobs[0].task) for worker in pipes.values())
        done: list[tuple[_Job[T], Any, Loss | None]] = []
        for pipe in wait(list(pipes), _TICK if limited else None):
            worker = pipes[pipe]
            try:
                word, value = worker.pipe.recv()
            except (EOFError, OSError):
                done += self._give_back(worker, None)
                continue
            # the clock starts when the worker has begun: starting a process and importing OpenUSD takes
            # seconds
            if word == "begun":
                worker.begun = time.monotonic()
                continue
            if word == "raised":
                raise value
            done.append((worker.jobs.popleft(), value, None))
            self._note_time(worker)
        for worker in list(self._workers):
            loss = self._find_excess(worker)
            if loss is not None:
                done += self._give_back(worker, loss)
        return done

    def _give_back(self, worker: _Worker, loss: Loss | None) -> list[tuple[_Job[T], Any, Loss | None]]:
        """End a worker; what it was at is lost or tried again, the rest of its chunk waits for another."""
        begun = worker.begun is not None
        jobs = list(worker.jobs)
        self._end(worker)
        if loss is not None:
            self._again.extend(jobs[1:])
            return [(jobs[0], None, loss)]
        # one that died before it began says nothing about the task, but twice in a row it never would
        jobs[0].tries += 1
        if jobs[0].tries > self._retries + (0 if begun else 1):
            self._again.extend(jobs[1:])
            return [(jobs[0], None, Loss.DIED)]
        self._again.extend(jobs)
        return []

    def _note_time(self, worker: _Worker) -> None:
        now = time.monotonic()
        taken = now - worker.begun if worker.begun is not None else 0.0
        self._seconds = taken if not self._seconds else 0.8 * self._seconds + 0.2 * taken
        worker.begun = None
        worker.done += 1

    def _start(self) -> _Worker:
        import multiprocessing

        # fork would copy locks that threads of OpenUSD or of a notebook hold
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._work, os.getpid()), daemon=True)
        process.start()
        # our copy of the other end: while it is open, a worker that died would never give an end of file
        theirs.close()
        return _Worker(process, ours)

    def _give(self, worker: _Worker, chunk: list[_Job[T]]) -> None:
        worker.jobs, worker.begun = deque(chunk), None
        tasks = [job.task for job in chunk]
        if self._handed is not None:
            self._handed(worker.process.pid, tasks)
        with contextlib.suppress(OSError):  # a worker that is dead already is met when its answer is read
            worker.pipe.send(tasks)

    def _end(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.pipe.close()
        # kill and not terminate: a worker in C++ code may not come to handle a signal
        worker.process.kill()
        worker.process.join()
        worker.process.close()

    def _find_excess(self, worker: _Worker) -> Loss | None:
        if worker.begun is None or not worker.jobs:
            return None
        limits = self._limits(worker.jobs[0].task)
        if limits.seconds is not None and time.monotonic() - worker.begun > limits.seconds:
            return Loss.TIME
        most = limits.gibibytes
        if most is not None and _measure_memory(worker.process.pid) > most * _GIB:
            return Loss.MEMORY
        return None


def _serve(pipe: Connection, work: Callable[[Any], Any], parent: int) -> None:
    """What a worker does until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's, who ends us
    _die_with(parent)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            for task in pipe.recv():
                pipe.send(("begun", None))
                try:
                    answer = ("done", work(task))
                except Exception as error:  # noqa: BLE001 - the parent raises it
                    answer = ("raised", error)
                pipe.send(answer)


def _die_with(parent: int) -> None:
    """End this process when the one that started it is killed, even in the middle of a task that never ends."""
    if sys.platform != "linux":
        return  # elsewhere it ends with its task, when it finds the pipe closed
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    # it may have died before we asked
    if os.getppid() != parent:
        os._exit(1)


def _measure_memory(pid: int) -> int:
    """Resident memory of a process [bytes]; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
