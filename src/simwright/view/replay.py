# SPDX-License-Identifier: Apache-2.0
"""Recordings of runs (``.npz``), replayed on a page with a slider over their time."""

from __future__ import annotations

import json
import threading
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import InputError, LimitError, NotFoundError
from simwright.core.files import suggest_sibling
from simwright.core.math3d import Array, to_wxyz
from simwright.model.asset import Asset
from simwright.model.kinematics import build_tree
from simwright.view.drawing import draw_asset
from simwright.view.figure import LAYERS, AssetFigure, Picked, at_offsets
from simwright.view.live import MOST_WORLDS, place_worlds
from simwright.view.pace import SPEEDS, read_speed
from simwright.view.panel import TreePanel
from simwright.view.plots import SeriesPlot
from simwright.view.serving import PageServer
from simwright.view.stage import dress, light, save_picture
from simwright.view.streaming import PoseStream
from simwright.view.words import numbers, plain, short, table

MOST_BYTES = 4_000_000_000
"""Recordings that unpack to more are refused."""
_BETWEEN = 1.0 / 30.0


@dataclass(slots=True, eq=False)
class Recording:
    """What ``run --record`` wrote: ``poses`` (moments x worlds x bodies x 7, quaternion w first) at ``times`` [s].

    ``is_placed`` tells that worlds stand beside each other already; ``signals`` has coordinates of the first world by
    name; ``source`` is the file that was run, as the recording names it; of a task there are ``task``, ``robot`` and
    ``options`` instead.
    """

    times: Array
    poses: Array
    bodies: list[str]
    signals: dict[str, Array]
    is_placed: bool = False
    source: str = ""
    task: str = ""
    robot: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def read_recording(path: str | Path) -> Recording:
    """Read a recording of a robot file or of a scene; other files are errors that say what they lack."""
    file = Path(path)
    where = Where(str(path))
    if not file.is_file():
        raise NotFoundError(f"there is no file {str(path)!r}", hint=suggest_sibling(file))
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MOST_BYTES:
            raise LimitError(
                f"the recording unpacks to {size / 1e9:.1f} GB", hint="record every tenth step", where=where
            )
        with np.load(file, allow_pickle=False) as archive_:
            arrays = {name: archive_[name] for name in archive_.files}
    except (OSError, ValueError, zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"this is not a recording: {error}", where=where) from None
    return _build(arrays, where)


def _build(arrays: dict[str, Any], where: Where) -> Recording:
    # one branch for each kind of file, then one for each way in which its arrays may disagree
    source = str(arrays["source"]) if "source" in arrays and arrays["source"].shape == () else ""
    try:
        if "body_poses" in arrays and "meta" in arrays:
            found = _build_task(arrays)
        elif "body_poses" in arrays:
            found = Recording(
                np.asarray(arrays["times"], dtype=np.float64),
                np.asarray(arrays["body_poses"], dtype=np.float64),
                [str(name) for name in arrays["body_names"]],
                _name_columns(arrays["position_names"], arrays["positions"][:, 0]),
                source=source,
            )
        elif "body_q" in arrays:
            found = _build_scene(arrays, source)
        else:
            raise InputError(
                "this recording has no poses of bodies",
                hint="recordings of simwright run --record and task run --record can be replayed", where=where,
            )  # fmt: skip
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise InputError(f"this recording is damaged: {error}", where=where) from None
    moments, bodies = len(found.times), len(found.bodies)
    if any(len(values) != moments for values in found.signals.values()):
        raise InputError("this recording is damaged: its signals have other lengths", where=where)
    if (
        not moments
        or found.poses.ndim != 4
        or found.poses.shape[::2] != (moments, bodies)
        or not found.poses.shape[1]
    ):
        raise InputError(f"this recording is damaged: {found.poses.shape} numbers of poses", where=where)
    return found


