# SPDX-License-Identifier: Apache-2.0
"""What is seen of a stage, as Newton's viewers want it: normals, texture coordinates, pictures, parts of meshes.

Newton's own functions build it from the prims, so that a picture of the scene is the same with either importer.  A mesh
that they refuse (bad normals, no points) is drawn from the model instead, without them.  Also here: the order in which
Newton adds shapes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.core.math3d import Array, Pose, pose_to_seven
from simwright.engines.newton.choices import Choices
from simwright.engines.newton.messages import GEOMETRY_LOST
from simwright.engines.newton.result import Imported
from simwright.engines.newton.types import ModelBuilder
from simwright.model.asset import Asset, Shape, Site
from simwright.model.selection import compile_paths

if TYPE_CHECKING:
    from pxr import Usd

    from simwright.engines.newton.equalities import StageParts

Rows: TypeAlias = npt.NDArray[Any]
_REFUSALS = (ValueError, TypeError, RuntimeError, IndexError, KeyError)


@dataclass(frozen=True, slots=True)
class VisualMesh:
    """A mesh to be drawn under a label; its colour is that of the shape unless it is a part with its own material."""

    label: str
    mesh: Any
    is_part: bool = False


class StageLooks:
    """Asks Newton what the prims of a stage look like."""

    def __init__(self, stage: Usd.Stage) -> None:
        from newton._src.usd._visuals import _UsdVisuals

        self._stage = stage
        self._theirs = _UsdVisuals(stage)
        self._get_mesh = make_loader()
        # of this object alone
        self._theirs.get_mesh_cached = self._load_mesh

    def _load_mesh(self, prim: Usd.Prim, *, load_uvs: bool = False, load_normals: bool = False) -> Any:
        """A mesh as Newton's viewers want it, made once for each prim and kind."""
        known = self._theirs.mesh_cache
        key = prim.GetPath().pathString, load_uvs, load_normals
        if key not in known:
            refuse_broken(prim)
            known[key] = self._get_mesh(
                prim, load_uvs=load_uvs, load_normals=load_normals, load_visual_materials=False
            )
        return known[key]

    def find_meshes(self, path: str, *, parts: bool) -> list[VisualMesh]:
        """The meshes of a prim: one for each material of its faces (``parts``), or one; none if Newton refuses it."""
        prim = self._stage.GetPrimAtPath(path)
        if not prim or prim.GetTypeName() != "Mesh":
            return []
        try:
            subsets = self._theirs.get_visual_material_subset_meshes(prim) if parts else []
            if subsets:
                return [VisualMesh(label, mesh, is_part=True) for label, mesh in subsets]
            return [VisualMesh(path, self._theirs.get_mesh_with_visual_material(prim, path_name=path))]
        except _REFUSALS:
            return []

    def find_color(self, path: str) -> tuple[tuple[float, ...] | None, float | None] | None:
        """Display colour and opacity; None where Newton cannot tell."""
        prim = self._stage.GetPrimAtPath(path)
        if not prim:
            return None
        try:
            found = self._theirs.get_material_props_cached(prim)
        except _REFUSALS:
            return None
        color = found.get("color")
        if color is None and found.get("texture") is not None and prim.GetTypeName() == "Mesh":
            return None, found.get("opacity")
        return color, found.get("opacity")

    def add_splats(
        self, builder: ModelBuilder, splats: list[Usd.Prim], result: Imported, choices: Choices, base: Pose
    ) -> None:
        """Gaussian splats, each a shape of the body that it is below; one that Newton refuses is reported."""
        if not splats:
            return
        from newton._src.usd.utils import get_gaussian

        is_out = compile_paths(choices)
        bodies = {body.path: body for body in result.asset.bodies}
        for prim in splats:
            path = prim.GetPath().pathString
            holder = next((bodies[p] for p in _list_ancestors(path) if p in bodies), None)
            # what hangs on no body is static
            if is_out(path) or not (holder or choices.load_static_visual_shapes):
                continue
            try:
                splat = get_gaussian(prim)
            except _REFUSALS as error:
                where = Where(result.asset.provenance.file, prim=path)
                result.reporter.report(GEOMETRY_LOST, where, name=path, why=str(error))
                continue
            pose, scale = self._place_splat(prim, result)
            place = base @ pose if holder is None else ~holder.pose @ pose
            cfg = builder.default_shape_cfg.copy()
            cfg.has_shape_collision = cfg.has_particle_collision = False
            cfg.density = 0.0
            result.shape_paths[path] = int(
                builder.add_shape_gaussian(
                    -1 if holder is None else result.bodies[holder.name],
                    gaussian=splat,
                    xform=pose_to_seven(place),
                    scale=tuple(float(v) for v in scale),
                    cfg=cfg,
                    label=path,
                )
            )

    def _place_splat(self, prim: Usd.Prim, result: Imported) -> tuple[Pose, Array]:
        """Pose in the asset's world [m] and scale to metres."""
        from simwright.formats.usd.units import UP_ROTATIONS, Units
        from simwright.usd.xform import read_world

        info = result.asset.provenance.info
        up = str(info["upAxis"])
        units = Units(float(info["metersPerUnit"]), 1.0, up, UP_ROTATIONS[up])
        world = read_world(prim)
        return units.turn @ Pose(world.pose.p * units.length, world.pose.q), world.scale * units.length


