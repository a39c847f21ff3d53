"""Runs many cases in worker processes and collects what went wrong.

A case that takes more than :data:`LIMIT` of processor time, or that does not answer, is a hang; a worker that dies is
a crash.  ``python tests/fuzz/campaign.py 10000`` runs a whole campaign by itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any

LIMIT = 5.0
"""Most processor time one file may take [s]."""
PATIENCE = 120.0
"""How long an answer may take on a busy machine [s]."""
MEMORY = Path("/dev/shm")
"""Where files cost no disk, if there is such a place."""
HERE = Path(__file__).resolve().parent


@dataclass
class Outcome:
    """How many cases ended how, and every bug with the number of its case."""

    ends: Counter[str] = field(default_factory=Counter)
    bugs: list[tuple[int, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    seconds: float = 0.0

    def add(self, result: dict[str, Any]) -> None:
        """Count one case."""
        self.ends[f"{result['kind']} {result['end']}"] += 1
        self.seconds += result["seconds"]
        self.slowest = max(self.slowest, (result["seconds"], result["number"]))
        if "bug" in result:
            self.bugs.append((result["number"], result["bug"]))
        elif result["seconds"] > LIMIT:
            self.bugs.append((result["number"], f"hang: {result['seconds']:.1f} s"))


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


class _Worker:
    """A worker process and its pipes."""

    def __init__(self, seeds: Path, folder: Path) -> None:
        self.errors = (folder / "errors.txt").open("w+")
        command = [sys.executable, str(HERE / "worker.py"), str(seeds), str(folder / "work")]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": "1"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            cwd=folder,
            env=environment,
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
        bug = f"the process ended with {code}: {self._complaint()}" if code != -9 else "hang: no answer"
        return {"number": number, "kind": "any", "end": "died", "seconds": 0.0, "bug": bug, "dead": True}

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


def main() -> int:
    """Run a campaign and print what it found."""
    from seeds import make_seeds

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory(prefix="fuzz-seeds") as folder:
        outcome = run_campaign(list(range(start, start + count)), make_seeds(Path(folder)))
    for end, cases in sorted(outcome.ends.items()):
        sys.stdout.write(f"{cases:6d} {end}\n")
    seconds, number = outcome.slowest
    sys.stdout.write(f"{outcome.seconds:.1f} s of processor time, slowest case {number}: {seconds:.2f} s\n")
    for number, bug in outcome.bugs:
        sys.stdout.write(f"\ncase {number}: {bug}\n")
    sys.stdout.write(f"\n{len(outcome.bugs)} bugs in {count} cases\n")
    return 1 if outcome.bugs else 0


if __name__ == "__main__":
    sys.exit(main())
