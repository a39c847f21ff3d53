# SPDX-License-Identifier: Apache-2.0
"""Tasks that somebody drives by hand, from the keys of a terminal and from the live page."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from simwright.app.tasking import TaskRun
from simwright.app.watching import EpisodeReset, WatchedTask
from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.tasks.runner import RunSummary
from simwright.tasks.teleoperation import (
    AGAIN_KEY,
    END_KEY,
    GRIPPER_KEY,
    HELP,
    KEEP_KEY,
    MOTIONS,
    NEXT_ARM_KEY,
    TeleopInput,
    TeleopSession,
)

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


def drive_task(
    ready: TaskRun, reporter: Reporter, tell: Callable[[str], None], inputs: TeleopInput | None = None
) -> RunSummary:
    """Let somebody drive a run that is ready; what is kept is recorded as the run was asked to.

    ``inputs`` are given by programs; else they come from the terminal and the page, one of which there has to be.
    """
    rollout, own = ready.rollout, inputs is not None
    inputs = TeleopInput() if inputs is None else inputs
    with contextlib.ExitStack() as stack:
        page = None
        if ready.view is not None:
            page = DrivenTask(rollout, ready.view, reporter, stack)
            page.add_panel(inputs)
        has_keys = stack.enter_context(read_keys(inputs))
        if not (has_keys or page is not None or own):
            raise UsageError(
                "there is nobody to drive: standard input is no terminal", hint="drive on a page: --view"
            )
        if has_keys:
            tell(HELP)
        session = TeleopSession(rollout, inputs, tell, None if page is not None or own else _make_pace())
        session.restarts = (EpisodeReset,)
        with contextlib.suppress(KeyboardInterrupt):
            session.drive(ready.said.episodes, ready.said.seed)
    # the page is closed: recorders play what was kept again as fast as they can
    return session.record(ready.listeners)


class DrivenTask(WatchedTask):
    """A live page with a handle at the tool."""

    def add_panel(self, inputs: TeleopInput) -> None:
        """Show the handle and the buttons."""
        from simwright.view.driving import DrivingPanel

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


def _make_pace() -> Callable[[float], None]:
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
