# SPDX-License-Identifier: Apache-2.0
"""``simwright.run``: a scene or an asset, moved by an engine for some time, watched and measured."""

from __future__ import annotations

import contextlib
import html
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simwright.app.bridging import BridgedSource, RosOptions
from simwright.app.describe import to_plain
from simwright.app.recording import Recorder, check_target
from simwright.app.run_sources import RunSource, find_source
from simwright.app.watching import LiveOptions, check_view, open_live
from simwright.core.diag import Diagnostic, Level, Reporter, count_levels
from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.engines.layout import Layout
from simwright.engines.protocol import Settings, Simulation, UnstableError
from simwright.engines.table import DEFAULT_ENGINE, load_engine
from simwright.model.asset import Asset
from simwright.model.display import make_table, show_number
from simwright.scenes.control import ControlSequence, read_control
from simwright.scenes.load import LoadedScene

if TYPE_CHECKING:
    from simwright.ros.serving import SteppedRun
    from simwright.view.live import LivePage

VERSION = 1
FRAMES = 1000
"""Time steps where nothing is said."""
_UNIT, _LARGEST = 64, 4096
"""Steps between two looks at the clock: multiples of what engines take at once, so that looking changes nothing."""
_BETWEEN = 0.1
"""Time between two looks that is aimed at [s]."""
_ROUND = 0.008
"""Most time of steps between two questions of a page that is watched [s]: a quarter of a picture."""
_ROWS = 12
_NUMBERS = 7
Progress = Callable[[str, int, int], None]


@dataclass(slots=True, eq=False, repr=False)
class RunResult:
    """What a run did.  Times in seconds; ``stopped`` is empty, "interrupted" or "unstable".

    ``positions`` and ``velocities`` (worlds x entries) are the last ones, in the order of ``layout``
    (:mod:`simwright.engines.layout`).  Scenes also have ``loaded``, whose arrays are in line with them, robots the
    ``asset`` that was run.  ``sizes`` counts bodies, joints, dofs and shapes of one world.
    """

    source: str
    engine: str
    solver: str
    device: str
    threads: int
    worlds: int
    frames: int
    asked: int
    dt: float
    loaded: LoadedScene | None = None
    asset: Asset | None = None
    layout: Layout | None = None
    positions: Array = field(default_factory=lambda: np.zeros((0, 0)))
    velocities: Array = field(default_factory=lambda: np.zeros((0, 0)))
    sizes: dict[str, int] = field(default_factory=dict)
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
        return _show_line(self)

    def __str__(self) -> str:
        return _show_run(self, self._list_coordinates())

    def _repr_html_(self) -> str:
        return _show_run_html(self, self._list_coordinates())

    def _list_coordinates(self) -> dict[str, Array]:
        """Where the dofs of the first world are now, by name."""
        if self.layout is None or not len(self.positions):
            return {}
        return {found.name: self.positions[0, found.positions] for found in self.layout.freedoms}

    def describe(self) -> dict[str, Any]:
        """The result as a JSON-ready dictionary (``schemas/run.v1.schema.json``)."""
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
            **self.sizes,
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


def _show_line(run: RunResult) -> str:
    """``<RunResult playground.yaml: mujoco, 64 worlds, 1000 of 1000 steps, 2 s in 0.31 s>``."""
    where = f" {run.source[-60:]}" if run.source else ""
    return f"<{type(run).__name__}{where}: {', '.join(_list_facts(run))}>"


def _list_facts(run: RunResult) -> list[str]:
    solver = f" ({run.solver})" if run.solver else ""
    facts = [
        f"{run.engine}{solver}",
        f"{run.worlds} world{'s' if run.worlds != 1 else ''}",
        f"{run.frames} of {run.asked} steps of {run.dt:g} s",
        f"{show_number(run.simulated_time)} s in {show_number(run.wall_time)} s",
    ]
    return facts + ([run.stopped] if run.stopped else [])


def _show_run(run: RunResult, joints: Mapping[str, Iterable[float]]) -> str:
    """One screen; ``joints`` are the coordinates of the joints of the first world at the end [rad, m], by name."""
    # one function: a screen from top to bottom, with a line left out where there is nothing to say
    counts = {level: count for level, count in count_levels(run.findings).items() if count}
    told = ", ".join(f"{count} {level}" for level, count in counts.items()) or "none"
    lines = [
        run.source or type(run).__name__,
        f"  engine    {run.engine}" + (f" ({run.solver})" if run.solver else ""),
        f"  worlds    {run.worlds}",
        f"  steps     {run.frames} of {run.asked}, {run.dt:g} s each"
        + (f": {run.stopped}" if run.stopped else ""),
        f"  time      {show_number(run.simulated_time)} s simulated in {show_number(run.wall_time)} s",
        f"  findings  {told}",
    ]
    if run.recorded:
        lines.append(f"  recorded  {run.recorded}")
    if joints:
        lines.append("  joints of the first world at the end [rad, m]")
        # names of assets have any length; one of them is not to push all numbers off the screen
        width = min(max(len(name) for name in list(joints)[:_ROWS]), 40)
        lines += [f"    {name:<{width}}  {_show_coordinates(q)}" for name, q in list(joints.items())[:_ROWS]]
        if len(joints) > _ROWS:
            lines.append(f"    ... and {len(joints) - _ROWS} more")
    return "\n".join(lines)


