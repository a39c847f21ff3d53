# SPDX-License-Identifier: Apache-2.0
"""Meshes and height fields, one geometry object per asset, shared by all geoms that use it.

A mesh with an STL or OBJ file is what the file says, read when it is first looked at; its ``scale`` goes to the
shape.  Other meshes (vertices in the text, MuJoCo's own files, ``refpos``, ``refquat``) are taken as MuJoCo compiled
them, name no file, and say how MuJoCo makes them again.  MuJoCo moves a mesh to its centre of mass and turns it to its principal axes (``mesh_pos``,
``mesh_quat``); here that is undone, so the shape's pose is the one that was written.  Texture coordinates: MuJoCo
counts v downwards, the model upwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose, quat_rotate
from simwright.formats.mesh import load_mesh
from simwright.formats.mjcf.context import Context, make_plain, pose_of
from simwright.formats.mjcf.quiet import list_refusals
from simwright.formats.mjcf.stand_ins import is_of_file
from simwright.model.geometry import Heightfield, Mesh, MeshData, Recipe


_POINTS = {"vertex": "uservert", "face": "userface", "normal": "usernormal", "texcoord": "usertexcoord"}


@dataclass(frozen=True, slots=True, eq=False)
class PlacedMesh:
    """A mesh geometry, the scale its shapes have, and where MuJoCo moved its frame to."""

    geometry: Mesh
    scale: Array | None
    moved: Pose


def read_mesh(context: Context, index: int) -> PlacedMesh:
    """The mesh asset ``index``."""
    model = context.model
    moved = pose_of(model.mesh_pos[index], model.mesh_quat[index])
    name = context.name("mesh", index)
    source = f"{context.source.file}#{name}"
    spec = context.spec_of("mesh", index)
    _keep_settings(context, index, spec)
    file = context.source.files.get(("mesh", name))
    if name in context.mesh_scales or (spec is not None and is_of_file(spec, name, context.source)):
        assert file is not None
        scale = context.mesh_scales.get(name, np.array(model.mesh_scale[index], dtype=np.float64))
        mesh = Mesh(load=partial(_load_file, file), source=source, file=str(file))
        return PlacedMesh(mesh, None if np.all(scale == 1.0) else scale, moved)
    recipe = None if spec is None else _find_recipe(spec, file)
    return PlacedMesh(Mesh(_read_data(model, index, moved), source=source, recipe=recipe), None, moved)


def _find_recipe(spec: Any, file: Path | None) -> Recipe | None:
    """How MuJoCo makes a mesh that is not simply a file: from points in the text, or from a file that it moves."""
    if getattr(spec, "needsdf", 0):
        return None
    attributes = {name: make_plain(np.asarray(getattr(spec, name))) for name in ("scale", "refpos", "refquat")}
    if file is not None:
        return Recipe(str(file), attributes)
    for attribute, name in _POINTS.items():
        values = np.asarray(getattr(spec, name))
        if len(values):
            attributes[attribute] = values
    is_sayable = not len(spec.userfacenormal) and not len(spec.userfacetexcoord)
    return Recipe("", attributes) if "vertex" in attributes and is_sayable else None


def find_written_poses(context: Context) -> dict[int, tuple[Pose, Pose]]:
    """Poses of mesh geoms as they are written, by index, bit for bit: of the frames around one, and in them.

    MuJoCo compiles a geom's pose with that of its mesh, and puts the result into the frames.  What it makes of the
    frames and angles alone is found by sites in the same places, in a specification without meshes.
    """
    mujoco, probe = context.mujoco, context.mujoco.MjSpec()
    found: list[int] = []
    for index in np.flatnonzero(np.asarray(context.model.geom_dataid) >= 0):
        geom = context.spec_of("geom", int(index))
        if geom is not None:
            _add_probe(mujoco, probe, geom)
            found.append(int(index))
    if not found:
        return {}
    try:
        model = probe.compile()
    except list_refusals(mujoco):
        return {}
    poses = [pose_of(*row) for row in zip(model.site_pos, model.site_quat, strict=True)]
    return {index: (poses[2 * i], poses[2 * i + 1]) for i, index in enumerate(found)}


def _add_probe(mujoco: Any, probe: Any, geom: Any) -> None:
    """A site at the frames around a geom, and one where the geom is in them."""
    around = probe.worldbody.add_site()
    probe.worldbody.add_site(pos=geom.pos, quat=_resolve(mujoco, geom))
    chain = []
    frame = geom.frame
    while frame is not None:
        chain.append(frame)
        frame = frame.frame
    above = None
    for frame in reversed(chain):
        above = probe.worldbody.add_frame(above, pos=frame.pos, quat=_resolve(mujoco, frame))
    if above is not None:
        around.set_frame(above)


def _resolve(mujoco: Any, element: Any) -> Any:
    """The quaternion of an element, whichever way its orientation is written."""
    alternative, compiler = element.alt, element.compiler
    if int(alternative.type) == int(mujoco.mjtOrientation.mjORIENTATION_QUAT):
        return element.quat
    return mujoco.MjSpec.resolve_orientation(bool(compiler.degree), compiler.eulerseq, alternative)


def _keep_settings(context: Context, index: int, spec: Any) -> None:
    """How MuJoCo makes hull, inertia and normals of a mesh."""
    if spec is None:
        return
    context.keep("mesh", index, "maxhullvert", int(spec.maxhullvert), -1)
    context.keep("mesh", index, "smoothnormal", bool(spec.smoothnormal), False)
    inertia = getattr(context.mujoco, "mjtMeshInertia", None)
    if inertia is not None:
        context.keep("mesh", index, "inertia", str(inertia(int(spec.inertia)).name)[15:].lower(), "legacy")


def _load_file(file: Path) -> MeshData:
    """The mesh of a file; MuJoCo knows no materials and colours in it."""
    return replace(load_mesh(file), subsets=(), colors=None)


def read_heightfield(context: Context, index: int) -> Heightfield:
    """The height field asset ``index``; MuJoCo keeps heights between 0 and 1 of the elevation."""
    model = context.model
    rows, columns = int(model.hfield_nrow[index]), int(model.hfield_ncol[index])
    start = int(model.hfield_adr[index])
    x, y, elevation, base = (float(v) for v in model.hfield_size[index])
    heights = np.array(model.hfield_data[start : start + rows * columns], dtype=np.float64) * elevation
    file = context.source.files.get(("hfield", context.name("hfield", index)))
    size = np.array((2.0 * x, 2.0 * y))
    return Heightfield(heights.reshape(rows, columns), size, base, source=str(file or ""))


def _read_data(model: Any, index: int, moved: Pose) -> MeshData:
    vertices = moved.apply(_rows(model, "vert", index).astype(np.float64))
    first, count = int(model.mesh_faceadr[index]), int(model.mesh_facenum[index])
    faces = np.array(model.mesh_face[first : first + count], dtype=np.int32)
    normals = _rows(model, "normal", index).astype(np.float64)
    corner_normals = np.array(model.mesh_facenormal[first : first + count])
    uvs = _rows(model, "texcoord", index).astype(np.float64)
    corner_uvs = np.array(model.mesh_facetexcoord[first : first + count])
    return MeshData(
        vertices,
        faces.reshape(-1),
        normals=quat_rotate(moved.q, normals)[corner_normals.reshape(-1)] if len(normals) else None,
        uvs=(uvs * (1.0, -1.0) + (0.0, 1.0))[corner_uvs.reshape(-1)] if len(uvs) else None,
    )


def _rows(model: Any, what: str, index: int) -> Array:
    """Rows of one mesh in ``mesh_vert``, ``mesh_normal`` or ``mesh_texcoord``."""
    start = int(getattr(model, f"mesh_{what}adr")[index])
    count = int(getattr(model, f"mesh_{what}num")[index])
    rows: Array = np.array(
        getattr(model, f"mesh_{what}")[start : start + count] if count else np.zeros((0, 3))
    )
    return rows
