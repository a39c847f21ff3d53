# SPDX-License-Identifier: Apache-2.0
"""Recording runs as a data set for learning, in the layout of LeRobot 3.0: Parquet tables, and a film per camera.

::

    meta/info.json  meta/stats.json  meta/tasks.parquet  meta/episodes/chunk-000/file-000.parquet
    data/chunk-000/file-000.parquet
    videos/observation.images.CAMERA/chunk-000/file-000.mp4

A frame is what was observed and what was done then.  Every camera is drawn by itself.  Tables need the extra
``dataset`` and films the extra ``video``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import MissingExtraError, OutputError
from simwright.core.math3d import Array
from simwright.core.swap import recover, write_folder
from simwright.engines.films import VideoFile, import_video
from simwright.engines.mujoco.renderer import ModelRenderer
from simwright.tasks.compose import PREFIX
from simwright.tasks.observing import find_camera
from simwright.tasks.rollout import Observation, SimRollout, StepResult
from simwright.tasks.runner import Episode

VERSION = "v3.0"
_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
_COUNTS = ("frame_index", "episode_index", "index", "task_index")
_QUATERNION = ("x", "y", "z", "qw", "qx", "qy", "qz")


class DatasetRecorder:
    """Collects frames; the folder appears when the run is over."""

    def __init__(
        self, folder: Path, *, cameras: Sequence[str] | None = None, width: int = 320, height: int = 240
    ) -> None:
        _expect_pyarrow()
        recover(folder.resolve(), folder.resolve().name)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise OutputError(
                "is there already", hint="name a folder that is new or empty", where=Where(str(folder))
            )
        self.folder, self._wanted = folder, cameras
        self._size = (width + width % 2, height + height % 2)
        self._films: dict[str, VideoFile] = {}
        self._cameras: dict[str, str] = {}
        self._renderer: ModelRenderer | None = None
        self._rows: dict[str, list[Any]] = {}
        self._names: dict[str, list[str]] = {}
        self._episodes: list[dict[str, Any]] = []
        self._first = 0
        self._observation: Observation = {}
        self._rollout: SimRollout | None = None
        self._stack = contextlib.ExitStack()
        self._staging: Path | None = None

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:  # noqa: ARG002 - a listener's
        """An episode begins."""
        if self._rollout is None:
            self._prepare(rollout, observation)
        self._observation = observation
        self._first = self._count
        if self._films:
            # what is shown is what was observed: the state before the action
            self._paint(rollout)

    @property
    def _count(self) -> int:
        return len(self._rows.get("index", ()))

    @property
    def _rate(self) -> float:
        assert self._rollout is not None
        return 1.0 / self._rollout.composed.period

    def _prepare(self, rollout: SimRollout, observation: Observation) -> None:
        self._rollout = rollout
        wanted = rollout.scene.cameras if self._wanted is None else self._wanted
        if wanted:
            import_video()
        self._staging = self._stack.enter_context(write_folder(self.folder))
        self._names = _name_parts(rollout, observation)
        if not wanted:
            return
        self._renderer = ModelRenderer(rollout.model, *self._size)
        for name in wanted:
            key = f"observation.images.{name}"
            self._cameras[key] = find_camera(rollout.model, name)
            path = self._staging / _VIDEO.format(video_key=key, chunk_index=0, file_index=0)
            self._films[key] = VideoFile(path, self._rate)

    def _paint(self, rollout: SimRollout) -> None:
        assert self._renderer is not None
        self._pictures = {
            key: self._renderer.render(rollout.data, camera) for key, camera in self._cameras.items()
        }

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:
        """One frame."""
        for key, film in self._films.items():
            film.add(self._pictures[key])
        row = self._shape(self._observation)
        row |= {
            "action": np.asarray(action, dtype=np.float32),
            "next.reward": np.float32(result.reward),
            "next.done": bool(result.terminated or result.truncated),
            "next.success": bool(result.info.get("success", False)),
            "timestamp": np.float32((self._count - self._first) / self._rate),
            "frame_index": self._count - self._first,
            "episode_index": len(self._episodes),
            "index": self._count,
            "task_index": 0,
        }
        for key, value in row.items():
            self._rows.setdefault(key, []).append(value)
        self._observation = result.observation
        if self._films:
            self._paint(rollout)

    def _shape(self, observation: Observation) -> dict[str, Any]:
        parts = {
            "observation.state": [observation["qpos"]],
            "observation.velocity": [observation["qvel"]],
            "observation.tool": [observation["tool"]],
        }
        rest = [np.atleast_1d(v) for k, v in observation.items() if k not in ("qpos", "qvel", "tool")]
        if rest:
            parts["observation.environment_state"] = rest
        return {key: np.concatenate(values).astype(np.float32) for key, values in parts.items()}

    def end(self, episode: Episode) -> None:
        """Note where the episode is in the tables and films."""
        assert self._rollout is not None
        first, last = self._first, self._count
        row: dict[str, Any] = {
            "episode_index": len(self._episodes),
            "tasks": [self._rollout.scene.instruction],
            "length": last - first,
            "data/chunk_index": 0,
            "data/file_index": 0,
            "dataset_from_index": first,
            "dataset_to_index": last,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
        }
        for key in self._films:
            row[f"videos/{key}/chunk_index"] = 0
            row[f"videos/{key}/file_index"] = 0
            row[f"videos/{key}/from_timestamp"] = first / self._rate
            row[f"videos/{key}/to_timestamp"] = last / self._rate
        row |= {"seed": episode.seed, "success": episode.success}
        self._episodes.append(row)

    def close(self) -> None:
        """Write the tables and move the folder to its place."""
        if self._staging is None or self._rollout is None:
            return
        try:
            for film in self._films.values():
                film.finish()
            self._write(self._staging, self._rollout)
        except BaseException as error:
            self._stack.__exit__(type(error), error, error.__traceback__)
            raise
        else:
            self._stack.close()
        finally:
            self._release()

    def discard(self) -> None:
        """Leave nothing behind."""
        for film in self._films.values():
            film.discard()
        self._release()
        error = RuntimeError("the run failed")
        with contextlib.suppress(RuntimeError):
            # an error in its exit tells write_folder to remove what it staged
            self._stack.__exit__(RuntimeError, error, None)

    def _release(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
        self._renderer, self._films = None, {}

    def _write(self, root: Path, rollout: SimRollout) -> None:
        pa, pq = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
        data = root / _DATA.format(chunk_index=0, file_index=0)
        episodes = root / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
        for file in (data, episodes):
            file.parent.mkdir(parents=True, exist_ok=True)
        columns = {key: _make_column(values) for key, values in self._rows.items()}
        pq.write_table(pa.table(columns), data)
        pq.write_table(pa.Table.from_pylist(self._episodes), episodes)
        pq.write_table(_make_tasks([rollout.scene.instruction]), root / "meta" / "tasks.parquet")
        stats = {key: _measure(values) for key, values in self._rows.items()}
        (root / "meta" / "stats.json").write_text(json.dumps(stats, indent=2), encoding="utf-8")
        (root / "meta" / "info.json").write_text(
            json.dumps(self._describe(rollout), indent=2, ensure_ascii=False), encoding="utf-8"
        )

    def _describe(self, rollout: SimRollout) -> dict[str, Any]:
        rate = self._rate
        return {
            "codebase_version": VERSION,
            "robot_type": rollout.robot.id,
            "total_episodes": len(self._episodes),
            "total_frames": self._count,
            "total_tasks": 1,
            "chunks_size": 1000,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            # LeRobot wants a whole number; others are kept as they are
            "fps": round(rate) if abs(rate - round(rate)) < 1e-9 else rate,
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": _DATA,
            "video_path": _VIDEO if self._cameras else None,
            "features": self._list_features(),
        }

    def _list_features(self) -> dict[str, Any]:
        width, height = self._size
        features: dict[str, Any] = {}
        for key, values in self._rows.items():
            first = np.asarray(values[0])
            kind = "bool" if first.dtype == bool else "int64" if key in _COUNTS else "float32"
            shape = list(first.shape) or [1]
            features[key] = {"dtype": kind, "shape": shape, "names": self._names.get(key)}
        for key in self._cameras:
            features[key] = {
                "dtype": "video",
                "shape": [height, width, 3],
                "names": ["height", "width", "channels"],
                "info": {
                    "video.height": height,
                    "video.width": width,
                    "video.codec": "h264",
                    "video.pix_fmt": "yuv420p",
                    "video.is_depth_map": False,
                    "video.fps": self._rate,
                    "video.channels": 3,
                    "has_audio": False,
                },
            }
        return features


def _name_parts(rollout: SimRollout, observation: Observation) -> dict[str, list[str]]:
    """What each number of a feature is."""
    model = rollout.model
    joints: list[str] = []
    speeds: list[str] = []
    for index in range(model.njnt):
        if model.jnt_qposadr[index] >= rollout.composed.robot_nq:
            break
        name = model.joint(index).name.removeprefix(PREFIX) or f"joint{index}"
        kind = int(model.jnt_type[index])
        joints += _number(name, (7, 4, 1, 1)[kind])
        speeds += _number(name, (6, 3, 1, 1)[kind])
    things = []
    many = {chosen.key for chosen in rollout.terms if not chosen.term.size}
    for key, value in observation.items():
        if key not in ("qpos", "qvel", "tool"):
            size = int(np.size(value))
            # places, poses and offsets; terms of a robot have as many numbers as it has joints
            if size in (3, len(_QUATERNION)) and key not in many:
                things += [f"{key}.{axis}" for axis in _QUATERNION[:size]]
            else:
                things += _number(key, size)
    if rollout.mode.value == "pose":
        actions = ["dx", "dy", "dz", "rx", "ry", "rz", "grip"][: rollout.action_size]
    else:
        actions = [a.name.removeprefix(PREFIX) or f"actuator{a.index}" for a in rollout.actuators]
    return {
        "observation.state": joints,
        "observation.velocity": speeds,
        "observation.tool": list(_QUATERNION),
        "observation.environment_state": things,
        "action": actions,
    }


def _number(name: str, parts: int) -> list[str]:
    return [name] if parts == 1 else [f"{name}.{part}" for part in range(parts)]


def _make_column(values: list[Any]) -> Any:
    pa = importlib.import_module("pyarrow")
    array = np.array(values)
    if array.ndim == 1:
        return pa.array(array)
    # fixed lengths: readers get arrays without looking at each row
    flat = pa.array(array.reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def _make_tasks(tasks: list[str]) -> Any:
    """A table whose rows are named by their task, as pandas writes such a table."""
    pa = importlib.import_module("pyarrow")
    table = pa.table({"task_index": pa.array(range(len(tasks)), pa.int64()), "task": tasks})
    column = {"field_name": "task_index", "name": "task_index", "pandas_type": "int64", "numpy_type": "int64"}
    index = {"field_name": "task", "name": "task", "pandas_type": "unicode", "numpy_type": "object"}
    meta = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [{**column, "metadata": None}, {**index, "metadata": None}],
        "pandas_version": "2.0.0",
    }
    return table.replace_schema_metadata({b"pandas": json.dumps(meta).encode()})


def _measure(values: list[Any]) -> dict[str, Any]:
    """Least, largest, mean and deviation of each number of a feature."""
    array = np.array(values, dtype=np.float64)
    array = array.reshape(len(array), -1)
    return {
        "min": array.min(axis=0).tolist(),
        "max": array.max(axis=0).tolist(),
        "mean": array.mean(axis=0).tolist(),
        "std": array.std(axis=0).tolist(),
        "count": [len(array)],
    }


def _expect_pyarrow() -> None:
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "dataset", "a data set")