def _show_run_html(run: RunResult, joints: Mapping[str, Iterable[float]]) -> str:
    """The same for a notebook."""
    facts = _list_facts(run) + ([f"recorded in {run.recorded}"] if run.recorded else [])
    counts = [f"{count} {level}" for level, count in count_levels(run.findings).items() if count]
    head = f"<p><b>{html.escape(run.source or type(run).__name__)}</b>: {html.escape(', '.join(facts))}</p>"
    found = f"<p>findings: {html.escape(', '.join(counts) or 'none')}</p>"
    rows = [(name, _show_coordinates(q)) for name, q in joints.items()]
    title = "Joints of the first world at the end [rad, m]"
    return head + found + (make_table(title, ("joint", "coordinates"), rows) if rows else "")


def _show_coordinates(values: Iterable[float]) -> str:
    numbers = [show_number(float(value)) for value in values]
    more = f" ... ({len(numbers)})" if len(numbers) > _NUMBERS else ""
    return "  ".join(f"{number:>9}" for number in numbers[:_NUMBERS]) + more


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """What is asked of a recording: the file, every how many steps, pictures in a second, their size [pixel]."""

    record: Path | None = None
    every: int | None = None
    fps: float = 30.0
    size: tuple[int, int] = (1280, 720)

    def choose_every(self, dt: float) -> int:
        """Steps from one moment to the next: all of them, or as pictures follow each other."""
        if self.every is not None:
            return self.every
        if self.record is not None and self.record.suffix.lower() in (".mp4", ".gif"):
            return max(1, round(1.0 / (self.fps * dt)))
        return 1


