# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind: coordinates over time as ``.npz``, or pictures as ``.mp4`` or ``.gif``.

Only coordinates are kept while a simulation runs.  Poses of bodies follow from them, all moments at once; pictures are
drawn at the end.  Files are written whole and then moved into place.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simwright.core.errors import LimitError, UsageError
from simwright.core.files import check_writable, write_atomic
from simwright.engines.films import import_video, open_film
from simwright.engines.protocol import Simulation
from simwright.runtime.arrays import AnyArray
from simwright.runtime.kinematics import WorldMotion, move_bodies
from simwright.runtime.model import Model

if TYPE_CHECKING:
    from simwright.app.run_sources import RunSource

ENDINGS = (".npz", ".mp4", ".gif")
MOST_BYTES = 4_000_000_000
"""Recordings larger than this are refused before they start."""
_CHUNK = 4096
_STRUCTURE = (
    "joint_type", "joint_parent", "joint_child", "joint_articulation", "joint_dof_dim", "joint_q_start",
    "joint_qd_start", "joint_axis", "joint_X_c", "body_com",
)  # fmt: skip
_FREQUENCY = {"joint_axis": "joint_dof", "body_com": "body"}


def check_target(path: str | os.PathLike[str]) -> Path:
    """A file that can be written and recorded to, and whose needs are installed."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(
            f"cannot record to {target.name!r}",
            hint=f"a name that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}",
        )
    if ending == ".mp4":
        import_video()
    return check_writable(target)


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
        from simwright.engines.mujoco.framing import CameraWish
        from simwright.engines.mujoco.painter import WorldPainter

        what, positions = self._source.show(self.moments)
        painter = WorldPainter(**what)
        # the rate of what was kept, not the one asked for: the film runs in real time even where steps do
        # not divide evenly
        rate, number = 1.0 / (self._simulation.dt * self.every), len(self.moments)
        plan = painter.plan_film(
            lambda moment: painter.place(positions(moment)), number, CameraWish(), size[0] / size[1], rate
        )
        film = open_film(target, rate)
        try:
            painter.open(plan, size)
            for moment, camera in enumerate(plan.cameras):
                painter.place(positions(moment))
                film.add(painter.draw(camera))
                if progress is not None:
                    progress(moment + 1, number)
            film.finish()
        finally:
            film.discard()
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
