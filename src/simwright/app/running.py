# SPDX-License-Identifier: Apache-2.0
"""``simwright.run``: a scene or an asset, moved by an engine for some time, watched and measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simwright.app.describe import to_plain
from simwright.app.recording import Recorder, check_target
from simwright.app.run_sources import open_source
from simwright.app.run_text import show_line, show_run, show_run_html
from simwright.core.diag import Diagnostic, Level, Reporter
from simwright.core.errors import UsageError
from simwright.engines.protocol import Settings, Simulation
from simwright.engines.stability import UnstableError
from simwright.engines.table import DEFAULT_ENGINE, load_engine
from simwright.runtime.kinematics import eval_fk
from simwright.scenes.control import ControlSequence, read_control
from simwright.scenes.load import LoadedScene

VERSION = 1
DEFAULT_DT = 0.002
_UNIT, _LARGEST = 64, 4096
"""Steps between two looks at the clock: multiples of what engines take at once, so that looking changes nothing."""
_BETWEEN = 0.1
"""Time between two looks that is aimed at [s]."""
Progress = Callable[[str, int, int], None]


@dataclass(slots=True, eq=False, repr=False)
class RunResult:
    """What a run did.  Times in seconds; ``stopped`` is empty, "interrupted" or "unstable"."""

    source: str
    engine: str
    solver: str
    device: str
    threads: int
    worlds: int
    frames: int
    asked: int
    dt: float
    loaded: LoadedScene
    load_time: float = 0.0
    open_time: float = 0.0
    wall_time: float = 0.0
    cpu_time: float = 0.0
    stopped: str = ""
    recorded: str = ""
    findings: tuple[Diagnostic, ...] = ()

    @property
    def simulated_time(self) -> float:
        """Time that passed in each world [s]."""
        return self.frames * self.dt

    @property
    def real_time_factor(self) -> float:
        """Time in a world over time on the clock."""
        return self.simulated_time / max(self.wall_time, 1e-9)

    @property
    def throughput(self) -> float:
        """Steps of worlds in a second."""
        return self.frames * self.worlds / max(self.wall_time, 1e-9)

    @property
    def has_errors(self) -> bool:
        """Is there a finding that is an error?"""
        return any(found.level is Level.ERROR for found in self.findings)

    def __repr__(self) -> str:
        return show_line(self)

    def __str__(self) -> str:
        return show_run(self, self._list_coordinates())

    def _repr_html_(self) -> str:
        return show_run_html(self, self._list_coordinates())

    def _list_coordinates(self) -> dict[str, list[float]]:
        """Where the joints of the first world are now, by label; fixed ones have no coordinates."""
        model, q = self.loaded.model, self.loaded.state.joint_q
        rows = range(model.per_world["joint"])
        found = {
            model.joint_label[row]: q[model.joint_q_start[row] : model.joint_q_start[row + 1]].tolist()
            for row in rows
        }
        return {name: values for name, values in found.items() if values}

    def describe(self) -> dict[str, Any]:
        """The result as a JSON-ready dictionary (``schemas/run.v1.schema.json``)."""
        sizes = self.loaded.model.per_world
        return {
            "version": VERSION,
            "source": self.source,
            "engine": self.engine,
            "solver": self.solver,
            "device": self.device,
            "threads": self.threads,
            "worlds": self.worlds,
            "dt": self.dt,
            "frames": self.frames,
            "frames_asked": self.asked,
            "bodies": sizes["body"],
            "joints": sizes["joint"],
            "dofs": sizes["joint_dof"],
            "shapes": sizes["shape"],
            "simulated_time": self.simulated_time,
            "load_time": self.load_time,
            "open_time": self.open_time,
            "wall_time": self.wall_time,
            "cpu_time": self.cpu_time,
            "real_time_factor": self.real_time_factor,
            "world_steps_per_second": self.throughput,
            "stopped": self.stopped or None,
            "recorded": self.recorded or None,
            "findings": [to_plain(found) for found in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of a recording: the file, every how many steps, pictures in a second, their size [pixel]."""

    record: Path | None = None
    every: int | None = None
    fps: float = 30.0
    size: tuple[int, int] = (1280, 720)

    def choose_every(self, dt: float) -> int:
        """Steps from one moment to the next: all of them, or as pictures follow each other."""
        if self.every is not None:
            return self.every
        if self.record is not None and self.record.suffix.lower() == ".mp4":
            return max(1, round(1.0 / (self.fps * dt)))
        return 1