def _build_task(arrays: dict[str, Any]) -> Recording:
    """All episodes of a task, one after the other."""
    meta = json.loads(str(arrays["meta"]))
    signals: dict[str, Array] = {
        name: np.asarray(arrays[name], dtype=np.float64).reshape(-1)
        for name in ("reward", "success", "episode")
        if name in arrays
    }
    coordinates = np.asarray(arrays.get("observation.qpos", np.zeros((0, 0))), dtype=np.float64)
    signals |= {f"qpos {column}": coordinates[:, column] for column in range(coordinates.shape[-1])}
    return Recording(
        np.asarray(arrays["times"], dtype=np.float64),
        np.asarray(arrays["body_poses"], dtype=np.float64),
        [str(name) for name in arrays["body_names"]],
        signals,
        task=str(meta["task"]),
        robot=str(meta["robot"]),
        options=dict(meta.get("options", {})),
    )


def _build_scene(arrays: dict[str, Any], source: str) -> Recording:
    times, worlds = np.asarray(arrays["times"], dtype=np.float64), int(arrays["world_count"])
    poses = to_wxyz(np.asarray(arrays["body_q"]))
    labels = [str(name) for name in arrays["body_labels"]]
    each = len(labels) // max(worlds, 1)
    rows = poses.reshape(len(times), -1, 7)[:, : each * worlds].reshape(len(times), worlds, each, 7)
    names = [label.rpartition("/")[2] for label in labels[:each]]
    joints, starts = arrays["joint_labels"], arrays["joint_q_start"]
    signals = {
        str(joint).rpartition("/")[2]: np.asarray(arrays["joint_q"][:, start], dtype=np.float64)
        for joint, start, end in zip(joints, starts, [*starts[1:]], strict=False)
        if end - start == 1
    }
    return Recording(times, rows, names, signals, is_placed=True, source=source)


def _name_columns(names: Any, values: Any) -> dict[str, Array]:
    return {str(name): np.asarray(values[:, column], dtype=np.float64) for column, name in enumerate(names)}


