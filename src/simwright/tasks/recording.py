# SPDX-License-Identifier: Apache-2.0
"""Listeners of runs: a film (``.mp4``), arrays of everything that was observed and done (``.npz``).

Files are written whole beside their destination and moved there when the run is over; a run that fails leaves nothing.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.errors import MissingExtraError, UsageError
from simwright.core.files import PartFile, write_atomic
from simwright.core.math3d import Array
from simwright.engines.mujoco.renderer import ModelRenderer, Picture
from simwright.tasks.observing import find_camera
from simwright.tasks.rollout import Observation, SimRollout, StepResult
from simwright.tasks.runner import Episode, Listener

_QUALITY = 8
# pictures per second of a film, about
_RATE = 25.0


def open_recorder(
    path: str | os.PathLike[str], *, camera: str = "", width: int = 640, height: int = 480
) -> Listener:
    """The recorder for a file, by its ending."""
    target = Path(path)
    match target.suffix.lower():
        case ".mp4":
            return VideoRecorder(target, camera=camera, width=width, height=height)
        case ".npz":
            return ArraysRecorder(target)
        case ending:
            raise UsageError(
                f"runs are recorded as .mp4 or .npz, not as {ending or 'a file without ending'}",
                hint="a data set goes into a folder: --dataset DIR",
            )


class VideoFile:
    """A film that is being written: frames go into a file beside the destination."""

    def __init__(self, path: Path, rate: float) -> None:
        expect_imageio()
        import imageio.v2

        self.path, self.frames = path, 0
        self._part = PartFile(path)
        self._writer = imageio.v2.get_writer(
            str(self._part.path),
            fps=rate,
            codec="libx264",
            quality=_QUALITY,
            pixelformat="yuv420p",
            macro_block_size=2,
        )

    def add(self, picture: Picture) -> None:
        """One more frame."""
        self._writer.append_data(picture)
        self.frames += 1

    def finish(self) -> None:
        """Move the film to its place."""
        self._writer.close()
        self._part.finish()

    def discard(self) -> None:
        """Leave nothing behind."""
        self._writer.close()
        self._part.discard()


class VideoRecorder:
    """All episodes of a run in one film of one camera (from the side by default), in real time."""

    def __init__(self, path: Path, *, camera: str = "", width: int = 640, height: int = 480) -> None:
        expect_imageio()
        self.path, self._camera, self._size = path, camera, (width + width % 2, height + height % 2)
        self._film: VideoFile | None = None
        self._renderer: ModelRenderer | None = None
        self._every = 1

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:  # noqa: ARG002 - a listener's
        """The first picture of an episode."""
        if self._film is None:
            self._renderer = ModelRenderer(rollout.model, *self._size)
            self._camera = find_camera(rollout.model, self._camera or choose_camera(rollout))
            rate = 1.0 / rollout.composed.period
            # control periods are often shorter than a picture lasts
            self._every = max(1, round(rate / _RATE))
            self._film = VideoFile(self.path, rate / self._every)
        self._take(rollout)

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:  # noqa: ARG002 - a listener's
        """The next picture, where one is due."""
        if rollout.steps % self._every == 0 or result.terminated or result.truncated:
            self._take(rollout)

    def _take(self, rollout: SimRollout) -> None:
        assert self._film is not None
        assert self._renderer is not None
        self._film.add(self._renderer.render(rollout.data, self._camera))

    def end(self, episode: Episode) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        """Write the film."""
        if self._film is not None:
            self._film.finish()
        self._release()

    def discard(self) -> None:
        """Leave nothing behind."""
        if self._film is not None:
            self._film.discard()
        self._release()

    def _release(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
        self._renderer = self._film = None


class ArraysRecorder:
    """Observations, actions and results of all steps as arrays in one ``.npz``.

    Row ``i`` is what was observed (``observation.KEY``), what was done then (``action``), and what it gave (``reward``,
    ``success``, ``done``); ``episode`` and ``step`` count.  ``meta`` is JSON text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[str, list[Any]] = {}
        self._meta: dict[str, Any] = {}
        self._episodes: list[dict[str, Any]] = []
        self._observation: Observation = {}

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
        }
        for key, value in row.items():
            self._rows.setdefault(key, []).append(value)
        self._observation = result.observation

    def end(self, episode: Episode) -> None:
        """How it went."""
        self._episodes[-1] |= {"success": episode.success, "steps": episode.steps, "ended": episode.ended}

    def close(self) -> None:
        """Write the file."""
        stream = io.BytesIO()
        arrays = {key: np.array(values) for key, values in self._rows.items()}
        meta = json.dumps({**self._meta, "episodes": self._episodes})
        np.savez_compressed(stream, meta=np.array(meta), **arrays)  # type: ignore[arg-type]
        write_atomic(self.path, stream.getvalue())

    def discard(self) -> None:
        """There is no file yet."""


def choose_camera(rollout: SimRollout) -> str:
    """Where most is seen from: ``side``, ``front``, or the scene's first camera."""
    cameras = rollout.scene.cameras
    return next((name for name in ("side", "front") if name in cameras), cameras[0] if cameras else "")


def expect_imageio() -> None:
    """Films need packages of an extra."""
    for package in ("imageio", "imageio_ffmpeg"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package.replace("_", "-"), "video", "a film")
