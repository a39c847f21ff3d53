# SPDX-License-Identifier: Apache-2.0
"""Shapes as MuJoCo's geoms.  Colliders only, unless pictures are wanted: geoms that touch nothing cost time."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.engines.messages import MESH_AS_HULL, PLANE_MOVING, SHAPE_FLAT, SHAPE_NOT_SUPPORTED
from simwright.engines.mujoco.bodies import as_wxyz
from simwright.engines.world import OneWorld
from simwright.model.geometry import Heightfield, Mesh
from simwright.runtime.kinds import ShapeFlag, ShapeType
from simwright.runtime.model import Model
from simwright.runtime.rotation import Values, rotate

_THIN = 1e-3
"""Half the thickness of what has none [m]."""
_SIDES = 24
_FLAT = 1e-7
_PLAIN = (0.65, 0.68, 0.72, 1.0)
_HULL_ROUNDING = 1e-6


class GeomMaker:
    """Adds geoms to bodies of one world; ``visuals`` adds shapes that are only seen, and colours."""

    def __init__(
        self, spec: Any, model: Model, world: OneWorld, reporter: Reporter, *, visuals: bool = False
    ) -> None:
        self._spec = spec
        self._model = model
        self._world = world
        self._reporter = reporter
        self._visuals = visuals
        self._moving = world.list_moving()
        self._meshes: dict[tuple[int, bytes, int], str] = {}
        self._hulls: list[str] = []

    def add_geoms(self, bodies: dict[int, Any]) -> set[int]:
        """All shapes that matter; gives those that can touch."""
        world = self._world
        touching = set()
        for shape, flags in enumerate(world.shape_flags.tolist()):
            collides = bool(flags & ShapeFlag.COLLIDE_SHAPES) and bool(world.shape_collision_group[shape])
            seen = self._visuals and bool(flags & ShapeFlag.VISIBLE) and not flags & ShapeFlag.SITE
            if not collides and not seen:
                continue
            if self._add_geom(bodies[int(world.shape_body[shape])], shape, seen=seen) and collides:
                touching.add(shape)
        if self._hulls and not self._visuals:
            self._reporter.report(MESH_AS_HULL, count=len(self._hulls), name=self._hulls[0])
        return touching

    def find_name(self, shape: int) -> str:
        """The label of a shape of the world, or a shared one."""
        labels, local = self._model.shape_label, self._world.local_shapes
        return labels.local[shape] if shape < local else labels.shared[shape - local]

    def _add_geom(self, body: Any, shape: int, *, seen: bool) -> bool:
        world = self._world
        pose = world.shape_transform[shape]
        geom = body.add_geom(
            name=f"g{shape}", contype=0, conaffinity=0, pos=pose[:3], quat=as_wxyz(pose[3:]), mass=0.0
        )
        if self._visuals:
            color = self._model.shape_color[shape]
            geom.rgba = (*color, 1.0) if color is not None else _PLAIN
            geom.group = 0 if seen else 3
        if self._set_geometry(geom, shape):
            return True
        self._spec.delete(geom)
        return False

    def _set_geometry(self, geom: Any, shape: int) -> bool:
        import mujoco

        kinds = mujoco.mjtGeom
        kind, scale = ShapeType(int(self._world.shape_type[shape])), self._world.shape_scale[shape]
        simple = {
            ShapeType.SPHERE: kinds.mjGEOM_SPHERE, ShapeType.CAPSULE: kinds.mjGEOM_CAPSULE,
            ShapeType.ELLIPSOID: kinds.mjGEOM_ELLIPSOID, ShapeType.CYLINDER: kinds.mjGEOM_CYLINDER,
            ShapeType.BOX: kinds.mjGEOM_BOX,
        }  # fmt: skip
        if kind in simple:
            geom.type, geom.size = simple[kind], np.maximum(scale, 0.0)
            return True
        if kind is ShapeType.PLANE:
            return self._set_plane(geom, shape, scale)
        if kind is ShapeType.HEIGHTFIELD:
            return self._set_heights(geom, shape)
        if kind is ShapeType.CONE:
            return self._set_mesh(geom, shape, make_cone(float(scale[0]), float(scale[1])), None)
        source = self._model.shape_source[shape]
        assert isinstance(source, Mesh), "a mesh has its geometry"
        return self._set_mesh(geom, shape, source.data.vertices * scale, source)

    def _set_plane(self, geom: Any, shape: int, scale: Values) -> bool:
        import mujoco

        if np.all(scale[:2] > 0.0):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, (scale[0] / 2, scale[1] / 2, _THIN)
            down = rotate(self._world.shape_transform[shape, 3:], np.array((0.0, 0.0, -_THIN)))
            geom.pos = self._world.shape_transform[shape, :3] + down
            return True
        if int(self._world.shape_body[shape]) in self._moving:
            self._reporter.report(PLANE_MOVING, name=self.find_name(shape))
            return False
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, (0.0, 0.0, 1.0)
        return True

    def _set_heights(self, geom: Any, shape: int) -> bool:
        import mujoco

        source = self._model.shape_source[shape]
        if not isinstance(source, Heightfield) or int(self._world.shape_body[shape]) in self._moving:
            name = self.find_name(shape)
            self._reporter.report(SHAPE_NOT_SUPPORTED, name=name, kind="heightfield", engine="MuJoCo")
            return False
        scale = self._world.shape_scale[shape]
        heights = np.asarray(source.heights, dtype=np.float64) * scale[2]
        low, high = float(heights.min()), float(heights.max())
        rise = max(high - low, 1e-6)
        field = self._spec.add_hfield(name=f"h{shape}", nrow=heights.shape[0], ncol=heights.shape[1])
        field.size = (
            float(source.size[0]) / 2 * scale[0],
            float(source.size[1]) / 2 * scale[1],
            rise,
            max(0.1, rise * 0.1),
        )
        field.userdata = ((heights - low) / rise).astype(np.float32).ravel()
        geom.type, geom.hfieldname = mujoco.mjtGeom.mjGEOM_HFIELD, field.name
        up = rotate(self._world.shape_transform[shape, 3:], np.array((0.0, 0.0, low)))
        geom.pos = self._world.shape_transform[shape, :3] + up
        return True

    def _set_mesh(self, geom: Any, shape: int, vertices: Values, source: Mesh | None) -> bool:
        import mujoco

        lower, upper = vertices.min(axis=0), vertices.max(axis=0)
        if is_flat(vertices):
            if not self._visuals:
                self._reporter.report(SHAPE_FLAT, name=self.find_name(shape))
            turn = self._world.shape_transform[shape, 3:]
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, np.maximum((upper - lower) / 2, _THIN / 2)
            geom.pos = self._world.shape_transform[shape, :3] + rotate(turn, (upper + lower) / 2)
            return True
        limit = int(self._world.shape_max_hull_vertices[shape])
        key = (id(source) if source is not None else 0, vertices.tobytes()[:4096] + upper.tobytes(), limit)
        if key not in self._meshes:
            name = f"m{len(self._meshes)}"
            mesh = self._spec.add_mesh(name=name, uservert=vertices.ravel())
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            if source is not None and self._visuals:
                mesh.userface = np.ascontiguousarray(source.data.triangles()).ravel()
            if limit > 3:
                mesh.maxhullvert = limit
            self._meshes[key] = name
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, self._meshes[key]
        if source is not None and self._world.shape_type[shape] == ShapeType.MESH and not is_convex(source):
            self._hulls.append(self.find_name(shape))
        return True


def make_cone(radius: float, half: float) -> Values:
    """Corners of a cone along z, its apex up."""
    angles = np.arange(_SIDES) * (2.0 * np.pi / _SIDES)
    ring = np.stack((radius * np.cos(angles), radius * np.sin(angles), np.full(_SIDES, -half)), axis=1)
    return np.concatenate((ring, ((0.0, 0.0, half),)))


def is_flat(vertices: Values) -> bool:
    """Have the points no volume between them?"""
    if len(vertices) < 4:
        return True
    spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
    return bool(spread[-1] <= _FLAT * max(float(spread[0]), 1e-12))


def is_convex(mesh: Mesh) -> bool:
    """Do all points lie behind every triangle?"""
    points, triangles = mesh.data.vertices, mesh.data.triangles()
    if len(triangles) > 4096:
        return False
    a, b, c = (points[triangles[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    sizes = np.linalg.norm(normals, axis=1)
    normals = normals[sizes > 0.0] / sizes[sizes > 0.0, None]
    reach = np.einsum("ij,ij->i", normals, a[sizes > 0.0])
    span = float(np.ptp(points, axis=0).max())
    for start in range(0, len(normals), 256):
        heights = points @ normals[start : start + 256].T - reach[start : start + 256]
        if heights.max() > _HULL_ROUNDING * span:
            return False
    return True
