# SPDX-License-Identifier: Apache-2.0
"""What can be run: scene files, robot files as scenes of one asset, and scenes that are loaded already."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simwright.app.scenes import ENDINGS
from simwright.core.diag import Reporter
from simwright.core.errors import NotFoundError, UsageError
from simwright.core.files import suggest_sibling
from simwright.formats.table import detect_format
from simwright.runtime.kinds import ShapeFlag, ShapeType
from simwright.runtime.rotation import compose, rotate
from simwright.scenes.control import ControlSequence, load_control
from simwright.scenes.document import SceneFile, parse_scene, read_scene
from simwright.scenes.load import LoadedScene, assemble_scene

_ASSETS = ("usd", "urdf", "mjcf", "sdf")


@dataclass(slots=True, eq=False)
class Opened:
    """A scene that is loaded, and the control sequence it names."""

    loaded: LoadedScene
    sequence: ControlSequence | None = field(default=None)


def open_source(
    source: str | os.PathLike[str] | LoadedScene,
    num_worlds: int | None = None,
    *,
    floating: bool | None = None,
    ground: bool = True,
    reporter: Reporter,
) -> Opened:
    """A scene file, a robot file as a scene of one asset, or a scene as it is."""
    if isinstance(source, LoadedScene):
        if num_worlds not in (None, source.model.world_count):
            raise UsageError("a loaded scene has its worlds", hint="load it with num_worlds")
        return Opened(source)
    path = Path(source)
    if not path.exists():
        raise NotFoundError(f"there is no file {str(source)!r}", hint=suggest_sibling(path))
    if str(path).lower().endswith(ENDINGS):
        file = read_scene(path, reporter=reporter)
        return Opened(assemble_scene(file, num_worlds=num_worlds, reporter=reporter), load_control(file))
    file = make_scene(path, floating=floating, ground=ground, reporter=reporter)
    loaded = assemble_scene(file, num_worlds=num_worlds, reporter=reporter)
    if ground:
        lower_ground(loaded)
    return Opened(loaded)


def make_scene(path: Path, *, floating: bool | None, ground: bool, reporter: Reporter) -> SceneFile:
    """A scene of one asset."""
    kind = detect_format(path).name
    if kind not in _ASSETS:
        raise UsageError(f"a {kind} file cannot be run", hint=f"a scene, or one of {', '.join(_ASSETS)}")
    asset = {"id": path.stem, "type": kind, "source": {"path": path.name}}
    if floating is not None:
        asset["floating"] = floating  # type: ignore[assignment]
    document = {"schema_version": 1, "name": path.stem, "ground": ground, "assets": [asset]}
    text = json.dumps(document)
    return parse_scene(text, folder=path.parent, name=str(path), syntax="json", reporter=reporter)


def lower_ground(loaded: LoadedScene) -> None:
    """Put the ground below a robot whose shapes reach below zero, so that none starts inside it."""
    model, collision = loaded.model, loaded.collision_model
    local = model.per_world["shape"]
    corners = np.stack(
        (collision.shape_collision_aabb_lower[:local], collision.shape_collision_aabb_upper[:local])
    ).astype(np.float64)
    lowest = 0.0
    for shape in range(local):
        if (
            not model.shape_flags[shape] & ShapeFlag.COLLIDE_SHAPES
            or model.shape_type[shape] == ShapeType.PLANE
        ):
            continue
        lowest = min(lowest, _find_lowest(model, shape, corners[:, shape]))
    shared = np.flatnonzero(model.shape_type[local * model.world_count :] == ShapeType.PLANE)
    model.shape_transform[local * model.world_count + shared, 2] += np.float32(lowest)


def _find_lowest(model: Any, shape: int, box: Any) -> float:
    pose = model.shape_transform[shape].astype(np.float64)
    body = int(model.shape_body[shape])
    if body >= 0:
        pose = compose(model.body_q[body].astype(np.float64), pose)
    signs = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    points = np.take_along_axis(box, signs, axis=0)
    return float((rotate(pose[3:], points)[:, 2] + pose[2]).min())
