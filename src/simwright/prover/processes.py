# SPDX-License-Identifier: Apache-2.0
"""Engines in processes and environments of their own, asked line by line and ended after a time.

See :mod:`simwright.prover.workers.seen` for the lines.  Starting an engine costs seconds, so that one process answers
for all assets and solvers of its engine, one after the other; one that has failed is ended, and started again for the
next asset.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from simwright.prover.answers import WORKERS, AnswerCache, open_answers
from simwright.prover.table import IsolatedEngine
from simwright.prover.workers.seen import (
    Configuration,
    Evaluated,
    MotionOrder,
    Moved,
    NotAbleError,
    Seen,
    WorldSettings,
    load,
)

_CHUNK = 1 << 16
_LARGEST_ANSWER = 1 << 28
"""Bytes; twenty mass matrices of a thousand freedoms fit."""


class NotSeenError(Exception):
    """An engine refuses a file, crashes, or takes too long; the message is the engine's."""


class EngineProcess:
    """The interpreter of an engine, started by the first question.

    Nothing of this process's search path is handed over: the environment of the engine has other versions of
    everything.
    """

    def __init__(self, row: IsolatedEngine) -> None:
        self._row = row
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._rest = b""
        self.opened: Mapping[str, Any] = {}
        """The question by which the asset was opened that is open."""

    @property
    def pid(self) -> int:
        """Its number."""
        return self._start().pid

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """One line, and the line that it is answered by; ends the process where there is none."""
        try:
            told = self._ask(question, seconds)
        except NotSeenError:
            self.end()
            raise
        if question["ask"] == "open":
            self.opened = question if "answer" in told else {}
        return told

    def end(self) -> None:
        """Whatever state it is in."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        if self._said is not None:
            self._said.close()
        self._process, self._said, self._rest, self.opened = None, None, b"", {}

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
            environment = self._row.environment
            inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            # -P: a file that lies in the current folder is not a module
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter is that of our own environment
                [str(environment.python), "-P", "-m", f"workers.{self._row.worker}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env=inherited | environment.make_variables() | {"PYTHONPATH": str(WORKERS.parent)},
            )
        return self._process

    def _ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        process = self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise NotSeenError(self._find_reason(process)) from None
        line = self._read_line(process, seconds)
        try:
            told = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise NotSeenError(f"the worker answers {line[:80]!r}")
        return told

    def _read_line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        assert process.stdout is not None
        end, stream = time.monotonic() + seconds, process.stdout.fileno()
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            left = end - time.monotonic()
            if left <= 0.0 or not select.select([stream], [], [], left)[0]:
                raise NotSeenError(f"no answer after {seconds:.0f} s")
            part = os.read(stream, _CHUNK)
            if not part:
                raise NotSeenError(self._find_reason(process))
            parts.append(part)
            if len(parts) * _CHUNK > _LARGEST_ANSWER:
                raise NotSeenError("its answer is longer than any answer may be")
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _find_reason(self, process: subprocess.Popen[bytes]) -> str:
        """The exception at the end of what a worker printed, with all of its lines; else how the process ended."""
        code = process.wait()
        if code < 0:
            return f"crashes with signal {-code}"
        assert self._said is not None
        self._said.seek(0)
        printed = self._said.read().decode(errors="replace")
        found = list(re.finditer(r"^[\w.]*(?:Error|Exception): ", printed, re.MULTILINE))
        told = printed[found[-1].end() :] if found else printed[-300:]
        return " ".join(told.split()) or f"ends with {code}"


class EnginePool:
    """Processes of engines that stay until the end of ``with``, one for each environment.

    ``seconds`` is for each question, ``answers`` are those of earlier runs.
    """

    def __init__(self, seconds: float, answers: AnswerCache | None = None) -> None:
        self.seconds, self.answers = seconds, answers or open_answers(enabled=False)
        self._processes: dict[Path, EngineProcess] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            process.end()
        self._processes.clear()

    def find(self, row: IsolatedEngine) -> Worker:
        """One to ask about an asset; raises ``NotSeenError`` where the engine is not installed."""
        if not row.environment.ready:
            raise NotSeenError(f"not installed: simwright engines install {row.name}")
        folder = row.environment.folder
        if folder not in self._processes:
            self._processes[folder] = EngineProcess(row)
        return Worker(row, self._processes[folder], self.seconds, self.answers)


class Worker:
    """One engine with one asset.  One that has failed has no further answers until an asset is opened again."""

    def __init__(
        self, row: IsolatedEngine, process: EngineProcess, seconds: float, answers: AnswerCache
    ) -> None:
        self.row, self.process, self.seconds, self._answers = row, process, seconds, answers
        self._context, self._opening, self._failed = "", dict[str, Any](), ""

    def open(self, file: Path, gravity: Sequence[float], ground: float | None = None) -> str:
        """Open an asset, in place of the one that was open; gives the engine with its version."""
        world = asdict(WorldSettings([float(value) for value in gravity], ground, self.row.solver))
        self._context = self._answers.make_context(self.row, file, world)
        self._opening, self._failed = {"ask": "open", "file": str(file), "world": world}, ""
        return str(self._ask(self._opening))

    def describe(self) -> Seen:
        """What it sees of the asset."""
        return load(self._ask({"ask": "structure"}))

    def evaluate(self, configurations: Sequence[Configuration]) -> list[Evaluated]:
        """What it says of it in each configuration."""
        told = self._ask({"ask": "evaluate", "configurations": list(configurations)})
        return [Evaluated(**row) for row in told]

    def move(self, order: MotionOrder) -> Moved:
        """A motion by its own steps; raises ``NotAbleError`` where it has no way to do it."""
        return Moved(**self._ask({"ask": "move", "order": asdict(order)}))

    def _ask(self, question: dict[str, Any]) -> Any:
        if self._failed:
            raise NotSeenError(self._failed)
        told = self._answers.find(self._context, question)
        if told is None:
            told = self._ask_engine(question)
            self._answers.keep(self._context, question, told)
        return _unpack(told)

    def _ask_engine(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            # another asset may have been opened since, and what is known was not asked
            if self._opening and self._opening not in (question, self.process.opened):
                _unpack(self.process.ask(self._opening, self.seconds))
            return self.process.ask(question, self.seconds)
        except NotSeenError as error:
            self._failed = str(error)
            raise


def _unpack(told: Mapping[str, Any]) -> Any:
    """The answer itself; raises what the worker could not do."""
    if "unable" in told:
        raise NotAbleError(str(told["unable"]))
    if "answer" not in told:
        raise NotSeenError(str(told.get("error", "the worker answers nothing")))
    return told["answer"]
