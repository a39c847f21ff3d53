# SPDX-License-Identifier: Apache-2.0
"""Where the parts of an asset are in a builder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.model.asset import Asset
from simwright.model.flat_joints import ElementIndices
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver, schema_attrs

if TYPE_CHECKING:
    from pxr import Usd

_STEP = 1e-3
"""The step of Newton's importer for a scene that names none [s]."""


class UsdImport(dict[str, Any]):
    """All keys of the dictionary that ``ModelBuilder.add_usd`` returns, and ours.

    Ours are ``asset`` (the model that was read), ``findings`` (all diagnostics, also those that are no warnings) and
    ``path_articulation_map``.  ``imported`` has builder indices by name of the model as well; it is None where the
    stage was handed to Newton's own importer.
    """

    imported: Imported | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Imported(ElementIndices):
    """Builder indices by model name, and by source path where the elements have one.

    The ``path_*_map`` dictionaries have the names of those Newton's own importer returns.  ``joint_paths`` are joints
    that stand for equalities of a stage, by prim; ``shape_paths`` parts of meshes that have materials of their own;
    ``original_bodies`` are body indices by path before fixed joints are collapsed, ``merged_bodies`` those of them that
    are gone; ``scene_values`` are attributes of the scene that the builder has registered; ``actuator_count`` is the
    number of Newton's own actuators, ``answer`` what the caller of ``add_usd`` gets, filled at the end.
    """

    asset: Asset
    reporter: Reporter
    equalities: dict[str, int] = field(default_factory=dict)
    collapse_results: dict[str, Any] | None = None
    joint_paths: dict[str, int] = field(default_factory=dict)
    shape_paths: dict[str, int] = field(default_factory=dict)
    original_bodies: dict[str, int] = field(default_factory=dict)
    merged_bodies: dict[str, int] = field(default_factory=dict)
    scene_values: dict[str, Any] = field(default_factory=dict)
    actuator_count: int = 0
    answer: UsdImport = field(default_factory=UsdImport)
    resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER

    @property
    def path_body_map(self) -> dict[str, int]:
        """Body index by prim path."""
        return _by_path(self.asset.bodies, self.bodies)

    @property
    def path_joint_map(self) -> dict[str, int]:
        """Joint index by prim path; equalities are joints that close loops."""
        joints = _by_path(self.asset.joints, self.joints)
        # prims that became one joint are all in it
        for joint in self.asset.joints:
            if joint.path in joints:
                joints |= {dof.path: joints[joint.path] for dof in joint.dofs if dof.path}
        return (
            joints
            | self.joint_paths
            | {
                equality.source.prim: self.equalities[equality.name]
                for equality in self.asset.equalities
                if equality.source.prim and equality.name in self.equalities
            }
        )

    @property
    def path_shape_map(self) -> dict[str, int]:
        """Shape and site index by prim path."""
        shapes = _by_path(self.asset.shapes, self.shapes) | _by_path(self.asset.sites, self.sites)
        return shapes | self.shape_paths

    @property
    def path_articulation_map(self) -> dict[str, int]:
        """Articulation index by the path of its root."""
        return _by_path(self.asset.articulations, self.articulations)

    @property
    def schema_attrs(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Solver attributes as they were authored: solver, prim, attribute."""
        return schema_attrs(self.asset, self.resolvers)

    def as_newton(self) -> dict[str, Any]:
        """The same under the keys of the dictionary that Newton's own importer returns."""
        environment, info = self.asset.environment, self.asset.provenance.info
        scene = info.get("physicsScene")
        step = environment.timestep
        if step is None and scene:
            step = _STEP
        return {
            "path_body_map": self.path_body_map,
            "path_joint_map": self.path_joint_map,
            "path_shape_map": self.path_shape_map,
            "schema_attrs": self.schema_attrs,
            "physics_scene_path": scene,
            "physics_dt": step,
            "max_solver_iterations": self._count_iterations(),
            "linear_unit": info.get("metersPerUnit", 1.0),
            "mass_unit": info.get("kilogramsPerUnit", 1.0),
            "collapse_results": self.collapse_results,
        }

    def _count_iterations(self) -> Any:
        """The resolved count: also the fallback of a schema, which may be -1, "as many as you like"."""
        known = self.asset.origins.get(self.asset.provenance.info.get("physicsScene", ""), {})
        if "max_solver_iterations" in known:
            return known["max_solver_iterations"].value
        return self.asset.environment.settings.get("max_solver_iterations")


def describe_import(imported: Imported, stage: Usd.Stage) -> dict[str, Any]:
    """All keys of Newton's own importer, and ours: ``asset``, ``findings``, ``path_articulation_map``."""
    import newton
    from pxr import Usd, UsdGeom

    info = imported.as_newton()
    scene = stage.GetPrimAtPath(info["physics_scene_path"]) if info["physics_scene_path"] else None
    xforms, signs = UsdGeom.XformCache(Usd.TimeCode.Default()), dict[str, Any]()
    collapsed = imported.collapse_results
    moved = collapsed["body_merged_transform"] if collapsed else {}
    return info | {
        "fps": stage.GetFramesPerSecond(),
        "duration": stage.GetEndTimeCode() - stage.GetStartTimeCode(),
        "up_axis": newton.Axis.from_string(str(UsdGeom.GetStageUpAxis(stage))),
        "path_shape_scale": {
            path: _read_scale(stage.GetPrimAtPath(path), xforms, signs) for path in info["path_shape_map"]
        },
        "path_particle_map": {},
        "particle_scene_path": None,
        "scene_attributes": ({} if scene is None else {a.GetName(): a.Get() for a in scene.GetAttributes()})
        | imported.scene_values,
        "path_body_relative_transform": {
            path: moved[index] for path, index in imported.merged_bodies.items() if index in moved
        },
        "path_original_body_map": dict(imported.original_bodies),
        "actuator_count": imported.actuator_count,
        "path_articulation_map": imported.path_articulation_map,
        "asset": imported.asset,
        "findings": list(imported.reporter),
    }


def _read_scale(prim: Usd.Prim, xforms: Any, signs: dict[str, Any]) -> Any:
    """The scale of a prim in the world, with the signs that are authored; ``signs`` are those of prims known so far."""
    import warp
    from pxr import Tf

    if not prim:
        return warp.vec3(1.0, 1.0, 1.0)
    try:
        # OpenUSD's own arithmetic: arrays of three numbers are slower
        world = xforms.GetLocalToWorldTransform(prim)
        rows = zip(
            _find_signs(prim, signs), (world.GetRow3(number).GetLength() for number in range(3)), strict=True
        )
        lengths = [sign * length for sign, length in rows]
    except Tf.ErrorException:
        # an operation that is not there; the reader has said so and takes the place of the prim above
        return _read_scale(prim.GetParent(), xforms, signs)
    return warp.vec3(*(float(v) for v in lengths))


def _find_signs(prim: Usd.Prim, known: dict[str, Any]) -> Any:
    """Signs of the authored scales of a prim and those above it, multiplied."""
    from pxr import Gf, UsdGeom

    if prim.IsPseudoRoot():
        return np.ones(3)
    path = prim.GetPath().pathString
    if path not in known:
        signs = _find_signs(prim.GetParent(), known)
        names = prim.GetAttribute("xformOpOrder").Get() or ()
        # asked by name first: most prims have no scale, and the list of operations is slow to make
        if any("xformOp:scale" in name for name in names) and prim.IsA(UsdGeom.Xformable):
            for op in UsdGeom.Xformable(prim).GetOrderedXformOps():
                if op.GetOpType() == UsdGeom.XformOp.TypeScale and op.Get() is not None:
                    signs = signs * np.sign(np.array(Gf.Vec3d(op.Get())))
        known[path] = signs
    return known[path]


def _by_path(elements: Iterable[Any], indices: dict[str, int]) -> dict[str, int]:
    return {e.path: indices[e.name] for e in elements if e.path and e.name in indices}
