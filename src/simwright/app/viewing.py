# SPDX-License-Identifier: Apache-2.0
"""What ``simwright view`` shows: files of any format, tasks with their robot, two files at once, recordings; and runs
that somebody watches in a browser: an asset, a scene or a task while it is simulated.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simwright.app.api import load
from simwright.core.diag import Diagnostic, Reporter, Where, sort_diagnostics
from simwright.core.errors import SimwrightError, UsageError
from simwright.core.gate import Gate, find_root
from simwright.model.asset import Asset

if TYPE_CHECKING:
    from simwright.view.comparing import ComparePage
    from simwright.view.page import VariantChoices, ViewPage
    from simwright.view.replay import ReplayPage
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from simwright.app.run_sources import RunSource
from simwright.core.math3d import Array
from simwright.core.scratch import Scratch
from simwright.engines.protocol import Simulation
from simwright.tasks.rollout import Observation, SimRollout, StepResult
from simwright.tasks.runner import Episode, SimRunner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simwright.view.live import LivePage
    from simwright.worlds.acting.action import Action
    from simwright.worlds.acting.simulation import PlanResult, WorldSimulation


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """Where a run is shown; ``announce`` is told the address, ``speed`` is simulated over real time, None the most."""

    announce: Callable[[str], None]
    host: str = "127.0.0.1"
    port: int = 0
    speed: float | None = 1.0


def refuse_both(view: LiveOptions | None, *, is_served: bool) -> None:
    """Raise a UsageError where something is both watched and served, or where the page cannot be made."""
    if view is None:
        return
    if is_served:
        raise UsageError(
            "it is either watched or served to ROS", hint="RViz shows what is served; leave --view out"
        )
    from simwright.view.serving import import_viser

    import_viser()


def open_live(
    source: RunSource,
    simulation: Simulation,
    options: LiveOptions,
    stack: contextlib.ExitStack,
    *,
    can_reset: bool,
) -> LivePage:
    """The page of a run; the stack closes it."""
    from simwright.view.live import LivePage

    shown, _ = source.show([source.take(simulation)])
    page = LivePage(
        shown["asset"],
        simulation,
        offsets=np.asarray(shown["offsets"], dtype=np.float64) if simulation.worlds > 1 else None,
        speed=options.speed,
        can_reset=can_reset,
        title=Path(source.name).name,
        host=options.host,
        port=options.port,
    )
    stack.callback(page.close)
    options.announce(page.address)
    return page


class EpisodeReset(Exception):  # noqa: N818 - no error: who watches asked for it
    """Somebody who watches a task asked for the beginning of the episode."""


class WatchedTask:
    """Shows a task while a rollout runs it: a listener of its episodes, and a watch of its time steps.

    The scene owns the physics: every time step is the rollout's own.  What is dragged is pulled, and what is commanded
    by hand takes the place of the policy's commands.
    """

    def __init__(
        self, rollout: SimRollout, options: LiveOptions, reporter: Reporter, stack: contextlib.ExitStack
    ) -> None:
        from simwright.tasks.export import TaskSimulation, read_task
        from simwright.view.live import LivePage

        folder = Scratch()
        stack.callback(folder.close)
        rollout.reset(seed=0)
        asset = read_task(rollout, folder.path, reporter)
        self._rollout, self._reward, self._total = rollout, 0.0, 0.0
        self._simulation = stack.enter_context(TaskSimulation(rollout, asset))
        self._simulation.follow()
        self.page = LivePage(
            asset,
            self._simulation,
            signals=("reward", "return"),
            speed=options.speed,
            title=f"{rollout.scene.name} with {rollout.robot.id}",
            host=options.host,
            port=options.port,
        )
        stack.callback(self.page.close)
        rollout.watch = self
        stack.callback(setattr, rollout, "watch", None)
        options.announce(self.page.address)

    # of the time steps

    def begin_episode(self) -> None:
        """See :class:`~simwright.tasks.rollout.StepWatch`."""
        self._steps = 0
        self._reward = self._total = 0.0
        self._simulation.follow()
        self.page.pace.begin(0.0)
        self._show()

    def before_step(self) -> None:
        """Wait until it is due; pull and command."""
        dt = self._simulation.dt
        while not self.page.wait_over(self._steps * dt, dt):
            if self.page.pace.take_reset():
                raise EpisodeReset
            self._show()
        self._simulation.follow()
        self.page.act(self._simulation)
        worlds = self._rollout.worlds
        for part in ("ctrl", "xfrc_applied"):
            worlds.view(part)[:] = self._simulation.batch.view(part)

    def after_step(self) -> None:
        """Show it."""
        self._steps += 1
        self._simulation.follow(1)
        self._show()

    def _show(self) -> None:
        signals = {"reward": self._reward, "return": self._total}
        self.page.show(self._simulation, self._steps * self._simulation.dt, signals)

    # of the episodes

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:
        """See :class:`~simwright.tasks.runner.Listener`."""

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:  # noqa: ARG002 - a listener's
        """Remember the reward of an action."""
        self._reward = result.reward
        self._total += result.reward

    def end(self, episode: Episode) -> None:
        """The next episode is shown on the same page."""

    def close(self) -> None:
        """The page is closed with the run."""

    def discard(self) -> None:
        """Nothing is written."""


class WatchedRunner(SimRunner):
    """Runs an episode again when somebody who watches asks for its beginning."""

    def run_episode(self, index: int, seed: int) -> Episode:
        """One episode."""
        while True:
            try:
                return super().run_episode(index, seed)
            except EpisodeReset:
                continue


def watch_plans(
    simulation: WorldSimulation,
    options: LiveOptions,
    *,
    plans: Mapping[str, Sequence[Action]] | None = None,
    goals: Sequence[str] = (),
    robot: str = "",
    seconds: float | None = None,
    data_folder: str | None = None,
) -> dict[str, PlanResult]:
    """Run a world while somebody watches and takes part: plans, then goals one after the other, until Ctrl-C.

    With ``seconds`` it ends after that much simulated time.
    """
    from simwright.app.world_build import make_scene
    from simwright.app.worlds import PlanQueue
    from simwright.view.plan import WorldPage, watch_world

    queue = PlanQueue(simulation, goals, robot)
    page = WorldPage(
        simulation,
        make_scene(simulation.world, data_folder=data_folder),
        speed=options.speed,
        host=options.host,
        port=options.port,
    )
    try:
        options.announce(page.address)
        queue.start(plans or {})
        watch_world(page, queue.go_on, math.inf if seconds is None else seconds)
    except KeyboardInterrupt:
        pass  # nothing else ends a world that is watched
    finally:
        page.close()
    return queue.answers


YAML = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """How files are read and where they are shown; ``robot`` makes a task of what is named."""

    packages: Mapping[str, Path] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    coordinates: Mapping[str, float] = field(default_factory=dict)
    robot: str | None = None
    host: str = "127.0.0.1"
    port: int = 0


def read_shown(file: str, request: ViewRequest, reporter: Reporter) -> Asset:
    """The asset of a file in any format, or of a task with its robot at the beginning of an episode."""
    if request.robot is not None or is_task_file(file):
        return read_task_asset(file, request.robot, reporter)
    return load(
        file,
        packages=request.packages,
        arguments=request.arguments,
        variants=request.variants,
        reporter=reporter,
    )


def is_task_file(file: str) -> bool:
    """Is it an environment file: YAML or JSON that names a task?"""
    from simwright.core.documents.read import read_document

    if Path(file).suffix.lower() not in YAML or not Path(file).is_file():
        return False
    # a file that cannot be read is told by whoever reads it for good
    with contextlib.suppress(SimwrightError):
        data = read_document(Path(file)).data
        return isinstance(data, dict) and isinstance(data.get("task"), str)
    return False


def read_task_asset(task: str, robot: str | None, reporter: Reporter) -> Asset:
    """A task with its robot as one asset, at the beginning of the episode with the first seed."""
    from simwright.app.tasking import RunRequest, prepare_run
    from simwright.core.scratch import Scratch
    from simwright.tasks.export import read_task

    ready = prepare_run(RunRequest(task, robot=robot, force=True))
    reporter.extend(ready.findings)
    ready.rollout.reset(seed=ready.said.seed)
    # meshes are read when they are looked at: the folder stays as long as the program
    folder = Scratch()
    _KEPT.append(folder)
    asset = read_task(ready.rollout, folder.path, reporter)
    asset.name = f"{ready.rollout.scene.name} with {ready.rollout.robot.id}"
    return asset


_KEPT: list[Any] = []


def open_view(file: str, request: ViewRequest, reporter: Reporter) -> ViewPage:
    """The page of one file; what ``simwright check`` finds in an OpenUSD asset comes to it later."""
    from simwright.view import open_page

    asset = read_shown(file, request, reporter)
    page = open_page(
        asset,
        sort_diagnostics(reporter),
        coordinates=request.coordinates,
        variants=_list_variants(file, asset, request),
        host=request.host,
        port=request.port,
    )
    if asset.provenance.format == "usd":
        # in the context of the command: what is trusted and what is allowed are said there
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(_check, page, file, request, list(reporter)), daemon=True).start()
    return page


def _check(page: ViewPage, file: str, request: ViewRequest, read: list[Diagnostic]) -> None:
    """Check beside the page: it takes longer than showing the asset does."""
    from simwright.app.api import check

    try:
        report = check(file, packages=dict(request.packages))
    except SimwrightError as error:
        page.show_findings(sort_diagnostics(read), f"could not be checked: {type(error).__name__}")
        return
    found = [finding for asset in report.assets for finding in asset.findings]
    page.show_findings(sort_diagnostics([*found, *read]))


def _list_variants(file: str, asset: Asset, request: ViewRequest) -> VariantChoices | None:
    """The variant sets of an OpenUSD file; None for other formats."""
    if asset.provenance.format != "usd":
        return None
    from simwright.core.packages import find_packages
    from simwright.usd.open import list_variant_sets, open_stage
    from simwright.view.page import VariantChoices

    packages = find_packages(dict(request.packages), near=[Path(file).parent])
    # what is wrong with the file was told when it was read
    stage = open_stage(file, packages=packages, variants=request.variants, reporter=Reporter())

    def read(chosen: dict[str, str]) -> tuple[Asset, list[Diagnostic]]:
        reporter = Reporter()
        found = load(file, packages=request.packages, variants=chosen, reporter=reporter)
        return found, sort_diagnostics(reporter)

    return VariantChoices(list_variant_sets(stage), read)


def open_replay(file: str, recording: str, request: ViewRequest, reporter: Reporter) -> ReplayPage:
    """A recording, with the file that was run: the one that is named, or else the one that the recording names."""
    from simwright.view.replay import ReplayPage, read_recording

    found = read_recording(recording)
    where = Where(recording)
    if not file:
        if not found.source:
            raise UsageError(
                "the recording does not say what was run",
                hint=f"simwright view FILE --recording {recording}",
                where=where,
            )
        beside = Path(recording).parent / found.source
        # a recording may come from somebody else: it names files of its own project only
        gate = Gate([find_root(Path(recording)), Path(recording).resolve().parent, Path.cwd()])
        gate.admit(beside, where, said=found.source)
        file = str(beside)
    asset = read_shown(file, request, reporter)
    return ReplayPage(asset, found, host=request.host, port=request.port, where=where)


def open_comparison(files: Sequence[str], request: ViewRequest, reporters: Sequence[Reporter]) -> ComparePage:
    """Two files on one page, with what differs between them."""
    from simwright.app.api import read_image
    from simwright.compare.difference import make_settings
    from simwright.compare.run import compare_assets
    from simwright.view.comparing import ComparePage

    first, second = (
        read_shown(file, request, reporter) for file, reporter in zip(files, reporters, strict=True)
    )
    difference = compare_assets(first, second, make_settings(read_image=read_image))
    difference.a, difference.b = files
    return ComparePage(
        (first, second), difference, coordinates=request.coordinates, host=request.host, port=request.port
    )
