# SPDX-License-Identifier: Apache-2.0
"""The extent of a model [m], which clip distances of cameras count in, where meshes stand in for others.

MuJoCo takes the longest side of a box around bodies, joints, sites and geoms in the reference pose, geoms by spheres.
That of a mesh is around its centre of mass; ``compiler`` gave MuJoCo other meshes, so theirs are computed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.errors import SimwrightError
from simwright.core.math3d import IDENTITY, Array
from simwright.formats.mjcf.reader import MjcfReader
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD
from simwright.model.moments import mesh_moments

_PLANE_SHARE = 0.1
"""Of the size of a plane or height field, which has no sphere around it."""


@dataclass(frozen=True, slots=True, eq=False)
class GeomSphere:
    """A sphere around a geom: its body, and where it is in the world [m]."""

    body: str
    center: Array
    radius: float


def find_extent(reader: MjcfReader) -> float:
    """The extent as MuJoCo finds it with the meshes of the file, to some per cent: it weighs open meshes otherwise."""
    model = reader.model
    said = bool(np.isfinite(reader.spec.stat.extent))
    if said or not reader.mesh_scales or not reader.count("camera"):
        return float(model.stat.extent)
    data: Any = reader.mujoco.MjData(model)
    reader.mujoco.mj_kinematics(model, data)
    reader.mujoco.mj_comPos(model, data)
    try:
        spheres = [sphere for shape in reader.asset.shapes for sphere in _measure_mesh(reader, shape)]
    except SimwrightError:  # a mesh that cannot be read is told of when it is looked at
        return float(model.stat.extent)
    for index in range(model.ngeom):
        if not _stands_in(reader, index):
            body = reader.name("body", int(model.geom_bodyid[index]))
            radius = _find_radius(reader.mujoco, model, index)
            spheres.append(GeomSphere(body, np.array(data.geom_xpos[index]), radius))
    plain = np.concatenate([data.xpos[1:], data.xipos[1:], data.xanchor, data.site_xpos])
    points = np.concatenate((plain, [sphere.center for sphere in spheres]))
    radii = np.concatenate((np.zeros(len(plain)), [sphere.radius for sphere in spheres]))[:, None]
    sides = (points + radii).max(axis=0) - (points - radii).min(axis=0)
    # a model of one large body is no smaller than that body
    return max(float(sides.max()), 2.0 * _find_mean_size(reader, data, spheres))


def _find_mean_size(reader: MjcfReader, data: Any, spheres: list[GeomSphere]) -> float:
    """How far bodies reach from their centres of mass, on average: to their joints and around their geoms."""
    model = reader.model
    numbers = {reader.name("body", index): index for index in range(model.nbody)}
    sizes = np.zeros(model.nbody)
    for joint in range(model.njnt):
        body = int(model.jnt_bodyid[joint])
        for end in (body, int(model.body_parentid[body])):
            gap = float(np.linalg.norm(data.xanchor[joint] - data.xipos[end]))
            sizes[end] = max(sizes[end], gap)
    for sphere in spheres:
        body = numbers.get(sphere.body, 0)
        gap = float(np.linalg.norm(sphere.center - data.xipos[body]))
        sizes[body] = max(sizes[body], gap + sphere.radius)
    return float(sizes[1:].mean()) if model.nbody > 1 else 0.0


def _stands_in(reader: MjcfReader, index: int) -> bool:
    mesh = int(reader.model.geom_dataid[index])
    is_mesh = int(reader.model.geom_type[index]) == int(reader.mujoco.mjtGeom.mjGEOM_MESH)
    return is_mesh and mesh >= 0 and reader.name("mesh", mesh) in reader.mesh_scales


def _find_radius(mujoco: Any, model: Any, index: int) -> float:
    radius = float(model.geom_rbound[index])
    if radius > 0.0:
        return radius
    if int(model.geom_type[index]) == int(mujoco.mjtGeom.mjGEOM_PLANE):
        return _PLANE_SHARE * float(model.geom_size[index][:2].max())
    return 0.0


def _measure_mesh(reader: MjcfReader, shape: Shape) -> Iterator[GeomSphere]:
    """Centre in the world and radius of the sphere around a mesh that another one stood in for."""
    mesh = shape.geometry
    if not isinstance(mesh, Mesh) or mesh.asset_name not in reader.mesh_scales:
        return
    points = np.asarray(mesh.data.vertices) * scaled(shape)
    moments = mesh_moments(mesh.data.vertices, mesh.data.triangles()).scaled(scaled(shape))
    center = moments.center if moments.volume > 0.0 else points.mean(axis=0)
    _, axes = np.linalg.eigh(moments.second)
    radius = float(np.linalg.norm(np.abs((points - center) @ axes).max(axis=0)))
    above = IDENTITY if shape.body == WORLD else reader.asset.body(shape.body).pose
    yield GeomSphere(shape.body, (above @ shape.pose).apply(center), radius)
