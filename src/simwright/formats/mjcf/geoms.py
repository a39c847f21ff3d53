# SPDX-License-Identifier: Apache-2.0
"""Geoms become shapes.

Seen or touched: a geom whose ``contype`` and ``conaffinity`` are both 0 and that is in no contact pair is
visual only.  Every other geom is a collider, and is also visual if its group is one MuJoCo's viewer shows
(0, 1, 2); groups 3 to 5 are hidden there and hold colliders by custom.

Friction and solver settings of colliders become shared physics materials.  ``condim`` decides what
friction acts: 1 none, 3 sliding, 4 also torsional, 6 also rolling; friction that does not act is kept as
an extra only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.core.names import NameScope
from simwright.formats.mjcf.context import NAMESPACE, Context, pose_of, read_floats
from simwright.formats.mjcf.joints import SOLIMP, SOLREF
from simwright.formats.mjcf.losses import report_loss
from simwright.formats.mjcf.meshes import PlacedMesh, find_written_poses, read_heightfield, read_mesh
from simwright.model.asset import Shape
from simwright.model.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Plane,
    Sphere,
)
from simwright.model.material import PhysicsMaterial

DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
DEFAULT_FRICTION = (1.0, 0.005, 0.0001)
DEFAULT_DENSITY = 1000.0
VISIBLE_GROUPS = 3
VISUAL_GROUP = 2
_ROUNDING = 1e-12
PLANE_GRID = 0.05
"""Spacing of the lines on a plane where nothing is said [m]; MJCF has no default."""


def read_geoms(context: Context) -> None:
    """Shapes in MuJoCo's order."""
    reader = _GeomReader(context)
    for index in range(context.count("geom")):
        shape = reader.read(index)
        context.asset.shapes.append(shape)
        context.keep("geom", index, "group", shape.group, choose_group(shape.visual, shape.collision))
        _keep_extras(context, index)
    distance_fields = [i for i in range(context.count("geom")) if kind_of(context, "geom", i) == "sdf"]
    if distance_fields:
        report_loss(
            context,
            "geom",
            distance_fields,
            "the mesh of the surface is kept; its distance function is MuJoCo code",
            what="the distance functions of geoms",
        )


def choose_group(visual: bool, collision: bool) -> int:
    """The usual group: viewers show 0 to 2; colliders that are not to be seen go to 3."""
    if visual:
        return 0 if collision else VISUAL_GROUP
    return VISIBLE_GROUPS


def kind_of(context: Context, family: str, index: int) -> str:
    """The geometric type of a geom or site: plane, box, mesh ..."""
    number = int(getattr(context.model, f"{family}_type")[index])
    return str(context.mujoco.mjtGeom(number).name)[7:].lower()


def make_primitive(kind: str, size: Array) -> Geometry:
    """Geometry of MuJoCo's half sizes."""
    x, y, z = (float(v) for v in size)
    match kind:
        case "plane":
            return Plane(np.array((2 * x, 2 * y)) if x > 0 and y > 0 else None)
        case "sphere":
            return Sphere(x)
        case "capsule":
            return Capsule(x, 2 * y)
        case "ellipsoid":
            return Ellipsoid(np.array((x, y, z)))
        case "cylinder":
            return Cylinder(x, 2 * y)
    assert kind == "box", f"unexpected geom type {kind!r}"
    return Box.of(2 * x, 2 * y, 2 * z)


