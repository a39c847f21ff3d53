# SPDX-License-Identifier: Apache-2.0
"""Ask engines: MuJoCo in this process, others through a worker in the process and environment of the engine.

A worker is asked line by line and ended after a time; see :mod:`simwright.prover.workers.seen` for the lines.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from simwright.core.diag import Reporter
from simwright.formats.mjcf.memory import compile_asset
from simwright.model.asset import Asset
from simwright.prover.answers import AnswerCache, open_answers
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

HERE = Path(__file__).resolve().parent
_CHUNK = 1 << 16
_LARGEST_ANSWER = 1 << 28
"""Bytes; twenty mass matrices of a thousand freedoms fit."""


CONFIGURATIONS = 20
_UNLIMITED = 0.8
"""How far joints without limits go [rad, m]."""
_FARTHEST = math.pi
"""Limits beyond this are not used up: a hinge of many turns says nothing more [rad, m]."""


class NotSeenError(Exception):
    """An engine refuses a file, crashes, or takes too long; the message is the engine's."""


class Worker:
    """One engine with one asset; ``with`` ends the process, whatever state it is in.

    ``seconds`` is for each question.  Nothing of this process's search path is handed over: the environment of the
    engine has other versions of everything.
    """

    def __init__(self, row: IsolatedEngine, seconds: float, answers: AnswerCache | None = None) -> None:
        if not row.environment.ready:
            raise NotSeenError(f"not installed: simwright engines install {row.name}")
        self.row, self.seconds = row, seconds
        self._answers = answers or open_answers(enabled=False)
        self._context, self._opening, self._is_open = "", dict[str, Any](), False
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._rest = b""

    @functools.cached_property
    def _process(self) -> subprocess.Popen[bytes]:
        """Started by the first question whose answer is not known."""
        row = self.row
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        # -P: a file that lies in the current folder is no module
        return subprocess.Popen(  # noqa: S603 - the interpreter is that of our own environment
            [str(row.environment.python), "-P", "-m", f"workers.{row.worker}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=inherited | row.environment.make_variables() | {"PYTHONPATH": str(HERE)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "_process" in vars(self):
            self._process.kill()
            self._process.communicate()
        self._said.close()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def open(self, file: Path, gravity: Sequence[float], ground: float | None = None) -> str:
        """Open an asset, in place of the one that was open; gives the engine with its version."""
        world = asdict(WorldSettings([float(value) for value in gravity], ground, self.row.solver))
        self._context = self._answers.make_context(self.row, file, world)
        self._opening, self._is_open = {"ask": "open", "file": str(file), "world": world}, False
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
        told = self._answers.find(self._context, question)
        if told is None:
            if self._opening and not self._is_open and question is not self._opening:
                _unpack(self._ask_engine(self._opening))
            told = self._ask_engine(question)
            self._is_open = self._is_open or question is self._opening
            self._answers.keep(self._context, question, told)
        return _unpack(told)

    def _ask_engine(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise NotSeenError(self._find_reason()) from None
        line = self._read_line()
        try:
            told = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise NotSeenError(f"the worker answers {line[:80]!r}")
        return told

    def _read_line(self) -> bytes:
        assert self._process.stdout is not None
        end, stream = time.monotonic() + self.seconds, self._process.stdout.fileno()
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            left = end - time.monotonic()
            if left <= 0.0 or not select.select([stream], [], [], left)[0]:
                raise NotSeenError(f"no answer after {self.seconds:.0f} s")
            part = os.read(stream, _CHUNK)
            if not part:
                raise NotSeenError(self._find_reason())
            parts.append(part)
            if len(parts) * _CHUNK > _LARGEST_ANSWER:
                raise NotSeenError("its answer is longer than any answer may be")
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _find_reason(self) -> str:
        """The exception at the end of what a worker printed, with all of its lines; else how the process ended."""
        code = self._process.wait()
        if code < 0:
            return f"crashes with signal {-code}"
        self._said.seek(0)
        printed = self._said.read().decode(errors="replace")
        found = list(re.finditer(r"^[\w.]*(?:Error|Exception): ", printed, re.MULTILINE))
        told = printed[found[-1].end() :] if found else printed[-300:]
        return " ".join(told.split()) or f"ends with {code}"


def _unpack(told: dict[str, Any]) -> Any:
    """The answer itself; raises what the worker could not do."""
    if "unable" in told:
        raise NotAbleError(str(told["unable"]))
    if "answer" not in told:
        raise NotSeenError(str(told.get("error", "the worker answers nothing")))
    return told["answer"]


class EngineMover:
    """One engine that does motions of several assets; a worker that has crashed is started again for the next one."""

    def __init__(self, row: IsolatedEngine, seconds: float, answers: AnswerCache | None = None) -> None:
        self.row, self.seconds, self._answers = row, seconds, answers
        self._worker: Worker | None = None
        self._open, self._seen = "", Seen(row.name)

    def move(
        self,
        key: str,
        order: MotionOrder,
        find_file: Callable[[], Path],
        world: tuple[Sequence[float], float | None],
    ) -> tuple[Seen, Moved]:
        """A motion of the asset that ``key`` stands for, and what the engine sees of it.

        ``find_file`` is asked for the file when the asset is not open; ``world`` is its gravity and ground.
        """
        try:
            if self._worker is None:
                self._worker = Worker(self.row, self.seconds, self._answers)
            if self._open != key:
                self._open = ""
                self._worker.open(find_file(), *world)
                self._seen, self._open = self._worker.describe(), key
            return self._seen, self._worker.move(order)
        except NotSeenError:
            self.close()
            raise

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.__exit__(None, None, None)
            self._worker, self._open = None, ""


class ReferenceRobot:
    """An asset that MuJoCo has compiled; raises a ``SimwrightError`` where it refuses."""

    def __init__(self, asset: Asset) -> None:
        # MuJoCo takes a moment to import, and nobody who asks for help needs it
        from simwright.prover.workers.mujoco import MujocoRobot

        self._robot = MujocoRobot(compile_asset(asset, Reporter()).model)
        self.engine = self._robot.engine

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        return self._robot.describe()

    def evaluate(self, configurations: Sequence[Configuration]) -> list[Evaluated]:
        """What does."""
        return [self._robot.evaluate(configuration) for configuration in configurations]

    def move(self, order: MotionOrder) -> Moved:
        """A motion; raises ``NotSeenError`` where it ends in numbers that are none."""
        try:
            return self._robot.move(order)
        except ValueError as error:
            raise NotSeenError(str(error)) from None

    def list_zeros(self) -> dict[str, float]:
        """Coordinates of joints of one freedom in the reference pose, where they are not zero (``ref`` of MJCF)."""
        return self._robot.list_zeros()

    @property
    def gravity(self) -> list[float]:
        """Of its world [m/s^2]."""
        return [float(value) for value in self._robot.model.opt.gravity]


def choose_configurations(seen: Seen, count: int, seed: int) -> list[dict[str, dict[str, Any]]]:
    """The reference pose, then positions within limits and speeds, of all joints of one freedom.

    Several joints of one body become one joint of many axes in some engines: they stay where they are.
    """
    random = np.random.default_rng(seed)
    kinds = ("hinge", "slide", "scalar")
    bodies = [row.body for row in seen.freedoms]
    alone = [row for row in seen.freedoms if row.kind in kinds and bodies.count(row.body) == 1]
    found: list[dict[str, dict[str, Any]]] = [{}]
    for _ in range(count):
        places = [float(random.uniform(*_find_range(row.limit))) for row in alone]
        speeds = [float(random.uniform(-1.0, 1.0)) for _ in alone]
        found.append(
            {
                "joints": {row.joint: place for row, place in zip(alone, places, strict=True)},
                "bodies": {row.body: place for row, place in zip(alone, places, strict=True)},
                "speeds": {row.joint: speed for row, speed in zip(alone, speeds, strict=True)},
                "body_speeds": {row.body: speed for row, speed in zip(alone, speeds, strict=True)},
            }
        )
    return found


def _find_range(limit: tuple[float | None, float | None]) -> tuple[float, float]:
    if limit == (None, None):
        return -_UNLIMITED, _UNLIMITED
    low, high = limit
    low = -_FARTHEST if low is None else max(low, -_FARTHEST)
    high = _FARTHEST if high is None else min(high, _FARTHEST)
    # limits that leave the reference pose out entirely: their own ends count
    return (low, high) if low <= high else (limit[0] or 0.0, limit[1] or 0.0)
