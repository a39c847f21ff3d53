# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind: coordinates over time as ``.npz``, or pictures as ``.mp4``.

Only coordinates are kept while a simulation runs.  Poses of bodies follow from them, all moments at once; pictures are
drawn at the end.  Files are written whole and then moved into place.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simwright.core.errors import LimitError, MissingExtraError, UsageError
from simwright.core.files import PartFile, write_atomic
from simwright.engines.protocol import Simulation
from simwright.runtime.arrays import AnyArray
from simwright.runtime.kinds import ShapeType
from simwright.runtime.kinematics import WorldMotion, move_bodies
from simwright.runtime.model import Model

if TYPE_CHECKING:
    from simwright.app.run_sources import RunSource

ENDINGS = (".npz", ".mp4")
MOST_BYTES = 4_000_000_000
"""Recordings larger than this are refused before they start."""
_CHUNK = 4096
_STRUCTURE = (
    "joint_type", "joint_parent", "joint_child", "joint_articulation", "joint_dof_dim", "joint_q_start",
    "joint_qd_start", "joint_axis", "joint_X_c", "body_com",
)  # fmt: skip
_FREQUENCY = {"joint_axis": "joint_dof", "body_com": "body"}


def check_target(path: str | os.PathLike[str]) -> Path:
    """A file that can be recorded to, and whose needs are installed."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(
            f"cannot record to {target.name!r}", hint=f"a name that ends in {' or '.join(ENDINGS)}"
        )
    if ending == ".mp4":
        import_video()
    return target


def import_video() -> Any:
    """The writer of videos, or the line that installs it."""
    for package, module in (("imageio", "imageio"), ("imageio-ffmpeg", "imageio_ffmpeg")):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(package, "video", "recording to .mp4")
    return importlib.import_module("imageio.v2")


class Recorder:
    """Keeps what a source records of every ``every``-th step of a run."""

    def __init__(self, source: RunSource, simulation: Simulation, every: int, steps: int) -> None:
        self.every, self._source, self._simulation = every, source, simulation
        layout = simulation.layout
        numbers = layout.nq + layout.nv + 7 * len(layout.bodies)
        # counted before the first step: a run of an hour is not to end for want of memory
        size = (steps // every + 1) * numbers * simulation.worlds * 8
        if size > MOST_BYTES:
            raise LimitError(
                f"the recording would take {size / 1e9:.1f} GB",
                hint="record every tenth step (--record-every 10), or fewer worlds",
            )
        self.times: list[float] = []
        self.moments: list[tuple[AnyArray, ...]] = []

    def keep(self, number: int) -> None:
        """One moment."""
        self.times.append(number * self._simulation.dt)
        self.moments.append(self._source.take(self._simulation))

    def save(self, target: Path, size: tuple[int, int], progress: Callable[[int, int], None] | None) -> Path:
        """Write the file that the name of ``target`` asks for."""
        if target.suffix.lower() == ".npz":
            stream = io.BytesIO()
            arrays = self._source.list_arrays(self.moments)
            source = name_source(self._source.name, target)
            np.savez_compressed(stream, times=np.array(self.times), source=np.array(source), **arrays)
            return write_atomic(target, stream.getvalue())
        return self._save_video(target, size, progress)

    def _save_video(
        self, target: Path, size: tuple[int, int], progress: Callable[[int, int], None] | None
    ) -> Path:
        from simwright.engines.mujoco.renderer import WorldPainter, choose_graphics

        video = import_video()
        # before the painter is made: MuJoCo chooses between a screen and none when it is imported
        choose_graphics()
        what, positions = self._source.show(self.moments)
        painter = WorldPainter(size=size, **what)
        # the rate of what was kept, not the one asked for: the film runs in real time even where steps do
        # not divide evenly
        rate = 1.0 / (self._simulation.dt * self.every)
        part = PartFile(target)
        try:
            with video.get_writer(str(part.path), fps=rate, codec="libx264", macro_block_size=2) as writer:
                for number in range(len(self.moments)):
                    writer.append_data(painter.paint(positions(number)))
                    if progress is not None:
                        progress(number + 1, len(self.moments))
            part.finish()
        finally:
            part.discard()
            painter.close()
        return target


def name_source(source: str, target: Path) -> str:
    """The file that was run as a recording names it: from the recording's folder on, or nothing where there is none."""
    if not Path(source).is_file():
        return ""
    # on another drive there is no way from one to the other
    with contextlib.suppress(ValueError):
        return Path(os.path.relpath(source, target.parent)).as_posix()
    return ""


def pose_bodies(model: Model, joint_q: AnyArray) -> AnyArray:
    """Poses of all bodies (moments x bodies x 7) at coordinates (moments x entries)."""
    worlds, sizes = model.world_count, model.per_world
    structure = {
        name: getattr(model, name)[model.rows_of(_FREQUENCY.get(name, "joint"), 0)] for name in _STRUCTURE
    }
    rows = joint_q.reshape(-1, sizes["joint_coord"])
    frames = model.joint_X_p[: sizes["joint"] * worlds].reshape(worlds, sizes["joint"], 7).astype(np.float64)
    starts = model.body_q[: sizes["body"] * worlds].reshape(worlds, sizes["body"], 7).astype(np.float64)
    poses = np.empty((len(rows), sizes["body"], 7), dtype=np.float32)
    for first in range(0, len(rows), _CHUNK):
        # in parts and in doubles: all moments at once would take several times the memory of the
        # recording
        part = rows[first : first + _CHUNK].astype(np.float64)
        which = np.arange(first, first + len(part)) % worlds
        motion = WorldMotion(
            part,
            np.zeros((len(part), sizes["joint_dof"])),
            frames[which],
            # a copy, since bodies are moved in place and the next part begins from the same starts
            starts[which].copy(),
            np.zeros((len(part), sizes["body"], 6)),
        )
        move_bodies(structure, motion)
        poses[first : first + _CHUNK] = motion.body_q
    return poses.reshape(len(joint_q), -1, 7)


def find_scene_extent(model: Model, body_q: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Corners of a box around everything that has an end [m], over all moments, within reason."""
    lows, highs = [], []
    for shape in range(model.shape_count):
        kind, scale = model.shape_type[shape], model.shape_scale[shape]
        # a plane of size zero is endless in Newton's arrays
        if kind == ShapeType.PLANE and not np.any(scale):
            continue
        radius, body = float(model.shape_collision_radius[shape]), int(model.shape_body[shape])
        places = model.shape_transform[shape, :3][None] if body < 0 else body_q[:, body, :3]
        reach = radius + (0.0 if body < 0 else float(np.linalg.norm(model.shape_transform[shape, :3])))
        lows.append(places.min(axis=0) - reach)
        highs.append(places.max(axis=0) + reach)
    if not lows:
        places = body_q.reshape(-1, 7)[:, :3] if body_q.size else np.zeros((1, 3))
        lows, highs = [places.min(axis=0) - 0.5], [places.max(axis=0) + 0.5]
    lower, upper = np.min(lows, axis=0).astype(np.float64), np.max(highs, axis=0).astype(np.float64)
    middle = (lower + upper) / 2
    half = np.minimum((upper - lower) / 2, 100.0)
    return middle - half, middle + half
