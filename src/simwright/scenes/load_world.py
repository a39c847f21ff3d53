# SPDX-License-Identifier: Apache-2.0
"""One world of a scene file, built step by step in the order of the format: defaults, assets, inline parts, edits."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter, Where
from simwright.core.errors import SimwrightError, UsageError
from simwright.core.math3d import pose_from_seven
from simwright.core.packages import find_packages
from simwright.formats.format import ReadOptions
from simwright.formats.table import read_asset
from simwright.scenes import builder_inline as inline
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import MATERIAL_FIELDS
from simwright.scenes.document import SceneFile
from simwright.scenes.document_assets import AssetOptions, MjcfAsset, UnsupportedAsset
from simwright.scenes.document_mechanics import UnsupportedJoint
from simwright.scenes.importing import import_asset
from simwright.scenes.importing_messages import ARTICULATION_MADE, BODY_ALONE
from simwright.scenes.importing_options import OPTION_NAMES, ImportOptions
from simwright.scenes.messages import SceneError
from simwright.scenes.ops.bench import Bench
from simwright.scenes.ops.run import run_operations, set_initial_positions
from simwright.scenes.sources import SourceFinder

_BY_CLASS = ("no_class_as_colliders", "visual_classes", "collider_classes", "ignore_classes")


def build_world(builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter) -> list[str]:
    """Fill a builder with what a scene file says of one world; gives the features that are not supported."""
    building = _Building(builder, file, sources, reporter)
    building.set_defaults()
    building.add_assets()
    building.add_bodies()
    building.add_joints()
    building.add_articulations()
    building.complete_articulations()
    set_initial_positions(builder, file, sources, reporter)
    building.unsupported += run_operations(builder, file, sources, reporter)
    return building.unsupported


class _Building:
    def __init__(self, builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter) -> None:
        self._builder = builder
        self._file = file
        self._scene = file.scene
        self._sources = sources
        self._reporter = reporter
        self._sap = builder.compat == "sap"
        self._first_joint = self._first_body = 0
        self.unsupported: list[str] = []

    def set_defaults(self) -> None:
        """Builder defaults."""
        builder, said = self._builder, self._scene.builder
        for name in ("gravity", "rigid_gap", "default_body_armature"):
            value = getattr(said, name)
            if value is not None:
                setattr(builder, name, value)
        builder.gravity_said = said.gravity is not None
        builder.default_joint = builder.default_joint.with_values(said.defaults.joint.list_values())
        builder.default_shape = builder.default_shape.with_values(said.defaults.shape.list_values())

    def add_assets(self) -> None:
        """External assets, in their order."""
        seen: set[str] = set()
        for number, asset in enumerate(self._scene.assets):
            gaps = _list_gaps(asset, sap=self._sap)
            self.unsupported += gaps
            if isinstance(asset, UnsupportedAsset) or gaps:
                continue
            where = self._file.find_where("assets", number, "source")
            with _Placed(where):
                self._add_asset(asset, where, seen)

    def _add_asset(self, asset: Any, where: Where, seen: set[str]) -> None:
        file = self._sources.find_asset(asset, where)
        packages = find_packages({}, near=[file.parent], allowed=sorted(self._sources.roots))
        options = ReadOptions(packages, resolvers=("newton",)) if self._sap else ReadOptions(packages)
        read = read_asset(file, format_name=asset.type, options=options, reporter=self._reporter)
        key = read.name if read.provenance.format != "usd" else (read.bodies[0].path if read.bodies else "")
        prefix = f"{asset.id or f'asset_{len(seen)}'}/" if key in seen else ""
        seen.add(key)
        import_asset(
            self._builder, read, make_options(asset, sap=self._sap), reporter=self._reporter, prefix=prefix
        )

    def add_bodies(self) -> None:
        """Inline bodies with their shapes."""
        self._first_body = self._builder.body_count
        for number, body in enumerate(self._scene.bodies):
            where = self._file.find_where("bodies", number)
            with _Placed(where):
                inline.add_body(self._builder, body, self._sources, where)

    def add_joints(self) -> None:
        """Inline joints."""
        self._first_joint = self._builder.joint_count
        for number, joint in enumerate(self._scene.joints):
            if isinstance(joint, UnsupportedJoint):
                self.unsupported += joint.list_unsupported()
                continue
            bench = Bench(self._builder, self._reporter, self._file, self._sources, ("joints", number))
            try:
                ends = inline.Ends(
                    bench.find_body(joint.parent, "parent"), bench.find_body(joint.child, "child")
                )
            except SceneError as error:
                if not self._sap:
                    raise
                self.unsupported.append(f"joint[{joint.id}] {error.message}")
                continue
            where = self._file.find_where("joints", number)
            with _Placed(where):
                self._builder.joint_where[inline.add_joint(self._builder, joint, ends)] = where

    def add_articulations(self) -> None:
        """Inline articulations."""
        for number, articulation in enumerate(self._scene.articulations):
            with _Placed(self._file.find_where("articulations", number)):
                inline.add_articulation(self._builder, articulation, number)

    def complete_articulations(self) -> None:
        """Articulations of joints that are in none, and a word about bodies without joints; not in SAP Warp's way."""
        if self._sap:
            return
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


class _Placed:
    """Errors of a step are told with its place in the scene file, unless they have one of their own."""

    def __init__(self, where: Where) -> None:
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
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
    values = {name: getattr(asset, name) for name in OPTION_NAMES if hasattr(asset, name)}
    said = asset.merge_fields(only_material=sap)
    values["xform"] = pose_from_seven(asset.xform.seven)
    values["config"] = said
    values["forced"] = {name: said[name] for name in MATERIAL_FIELDS if name in said}
    values["mesh_scale"] = getattr(asset, "mesh_scale", None) or asset.source.mesh_scale or (1.0, 1.0, 1.0)
    if isinstance(asset, MjcfAsset):
        values["load_sites"] = asset.parse_sites
        values["load_visual_shapes"] = asset.parse_visuals and (sap or asset.load_visual_shapes)
        values["floating"] = None if sap else asset.floating
    return ImportOptions(**values)
