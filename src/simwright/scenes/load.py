# SPDX-License-Identifier: Apache-2.0
"""From a scene file to runtime arrays, in the order the format prescribes.

Number of worlds and spacing; builder defaults; assets; inline bodies; joints and articulations; ``initial_joint_q``;
``post_build``; copies of the world; the ground.  Then poses follow from joint coordinates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import NOWHERE, Diagnostic, Reporter, Where
from simwright.core.errors import LimitError, SimwrightError, UsageError
from simwright.core.math3d import pose_from_seven
from simwright.core.packages import find_packages
from simwright.formats.format import ReadOptions
from simwright.formats.table import read_asset
from simwright.runtime.collision import CollisionModel, CollisionState
from simwright.runtime.kinds import ShapeType
from simwright.runtime.labels import Labels
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State
from simwright.scenes import builder_inline as inline
from simwright.scenes.builder import Builder, Triple
from simwright.scenes.builder_config import MATERIAL_FIELDS
from simwright.scenes.document import SceneDocument, SceneFile, read_scene
from simwright.scenes.document_assets import AssetOptions, MjcfAsset, UnsupportedAsset
from simwright.scenes.document_mechanics import UnsupportedJoint
from simwright.scenes.finish import WorldArrays, finish_world
from simwright.scenes.importing import ScenePart, import_asset
from simwright.scenes.importing_messages import ARTICULATION_MADE, BODY_ALONE
from simwright.scenes.importing_options import OPTION_NAMES, ImportOptions
from simwright.scenes.messages import SceneError, UnsupportedSceneFeature
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.registry import run_operations, set_initial_positions
from simwright.scenes.replicate import DEFAULT_SPACING, replicate
from simwright.scenes.sources import SourceFinder

MAX_SHAPES = 100_000_000
"""More bodies and shapes than this in all worlds are refused."""
_BY_CLASS = ("no_class_as_colliders", "visual_classes", "collider_classes", "ignore_classes")
DEFAULT_LABEL = "ground_plane"


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
    scene: SceneDocument = field(default_factory=lambda: SceneDocument.model_validate({}))
    findings: tuple[Diagnostic, ...] = ()
    parts: tuple[ScenePart, ...] = ()
    """The assets of one world, with what arrays do not have: sensors, cameras, interfaces of ROS."""

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
    # SAP Warp's loader has this argument; a silent CPU would surprise
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
    # strict is judged after everything is built, so that one error lists all features
    built = build_world(builder, file, sources or SourceFinder(file, reporter), reporter)
    unsupported = built.unsupported
    _check_size(builder, scene, count, file)
    # measured: SAP Warp runs forward kinematics only where joint_q was edited
    world = finish_world(builder, move=compat != "sap" or builder.joint_q_edited)
    ground = scene.ground
    shared = build_shared(
        builder,
        ground=ground.enabled,
        height=ground.height,
        label=ground.label,
        # only five fields count on the ground in SAP Warp, as on bodies
        config=ground.merge_fields(only_material=compat == "sap"),
        color=ground.color,
    )
    if strict and unsupported:
        raise UnsupportedSceneFeature(unsupported, where=file.find_where())
    steps = spacing if spacing is not None else scene.replicate.spacing or DEFAULT_SPACING
    try:
        model, collision = replicate(world, shared, count, _check_spacing(steps), compat=compat)
    # numpy raises it before anything is allocated: the message can still be made
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
        parts=tuple(built.parts),
    )


def _count_worlds(scene: SceneDocument, asked: int | None, compat: str | None) -> int:
    # SAP Warp takes less than one for one
    if asked is not None and asked < 1 and compat != "sap":
        raise UsageError(f"num_worlds is {asked}", hint="at least one world")
    return scene.choose_worlds(asked)


def _check_spacing(spacing: Sequence[float]) -> tuple[float, float, float]:
    values = np.asarray(spacing, dtype=np.float64)
    if values.shape != (3,) or not np.all(np.isfinite(values)):
        raise UsageError(f"spacing is {spacing!r}", hint="three numbers, x, y, z [m]")
    x, y, z = values.tolist()
    return x, y, z


def _check_size(builder: Builder, scene: SceneDocument, count: int, file: SceneFile) -> None:
    if builder.shape_count == 0 and not scene.ground.enabled:
        where = file.find_where() if file.document else NOWHERE
        raise SceneError(
            "the scene has no shape at all", hint="add a body with a shape, or a ground", where=where
        )
    total = (builder.shape_count + builder.body_count) * count
    if total > MAX_SHAPES:
        raise LimitError(f"{count} worlds have {total} bodies and shapes", hint=f"at most {MAX_SHAPES}")


def _choose_capacity(scene: SceneDocument, asked: int | None, count: int, compat: str | None) -> int:
    """Contacts of all worlds; the file has those of one (SAP Warp's loader leaves the product to its caller)."""
    if asked is not None:
        return asked
    said: Any = scene.simulation.max_rigid_contact or 0
    return int(said) if compat == "sap" else int(said) * count


def build_world(builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter) -> _WorldBuild:
    """Fill a builder with what a scene file says of one world; tells its parts and what is not supported."""
    building = _WorldBuild(builder, file, sources, reporter)
    # the order of the format: each step may name what the ones before made
    building.set_defaults()
    building.add_assets()
    building.add_bodies()
    building.add_joints()
    building.add_articulations()
    building.complete_articulations()
    set_initial_positions(builder, file, sources, reporter)
    building.unsupported += run_operations(builder, file, sources, reporter)
    return building


class _WorldBuild:
    def __init__(self, builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter) -> None:
        self._builder = builder
        self._file = file
        self._scene = file.scene
        self._sources = sources
        self._reporter = reporter
        self._sap = builder.compat == "sap"
        self._first_joint = self._first_body = 0
        self.unsupported: list[str] = []
        self.parts: list[ScenePart] = []

    def set_defaults(self) -> None:
        """Builder defaults."""
        builder, said = self._builder, self._scene.builder
        for name in ("gravity", "rigid_gap", "default_body_armature"):
            value = getattr(said, name)
            if value is not None:
                setattr(builder, name, value)
        # then gravity of assets does not count, which in SAP Warp overwrites it
        builder.gravity_said = said.gravity is not None
        builder.default_joint = builder.default_joint.with_values(said.defaults.joint.list_values())
        builder.default_shape = builder.default_shape.with_values(said.defaults.shape.list_values())

    def add_assets(self) -> None:
        """External assets, in their order."""
        seen: set[str] = set()
        for number, asset in enumerate(self._scene.assets):
            gaps = _list_gaps(asset, sap=self._sap)
            self.unsupported += gaps
            # the whole asset is left out, as SAP Warp does: half an asset would be worse than none
            if isinstance(asset, UnsupportedAsset) or gaps:
                continue
            where = self._file.find_where("assets", number, "source")
            with _ErrorsLocated(where):
                self._add_asset(asset, where, seen)

    def _add_asset(self, asset: Any, where: Where, seen: set[str]) -> None:
        file = self._sources.find_asset(asset, where)
        packages = find_packages({}, near=[file.parent], allowed=sorted(self._sources.roots))
        reading = ReadOptions(packages)
        if self._sap:
            # SAP Warp reads newton:* attributes and no other solver's, and moves generic joints along limited axes only
            reading = ReadOptions(packages, schema_resolvers=("newton",), lock_unlimited_axes=True)
        read = read_asset(file, format_name=asset.type, options=reading, reporter=self._reporter)
        # labels of stages are prim paths, of the others names: both may repeat between assets
        key = read.name if read.provenance.format != "usd" else (read.bodies[0].path if read.bodies else "")
        prefix = f"{asset.id or f'asset_{len(seen)}'}/" if key in seen else ""
        seen.add(key)
        options = make_options(asset, sap=self._sap)
        found = import_asset(self._builder, read, options, reporter=self._reporter, prefix=prefix)
        # labels, not indices: articulations are sorted later
        labels = self._builder.body_label, self._builder.joint_label
        bodies, joints = (
            {name: label[index] for name, index in indices.items()}
            for label, indices in zip(labels, (found.bodies, found.joints), strict=True)
        )
        self.parts.append(ScenePart(asset.id or read.name, found.asset, options.xform, bodies, joints))

    def add_bodies(self) -> None:
        """Inline bodies with their shapes."""
        self._first_body = self._builder.body_count
        for number, body in enumerate(self._scene.bodies):
            where = self._file.find_where("bodies", number)
            with _ErrorsLocated(where):
                inline.add_body(self._builder, body, self._sources, where)

    def add_joints(self) -> None:
        """Inline joints."""
        self._first_joint = self._builder.joint_count
        for number, joint in enumerate(self._scene.joints):
            if isinstance(joint, UnsupportedJoint):
                self.unsupported += joint.list_unsupported()
                continue
            context = OperationContext(
                self._builder, self._reporter, self._file, self._sources, ("joints", number)
            )
            try:
                ends = inline.InlineJointEnds(
                    context.find_body(joint.parent, "parent"), context.find_body(joint.child, "child")
                )
            # measured: in SAP Warp an unknown body makes the joint an unsupported feature, which then vanishes
            except SceneError as error:
                if not self._sap:
                    raise
                self.unsupported.append(f"joint[{joint.id}] {error.message}")
                continue
            where = self._file.find_where("joints", number)
            with _ErrorsLocated(where):
                self._builder.joint_where[inline.add_joint(self._builder, joint, ends)] = where

    def add_articulations(self) -> None:
        """Inline articulations."""
        for number, articulation in enumerate(self._scene.articulations):
            with _ErrorsLocated(self._file.find_where("articulations", number)):
                inline.add_articulation(self._builder, articulation, number)

    def complete_articulations(self) -> None:
        """Articulations of joints that are in none, and a word about bodies without joints; not in SAP Warp's way."""
        if self._sap:
            return
        # joints in no articulation are skipped by forward kinematics, which nobody means
        for joint in find_trees(self._builder, self._first_joint):
            where = self._file.find_where("joints", joint[0] - self._first_joint)
            name = self._builder.joint_label[joint[0]]
            self._reporter.report(ARTICULATION_MADE, where, name=name)
            self._builder.add_articulation(joint, name)
        self._builder.sort_articulations()
        carried = set(self._builder.joint_child)
        for number, body in enumerate(self._scene.bodies):
            if self._first_body + number not in carried:
                self._reporter.report(BODY_ALONE, self._file.find_where("bodies", number), name=body.id)


def find_trees(builder: Builder, first: int) -> list[list[int]]:
    """Runs of joints from ``first`` on that are in no articulation, each from a root on the world to its leaves."""
    carried = {
        child
        for child, number in zip(builder.joint_child, builder.joint_articulation, strict=True)
        if number >= 0
    }
    trees: list[list[int]] = []
    members: set[int] = set()
    for joint in range(first, builder.joint_count):
        parent, child = builder.joint_parent[joint], builder.joint_child[joint]
        if builder.joint_articulation[joint] >= 0 or child in carried:
            members = set()
            continue
        if parent < 0:
            trees.append([])
            members = set()
        elif parent not in members:
            members = set()
            continue
        trees[-1].append(joint)
        members.add(child)
        carried.add(child)
    return trees


class _ErrorsLocated:
    """Errors of a step are told with its place in the scene file, unless they have one of their own."""

    def __init__(self, where: Where) -> None:
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        # importers know no lines: the entry of the scene that called them is the place
        if isinstance(error, UsageError):
            raise SceneError(error.message, hint=error.hint, where=self._where) from error
        if isinstance(error, SimwrightError) and not error.where:
            error.where = self._where


def _list_gaps(asset: Any, *, sap: bool) -> list[str]:
    """Options of an asset that are not supported."""
    gaps: list[str] = list(asset.list_unsupported())
    if not isinstance(asset, AssetOptions):
        return gaps
    if asset.collapse_fixed_joints and (not sap or getattr(asset, "type", "") == "urdf"):
        gaps.append(f"asset[{asset.id}] collapse_fixed_joints")
    if isinstance(asset, MjcfAsset):
        plain = MjcfAsset.model_fields
        gaps += [
            f"asset[{asset.id}] {name}"
            for name in _BY_CLASS
            if getattr(asset, name) != plain[name].get_default(call_default_factory=True)
        ]
    return gaps


def make_options(asset: Any, *, sap: bool = False) -> ImportOptions:
    """Import options of an asset of a scene file."""
    # options and keys have the same names on purpose
    values = {name: getattr(asset, name) for name in OPTION_NAMES if hasattr(asset, name)}
    said = asset.merge_fields(only_material=sap)
    values["xform"] = pose_from_seven(asset.xform.seven)
    values["config"] = said
    # measured: the five material fields of an asset are put on every shape, also over the file's own
    values["forced"] = {name: said[name] for name in MATERIAL_FIELDS if name in said}
    values["mesh_scale"] = getattr(asset, "mesh_scale", None) or asset.source.mesh_scale or (1.0, 1.0, 1.0)
    if isinstance(asset, MjcfAsset):
        values["load_sites"] = asset.parse_sites
        values["load_visual_shapes"] = asset.parse_visuals and (sap or asset.load_visual_shapes)
        # measured: SAP Warp does not read floating and load_visual_shapes of MJCF assets
        values["floating"] = None if sap else asset.floating
    return ImportOptions(**values)


def build_shared(
    builder: Builder,
    *,
    ground: bool = True,
    height: float = 0.0,
    label: str = DEFAULT_LABEL,
    config: Mapping[str, Any] | None = None,
    color: Triple | None = None,
) -> WorldArrays:
    """What the worlds of a scene share: the ground, made with the defaults of its builder, or nothing."""
    shared = Builder(
        compat=builder.compat,
        gravity=builder.gravity,
        rigid_gap=builder.rigid_gap,
        default_shape=builder.default_shape,
    )
    if ground:
        shared.add_shape(
            -1,
            ShapeType.PLANE,
            (0.0, 0.0, 0.0),
            pose=(0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0),
            config=builder.default_shape.with_values(config or {}),
            label=label,
            color=color,
        )
    return finish_world(shared, move=False)