def run(
    source: str | os.PathLike[str] | LoadedScene | Asset,
    *,
    engine: str = DEFAULT_ENGINE,
    frames: int | None = None,
    num_worlds: int | None = None,
    dt: float | None = None,
    solver: str = "",
    options: Mapping[str, Any] | None = None,
    control: str | os.PathLike[str] | ControlSequence | None = None,
    loop: bool = False,
    keyframe: str = "",
    record: str | os.PathLike[str] | None = None,
    record_every: int | None = None,
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    device: str = "cpu",
    threads: int | None = None,
    floating: bool | None = None,
    ground: bool = False,
    ros: RosOptions | None = None,
    view: LiveOptions | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    reporter: Reporter | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Run a scene, a robot file of any format or an asset for a number of time steps.

    A robot is run as its file has it: its time step, its options, its start.  ``dt`` [s], ``solver`` and ``options``
    replace what the file says; ``keyframe`` starts from a named state of it; ``floating`` lets the base go or holds it;
    ``ground`` adds a plane to stand on.  ``control`` is a file of targets or controls over time (the scene's own, if it
    names one); ``record`` a ``.npz``, ``.mp4`` or ``.gif``.  ``frames`` are 1000 where nothing is said; with peers of
    ROS (``ros``), and where it is watched in a browser (``view``), it goes on until it is interrupted.
    ``packages``, ``arguments`` and ``variants`` say how a robot file is read, and with ``allow_outside`` are those of
    :func:`simwright.load`.
    ``progress`` is called with a word, what is done and what there is to do.  A simulation that becomes unstable ends
    early: see ``stopped`` and ``findings`` of the result.
    """
    reporter = Reporter() if reporter is None else reporter
    ros = RosOptions() if ros is None else ros
    asked = FRAMES if frames is None else frames
    _check_numbers(asked, record_every, fps, size)
    check_view(view)
    adapter = load_engine(engine)
    # before anything is loaded: a missing video package would else be told after the whole run
    target = None if record is None else check_target(record)
    before = time.perf_counter()
    settings = Settings(dt=dt, solver=solver, options=dict(options or {}), threads=threads, device=device)
    # before the file is read: a solver that the engine does not have is told at once, not after a
    # minute of loading
    settings.check(adapter.capabilities)
    found = find_source(
        source,
        num_worlds,
        floating=floating,
        ground=ground,
        keyframe=keyframe,
        packages=packages,
        arguments=arguments,
        variants=variants,
        allow_outside=allow_outside,
        reporter=reporter,
    )
    sequence = found.sequence
    if control is not None:
        sequence = control if isinstance(control, ControlSequence) else read_control(Path(control), loop=loop)
    bridged = BridgedSource(found, engine, settings, reporter) if ros.is_asked else None
    found = found if bridged is None else bridged.source
    after = time.perf_counter()
    simulation = found.open(engine, settings, reporter)
    result = RunResult(
        # the solver that was used, not what was asked for: a report without its name could not be
        # repeated
        found.name, engine, solver or adapter.capabilities.default_solver, device, simulation.threads,
        simulation.worlds, 0, asked, simulation.dt, found.loaded, found.asset, simulation.layout,
        sizes=found.count(), load_time=after - before, open_time=time.perf_counter() - after,
    )  # fmt: skip
    with simulation, contextlib.ExitStack() as stack:
        runner = _Runner(
            found,
            simulation,
            result,
            RecordOptions(target, record_every, fps, size),
            sequence=sequence,
            progress=progress,
        )
        runner.start()
        if bridged is not None:
            runner.bridge, runner.simulation = bridged.connect(
                simulation, ros, reporter, stack, allow_outside=allow_outside, is_recorded=target is not None
            )
        if view is not None:
            runner.page = open_live(
                found, runner.simulation, view, stack, can_reset=target is None, is_served=ros.is_asked
            )
        runner.is_endless = frames is None and _is_endless(ros, view, target)
        runner.go(reporter)
        runner.save()
    result.findings = tuple(reporter)
    return result


def _is_endless(ros: RosOptions, view: LiveOptions | None, target: Path | None) -> bool:
    """Does a run go on until it is interrupted where nothing says how long?  Peers and people wait, files do not."""
    if ros.is_asked:
        return bool(ros.transport)
    return view is not None and target is None


def _check_numbers(frames: int, every: int | None, fps: float, size: tuple[int, int]) -> None:
    """Raise a UsageError for numbers that cannot be meant."""
    if frames < 0 or (every is not None and every < 1):
        raise UsageError(f"{frames} frames, recorded every {every}", hint="numbers above zero")
    if not fps > 0.0 or min(size) < 16:
        raise UsageError(f"{fps} pictures a second of {size[0]} x {size[1]}", hint="numbers above zero")


class _Runner:
    """Moves a simulation block by block, with its control, and keeps what is to be recorded."""

    def __init__(
        self,
        source: RunSource,
        simulation: Simulation,
        result: RunResult,
        recording: RecordOptions,
        *,
        sequence: ControlSequence | None,
        progress: Progress | None,
    ) -> None:
        self._source, self.simulation, self._result, self._recording = source, simulation, result, recording
        self._sequence, self._progress = sequence, progress
        self._every = recording.choose_every(result.dt)
        self._rows: tuple[int, ...] = ()
        self._block = _UNIT
        self._recorder: Recorder | None = None
        self.bridge: SteppedRun | None = None
        self.page: LivePage | None = None
        self.is_endless = False

    def start(self) -> None:
        """Put the initial state in place."""
        self._source.start(self.simulation, self._sequence)

    def go(self, reporter: Reporter) -> None:
        """All frames, or until something stops them."""
        result, simulation = self._result, self.simulation
        if self._recording.record is not None:
            self._recorder = Recorder(self._source, simulation, self._every, result.asked)
            self._recorder.keep(0)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            if self.bridge is not None:
                self._go_bridged(self.bridge)
            elif self.page is not None:
                self._go_watched(self.page, reporter)
            while result.frames < result.asked:
                steps = self._set_targets(result.frames)
                before = time.perf_counter()
                simulation.advance(
                    steps,
                    watch=self._recorder.keep if self._recorder is not None else None,
                    every=self._every,
                )
                result.frames += steps
                # small models get longer blocks: looking at the clock after each 64 steps would take longer
                # than the steps
                if time.perf_counter() - before < _BETWEEN / 2:
                    self._block = min(2 * self._block, _LARGEST)
                if self._progress is not None:
                    self._progress("frames", result.frames, result.asked)
        except KeyboardInterrupt:
            result.stopped = "interrupted"
            # the block that was interrupted has not been counted; what was recorded of it tells how far it
            # came
            if self._recorder is not None and self._recorder.times:
                result.frames = max(result.frames, round(self._recorder.times[-1] / result.dt))
        except UnstableError as error:
            # the engine's own count: it stopped within a block
            result.stopped, result.frames = "unstable", simulation.count
            reporter.extend([error.finding])
        result.wall_time, result.cpu_time = time.perf_counter() - wall, time.process_time() - cpu
        result.positions, result.velocities = simulation.positions, simulation.velocities
        # peers may have loaded another world
        result.layout = simulation.layout
        self._source.finish(simulation)

    def _go_bridged(self, bridge: SteppedRun) -> None:
        """Step by step, with ROS; peers command, not a sequence."""
        result = self._result

        def watch(done: int) -> None:
            result.frames = done
            if self._recorder is not None and done % self._every == 0:
                self._recorder.keep(self.simulation.count)
            if self._progress is not None and not self.is_endless:
                self._progress("frames", done, result.asked)

        try:
            if self.page is None:
                bridge.run(None if self.is_endless else result.asked, watch)
            else:
                self._go_served(bridge, self.page, watch)
        finally:
            # by an interruption, or when a peer asks for it: nobody said how many there should be
            if self.is_endless:
                result.asked = result.frames

    def _go_served(self, bridge: SteppedRun, page: LivePage, watch: Callable[[int], None]) -> None:
        """At the pace of who watches, with peers of ROS, who are heard while it waits too."""
        result, simulation = self._result, self.simulation
        done = 0
        while (self.is_endless or done < result.asked) and not bridge.is_stopping:
            page.show(simulation, bridge.time * 1e-9)
            steps = page.pace.take_steps(bridge.time * 1e-9, result.dt, 1)
            if page.pace.is_ended:
                break
            if not steps or not bridge.has_step_to_do():
                # a pause of theirs or of ours
                bridge.poll()
                page.pace.begin(bridge.time * 1e-9)
                continue
            page.act(simulation)
            before = bridge.time
            bridge.step()
            if bridge.time < before:
                page.pace.begin(bridge.time * 1e-9)  # a peer let time begin anew
            done += 1
            watch(done)

    def _go_watched(self, page: LivePage, reporter: Reporter) -> None:
        """At the pace of who watches, from the beginning again when they ask for it."""
        result, simulation = self._result, self.simulation
        start, done = simulation.capture(), 0
        try:
            while self.is_endless or result.frames < result.asked:
                if page.pace.take_reset():
                    simulation.restore(start)
                    self._rows, done = (), 0
                    page.pace.begin(0.0)
                page.show(simulation, done * result.dt)
                steps = page.pace.take_steps(done * result.dt, result.dt, self._limit_steps())
                if page.pace.is_ended:
                    break
                if not steps:
                    continue
                steps = min(steps, self._set_targets(done))
                page.act(simulation)
                watch = self._recorder.keep if self._recorder is not None else None
                before = time.perf_counter()
                try:
                    simulation.advance(steps, watch=watch, every=self._every)
                except UnstableError as error:
                    if not self.is_endless:
                        raise
                    # who watches may look at it, and begin again
                    reporter.extend([error.finding])
                    page.warn(error.finding.message)
                    continue
                done += steps
                result.frames += steps
                self._fit_block(steps, time.perf_counter() - before)
        except KeyboardInterrupt:
            # nothing else ends a run that is only watched
            if not self.is_endless:
                raise
        finally:
            if self.is_endless:
                result.asked = result.frames

    def _fit_block(self, steps: int, taken: float) -> None:
        """Longer blocks where steps are quick, shorter ones where controls would wait for them."""
        if taken > _ROUND:
            self._block = max(self._block // 2, _UNIT)
        elif taken < _ROUND / 3 and steps == self._block:
            self._block = min(2 * self._block, _LARGEST)

    def _limit_steps(self) -> int:
        """Steps from one picture to the next at most, so that controls are answered."""
        left = self._block if self.is_endless else self._result.asked - self._result.frames
        return max(1, min(self._block, left))

    def _set_targets(self, done: int) -> int:
        """Put the targets of now in place; gives the steps for which they hold."""
        result, sequence = self._result, self._sequence
        # blocks begin at multiples of the unit, so that an engine takes the same steps together whether
        # it is watched or not
        most = self._block - done % _UNIT
        if not self.is_endless:
            most = min(most, result.asked - done)
        if sequence is None:
            return most
        rows = sequence.find_rows(done * result.dt)
        # targets are only written when the row changes: between two rows they hold
        if rows != self._rows:
            self._rows = rows
            self._source.command(self.simulation, sequence, done * result.dt)
        steps = 1
        while steps < most and sequence.find_rows((done + steps) * result.dt) == rows:
            steps += 1
        return steps

    def save(self) -> None:
        """Write what was recorded."""
        if self._recorder is None or self._recording.record is None:
            return
        tell = self._progress
        painted = None if tell is None else (lambda done, total: tell("pictures", done, total))
        self._result.recorded = str(
            self._recorder.save(self._recording.record, self._recording.size, painted)
        )
