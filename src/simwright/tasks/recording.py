# SPDX-License-Identifier: Apache-2.0
"""Listeners of runs: a film (``.mp4``, ``.gif``), arrays of everything that was observed and done (``.npz``).

Files are written whole beside their destination and moved there when the run is over; a run that fails leaves nothing.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.core.files import write_atomic
from simwright.core.math3d import Array
from simwright.engines.films import FilmFile, import_video, open_film
from simwright.engines.mujoco.framing import CameraWish
from simwright.engines.mujoco.painter import ModelPainter
from simwright.engines.mujoco.studio import StudioLook, dress
from simwright.tasks.observing import find_camera
from simwright.tasks.parts import GROUND
from simwright.tasks.rollout import Observation, SimRollout, StepResult
from simwright.tasks.runner import Episode, Listener
from simwright.tasks.specs import compile_spec

_GROUPS = (0, 1, 2)
_LOOK = StudioLook(sites=True)
# pictures per second of a film, about
_RATE = 25.0


def open_recorder(
    path: str | os.PathLike[str], *, camera: str = "", width: int = 1280, height: int = 720
) -> Listener:
    """The recorder for a file, by its ending."""
    target = Path(path)
    match target.suffix.lower():
        case ".mp4" | ".gif":
            return VideoRecorder(target, camera=camera, width=width, height=height)
        case ".npz":
            return ArraysRecorder(target)
        case ending:
            raise UsageError(
                f"runs are recorded as .mp4, .gif or .npz, not as {ending or 'a file without ending'}",
                hint="a data set goes into a folder: --dataset DIR",
            )


class RolloutPainter(ModelPainter):
    """Draws states of a rollout in the studio, with the marks of its task; its own model stays as it is."""

    def __init__(self, rollout: SimRollout) -> None:
        spec = rollout.composed.spec.copy()
        dress(spec)
        ground = [geom for geom in range(rollout.model.ngeom) if rollout.model.geom(geom).name == GROUND]
        dressed = compile_spec(spec, "the scene", Where())
        super().__init__(rollout.model, dressed, _GROUPS, ground)


def draw_states(
    painter: RolloutPainter,
    film: FilmFile,
    states: Sequence[Array],
    wish: CameraWish,
    *,
    size: tuple[int, int],
    rate: float,
) -> None:
    """Add pictures of coordinates of a rollout to a film."""
    plan = painter.plan_film(
        lambda moment: painter.place_model(states[moment]), len(states), wish, size[0] / size[1], rate
    )
    painter.open(plan, size, _LOOK)
    try:
        for state, camera in zip(states, plan.cameras, strict=True):
            painter.place_model(state)
            film.add(painter.draw(camera))
    finally:
        painter.close()


def choose_rate(period: float) -> tuple[int, float]:
    """Every how many control periods a film has a picture, and how many of them a second."""
    # control periods are often shorter than a picture lasts
    every = max(1, round(1.0 / (period * _RATE)))
    return every, 1.0 / (period * every)


class VideoRecorder:
    """All episodes of a run in one film, in real time: of everything, framed, or of one camera of the task.

    States are kept while an episode runs and drawn when it ends, when it is known how far things went.
    """

    def __init__(self, path: Path, *, camera: str = "", width: int = 1280, height: int = 720) -> None:
        import_video()
        self.path, self._wish = path, CameraWish(camera)
        self._size = (width + width % 2, height + height % 2)
        self._film: FilmFile | None = None
        self._painter: RolloutPainter | None = None
        self._rate, self._every = _RATE, 1
        self._states: list[Array] = []

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:  # noqa: ARG002 - a listener's
        """The first moment of an episode."""
        if self._film is None:
            if self._wish.name:
                self._wish = CameraWish(find_camera(rollout.model, self._wish.name))
            self._every, self._rate = choose_rate(rollout.composed.period)
            self._painter = RolloutPainter(rollout)
            self._film = open_film(self.path, self._rate)
        self._draw()
        self._states.append(np.array(rollout.qpos))

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:  # noqa: ARG002 - a listener's
        """The next moment, where one is due."""
        if rollout.steps % self._every == 0 or result.terminated or result.truncated:
            self._states.append(np.array(rollout.qpos))

    def end(self, episode: Episode) -> None:  # noqa: ARG002 - a listener's
        """Draw what was kept, before the next episode changes what things look like and where marks are."""
        self._draw()

    def _draw(self) -> None:
        if self._states and self._painter is not None and self._film is not None:
            draw_states(self._painter, self._film, self._states, self._wish, size=self._size, rate=self._rate)
            self._states = []

    def close(self) -> None:
        """Write the film."""
        self._draw()
        if self._film is not None:
            self._film.finish()
        self._release()

    def discard(self) -> None:
        """Leave nothing behind."""
        if self._film is not None:
            self._film.discard()
        self._release()

    def _release(self) -> None:
        self._states, self._painter, self._film = [], None, None


class ArraysRecorder:
    """Observations, actions and results of all steps as arrays in one ``.npz``.

    Row ``i`` is what was observed (``observation.KEY``), what was done then (``action``), and what it gave (``reward``,
    ``success``, ``done``); ``episode`` and ``step`` count.  ``meta`` is JSON text.  ``body_poses`` (rows x 1 x bodies x
    7: position [m], quaternion w, x, y, z) are where the bodies of ``body_names`` stood then, at ``times`` [s], which
    go on over all episodes; ``simwright view`` replays them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[str, list[Any]] = {}
        self._meta: dict[str, Any] = {}
        self._episodes: list[dict[str, Any]] = []
        self._observation: Observation = {}
        self._bodies: list[str] = []
        self._poses = np.zeros((1, 0, 7))

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:
        """An episode begins."""
        self._meta = {
            "task": rollout.scene.name,
            "instruction": rollout.scene.instruction,
            "robot": rollout.robot.id,
            "control": rollout.mode.value,
            "period": rollout.composed.period,
            "options": rollout.options.model_dump(mode="json"),
        }
        self._episodes.append({"seed": seed})
        self._observation = observation
        model = rollout.model
        self._bodies = [model.body(number).name for number in range(1, model.nbody)]
        self._poses = _find_poses(rollout)

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:
        """One row."""
        row: dict[str, Any] = {
            f"observation.{key}": np.asarray(value) for key, value in self._observation.items()
        }
        row |= {
            "action": np.asarray(action),
            "reward": result.reward,
            "success": bool(result.info.get("success", False)),
            "done": result.terminated or result.truncated,
            "episode": len(self._episodes) - 1,
            "step": rollout.steps - 1,
            "body_poses": self._poses,
            "times": len(self._rows.get("step", ())) * rollout.composed.period,
        }
        for key, value in row.items():
            self._rows.setdefault(key, []).append(value)
        self._observation = result.observation
        self._poses = _find_poses(rollout)

    def end(self, episode: Episode) -> None:
        """How it went."""
        self._episodes[-1] |= {"success": episode.success, "steps": episode.steps, "ended": episode.ended}

    def close(self) -> None:
        """Write the file."""
        stream = io.BytesIO()
        arrays = {key: np.array(values) for key, values in self._rows.items()}
        meta = json.dumps({**self._meta, "episodes": self._episodes})
        names = np.array(self._bodies)
        np.savez_compressed(stream, meta=np.array(meta), body_names=names, **arrays)  # type: ignore[arg-type]
        write_atomic(self.path, stream.getvalue())

    def discard(self) -> None:
        """There is no file yet."""


def _find_poses(rollout: SimRollout) -> Array:
    """Where all bodies of the only world are (1 x bodies x 7)."""
    data = rollout.worlds.look()
    return np.concatenate((data.xpos[1:], data.xquat[1:]), axis=1)[None]


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
