# SPDX-License-Identifier: Apache-2.0
"""Films of the episodes that did not succeed, one each, to see why."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simwright.core.math3d import Array
from simwright.engines.films import import_video, open_film
from simwright.engines.mujoco.framing import CameraWish
from simwright.tasks.observing import find_camera
from simwright.tasks.recording import RolloutPainter, choose_rate, draw_states
from simwright.tasks.rollout import Observation, SimRollout, StepResult
from simwright.tasks.runner import Episode

MOST_FILMS = 10
"""Failures that get a film; the first ones."""


class FailureRecorder:
    """A listener that writes ``seed_N.mp4`` into a folder for episodes that fail.

    States of an episode are kept until it is over; those of one that succeeded are forgotten, so that an evaluation in
    which little fails costs little.
    """

    def __init__(
        self, folder: Path, *, most: int = MOST_FILMS, camera: str = "", width: int = 640, height: int = 480
    ) -> None:
        import_video()
        self.folder, self._most, self._wish = folder, most, CameraWish(camera)
        self._size = (width + width % 2, height + height % 2)
        self.films: dict[int, str] = {}
        """Names of films by the seed of the episode."""
        self._painter: RolloutPainter | None = None
        self._every, self._rate = 1, 25.0
        self._states: list[Array] = []

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:  # noqa: ARG002 - a listener's
        """The first moment of an episode."""
        if self._painter is None:
            if self._wish.name:
                self._wish = CameraWish(find_camera(rollout.model, self._wish.name))
            self._every, self._rate = choose_rate(rollout.composed.period)
            self._painter = RolloutPainter(rollout)
        self._states = [np.array(rollout.qpos)]

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:  # noqa: ARG002 - a listener's
        """The next moment, where one is due."""
        if rollout.steps % self._every == 0 or result.terminated or result.truncated:
            self._states.append(np.array(rollout.qpos))

    def end(self, episode: Episode) -> None:
        """Draw it, before the next episode changes where marks are; or forget it."""
        states, self._states = self._states, []
        if episode.success or len(self.films) >= self._most or self._painter is None:
            return
        name = f"seed_{episode.seed}.mp4"
        self.folder.mkdir(parents=True, exist_ok=True)
        film = open_film(self.folder / name, self._rate)
        try:
            draw_states(self._painter, film, states, self._wish, size=self._size, rate=self._rate)
        except BaseException:
            film.discard()
            raise
        film.finish()
        self.films[episode.seed] = name

    def close(self) -> None:
        """Every film is written already."""
        self._painter = None

    def discard(self) -> None:
        """Leave nothing behind."""
        for name in self.films.values():
            (self.folder / name).unlink(missing_ok=True)
        self._painter = None