def refuse_broken(prim: Usd.Prim) -> None:
    """ValueError for a mesh that our reader refuses: Newton's functions look at none of what is wrong with it.

    Its kernels write to wherever a corner leads, faces with a negative number of corners take all memory, and
    points that are not finite end in an error of the mathematics below.
    """
    from simwright.formats.usd.meshes import find_fault_of

    fault = find_fault_of(prim)
    if fault:
        raise ValueError(f"mesh {prim.GetPath()} is broken: {fault}")


_SPLIT = "_split_corners_into_vertices"
_MANY_CORNERS = 32
"""Vertices with more corners are clustered one by one: there are few, and each is a round of its own otherwise."""


def make_loader() -> Callable[..., Any]:
    """Newton's ``get_mesh``, splitting by :func:`split_vertices`, which gives the same as Newton's own function.

    It is a second function of the same code whose names are its own: nothing of Newton is changed, so that other
    importers of the process, also in other threads, go on as they are.
    """
    from newton._src.usd import utils

    theirs = inspect.unwrap(utils.get_mesh)
    split = getattr(utils, _SPLIT, None)
    names = list(inspect.signature(split).parameters) if split is not None else []
    # another version of Newton may split otherwise, or a program have its own in the place: then that is asked
    if (
        not isinstance(theirs, FunctionType)
        or names != list(inspect.signature(split_vertices).parameters)
        or _SPLIT not in theirs.__code__.co_names
    ):
        return cast("Callable[..., Any]", utils.get_mesh)
    twin = FunctionType(
        theirs.__code__,
        {**vars(utils), _SPLIT: split_vertices},
        theirs.__name__,
        theirs.__defaults__,
        theirs.__closure__,
    )
    twin.__kwdefaults__ = theirs.__kwdefaults__
    return twin


def split_vertices(
    points: Rows, indices: Rows, corner_dirs: Rows, corner_uvs: Rows | None, angle_threshold_deg: float
) -> tuple[Rows, Rows, Rows, Rows | None]:
    """A vertex for each cluster of corners that are at one point, look in one direction and have one coordinate.

    Corners join in their order: each goes to the first cluster of its point whose mean direction is within the angle
    [deg] and whose texture coordinate is the same, or else begins one.  Gives points, the vertex of each corner,
    normals and texture coordinates; vertices are numbered by the corners that began them.  All points go through
    their first corners at once, then through their second ones, and so on.
    """
    order = np.argsort(indices, kind="stable")
    clusters = _CornerClusters(
        corner_dirs[order].astype(np.float64),
        None if corner_uvs is None else corner_uvs[order],
        angle_threshold_deg,
    )
    at = indices[order]
    starts = np.flatnonzero(np.r_[True, at[1:] != at[:-1]]) if len(at) else np.zeros(0, np.int64)
    sizes = np.diff(np.r_[starts, len(at)])
    clusters.join_rounds(starts[sizes <= _MANY_CORNERS], sizes[sizes <= _MANY_CORNERS])
    for start, size in zip(starts[sizes > _MANY_CORNERS], sizes[sizes > _MANY_CORNERS], strict=True):
        clusters.join_one_by_one(int(start), int(size))
    founders = np.flatnonzero(clusters.founder == np.arange(len(at)))
    founders = founders[np.argsort(order[founders])]
    number = np.empty(len(at), dtype=indices.dtype)
    number[founders] = np.arange(len(founders))
    vertices = np.empty_like(indices)
    vertices[order] = number[clusters.founder]
    sums = clusters.sums[founders]
    normals = (sums / np.clip(np.linalg.norm(sums, axis=1, keepdims=True), 1e-30, None)).astype(np.float32)
    uvs = None if clusters.uvs is None else clusters.uvs[founders]
    return points[at[founders]], vertices, normals, uvs