def run(
    source: str | os.PathLike[str] | LoadedScene,
    *,
    engine: str = DEFAULT_ENGINE,
    frames: int = 1000,
    num_worlds: int | None = None,
    dt: float | None = None,
    solver: str = "",
    options: Mapping[str, Any] | None = None,
    control: str | os.PathLike[str] | None = None,
    loop: bool = False,
    record: str | os.PathLike[str] | None = None,
    record_every: int | None = None,
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    device: str = "cpu",
    threads: int | None = None,
    floating: bool | None = None,
    ground: bool = True,
    reporter: Reporter | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Run a scene file, a robot file or a loaded scene for a number of time steps.

    ``dt`` [s] is that of the scene where none is given, else 0.002.  ``control`` is a file of position targets over
    time (the scene's own, if it names one); ``record`` a ``.npz`` or ``.mp4``.  ``floating`` and ``ground`` are for
    robot files: a free or a fixed base, and a plane to stand on.  ``progress`` is called with a word, what is done and
    what there is to do.  A simulation that becomes unstable ends early: see ``stopped`` and ``findings`` of the result.
    """
    reporter = Reporter() if reporter is None else reporter
    if frames < 0 or (record_every is not None and record_every < 1):
        raise UsageError(f"{frames} frames, recorded every {record_every}", hint="numbers above zero")
    if not fps > 0.0 or min(size) < 16:
        raise UsageError(f"{fps} pictures a second of {size[0]} x {size[1]}", hint="numbers above zero")
    adapter = load_engine(engine)
    target = None if record is None else check_target(record)
    before = time.perf_counter()
    opened = open_source(source, num_worlds, floating=floating, ground=ground, reporter=reporter)
    loaded = opened.loaded
    settings = Settings(
        dt=float(dt if dt is not None else loaded.scene.simulation.dt or DEFAULT_DT),
        solver=solver,
        options=dict(options or {}),
        threads=threads,
        device=device,
    )
    settings.check(adapter.capabilities)
    sequence = read_control(Path(control), loop=loop) if control is not None else opened.sequence
    after = time.perf_counter()
    simulation = adapter.open(loaded.model, settings, reporter)
    name = os.fspath(source) if not isinstance(source, LoadedScene) else source.source_path
    result = RunResult(
        name, engine, solver or adapter.capabilities.default_solver, device, simulation.threads,
        simulation.worlds, 0, frames, settings.dt, loaded, after - before, time.perf_counter() - after,
    )  # fmt: skip
    wishes = Wishes(target, record_every, fps, size)
    with simulation:
        runner = _Runner(simulation, result, wishes, sequence, progress)
        runner.go(reporter)
    runner.save()
    result.findings = tuple(reporter)
    return result


class _Runner:
    """Moves a simulation block by block, with its control, and keeps what is to be recorded."""

    def __init__(
        self,
        simulation: Simulation,
        result: RunResult,
        wishes: Wishes,
        sequence: ControlSequence | None,
        progress: Progress | None,
    ) -> None:
        self._simulation, self._result, self._wishes = simulation, result, wishes
        self._sequence, self._progress = sequence, progress
        loaded = result.loaded
        self._state, self._control = loaded.state, loaded.control
        self._every = wishes.choose_every(result.dt)
        self._recorder: Recorder | None = None
        if wishes.record is not None:
            self._recorder = Recorder(loaded.model, result.dt, self._every, result.asked)
        self._row = -1
        self._block = _UNIT

    def go(self, reporter: Reporter) -> None:
        """All frames, or until something stops them."""
        result = self._result
        self._set_initial()
        if self._recorder is not None:
            self._recorder.keep(0, self._state)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            while result.frames < result.asked:
                steps = self._set_targets(result.frames)
                before = time.perf_counter()
                self._simulation.advance(
                    self._state,
                    self._control,
                    steps,
                    watch=self._recorder.keep if self._recorder is not None else None,
                    every=self._every,
                    poses=False,
                )
                result.frames += steps
                if time.perf_counter() - before < _BETWEEN / 2:
                    self._block = min(2 * self._block, _LARGEST)
                if self._progress is not None:
                    self._progress("frames", result.frames, result.asked)
        except KeyboardInterrupt:
            result.stopped = "interrupted"
            if self._recorder is not None and self._recorder.times:
                result.frames = max(result.frames, round(self._recorder.times[-1] / result.dt))
        except UnstableError as error:
            result.stopped = "unstable"
            reporter.extend([error.finding])
        result.wall_time, result.cpu_time = time.perf_counter() - wall, time.process_time() - cpu
        eval_fk(result.loaded.model, self._state)

    def _set_initial(self) -> None:
        if self._sequence is None:
            return
        model = self._result.loaded.model
        q, qd = self._sequence.make_initial(
            model.joint_coord_count, model.joint_dof_count, model.world_offset
        )
        if q is not None:
            self._state.joint_q[:] = q
        if qd is not None:
            self._state.joint_qd[:] = qd
        if q is not None or qd is not None:
            eval_fk(model, self._state)

    def _set_targets(self, done: int) -> int:
        """Put the targets of now in place; gives the steps for which they hold."""
        result, sequence = self._result, self._sequence
        most = min(self._block - done % _UNIT, result.asked - done)
        if sequence is None:
            return most
        row = sequence.find_row(done * result.dt)
        if row != self._row:
            self._row = row
            width = len(self._control.joint_target_pos)
            self._control.joint_target_pos[:] = sequence.sample(done * result.dt, width)
        steps = 1
        while steps < most and sequence.find_row((done + steps) * result.dt) == row:
            steps += 1
        return steps

    def save(self) -> None:
        """Write what was recorded."""
        if self._recorder is None or self._wishes.record is None:
            return
        tell = self._progress
        painted = None if tell is None else (lambda done, total: tell("pictures", done, total))
        self._result.recorded = str(self._recorder.save(self._wishes.record, self._wishes.size, painted))
