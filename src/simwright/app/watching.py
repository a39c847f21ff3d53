# SPDX-License-Identifier: Apache-2.0
"""Runs that somebody watches in a browser: an asset, a scene or a task while it is simulated."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simwright.app.run_sources import RunSource
from simwright.core.diag import Reporter
from simwright.core.math3d import Array
from simwright.core.scratch import Scratch
from simwright.engines.protocol import Simulation
from simwright.tasks.rollout import Observation, SimRollout, StepResult, StepWatch
from simwright.tasks.runner import Episode, SimRunner
from simwright.tasks.teleoperation import (
    AGAIN_KEY,
    END_KEY,
    GRIPPER_KEY,
    KEEP_KEY,
    MOTIONS,
    NEXT_ARM_KEY,
    TeleopInput,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simwright.app.bridging import RosOptions
    from simwright.tasks.batch import BatchRollout
    from simwright.view.live import LivePage
    from simwright.worlds.acting.action import Action
    from simwright.worlds.acting.simulation import PlanResult, WorldSimulation


_SERVED_NAP = 0.001
"""The longest that peers of ROS wait for a step that is due [s]."""


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """Where a run is shown; ``announce`` is told the address, ``speed`` is simulated over real time, None the most."""

    announce: Callable[[str], None]
    host: str = "127.0.0.1"
    port: int = 0
    speed: float | None = 1.0


def check_view(view: LiveOptions | None) -> None:
    """Raise the error with the install line where a page is asked for and cannot be made."""
    if view is not None:
        from simwright.view.serving import import_viser

        import_viser()


def open_live(
    source: RunSource,
    simulation: Simulation,
    options: LiveOptions,
    stack: contextlib.ExitStack,
    *,
    can_reset: bool,
    is_served: bool = False,
) -> LivePage:
    """The page of a run; the stack closes it.  What ROS is served too is commanded by peers, not on the page."""
    from simwright.view.live import LivePage

    shown, _ = source.show([source.take(simulation)])
    page = LivePage(
        shown["asset"],
        simulation,
        offsets=np.asarray(shown["offsets"], dtype=np.float64) if simulation.worlds > 1 else None,
        speed=options.speed,
        can_reset=can_reset and not is_served,
        can_command=not is_served,
        title=Path(source.name).name,
        host=options.host,
        port=options.port,
    )
    stack.callback(page.close)
    if is_served:
        page.pace.nap = _SERVED_NAP
    options.announce(page.address)
    return page


def announce_once(options: LiveOptions, address: str) -> Callable[[], None]:
    """Tells the address when it is first called: nobody is sent to the page of a run that cannot begin."""
    return functools.cache(lambda: options.announce(address))


class EpisodeReset(Exception):  # noqa: N818 - no error: who watches asked for it
    """Somebody who watches a task asked for the beginning of the episode."""


class WatchedTask:
    """Shows a task while a rollout runs it: a listener of its episodes, and a watch of its time steps.

    The scene owns the physics: every time step is the rollout's own.  What is dragged is pulled, and what is commanded
    by hand takes the place of the policy's commands.  ``peers`` is what else looks on at the steps and is to be asked
    while they wait, such as ROS.
    """

    def __init__(
        self,
        rollout: SimRollout,
        options: LiveOptions,
        reporter: Reporter,
        stack: contextlib.ExitStack,
        peers: PolledWatch | None = None,
    ) -> None:
        from simwright.tasks.export import TaskSimulation, read_task
        from simwright.view.live import LivePage

        folder = Scratch()
        stack.callback(folder.close)
        rollout.reset(seed=0)
        asset = read_task(rollout, folder.path, reporter)
        self._rollout, self._reward, self._total, self._peers = rollout, 0.0, 0.0, peers
        self._simulation = stack.enter_context(TaskSimulation(rollout, asset))
        self._simulation.follow()
        self.page = LivePage(
            asset,
            self._simulation,
            signals=("reward", "return"),
            speed=options.speed,
            can_command=peers is None,
            title=f"{rollout.scene.name} with {rollout.robot.id}",
            host=options.host,
            port=options.port,
        )
        stack.callback(self.page.close)
        if peers is not None:
            self.page.pace.nap = _SERVED_NAP
        rollout.watch = self
        stack.callback(setattr, rollout, "watch", None)
        self.announce = announce_once(options, self.page.address)

    # of the time steps

    def begin_episode(self) -> None:
        """See :class:`~simwright.tasks.rollout.StepWatch`."""
        self._steps = 0
        self._reward = self._total = 0.0
        self._simulation.follow()
        self.page.pace.begin(0.0)
        if self._peers is not None:
            self._peers.begin_episode()
        self._show()

    def before_step(self) -> None:
        """Wait until it is due; pull and command."""
        dt = self._simulation.dt
        while not self.page.wait_over(self._steps * dt, dt):
            if self.page.pace.take_reset():
                raise EpisodeReset
            if self._peers is not None:
                self._peers.poll()
            self._show()
        if self._peers is not None:
            self._peers.before_step()
        self._simulation.follow()
        self.page.act(self._simulation)
        worlds = self._rollout.worlds
        for part in ("ctrl", "xfrc_applied"):
            worlds.view(part)[:] = self._simulation.batch.view(part)

    def after_step(self) -> None:
        """Show it."""
        self._steps += 1
        self._simulation.follow(1)
        if self._peers is not None:
            self._peers.after_step()
        self._show()

    def _show(self) -> None:
        signals = {"reward": self._reward, "return": self._total}
        self.page.show(self._simulation, self._steps * self._simulation.dt, signals)

    # of the episodes

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:  # noqa: ARG002 - a listener's
        """The policy and all recorders have begun: it can be watched."""
        self.announce()

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


_ARROWS = {"A": "w", "B": "s", "C": "d", "D": "a"}
# a lone Esc is told from the beginning of an arrow key by what follows at once [s]
_SEQUENCE = 0.02
# how large the handle of the page is [m]
_HANDLE = 0.15
BUTTONS = {
    "Open or close the gripper": GRIPPER_KEY,
    "Keep this episode": KEEP_KEY,
    "Once more": AGAIN_KEY,
    "Next arm": NEXT_ARM_KEY,
    "End the session": END_KEY,
}
_NAMES = ("x", "y", "z", "turn about x", "turn about y", "turn about z")


class DrivenTask(WatchedTask):
    """A live page with a handle at the tool."""

    def add_panel(self, inputs: TeleopInput) -> None:
        """Show the handle and the buttons."""
        from simwright.view.live import DrivingPanel

        keys = {f"{'+' if sign > 0 else '-'} {_NAMES[axis]}": key for key, (axis, sign) in MOTIONS.items()}
        self._inputs = inputs
        self._panel = DrivingPanel(
            self.page.server, _HANDLE, inputs.aim, inputs.press, commands=BUTTONS, keys=keys
        )

    def after_step(self) -> None:
        """Show it, and the handle where the tool is told to go."""
        super().after_step()
        arms = self._rollout.controller.arms
        mover = arms[self._inputs.arm % len(arms)].mover
        if mover is not None and self._steps % self._rollout.composed.substeps == 0:
            self._panel.follow(mover.target)


def make_pace() -> Callable[[float], None]:
    """Waits so that actions come no faster than in real time."""
    due = [time.monotonic()]

    def wait(seconds: float) -> None:
        now = time.monotonic()
        due[0] = max(due[0] + seconds, now)
        time.sleep(due[0] - now)

    return wait


@contextlib.contextmanager
def read_keys(inputs: TeleopInput) -> Iterator[bool]:
    """Give keys of the terminal to ``inputs`` as they are pressed; tells whether there is a terminal."""
    if not sys.stdin.isatty():
        yield False
        return
    import termios
    import tty

    stream = sys.stdin.fileno()
    before: list[Any] = termios.tcgetattr(stream)
    over = threading.Event()
    thread = threading.Thread(target=_read, args=(stream, inputs, over), daemon=True)
    # single keys, not lines; Ctrl-C still interrupts
    tty.setcbreak(stream)
    thread.start()
    try:
        yield True
    finally:
        over.set()
        thread.join(timeout=1.0)
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


def _read(stream: int, inputs: TeleopInput, over: threading.Event) -> None:
    while not over.is_set():
        if not select.select([stream], [], [], 0.1)[0]:
            continue
        text = os.read(stream, 1).decode("ascii", "replace")
        if text == END_KEY and select.select([stream], [], [], _SEQUENCE)[0]:
            # arrow keys are Esc [ and a letter
            text = _ARROWS.get(os.read(stream, 2).decode("ascii", "replace")[-1:], "")
        if text:
            inputs.press({"\r": KEEP_KEY, "\b": AGAIN_KEY}.get(text, text.lower()))


class PolledWatch(StepWatch, Protocol):
    """Looks on at time steps and hears others."""

    def poll(self) -> None:
        """Handle what has arrived."""


class WatchedBatch:
    """Shows many worlds of a task in a grid while they run, control period by control period.

    Reward and return are those of the world that is picked.  What is dragged is pulled for the next period; policies
    command, not people.
    """

    def __init__(
        self, batch: BatchRollout, options: LiveOptions, reporter: Reporter, stack: contextlib.ExitStack
    ) -> None:
        from simwright.tasks.export import TaskSimulation, read_task
        from simwright.view.live import MOST_WORLDS, LivePage

        rollout = batch.rollout
        folder = Scratch()
        stack.callback(folder.close)
        rollout.reset(seed=0)
        asset = read_task(rollout, folder.path, reporter)
        self._batch, self._total, self._periods = batch, np.zeros(batch.count), 0
        self._dt = rollout.composed.period
        shown = min(batch.count, MOST_WORLDS)
        self._simulation = stack.enter_context(TaskSimulation(rollout, asset, batch.worlds, shown))
        self._simulation.follow()
        self.page = LivePage(
            asset,
            self._simulation,
            signals=("reward", "return"),
            speed=options.speed,
            can_command=False,
            title=f"{rollout.scene.name} with {rollout.robot.id}, {batch.count} worlds",
            host=options.host,
            port=options.port,
        )
        stack.callback(self.page.close)
        self._announce = announce_once(options, self.page.address)

    def begin_episode(self) -> None:
        """A round of episodes begins."""
        self._announce()
        self._periods, self._total[:] = 0, 0.0
        self._simulation.follow()
        self.page.pace.begin(0.0)
        self._show()

    def before_step(self) -> None:
        """Wait until the next period is due, and pull."""
        while not self.page.wait_over(self._periods * self._dt, self._dt):
            if self.page.pace.take_reset():
                raise EpisodeReset
            self._show()
        self._simulation.follow()
        self.page.act(self._simulation)
        shown = self._simulation.batch.view("xfrc_applied")
        self._batch.worlds.view("xfrc_applied")[: len(shown)] = shown

    def after_step(self) -> None:
        """Show the period that is over."""
        self._periods += 1
        self._total += self._batch.rewards
        self._simulation.follow(1)
        self._show()

    def _show(self) -> None:
        world = self.page.world
        signals = {"reward": float(self._batch.rewards[world]), "return": float(self._total[world])}
        self.page.show(self._simulation, self._periods * self._dt, signals)


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
    ros: RosOptions | None = None,
    reporter: Reporter | None = None,
) -> dict[str, PlanResult]:
    """Run a world while somebody watches and takes part: plans, then goals one after the other, until Ctrl-C.

    With ``seconds`` it ends after that much simulated time; with ``ros`` peers take part too.
    """
    from simwright.app.world_build import make_scene
    from simwright.app.worlds import PlanQueue
    from simwright.view.plan import STEP, WorldPage, watch_world

    queue = PlanQueue(simulation, goals, robot)
    with contextlib.ExitStack() as stack:
        page = WorldPage(
            simulation,
            make_scene(simulation.world, data_folder=data_folder),
            speed=options.speed,
            can_reset=ros is None,
            host=options.host,
            port=options.port,
        )
        stack.callback(page.close)
        bridge, dt = None, STEP
        if ros is not None:
            from simwright.app.bridging import connect_world
            from simwright.ros.worlds import WorldServing

            serving = WorldServing()
            dt = serving.dt
            bridge = connect_world(simulation, ros, serving, reporter or Reporter(), stack)
            page.pace.nap = _SERVED_NAP

        def go_on() -> None:
            queue.go_on()
            if bridge is not None:
                bridge.poll()

        try:
            queue.start(plans or {})
            # a plan or the first goal may not be possible at all: nobody is sent to its page
            go_on()
            options.announce(page.address)
            step = None if bridge is None else bridge.step
            watch_world(page, go_on, math.inf if seconds is None else seconds, step, dt)
        except KeyboardInterrupt:
            pass  # nothing else ends a world that is watched
    return queue.answers
