# SPDX-License-Identifier: Apache-2.0
"""From a scene file to runtime arrays, in the order the format prescribes.

Number of worlds and spacing; builder defaults; assets; inline bodies; joints and articulations; ``initial_joint_q``;
``post_build``; copies of the world; the ground.  Then poses follow from joint coordinates.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import NOWHERE, Diagnostic, Reporter
from simwright.core.errors import LimitError, UsageError
from simwright.runtime.collision import CollisionModel, CollisionState
from simwright.runtime.labels import Labels
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State
from simwright.scenes.builder import Builder
from simwright.scenes.document import Scene, SceneFile, read_scene
from simwright.scenes.finish import finish_world
from simwright.scenes.ground import build_shared
from simwright.scenes.load_errors import UnsupportedSceneFeature
from simwright.scenes.load_world import build_world
from simwright.scenes.messages import SceneError
from simwright.scenes.replicate import DEFAULT_SPACING, replicate
from simwright.scenes.sources import SourceFinder

MAX_SHAPES = 100_000_000
"""More bodies and shapes than this in all worlds are refused."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LoadedScene:
    """A scene ready to run: arrays, initial state and control, labels, and what was not supported.

    ``scene`` is the validated document, ``findings`` what was reported on the way.
    """

    model: Model
    state: State
    control: Control
    collision_model: CollisionModel
    collision_state: CollisionState
    unsupported_features: tuple[str, ...] = ()
    source_path: str = ""
    scene: Scene = field(default_factory=lambda: Scene.model_validate({}))
    findings: tuple[Diagnostic, ...] = ()

    def __repr__(self) -> str:
        sizes = self.model.per_world
        count = self.model.world_count
        each = ", ".join(
            f"{sizes[kind]} {word}"
            for kind, word in (
                ("body", "bodies"),
                ("joint", "joints"),
                ("joint_dof", "DOF"),
                ("shape", "shapes"),
            )
        )
        name = self.source_path[-60:] or "in memory"
        return f"<LoadedScene {name}: {count} world{'s of' if count != 1 else ' of'} {each}>"

    @property
    def body_labels(self) -> Labels:
        """Labels of all bodies."""
        return self.model.body_label

    @property
    def shape_labels(self) -> Labels:
        """Labels of all shapes."""
        return self.model.shape_label

    @property
    def shape_colors(self) -> list[tuple[float, float, float] | None]:
        """Colours of all shapes, None where a shape has none of its own."""
        return [self.model.color_of(shape) for shape in range(self.model.shape_count)]


def load_scene(
    path: str | os.PathLike[str],
    num_worlds: int | None = None,
    strict: bool = False,
    device: str | None = None,
    *,
    compat: str | None = None,
    spacing: Sequence[float] | None = None,
    rigid_contact_max: int | None = None,
    reporter: Reporter | None = None,
) -> LoadedScene:
    """Load a scene file (YAML or JSON).

    ``num_worlds`` and ``spacing`` replace those of the file; ``rigid_contact_max`` is the capacity for contacts of all
    worlds.  With ``strict``, features that are known and not supported raise; else they are listed in the result.
    ``device`` may only be the CPU: arrays are numpy's, and adapters of engines hand them on.  ``compat="sap"`` gives
    the data that SAP Warp's loader computes, its quirks with it.
    """
    if device not in (None, "cpu"):
        raise UsageError(
            f"arrays are loaded on the CPU, not on {device!r}",
            hint="load without device, and hand the model to an engine: simwright.engines.newton.to_warp(model)",
        )
    reporter = Reporter() if reporter is None else reporter
    file = read_scene(path, compat=compat, reporter=reporter)
    return assemble_scene(
        file,
        num_worlds=num_worlds,
        strict=strict,
        spacing=spacing,
        rigid_contact_max=rigid_contact_max,
        reporter=reporter,
    )


def assemble_scene(
    file: SceneFile,
    *,
    num_worlds: int | None = None,
    strict: bool = False,
    spacing: Sequence[float] | None = None,
    rigid_contact_max: int | None = None,
    reporter: Reporter | None = None,
    sources: SourceFinder | None = None,
) -> LoadedScene:
    """The same for a document that is read already."""
    reporter = Reporter() if reporter is None else reporter
    scene, compat = file.scene, file.compat
    count = _count_worlds(scene, num_worlds, compat)
    builder = Builder(compat=compat)
    unsupported = build_world(builder, file, sources or SourceFinder(file, reporter), reporter)
    _check_size(builder, scene, count, file)
    world = finish_world(builder, move=compat != "sap" or builder.joint_q_edited)
    ground = scene.ground
    shared = build_shared(
        builder,
        ground=ground.enabled,
        height=ground.height,
        label=ground.label,
        config=ground.merge_fields(only_material=compat == "sap"),
        color=ground.color,
    )
    if strict and unsupported:
        raise UnsupportedSceneFeature(unsupported, where=file.find_where())
    steps = spacing if spacing is not None else scene.replicate.spacing or DEFAULT_SPACING
    try:
        model, collision = replicate(world, shared, count, _check_spacing(steps), compat=compat)
    except MemoryError:
        raise LimitError(f"{count} worlds do not fit into memory", hint="ask for fewer worlds") from None
    collision.rigid_contact_max = _choose_capacity(scene, rigid_contact_max, count, compat)
    state = model.state()
    return LoadedScene(
        model=model,
        state=state,
        control=model.control(),
        collision_model=collision,
        collision_state=CollisionState(body_q=state.body_q.copy()),
        unsupported_features=tuple(unsupported),
        source_path=file.path,
        scene=scene,
        findings=tuple(reporter.found),
    )


def _count_worlds(scene: Scene, asked: int | None, compat: str | None) -> int:
    if asked is not None and asked < 1 and compat != "sap":
        raise UsageError(f"num_worlds is {asked}", hint="at least one world")
    return scene.choose_worlds(asked)


def _check_spacing(spacing: Sequence[float]) -> tuple[float, float, float]:
    values = np.asarray(spacing, dtype=np.float64)
    if values.shape != (3,) or not np.all(np.isfinite(values)):
        raise UsageError(f"spacing is {spacing!r}", hint="three numbers, x, y, z [m]")
    x, y, z = values.tolist()
    return x, y, z


def _check_size(builder: Builder, scene: Scene, count: int, file: SceneFile) -> None:
    if builder.shape_count == 0 and not scene.ground.enabled:
        where = file.find_where() if file.document else NOWHERE
        raise SceneError(
            "the scene has no shape at all", hint="add a body with a shape, or a ground", where=where
        )
    total = (builder.shape_count + builder.body_count) * count
    if total > MAX_SHAPES:
        raise LimitError(f"{count} worlds have {total} bodies and shapes", hint=f"at most {MAX_SHAPES}")


def _choose_capacity(scene: Scene, asked: int | None, count: int, compat: str | None) -> int:
    """Contacts of all worlds; the file has those of one (SAP Warp's loader leaves the product to its caller)."""
    if asked is not None:
        return asked
    said: Any = scene.simulation.max_rigid_contact or 0
    return int(said) if compat == "sap" else int(said) * count
