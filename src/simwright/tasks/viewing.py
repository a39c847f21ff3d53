# SPDX-License-Identifier: Apache-2.0
"""Watching a run in MuJoCo's window, at the speed of real time."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.engines.mujoco.renderer import open_window
from simwright.tasks.rollout import Observation, SimRollout, StepResult
from simwright.tasks.runner import Episode


class Window:
    """A listener that shows each step."""

    def __init__(self) -> None:
        if sys.platform.startswith("linux") and not (
            os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        ):
            raise UsageError(
                "there is no display to open a window on", hint="record a film instead: --record out.mp4"
            )
        self._viewer: Any = None
        self._due = 0.0

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:  # noqa: ARG002 - a listener's
        """Open the window with the first episode."""
        if self._viewer is None:
            self._viewer = open_window(rollout.model, rollout.data)
        self._due = time.perf_counter()
        self._viewer.sync()

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:  # noqa: ARG002 - a listener's
        """Show a step when its time has come."""
        if not self._viewer.is_running():
            raise UsageError("the window was closed")
        self._due += rollout.composed.period
        time.sleep(max(0.0, self._due - time.perf_counter()))
        self._viewer.sync()

    def end(self, episode: Episode) -> None:
        """The next episode is shown in the same window."""

    def close(self) -> None:
        """Close the window."""
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None

    def discard(self) -> None:
        """Close the window."""
        self.close()
