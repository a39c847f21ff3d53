# SPDX-License-Identifier: Apache-2.0
"""A task with a robot in it as a file: MJCF with all it needs, or any format that Simwright writes.

MJCF is written from the composed specification itself, so that it compiles to the model that is run.  The other formats
go through the neutral model, as any MJCF file does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simwright.core.diag import Reporter, Where, relocate
from simwright.core.errors import InputError, OutputError
from simwright.core.files import write_atomic
from simwright.core.math3d import Pose
from simwright.core.scratch import scratch_folder
from simwright.formats.format import ReadOptions, WriteOptions
from simwright.formats.table import choose_writer, read_asset, write_asset
from simwright.tasks.compose import Composed, compose_scene
from simwright.tasks.environments import validate_options
from simwright.tasks.reading import complete_pose
from simwright.tasks.robot import TaskRobot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import TaskScene
from simwright.tasks.specs import MjSpec, write_spec

_ASSETS = "assets"
# the keyframe that has the beginning of the episode
_START = "start"


def export_scene(
    scene: TaskScene,
    robot: TaskRobot,
    target: str | os.PathLike[str],
    *,
    options: Mapping[str, Any] | None = None,
    base: Pose | None = None,
    seed: int = 0,
    to: str | None = None,
    writing: WriteOptions | None = None,
    reporter: Reporter | None = None,
) -> Path:
    """Write the beginning of an episode; gives the path of the file to open.

    ``to`` names the format, else the name of ``target`` decides, as in a conversion.
    """
    reporter = Reporter() if reporter is None else reporter
    row = choose_writer(target, to, reporter)
    rollout = SimRollout(scene, robot, options=validate_options(scene, options or {}), base=base)
    rollout.reset(seed)
    with scratch_folder() as folder:
        staging = folder / scene.name
        staging.mkdir()
        name = Path(target).stem if Path(target).suffix else scene.name
        file = stage_scene(rollout, staging, name)
        if row.name == "mjcf":
            return _deliver(file, Path(target), overwrite=bool(writing and writing.overwrite))
        inner = Reporter()
        try:
            asset = read_asset(file, options=ReadOptions(), reporter=inner)
            return write_asset(asset, target, format_name=to, options=writing, reporter=inner)
        finally:
            # the staged file is gone afterwards; what it says comes from the robot
            for found in inner:
                staged = found.where.file.startswith(str(staging))
                reporter.add(relocate(found, Where(str(robot.file))) if staged else found)


def stage_scene(rollout: SimRollout, folder: Path, name: str) -> Path:
    """Write the scene as MJCF called ``name`` into a folder, with the files it needs in ``assets``."""
    robot, scene = rollout.robot, rollout.scene
    gathered = _AssetFiles(folder, Where(str(robot.file)))

    def amend(spec: MjSpec) -> None:
        robot.amend(spec)
        gathered.take(spec)

    composed = compose_scene(
        robot.source,
        lambda spec: scene.add(spec, rollout.options),
        base=rollout.base,
        period=rollout.composed.period,
        amend_robot=amend,
    )
    spec = composed.spec
    spec.modelname = name
    # MuJoCo looks for files beside the model when it compiles for writing
    spec.modelfiledir = str(folder)
    spec.option.timestep = composed.period / composed.substeps
    _place(rollout, composed)
    file = folder / f"{name}.xml"
    write_spec(spec, file, Where(str(robot.file)))
    return file


def _place(rollout: SimRollout, composed: Composed) -> None:
    """Put the things of the task where the episode has them, and the robot's start into the one keyframe."""
    spec, scene, layout = composed.spec, rollout.scene, rollout.layout
    for name in (*scene.objects, *scene.fixtures):
        pose = complete_pose(layout[name])
        body = spec.body(name)
        body.pos, body.quat = pose[:3].tolist(), pose[3:].tolist()
    for name in scene.marks:
        spec.site(name).pos = layout[name][:3].tolist()
    # keyframes of the robot do not fit the scene's coordinates
    for key in list(spec.keys):
        spec.delete(key)
    spec.add_key(name=_START, qpos=rollout.qpos.tolist(), ctrl=rollout.worlds.view("ctrl")[0].tolist())


class _AssetFiles:
    """Files of a robot, copied into one folder under names of their own."""

    def __init__(self, folder: Path, where: Where) -> None:
        self.folder, self.where = folder, where
        self._names: dict[Path, str] = {}

    def take(self, spec: MjSpec) -> None:
        """Copy the files that a specification names, and name the copies."""
        base = Path(spec.modelfiledir)
        for kind, place in (
            ("meshes", "meshdir"),
            ("hfields", "meshdir"),
            ("skins", "meshdir"),
            ("textures", "texturedir"),
        ):
            for element in getattr(spec, kind):
                folder = base / getattr(spec, place)
                if element.file:
                    element.file = self._copy(folder / element.file)
                if kind == "textures" and any(element.cubefiles):
                    element.cubefiles = [name and self._copy(folder / name) for name in element.cubefiles]
        spec.meshdir, spec.texturedir, spec.modelfiledir = "", "", str(self.folder)

    def _copy(self, file: Path) -> str:
        file = file.resolve()
        if file not in self._names:
            taken = set(self._names.values())
            name, number = f"{_ASSETS}/{file.name}", 1
            # files of one name from several folders
            while name in taken:
                number += 1
                name = f"{_ASSETS}/{file.stem}_{number}{file.suffix}"
            (self.folder / _ASSETS).mkdir(exist_ok=True)
            try:
                shutil.copyfile(file, self.folder / name)
            except OSError as error:
                raise InputError(
                    f"cannot be read: {error.strerror or error}", where=Where(str(file))
                ) from None
            self._names[file] = name
        return self._names[file]


def _deliver(file: Path, target: Path, *, overwrite: bool) -> Path:
    """Move a staged scene to where it is wanted: what it needs first, the scene itself last."""
    entry = target if target.suffix.lower() in (".xml", ".mjcf") else target / file.name
    source = file.parent / _ASSETS
    pieces = sorted(piece for piece in source.iterdir()) if source.is_dir() else []
    goals = [entry.parent / _ASSETS / piece.name for piece in pieces]
    there = next((goal for goal in (entry, *goals) if goal.exists()), None)
    if there is not None and not overwrite:
        raise OutputError("there is a file already", hint="--overwrite replaces it", where=Where(str(there)))
    for piece, goal in zip(pieces, goals, strict=True):
        write_atomic(goal, piece.read_bytes())
    return write_atomic(entry, file.read_bytes())
