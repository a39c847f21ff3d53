# SPDX-License-Identifier: Apache-2.0
"""Meshes that MuJoCo need not load: the reader takes them from their files, the compiler gets four points instead.

For a mesh MuJoCo makes normals, a bounding volume hierarchy, mass properties and a convex hull, most of the time and
memory of compiling.  The model has no use for them, unless the mesh says what a body weighs or what size a primitive
has.  Such meshes stay; the others stand in by a tetrahedron.  MuJoCo moves every mesh to its centre of mass and the
geoms with it; the reader takes that back, whatever the mesh.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simwright.core.math3d import Array
from simwright.formats.mjcf.places import Source

READABLE = (".stl", ".obj")
"""File name endings that the reader loads itself."""
_CONTENT_TYPES = ("", "model/stl", "model/obj")
_TETRAHEDRON = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def put_stand_ins(mujoco: Any, spec: Any, source: Source) -> dict[str, Array]:
    """Replace the meshes of a specification that compiling can do without; gives their scales by name."""
    if source.attached or not _has_own_inertia(mujoco, spec):
        return {}
    shown, needed = _list_uses(mujoco, spec)
    scales: dict[str, Array] = {}
    for mesh in spec.meshes:
        name = str(mesh.name)
        if name in shown and name not in needed and is_of_file(mesh, name, source):
            scales[name] = np.array(mesh.scale, dtype=np.float64)
            mesh.file, mesh.content_type = "", ""
            mesh.uservert, mesh.scale = _TETRAHEDRON, (1.0, 1.0, 1.0)
    return scales


def is_of_file(mesh: Any, name: str, source: Source) -> bool:
    """Is the mesh what a file says, at a scale, and can that file be read without MuJoCo?"""
    file = source.files.get(("mesh", name))
    if file is None or file.suffix.lower() not in READABLE or str(mesh.content_type) not in _CONTENT_TYPES:
        return False
    still = np.array_equal(np.asarray(mesh.refpos), (0.0, 0.0, 0.0))
    straight = np.array_equal(np.asarray(mesh.refquat), (1.0, 0.0, 0.0, 0.0))
    scaled = np.all(np.isfinite(mesh.scale)) and np.all(np.asarray(mesh.scale))
    return bool(still and straight and scaled) and not getattr(mesh, "needsdf", 0)


def _has_own_inertia(mujoco: Any, spec: Any) -> bool:
    """May a body's own word about its inertia count, and do bodies stay what they are?"""
    always = int(spec.compiler.inertiafromgeom) == int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE)
    return not always and not spec.compiler.fusestatic


def _list_uses(mujoco: Any, spec: Any) -> tuple[set[str], set[str]]:
    """Names of meshes that geoms show, and of those whose mass or size counts."""
    shown: set[str] = set()
    needed: set[str] = {str(site.meshname) for site in spec.sites if getattr(site, "meshname", "")}
    mesh_type = int(mujoco.mjtGeom.mjGEOM_MESH)
    for body in spec.bodies:
        is_weighed = not body.explicitinertial and body.name != "world"
        for geom in body.geoms:
            name = str(geom.meshname)
            if not name:
                continue
            shown.add(name)
            if int(geom.type) != mesh_type or (is_weighed and _has_mass(geom)):
                needed.add(name)
    return shown, needed


def _has_mass(geom: Any) -> bool:
    mass = float(geom.mass)
    return bool(geom.density) if math.isnan(mass) else mass != 0.0
