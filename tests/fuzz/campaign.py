"""Runs many cases in worker processes and collects what went wrong.

A case that takes more than :data:`LIMIT` of processor time, or that never answers, is a hang; a worker that dies is
a crash.  ``python scripts/fuzz.py`` runs campaigns by hand.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any

LIMIT = 10.0
"""Most processor time one file may take [s]."""
MEMORY_LIMIT = 2 << 30
"""Most memory a worker may have, however many files it has seen [bytes]."""
PATIENCE = 3600.0
"""How long an answer may take [s]: the worker limits processor time, this is for one that waits for something."""
MEMORY = Path("/dev/shm")
"""Where files cost no disk, if there is such a place."""
HERE = Path(__file__).resolve().parent


@dataclass
class Outcome:
    """How many cases ended how, by kind of file and by command, and every bug with the number of its case."""

    ends: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    memory: int = 0
    kept: list[int] = field(default_factory=list)
    """What a process keeps, looked at now and then (``worker.py``) [bytes]."""
    bugs: list[tuple[int, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    seconds: float = 0.0

    def add(self, result: dict[str, Any]) -> None:
        """Count one case."""
        self.ends[f"{result['kind']} {result['end']}"] += 1
        self.commands[f"{result['command']} {result['end']}"] += 1
        self.memory = max(self.memory, result["memory"])
        self.kept += [result["kept"]] if "kept" in result else []
        self.seconds += result["seconds"]
        self.slowest = max(self.slowest, (result["seconds"], result["number"]))
        if "bug" in result:
            self.bugs.append((result["number"], result["bug"]))
        elif result["seconds"] > LIMIT:
            self.bugs.append((result["number"], f"hang: {result['seconds']:.1f} s"))
        elif result["memory"] > MEMORY_LIMIT:
            self.bugs.append((result["number"], f"memory: {result['memory'] >> 20} MiB"))

    def merge(self, other: Outcome) -> None:
        """Count the cases of another campaign too."""
        self.ends += other.ends
        self.commands += other.commands
        self.bugs += other.bugs
        self.slowest = max(self.slowest, other.slowest)
        self.seconds += other.seconds
        self.memory = max(self.memory, other.memory)


def run_campaign(numbers: list[int], seeds: Path, jobs: int = 2) -> Outcome:
    """Run the cases of these numbers."""
    waiting: Queue[int] = Queue()
    for number in numbers:
        waiting.put(number)
    outcome, lock = Outcome(), threading.Lock()
    threads = [threading.Thread(target=_serve, args=(waiting, seeds, outcome, lock)) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcome.bugs.sort()
    return outcome


def _serve(waiting: Queue[int], seeds: Path, outcome: Outcome, lock: threading.Lock) -> None:
    with tempfile.TemporaryDirectory(prefix="fuzz", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        worker = _Worker(seeds, Path(folder))
        try:
            while True:
                number = waiting.get_nowait()
                result = worker.run(number)
                if "dead" in result:
                    worker.close()
                    worker = _Worker(seeds, Path(folder))
                with lock:
                    outcome.add(result)
        except Empty:
            worker.stop()


def make_command(seeds: Path, work: Path, *options: str) -> list[str]:
    """What starts a worker."""
    return [sys.executable, "-m", "fuzz.worker", str(seeds), str(work), *options]


def make_environment() -> dict[str, str]:
    """The environment in which a worker finds this package."""
    places = filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")])
    path = os.pathsep.join(places)
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": "1"}


class _Worker:
    """A worker process and its pipes."""

    def __init__(self, seeds: Path, folder: Path) -> None:
        self.errors = (folder / "errors.txt").open("w+")
        self.process = subprocess.Popen(
            make_command(seeds, folder / "work"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            cwd=folder,
            env=make_environment(),
        )
        assert self._answer() == "ready", f"the worker does not start: {self._complaint()}"

    def run(self, number: int) -> dict[str, Any]:
        """The result of one case, also if the worker does not survive it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        line = self._answer()
        if line:
            result: dict[str, Any] = json.loads(line)
            return result
        self.process.kill()
        code = self.process.wait()
        hangs = {-signal.SIGPROF: "too much processor time", -signal.SIGKILL: "no answer"}
        bug = (
            f"hang: {hangs[code]}" if code in hangs else f"the process ended with {code}: {self._complaint()}"
        )
        return {
            "number": number,
            "kind": "any",
            "command": "any",
            "end": "died",
            "seconds": 0.0,
            "memory": 0,
            "bug": bug,
            "dead": True,
        }

    def stop(self) -> None:
        """Let the process end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.close()

    def close(self) -> None:
        """Let go of the pipes of a process that has ended."""
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None and not stream.closed:
                stream.close()

    def _answer(self) -> str:
        """The next line, empty if the process ended or is late."""
        assert self.process.stdout is not None
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        line = self.process.stdout.readline().strip()
        timer.cancel()
        if not line:
            self.process.wait()
        return line

    def _complaint(self) -> str:
        self.errors.seek(0)
        return self.errors.read()[-3000:]


def describe(outcome: Outcome, count: int) -> str:
    """What a campaign found, as text."""
    seconds, number = outcome.slowest
    lines = [f"{cases:6d} {end}" for end, cases in sorted(outcome.commands.items())]
    lines.append(
        f"{outcome.seconds:.1f} s of processor time, slowest case {number}: {seconds:.2f} s, "
        f"most memory {outcome.memory >> 20} MiB"
    )
    lines += [f"\ncase {number}: {bug}" for number, bug in outcome.bugs]
    return "\n".join([*lines, f"\n{len(outcome.bugs)} bugs in {count} cases\n"])