class ReplayPage:
    """A recording on a page; ``address`` is what to open."""

    def __init__(
        self,
        asset: Asset,
        recording: Recording,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        where: Where | None = None,
    ) -> None:
        self.asset, self.recording = asset, recording
        self._order = _match(asset, recording, where or Where())
        self._lock = threading.RLock()
        worlds = min(recording.poses.shape[1], MOST_WORLDS)
        self._poses = np.nan_to_num(recording.poses[:, :worlds][:, :, self._order])
        tree = build_tree(asset)
        drawing = draw_asset(asset, tree, self._poses[0, 0], copies=worlds)
        # the camera is to see all of the way, not only where it begins
        reach = self._poses[..., :3].reshape(-1, 3)
        lower = np.minimum(drawing.lower, reach.min(axis=0, initial=np.inf))
        upper = np.maximum(drawing.upper, reach.max(axis=0, initial=-np.inf))
        placed = recording.is_placed or worlds == 1
        offsets = np.zeros((worlds, 3)) if placed else place_worlds(worlds, lower, upper)
        self._serving = PageServer(asset.name, host, port)
        self.server, self.address, self.port = self._serving.viser, self._serving.address, self._serving.port
        dress(self.server, lower, upper + offsets.max(axis=0))
        light(self.server, [drawing])
        self.figure = AssetFigure(
            self.server,
            drawing,
            self._poses[0],
            roots=at_offsets(offsets),
            on_pick=self._click,
            stream=PoseStream.open(self.server),
        )
        self.server.on_client_connect(self._welcome)
        self.at = 0
        self.is_playing, self.speed = True, 1.0
        self._picked, self._world = -1, 0
        self._ended = threading.Event()
        self._add_controls(tree)
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._ended.set()
        self._thread.join(timeout=5)
        self._serving.close()

    def _welcome(self, _: Any) -> None:
        with self._lock:
            self.figure.welcome()
            self.figure.place(self._poses[self.at])

    def _add_controls(self, tree: Any) -> None:
        gui, times = self.server.gui, self.recording.times
        gui.set_panel_label(short(self.asset.name, 40))
        with gui.add_folder("Replay"):
            self._told = gui.add_markdown("")
            self.slider = gui.add_slider("Moment", 0, max(len(times) - 1, 1), 1, 0)
            self.slider.on_update(self._scrub)
            self._button = gui.add_button_group("", ("Pause", "Back", "Forth"))
            self._button.on_click(lambda event: self._press(event.target.value))
            speed = gui.add_dropdown("Speed", SPEEDS[:-1], initial_value="1x")
            speed.on_update(lambda event: setattr(self, "speed", read_speed(event.target.value) or 1.0))
        self.plot = SeriesPlot(gui, times, self.recording.signals)
        with gui.add_folder("Show"):
            for name in self.figure.list_layers():
                box = gui.add_checkbox(name, LAYERS[name])
                box.on_update(lambda event, name=name: self.figure.show(name, event.target.value))
        with gui.add_folder("Selected"):
            self._facts = gui.add_markdown("Click a link.")
        self._tree = TreePanel(gui, tree, self.pick)
        picture = gui.add_button("Save a picture")
        picture.on_click(lambda event: save_picture(event.client))

    def _press(self, word: str) -> None:
        if word in ("Pause", "Play"):
            self.is_playing = word == "Play"
        else:
            self.is_playing = False
            self.go_to(self.at + (1 if word == "Forth" else -1))
        self._button.options = ("Pause" if self.is_playing else "Play", "Back", "Forth")

    def _scrub(self, event: Any) -> None:
        if event.client is not None:  # else it is our own update
            self.is_playing = False
            self._button.options = ("Play", "Back", "Forth")
            self.go_to(int(event.target.value), moves_slider=False)

    def go_to(self, moment: int, *, moves_slider: bool = True) -> None:
        """Show a moment by its number."""
        with self._lock:
            self.at = int(np.clip(moment, 0, len(self.recording.times) - 1))
            self.figure.place(self._poses[self.at])
            if moves_slider:
                self.slider.value = self.at
            self._told.content = f"{self.recording.times[self.at]:.3f} s of {self.recording.times[-1]:.3f} s"
            self._describe()

    def _play(self) -> None:
        times = self.recording.times
        start, first = time.perf_counter(), float(times[0])
        while not self._ended.wait(_BETWEEN):
            now = float(times[self.at])
            if not self.is_playing:
                start, first = time.perf_counter(), now
                continue
            wanted = first + (time.perf_counter() - start) * self.speed
            if self.at >= len(times) - 1:
                start, first = time.perf_counter(), float(times[0])
                self.go_to(0)
            elif abs(wanted - now) > 1.0 + self.speed:
                # somebody changed the speed, or this machine slept
                start, first = time.perf_counter(), now
            else:
                next_at = int(np.searchsorted(times, wanted, side="right")) - 1
                if next_at != self.at:
                    self.go_to(next_at)

    def _click(self, picked: Picked) -> None:
        self._world = picked.world
        self.pick(self.asset.body_names[picked.body] if picked.body >= 0 else "")

    def pick(self, name: str) -> None:
        """Select a link."""
        with self._lock:
            self._picked = self.asset.body_names.index(name) if name else -1
            self._tree.pick(name)
            self.figure.mark([self._picked] if name else [], world=self._world)
            self._describe()

    def _describe(self) -> None:
        if self._picked < 0:
            return
        seven = self.figure.poses[self._world, self._picked]
        rows = [("position [m]", numbers(seven[:3])), ("quaternion w x y z", numbers(seven[3:]))]
        self._facts.content = f"**{plain(self.asset.body_names[self._picked])}**\n\n{table(rows)}"


def _match(asset: Asset, recording: Recording, where: Where) -> Any:
    """Which row of the recording is which body; a recording of another machine is an error."""
    rows = {name: row for row, name in enumerate(recording.bodies)}
    missing = [name for name in asset.body_names if name not in rows]
    if not missing:
        return np.array([rows[name] for name in asset.body_names], dtype=np.int64)
    raise InputError(
        f"the recording has no body {missing[0]!r}"
        + (f" and {len(missing) - 1} others" if len(missing) > 1 else ""),
        hint=f"it was made of {recording.source!r}"
        if recording.source
        else "show it with the file that was run",
        where=where,
    )