class _GeomReader:
    """Shares meshes, height fields and physics materials between geoms."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.meshes: dict[int, PlacedMesh] = {}
        self.heightfields: dict[int, Heightfield] = {}
        self.materials: dict[tuple[Any, ...], str] = {}
        self.material_names = NameScope()
        self.written = find_written_poses(context)
        self.paired = {
            int(i) for array in ("pair_geom1", "pair_geom2") for i in getattr(context.model, array)
        }

    def read(self, index: int) -> Shape:
        context, model = self.context, self.context.model
        contype, conaffinity = int(model.geom_contype[index]), int(model.geom_conaffinity[index])
        collides = bool(contype or conaffinity or index in self.paired)
        group = int(model.geom_group[index])
        shape = Shape(
            name=context.name("geom", index),
            geometry=Sphere(0.0),
            body=context.name("body", int(model.geom_bodyid[index])),
            pose=pose_of(model.geom_pos[index], model.geom_quat[index]),
            visual=not collides or group < VISIBLE_GROUPS,
            collision=collides,
            material=context.name("material", int(model.geom_matid[index])),
            physics_material=self._physics_material(index) if collides else "",
            group=group,
            category_bits=contype,
            collide_bits=conaffinity,
            path=context.key("geom", index),
            source=context.where("geom", index),
        )
        self._read_geometry(index, shape)
        rgba = read_floats(model.geom_rgba[index])
        if not shape.material or not np.allclose(rgba, DEFAULT_RGBA):
            shape.color = (rgba[0], rgba[1], rgba[2], rgba[3])
        margin, gap = float(model.geom_margin[index]), float(model.geom_gap[index])
        shape.margin, shape.gap = margin or None, gap or None
        self._read_mass(index, shape)
        return shape

    def _read_geometry(self, index: int, shape: Shape) -> None:
        context, model = self.context, self.context.model
        kind, data = kind_of(context, "geom", index), int(model.geom_dataid[index])
        if kind in ("mesh", "sdf"):
            if data not in self.meshes:
                self.meshes[data] = read_mesh(context, data)
            mesh = self.meshes[data]
            shape.geometry, shape.scale = mesh.geometry, mesh.scale
            shape.pose = self._take_back(index, shape.pose, mesh.moved)
        elif kind == "hfield":
            if data not in self.heightfields:
                self.heightfields[data] = read_heightfield(context, data)
            shape.geometry = self.heightfields[data]
        else:
            shape.geometry = make_primitive(kind, model.geom_size[index])

    def _take_back(self, index: int, compiled: Pose, moved: Pose) -> Pose:
        """Where a mesh geom was before MuJoCo moved it with its mesh: as written, if nothing else moved it."""
        computed = compiled @ ~moved
        around, inside = self.written.get(index, (IDENTITY, computed))
        written = inside if around.is_identity() else around @ inside
        if not written.is_close(computed, _ROUNDING):
            return computed
        if not around.is_identity():
            self.context.keep("geom", index, "frame", (*around.p, *around.q, *inside.p, *inside.q))
        return written

    def _read_mass(self, index: int, shape: Shape) -> None:
        spec = self.context.spec_of("geom", index)
        if spec is None:
            return
        mass, density = float(spec.mass), float(spec.density)
        if not math.isnan(mass):
            shape.mass = mass
        elif density != DEFAULT_DENSITY:
            shape.density = density

    def _physics_material(self, index: int) -> str:
        model = self.context.model
        condim = int(model.geom_condim[index])
        sliding, torsional, rolling = (float(v) for v in model.geom_friction[index])
        solref = tuple(float(v) for v in model.geom_solref[index])
        solimp = tuple(float(v) for v in model.geom_solimp[index])
        key = (condim, sliding, torsional, rolling, solref, solimp)
        if key in self.materials:
            return self.materials[key]
        name = self.materials[key] = self.material_names.claim("contact")
        where = self.context.where("geom", index)
        slide = sliding if condim > 1 else 0.0
        material = PhysicsMaterial(
            name,
            static_friction=slide,
            dynamic_friction=slide,
            torsional_friction=torsional if condim >= 4 else None,
            rolling_friction=rolling if condim >= 6 else None,
            source=where,
        )
        self.context.asset.physics_materials.append(material)
        for attribute, value, default in (("solref", solref, SOLREF), ("solimp", solimp, SOLIMP)):
            if value != default:
                extras = self.context.asset.extras
                extras.keep(NAMESPACE, f"physics_material/{name}", attribute, list(value), where)
        return name


def _keep_extras(context: Context, index: int) -> None:
    model = context.model
    condim, friction = int(model.geom_condim[index]), model.geom_friction[index]
    # without friction, 3 dimensions would be taken for 1
    context.keep("geom", index, "condim", condim, 3 if friction[0] else None)
    if condim < 6:
        context.keep("geom", index, "friction", friction, DEFAULT_FRICTION)
    context.keep("geom", index, "priority", model.geom_priority[index], 0)
    context.keep("geom", index, "solmix", model.geom_solmix[index], 1.0)
    context.keep("geom", index, "solref", model.geom_solref[index], SOLREF)
    context.keep("geom", index, "solimp", model.geom_solimp[index], SOLIMP)
    context.keep("geom", index, "adhesion", context.field("geom_adhesion", index), 0.0)
    context.keep("geom", index, "surfacevel", context.field("geom_surfacevel", index), (0.0,) * 6)
    if kind_of(context, "geom", index) == "plane":
        context.keep("geom", index, "grid", float(model.geom_size[index][2]), PLANE_GRID)
    if kind_of(context, "geom", index) == "hfield":
        data = int(model.geom_dataid[index])
        start, count = int(model.hfield_adr[data]), int(model.hfield_nrow[data] * model.hfield_ncol[data])
        if not np.any(model.hfield_data[start : start + count]):  # a rise that no height reaches
            context.keep("geom", index, "elevation", float(model.hfield_size[data][2]))
    fluid = context.field("geom_fluid", index)
    if fluid is not None and np.any(fluid):
        context.keep("geom", index, "fluid", fluid)
    spec = context.spec_of("geom", index)
    inertia = getattr(spec, "typeinertia", None)
    if inertia is not None and int(inertia) != 0:
        context.keep("geom", index, "shellinertia", True)
    context.keep_user("geom", index, "geom_user")