class _CornerClusters:
    """Corners, sorted by point; ``founder`` is the corner that began the cluster of each."""

    def __init__(self, directions: Rows, uvs: Rows | None, degrees: float) -> None:
        self.sums = directions.copy()
        self.uvs = uvs
        self.founder = np.arange(len(directions))
        self._directions = directions
        self._least = math.cos(math.radians(degrees))

    def join_rounds(self, starts: Rows, sizes: Rows) -> None:
        """The corners of many points, one corner of each point at a time."""
        begun = starts[:, None]
        for turn in range(1, int(sizes.max(initial=0))):
            left = np.flatnonzero(sizes > turn)
            corners = starts[left] + turn
            for column in range(begun.shape[1]):
                known = begun[left, column]
                fits = self._fit(np.maximum(known, 0), corners) & (known >= 0)
                self.founder[corners[fits]] = known[fits]
                self.sums[known[fits]] += self._directions[corners[fits]]
                left, corners = left[~fits], corners[~fits]
            begun = self._begin(begun, left, corners)

    def _begin(self, begun: Rows, groups: Rows, corners: Rows) -> Rows:
        """Note the corners that began another cluster of their points."""
        counts = (begun[groups] >= 0).sum(axis=1)
        if len(counts) and counts.max() == begun.shape[1]:
            begun = np.column_stack((begun, np.full(len(begun), -1)))
        begun[groups, counts] = corners
        return begun

    def join_one_by_one(self, start: int, size: int) -> None:
        """The corners of one point."""
        founders = [start]
        for corner in range(start + 1, start + size):
            known = np.array(founders)
            fits = np.flatnonzero(self._fit(known, np.full(len(known), corner)))
            if len(fits):
                self.founder[corner] = known[fits[0]]
                self.sums[known[fits[0]]] += self._directions[corner]
            else:
                founders.append(corner)

    def _fit(self, founders: Rows, corners: Rows) -> Rows:
        """Do corners belong to the clusters that others began?"""
        x, y, z = self.sums[founders].T
        u, v, w = self._directions[corners].T
        length = np.maximum(np.sqrt(x * x + y * y + z * z), 1e-30)
        fits: Rows = (x * u + y * v + z * w) / length >= self._least
        if self.uvs is not None:
            fits &= np.all(self.uvs[founders] == self.uvs[corners], axis=1)
        return fits


def _list_ancestors(path: str) -> list[str]:
    """A path and those above it, the nearest first."""
    steps = path.strip("/").split("/")
    return ["/" + "/".join(steps[:count]) for count in range(len(steps), 0, -1)]


def open_looks(stage: Usd.Stage | None) -> StageLooks | None:
    """None without a stage, or with a version of Newton that keeps these functions elsewhere."""
    if stage is None:
        return None
    try:
        return StageLooks(stage)
    except ImportError:
        return None


_COLLIDER_TYPES = (
    "Sphere", "Cube", "Capsule", "Capsule_1", "Cylinder", "Cylinder_1", "Cone", "Plane", "Mesh",
)  # fmt: skip
"""Types of colliders in the order in which OpenUSD's physics parser gives them."""


def order_shapes(asset: Asset, parts: StageParts | None, bodies: Mapping[str, int]) -> list[Shape | Site]:
    """Shapes and sites as Newton's importer adds them, which also chooses colours by number.

    Of a stage: what is seen of each body, its sites among it, then what is seen of the world, then colliders by type.
    Otherwise shapes in their order, then sites.
    """
    elements: list[Shape | Site] = [*asset.shapes, *asset.sites]
    if parts is None:
        return elements
    place = _find_places(asset, parts) if asset.sites else {}

    def rank(element: Shape | Site) -> tuple[int, int, int]:
        at = place.get(element.path, 0)
        if isinstance(element, Shape) and element.collision:
            kind = parts.find_type(element.path)
            return 2, _COLLIDER_TYPES.index(kind) if kind in _COLLIDER_TYPES else len(_COLLIDER_TYPES), at
        body = bodies.get(element.body, -1)
        return (0, body, at) if body >= 0 else (1, 0, at)

    return sorted(elements, key=rank)


def _find_places(asset: Asset, parts: StageParts) -> dict[str, int]:
    """Numbers of the prims of shapes and sites, in the order of the stage."""
    from pxr import Usd

    wanted = {shape.path for shape in asset.shapes} | {site.path for site in asset.sites}
    if parts.met is not None and parts.met.founds.keys() >= wanted:
        return {path: number for number, path in enumerate(parts.met.founds)}
    walk = Usd.PrimRange(parts.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
    paths = (prim.GetPath().pathString for prim in walk)
    return {path: number for number, path in enumerate(paths) if path in wanted}
