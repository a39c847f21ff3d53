# SPDX-License-Identifier: Apache-2.0
"""Where the parts of an asset are in a builder."""

from __future__ import annotations

import math
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

    from simwright.formats.usd.prims import FoundPrim
    from simwright.formats.usd.stage_reader import MetPrims

_STEP = 1e-3
"""The step of Newton's importer for a scene that names none [s]."""
_SCALE = "xformOp:scale"
_UNKNOWN = "?"
_RESET = "!resetXformStack!"


class UsdImport(dict[str, Any]):
    """All keys of the dictionary that ``ModelBuilder.add_usd`` returns, and ours.

    Ours are ``asset`` (the model that was read), ``findings`` (all diagnostics, also those that are no warnings) and
    ``path_articulation_map``.  ``imported`` has builder indices by name of the model as well.  Where the stage was
    handed to Newton's own importer, ``imported`` and ``asset`` are None.
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


def describe_import(imported: Imported, stage: Usd.Stage, met: MetPrims) -> dict[str, Any]:
    """All keys of Newton's own importer, and ours: ``asset``, ``findings``, ``path_articulation_map``."""
    import newton
    from pxr import UsdGeom

    info = imported.as_newton()
    scene = stage.GetPrimAtPath(info["physics_scene_path"]) if info["physics_scene_path"] else None
    scales = _ShapeScales(stage, met)
    collapsed = imported.collapse_results
    moved = collapsed["body_merged_transform"] if collapsed else {}
    return info | {
        "fps": stage.GetFramesPerSecond(),
        "duration": stage.GetEndTimeCode() - stage.GetStartTimeCode(),
        "up_axis": newton.Axis.from_string(str(UsdGeom.GetStageUpAxis(stage))),
        "path_shape_scale": scales.list(info["path_shape_map"]),
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


class _ShapeScales:
    """The scales of prims in the world, with the signs that are authored; ``met`` is what the reader knows of them."""

    def __init__(self, stage: Usd.Stage, met: MetPrims) -> None:
        import warp
        from pxr import Usd, UsdGeom

        self._stage = stage
        self._met = met.founds
        self._vector = warp.vec3
        # places at the default time, which the reader knows already unless another was chosen
        is_known = met.xforms is not None and met.xforms.GetTime().IsDefault()
        self._xforms: Any = met.xforms if is_known else UsdGeom.XformCache(Usd.TimeCode.Default())
        self._signs: dict[str, tuple[float, ...]] = {"": (1.0, 1.0, 1.0)}

    def list(self, paths: Iterable[str]) -> dict[str, Any]:
        """The scales of many prims by path."""
        from pxr import Tf

        known = [(path, self._met[path].prim) for path in paths if path in self._met]
        place = self._xforms.GetLocalToWorldTransform
        try:
            # from the memory of all matrices: OpenUSD's rows and their lengths take a call each
            memory = b"".join([place(prim) for _, prim in known])
            signs = [self._find_signs(path) for path, _ in known]
        except Tf.ErrorException:
            known, memory, signs = [], b"", []
        x, y, z = np.frombuffer(memory).reshape(-1, 4, 4)[:, :3, :3].transpose(2, 0, 1)
        lengths = np.sqrt(x * x + y * y + z * z) * np.reshape(signs, (-1, 3))
        make = self._vector.from_buffer_copy
        with np.errstate(over="ignore"):
            rows = lengths.astype(np.float32)
        found = {path: make(row) for (path, _), row in zip(known, rows, strict=True)}
        return {path: found[path] if path in found else self.find(path) for path in paths}

    def find(self, path: str) -> Any:
        """The scale of a prim; one where there is none."""
        found = self._met.get(path)
        prim = self._stage.GetPrimAtPath(path) if found is None else found.prim
        return self._read(prim, path) if prim else self._vector(1.0, 1.0, 1.0)

    def _read(self, prim: Usd.Prim, path: str) -> Any:
        from pxr import Tf

        try:
            # OpenUSD's own arithmetic: arrays of three numbers are slower
            world = self._xforms.GetLocalToWorldTransform(prim)
            x, y, z = self._find_signs(path)
        except Tf.ErrorException:
            # an operation that is not there; the reader has said so and takes the place of the prim above
            return self._read(prim.GetParent(), path.rpartition("/")[0])
        row = world.GetRow3
        return self._vector(x * row(0).GetLength(), y * row(1).GetLength(), z * row(2).GetLength())

    def _find_signs(self, path: str) -> tuple[float, ...]:
        """Signs of the authored scales of a prim and those above it, multiplied."""
        signs = self._signs.get(path)
        if signs is None:
            signs, found = self._find_signs(path.rpartition("/")[0]), self._met.get(path)
            names = _list_scales(found)
            # most prims have none, and the list of operations is slow
            if names and not (found is not None and names == [_SCALE] and _is_upright(found)):
                signs = self._turn(signs, self._stage.GetPrimAtPath(path))
            self._signs[path] = signs
        return signs

    def _turn(self, signs: tuple[float, ...], prim: Usd.Prim) -> tuple[float, ...]:
        from pxr import UsdGeom

        order = prim.GetAttribute("xformOpOrder").Get()
        if order is None or not prim.IsA(UsdGeom.Xformable):
            return signs
        # by number: an OpenUSD array ends an iteration by an exception
        names = [order[number] for number in range(len(order))]
        if _RESET in names:
            names = names[len(names) - names[::-1].index(_RESET) :]
        for name in names:
            word = name.removeprefix("!invert!")  # of the same sign
            if word != _SCALE and not word.startswith(f"{_SCALE}:"):
                continue
            value = prim.GetAttribute(word).Get()
            if value is not None:
                pairs = zip(signs, (value[0], value[1], value[2]), strict=True)
                # zero and what is no number stay what they are
                signs = tuple(s * (math.copysign(1.0, v) if v and v == v else v) for s, v in pairs)  # noqa: PLR0124
        return signs


def _list_scales(found: FoundPrim | None) -> list[str]:
    """The operations of a prim that may scale it; those of a prim that nobody has met are not known."""
    if found is None or found.authored is None:
        return [_UNKNOWN]
    outline = found.opinions.outline
    if outline.scales is None:
        outline.scales = [name for name in found.authored if _SCALE in name]
    return outline.scales


def _is_upright(found: FoundPrim) -> bool:
    """Is it certain that the one scale of a prim does not mirror it?"""
    from simwright.formats.usd.stage_reader import as_floats

    value = as_floats(found.prim.GetAttribute(_SCALE).Get())
    return len(value) == 3 and all(number > 0.0 for number in value)


def _by_path(elements: Iterable[Any], indices: dict[str, int]) -> dict[str, int]:
    return {e.path: indices[e.name] for e in elements if e.path and e.name in indices}
