# SPDX-License-Identifier: Apache-2.0
"""Geoms become shapes; their meshes and height fields; sites.

Seen or touched: a geom whose ``contype`` and ``conaffinity`` are both 0 and that is in no contact pair is
visual only.  Every other geom is a collider, and is also visual if its group is one MuJoCo's viewer shows
(0, 1, 2); groups 3 to 5 are hidden there and hold colliders by custom.

Friction and solver settings of colliders become shared physics materials.  ``condim`` decides what
friction acts: 1 none, 3 sliding, 4 also torsional, 6 also rolling; friction that does not act is kept as
an extra only.

A mesh with an STL or OBJ file is what the file says, read when it is first looked at; its ``scale`` goes to the
shape.  Other meshes (vertices in the text, MuJoCo's own files, ``refpos``, ``refquat``) are taken as MuJoCo compiled
them, name no file, and say how MuJoCo makes them again.  MuJoCo moves a mesh to its centre of mass and turns it to
its principal axes (``mesh_pos``, ``mesh_quat``); here that is undone, so the shape's pose is the one that was written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.gate import Gate
from simwright.core.math3d import IDENTITY, Array, Pose, quat_rotate
from simwright.core.names import NameScope
from simwright.formats.mesh import load_mesh
from simwright.formats.mjcf.bodies import SOLIMP, SOLREF
from simwright.formats.mjcf.compiler import find_mesh_frame, is_plain_file, is_stl
from simwright.formats.mjcf.quiet import list_refusals
from simwright.formats.mjcf.reader import DEFAULT_RGBA, NAMESPACE, MjcfReader, make_plain, read_floats
from simwright.formats.parts.coordinates import (
    CUBES,
    MADE,
    OBJECT,
    STRETCHED,
    find_made_texture,
    project,
    project_by_cube,
)
from simwright.model.asset import Shape, Site
from simwright.model.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    MeshData,
    Plane,
    Recipe,
    Sphere,
    cut_faces,
)
from simwright.model.material import PhysicsMaterial, Texture

DEFAULT_FRICTION = (1.0, 0.005, 0.0001)
DEFAULT_DENSITY = 1000.0
# MuJoCo's viewer shows groups 0 to 2 at the start
VISIBLE_GROUPS = 3
VISUAL_GROUP = 2
# how far a pose that was computed back may be from the written one [m, and as much in a quaternion]
_ROUNDING = 1e-12
PLANE_GRID = 0.05
"""Spacing of the lines on a plane where nothing is said [m]; MJCF has no default."""


def read_geoms(reader: MjcfReader) -> None:
    """Shapes in MuJoCo's order."""
    geoms = _GeomReader(reader)
    for index in range(reader.count("geom")):
        shape = geoms.read(index)
        reader.asset.shapes.append(shape)
        # only a group that the writer would not choose itself
        reader.keep("geom", index, "group", shape.group, choose_group(shape.visual, shape.collision))
        _keep_geom_extras(reader, index)
    distance_fields = [i for i in range(reader.count("geom")) if read_geom_type(reader, "geom", i) == "sdf"]
    if distance_fields:
        reader.report_loss(
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


def read_geom_type(reader: MjcfReader, family: str, index: int) -> str:
    """The geometric type of a geom or site: plane, box, mesh ..."""
    number = int(getattr(reader.model, f"{family}_type")[index])
    return reader.read_word("mjtGeom", number)


def make_primitive(kind: str, size: Array) -> Geometry:
    """Geometry of MuJoCo's half sizes."""
    # MuJoCo has half sizes, the model whole ones; radii are radii in both
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

    def __init__(self, reader: MjcfReader) -> None:
        self.reader = reader
        self.meshes: dict[int, PlacedMesh] = {}
        self.heightfields: dict[int, Heightfield] = {}
        self.materials: dict[tuple[Any, ...], str] = {}
        self.material_names = NameScope()
        self.looks = {material.name: material for material in reader.asset.materials}
        self.look_names = NameScope(self.looks)
        self.tinted: dict[tuple[str, tuple[float, ...]], str] = {}
        self.covered: dict[tuple[int, str, tuple[float, float]], PlacedMesh] = {}
        self.written = _find_written_poses(reader)
        # a geom in a contact pair collides whatever its bits
        self.paired = {int(i) for array in ("pair_geom1", "pair_geom2") for i in getattr(reader.model, array)}

    def read(self, index: int) -> Shape:
        reader, model = self.reader, self.reader.model
        contype, conaffinity = int(model.geom_contype[index]), int(model.geom_conaffinity[index])
        collides = bool(contype or conaffinity or index in self.paired)
        group = int(model.geom_group[index])
        shape = Shape(
            name=reader.name("geom", index),
            # replaced below, where meshes are shared
            geometry=Sphere(0.0),
            body=reader.name("body", int(model.geom_bodyid[index])),
            pose=Pose.of(model.geom_pos[index], model.geom_quat[index]),
            visual=not collides or group < VISIBLE_GROUPS,
            collision=collides,
            material=reader.name("material", int(model.geom_matid[index])),
            physics_material=self._physics_material(index) if collides else "",
            group=group,
            category_bits=contype,
            collide_bits=conaffinity,
            path=reader.key("geom", index),
            source=reader.where("geom", index),
        )
        self._read_geometry(index, shape)
        self._read_look(index, shape)
        # zero is MuJoCo's default, None the model's
        margin, gap = float(model.geom_margin[index]), float(model.geom_gap[index])
        shape.margin, shape.gap = margin or None, gap or None
        if not collides:
            reader.keep("geom", index, "margin", margin, 0.0)
            reader.keep("geom", index, "gap", gap, 0.0)
        self._read_mass(index, shape)
        return shape

    def _read_geometry(self, index: int, shape: Shape) -> None:
        reader, model = self.reader, self.reader.model
        kind, data = read_geom_type(reader, "geom", index), int(model.geom_dataid[index])
        if kind in ("mesh", "sdf"):
            mesh = self._find_mesh(index, data)
            shape.geometry, shape.scale = mesh.geometry, mesh.scale
            shape.pose = self._take_back(index, shape.pose, mesh.moved)
        elif kind == "hfield":
            if data not in self.heightfields:
                self.heightfields[data] = _read_heightfield(reader, data)
            shape.geometry = self.heightfields[data]
        else:
            shape.geometry = make_primitive(kind, model.geom_size[index])

    def _read_look(self, index: int, shape: Shape) -> None:
        rgba = read_floats(self.reader.model.geom_rgba[index])
        color = (rgba[0], rgba[1], rgba[2], rgba[3])
        if not shape.visual:
            # OpenUSD has no look of what is not seen
            self.reader.keep("geom", index, "rgba", rgba, DEFAULT_RGBA)
            self.reader.keep("geom", index, "material", shape.material, "")
        if not shape.material:
            shape.color = color
        if not shape.material or not shape.visual:
            return
        # MuJoCo's default grey beside a material means no colour of its own
        if not np.allclose(rgba, DEFAULT_RGBA):
            self.reader.keep("geom", index, "material", shape.material)
            shape.material = self._tint(shape.material, color)

    def _tint(self, name: str, color: tuple[float, float, float, float]) -> str:
        """A material in another colour: in MuJoCo that of a geom goes before that of its material."""
        if (name, color) not in self.tinted:
            material = self.looks[name]
            textures = {
                key: replace(texture, gain=color) if key in ("diffuse", "opacity") else texture
                for key, texture in material.textures.items()
            }
            text = "".join(f"{round(min(max(value, 0.0), 1.0) * 255):02x}" for value in color)
            made = replace(
                material,
                name=self.look_names.claim(f"{name}_{text}"),
                diffuse=color[:3],
                opacity=color[3],
                textures=textures,
            )
            self.reader.asset.materials.append(made)
            self.tinted[name, color] = made.name
        return self.tinted[name, color]

    def _find_mesh(self, index: int, data: int) -> PlacedMesh:
        """A mesh asset; with coordinates of its own for each way in which images lie on it."""
        reader = self.reader
        if data not in self.meshes:
            self.meshes[data] = _read_mesh(reader, data)
        mesh = self.meshes[data]
        material = self.looks.get(reader.name("material", int(reader.model.geom_matid[index])))
        texture = find_made_texture(material)
        stands_in = reader.name("mesh", data) in reader.mesh_scales
        # a mesh that MuJoCo did not load has coordinates unless its file cannot have any
        has_own = int(reader.model.mesh_texcoordadr[data]) >= 0
        if stands_in:
            has_own = not is_stl(Path(mesh.geometry.file))
        if texture is None or (has_own and texture.uv_set not in MADE):
            return mesh
        key = (data, texture.uv_set, texture.scale)
        if key not in self.covered:
            # that of a mesh that MuJoCo did not load is found with its points
            half = None if stands_in else np.array(reader.model.geom_size[index], dtype=np.float64)
            load = partial(_load_covered, mesh, half, texture, has_own)
            plain = mesh.geometry
            covered = Mesh(
                load=load, source=plain.source, file=plain.file, recipe=plain.recipe, gate=plain.gate
            )
            self.covered[key] = replace(mesh, geometry=covered)
        return self.covered[key]

    def _take_back(self, index: int, compiled: Pose, moved: Pose) -> Pose:
        """Where a mesh geom was before MuJoCo moved it with its mesh: as written, if nothing else moved it."""
        computed = compiled @ ~moved
        around, inside = self.written.get(index, (IDENTITY, computed))
        written = inside if around.is_identity() else around @ inside
        if not written.is_close(computed, _ROUNDING):
            return computed
        if not around.is_identity():
            self.reader.keep("geom", index, "frame", (*around.p, *around.q, *inside.p, *inside.q))
        return written

    def _read_mass(self, index: int, shape: Shape) -> None:
        spec = self.reader.find_spec("geom", index)
        if spec is None:
            return
        # from the text: compiled geoms have no mass of their own any more; NaN means that none is given
        mass, density = float(spec.mass), float(spec.density)
        if not math.isnan(mass):
            shape.mass = mass
        elif density != DEFAULT_DENSITY:
            shape.density = density

    def _physics_material(self, index: int) -> str:
        model = self.reader.model
        condim = int(model.geom_condim[index])
        sliding, torsional, rolling = (float(v) for v in model.geom_friction[index])
        solref = tuple(float(v) for v in model.geom_solref[index])
        solimp = tuple(float(v) for v in model.geom_solimp[index])
        key = (condim, sliding, torsional, rolling, solref, solimp)
        if key in self.materials:
            return self.materials[key]
        name = self.materials[key] = self.material_names.claim("contact")
        where = self.reader.where("geom", index)
        # contacts of dimension 1 have no friction, whatever the numbers say
        slide = sliding if condim > 1 else 0.0
        material = PhysicsMaterial(
            name,
            static_friction=slide,
            dynamic_friction=slide,
            torsional_friction=torsional if condim >= 4 else None,
            rolling_friction=rolling if condim >= 6 else None,
            source=where,
        )
        self.reader.asset.physics_materials.append(material)
        for attribute, value, default in (("solref", solref, SOLREF), ("solimp", solimp, SOLIMP)):
            if value != default:
                extras = self.reader.asset.extras
                extras.keep(NAMESPACE, f"physics_material/{name}", attribute, list(value), where)
        return name


def _keep_geom_extras(reader: MjcfReader, index: int) -> None:
    model = reader.model
    condim, friction = int(model.geom_condim[index]), model.geom_friction[index]
    # without friction, 3 dimensions would be taken for 1
    reader.keep("geom", index, "condim", condim, 3 if friction[0] else None)
    # with 6 dimensions all three frictions act, and the material has them
    if condim < 6:
        reader.keep("geom", index, "friction", friction, DEFAULT_FRICTION)
    reader.keep("geom", index, "priority", model.geom_priority[index], 0)
    reader.keep("geom", index, "solmix", model.geom_solmix[index], 1.0)
    reader.keep("geom", index, "solref", model.geom_solref[index], SOLREF)
    reader.keep("geom", index, "solimp", model.geom_solimp[index], SOLIMP)
    reader.keep("geom", index, "adhesion", reader.field("geom_adhesion", index), 0.0)
    reader.keep("geom", index, "surfacevel", reader.field("geom_surfacevel", index), (0.0,) * 6)
    if read_geom_type(reader, "geom", index) == "plane":
        reader.keep("geom", index, "grid", float(model.geom_size[index][2]), PLANE_GRID)
    if read_geom_type(reader, "geom", index) == "hfield":
        data = int(model.geom_dataid[index])
        start, count = int(model.hfield_adr[data]), int(model.hfield_nrow[data] * model.hfield_ncol[data])
        if not np.any(model.hfield_data[start : start + count]):  # a rise that no height reaches
            reader.keep("geom", index, "elevation", float(model.hfield_size[data][2]))
    fluid = reader.field("geom_fluid", index)
    if fluid is not None and np.any(fluid):
        reader.keep("geom", index, "fluid", fluid)
    spec = reader.find_spec("geom", index)
    inertia = getattr(spec, "typeinertia", None)
    if inertia is not None and int(inertia) != 0:
        reader.keep("geom", index, "shellinertia", True)
    reader.keep_user("geom", index, "geom_user")


# MJCF attribute -> field of MjSpec
_POINTS = {"vertex": "uservert", "face": "userface", "normal": "usernormal", "texcoord": "usertexcoord"}


@dataclass(frozen=True, slots=True, eq=False)
class PlacedMesh:
    """A mesh geometry, the scale its shapes have, and where MuJoCo moved its frame to."""

    geometry: Mesh
    scale: Array | None
    moved: Pose


def _read_mesh(reader: MjcfReader, index: int) -> PlacedMesh:
    """The mesh asset ``index``."""
    model = reader.model
    moved = Pose.of(model.mesh_pos[index], model.mesh_quat[index])
    name = reader.name("mesh", index)
    source = f"{reader.source.file}#{name}"
    spec = reader.find_spec("mesh", index)
    _keep_mesh_settings(reader, index, spec)
    file = reader.source.files.get(("mesh", name))
    # its file says more than MuJoCo's copy, which is in single precision and moved
    if name in reader.mesh_scales or (spec is not None and is_plain_file(spec, name, reader.source)):
        assert file is not None
        scale = reader.mesh_scales.get(name, np.array(model.mesh_scale[index], dtype=np.float64))
        gate = reader.source.gate
        load = partial(_load_file, file, gate, whole=_is_touched(model, index))
        mesh = Mesh(load=load, source=source, file=str(file), gate=gate, reloads=True)
        return PlacedMesh(mesh, None if np.all(scale == 1.0) else scale, moved)
    recipe = None if spec is None else _find_recipe(spec, file)
    return PlacedMesh(Mesh(_read_data(model, index, moved), source=source, recipe=recipe), None, moved)


def _load_covered(mesh: PlacedMesh, half: Array | None, texture: Texture, has_own: bool) -> MeshData:
    """A mesh with the coordinates that MuJoCo makes for an image, where it is in MuJoCo's own frame."""
    data = mesh.geometry.data
    scale = np.ones(3) if mesh.scale is None else mesh.scale
    moved = mesh.moved
    if half is None:
        moved, half = find_mesh_frame(data.vertices, data.triangles(), scale)
    back = ~moved
    points = (data.vertices * scale) @ back.rotation.T + back.p
    if texture.uv_set in CUBES:
        directions = points * half if texture.uv_set in STRETCHED else points
        if data.counts is not None or data.left_handed:
            data = replace(
                data, indices=data.triangles().reshape(-1), counts=None, left_handed=False, normals=None
            )
        made = project_by_cube(directions, data.triangles(), texture.uv_set)
        return replace(data, uv_sets={**data.uv_sets, texture.uv_set: made})
    if not has_own or data.uvs is None:
        made = project(points, half, texture.uv_set, texture.scale)
    else:
        made = np.stack((data.uvs[:, 0] * half[0], 1.0 - (1.0 - data.uvs[:, 1]) * half[1]), axis=1)
    if texture.uv_set == OBJECT:
        return replace(data, uvs=made)
    return replace(data, uv_sets={**data.uv_sets, texture.uv_set: made})


def _find_recipe(spec: Any, file: Path | None) -> Recipe | None:
    """How MuJoCo makes a mesh that is not simply a file: from points in the text, or from a file that it moves."""
    if getattr(spec, "needsdf", 0):
        return None
    attributes = {
        name: make_plain(np.asarray(getattr(spec, name))) for name in ("scale", "refpos", "refquat")
    }
    if file is not None:
        return Recipe(str(file), attributes)
    for attribute, name in _POINTS.items():
        values = np.asarray(getattr(spec, name))
        if len(values):
            attributes[attribute] = values
    # MJCF has no attribute for normals and texture coordinates by face
    is_sayable = not len(spec.userfacenormal) and not len(spec.userfacetexcoord)
    return Recipe("", attributes) if "vertex" in attributes and is_sayable else None


def _find_written_poses(reader: MjcfReader) -> dict[int, tuple[Pose, Pose]]:
    """Poses of mesh geoms as they are written, by index, bit for bit: of the frames around one, and in them.

    MuJoCo compiles a geom's pose with that of its mesh, and puts the result into the frames.  What it makes of the
    frames and angles alone is found by sites in the same places, in a specification without meshes.
    """
    mujoco, probe = reader.mujoco, reader.mujoco.MjSpec()
    found: list[int] = []
    for index in np.flatnonzero(np.asarray(reader.model.geom_dataid) >= 0):
        geom = reader.find_spec("geom", int(index))
        if geom is not None:
            _add_probe(mujoco, probe, geom)
            found.append(int(index))
    if not found:
        return {}
    try:
        model = probe.compile()
    # the poses are only for the last bits: without them the compiled ones are taken back by mathematics
    except list_refusals(mujoco):
        return {}
    poses = [Pose.of(*row) for row in zip(model.site_pos, model.site_quat, strict=True)]
    return {index: (poses[2 * i], poses[2 * i + 1]) for i, index in enumerate(found)}


def _add_probe(mujoco: Any, probe: Any, geom: Any) -> None:
    """A site at the frames around a geom, and one where the geom is in them."""
    around = probe.worldbody.add_site()
    probe.worldbody.add_site(pos=geom.pos, quat=_resolve_quaternion(mujoco, geom))
    chain = []
    # frames nest; the compiler forgets them, MjSpec does not
    frame = geom.frame
    while frame is not None:
        chain.append(frame)
        frame = frame.frame
    above = None
    for frame in reversed(chain):
        above = probe.worldbody.add_frame(above, pos=frame.pos, quat=_resolve_quaternion(mujoco, frame))
    if above is not None:
        around.set_frame(above)


def _resolve_quaternion(mujoco: Any, element: Any) -> Any:
    """The quaternion of an element, whichever way its orientation is written."""
    alternative, compiler = element.alt, element.compiler
    if int(alternative.type) == int(mujoco.mjtOrientation.mjORIENTATION_QUAT):
        return element.quat
    return mujoco.MjSpec.resolve_orientation(bool(compiler.degree), compiler.eulerseq, alternative)


def _keep_mesh_settings(reader: MjcfReader, index: int, spec: Any) -> None:
    """How MuJoCo makes hull, inertia and normals of a mesh."""
    if spec is None:
        return
    reader.keep("mesh", index, "maxhullvert", int(spec.maxhullvert), -1)
    reader.keep("mesh", index, "smoothnormal", bool(spec.smoothnormal), False)
    inertia = getattr(reader.mujoco, "mjtMeshInertia", None)
    if inertia is not None:
        reader.keep("mesh", index, "inertia", str(inertia(int(spec.inertia)).name)[15:].lower(), "legacy")


def _is_touched(model: Any, mesh: int) -> bool:
    """May a geom with the mesh touch others?"""
    used = np.asarray(model.geom_dataid) == mesh
    return bool(np.any(model.geom_contype[used] | model.geom_conaffinity[used]))


def _load_file(file: Path, gate: Gate, *, whole: bool) -> MeshData:
    """The mesh of a file in the triangles that MuJoCo makes of it; MuJoCo knows no materials and colours in it.

    ``whole`` keeps points without a face: they are in MuJoCo's hull, with which it touches.
    """
    data = replace(load_mesh(file, gate, whole=whole), subsets=(), colors=None)
    # a face that is not flat is another surface where readers of other formats cut it along the other diagonal
    return data if data.counts is None else _cut_faces(data)


def _cut_faces(data: MeshData) -> MeshData:
    numbers = cut_faces(data, with_holes=True).reshape(-1)
    indices = data.indices[numbers]

    def carry(values: Array | None) -> Array | None:
        if values is None or not len(values):
            return values
        # as many rows as points means one for each point, otherwise one for each corner
        is_pointwise = len(values) == len(data.vertices) != len(data.indices)
        carried: Array = values[indices if is_pointwise else numbers]
        return carried

    return replace(data, indices=indices, counts=None, normals=carry(data.normals), uvs=carry(data.uvs))


def _read_heightfield(reader: MjcfReader, index: int) -> Heightfield:
    """The height field asset ``index``; MuJoCo keeps heights between 0 and 1 of the elevation."""
    model = reader.model
    rows, columns = int(model.hfield_nrow[index]), int(model.hfield_ncol[index])
    start = int(model.hfield_adr[index])
    x, y, elevation, base = (float(v) for v in model.hfield_size[index])
    heights = np.array(model.hfield_data[start : start + rows * columns], dtype=np.float64) * elevation
    file = reader.source.files.get(("hfield", reader.name("hfield", index)))
    size = np.array((2.0 * x, 2.0 * y))
    return Heightfield(heights.reshape(rows, columns), size, base, source=str(file or ""))


def _read_data(model: Any, index: int, moved: Pose) -> MeshData:
    vertices = moved.apply(_read_rows(model, "vert", index).astype(np.float64))
    first, count = int(model.mesh_faceadr[index]), int(model.mesh_facenum[index])
    faces = np.array(model.mesh_face[first : first + count], dtype=np.int32)
    normals = _read_rows(model, "normal", index).astype(np.float64)
    corner_normals = np.array(model.mesh_facenormal[first : first + count])
    uvs = _read_rows(model, "texcoord", index).astype(np.float64)
    corner_uvs = np.array(model.mesh_facetexcoord[first : first + count])
    return MeshData(
        vertices,
        faces.reshape(-1),
        normals=quat_rotate(moved.q, normals)[corner_normals.reshape(-1)] if len(normals) else None,
        # MuJoCo counts v downwards, the model upwards
        uvs=(uvs * (1.0, -1.0) + (0.0, 1.0))[corner_uvs.reshape(-1)] if len(uvs) else None,
    )


def _read_rows(model: Any, what: str, index: int) -> Array:
    """Rows of one mesh in ``mesh_vert``, ``mesh_normal`` or ``mesh_texcoord``."""
    start = int(getattr(model, f"mesh_{what}adr")[index])
    count = int(getattr(model, f"mesh_{what}num")[index])
    rows: Array = np.array(
        getattr(model, f"mesh_{what}")[start : start + count] if count else np.zeros((0, 3))
    )
    return rows


_PRIMITIVES = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box")


def read_sites(reader: MjcfReader) -> None:
    """Sites in MuJoCo's order."""
    model = reader.model
    for index in range(reader.count("site")):
        kind = read_geom_type(reader, "site", index)
        site = Site(
            name=reader.name("site", index),
            body=reader.name("body", int(model.site_bodyid[index])),
            pose=Pose.of(model.site_pos[index], model.site_quat[index]),
            path=reader.key("site", index),
            source=reader.where("site", index),
        )
        data = int(reader.field("site_dataid", index, -1))
        if kind in _PRIMITIVES:
            site.geometry = make_primitive(kind, model.site_size[index])
        elif data >= 0:
            reader.keep("site", index, "mesh", reader.name("mesh", data))
        reader.asset.sites.append(site)
        reader.keep("site", index, "group", model.site_group[index], 0)
        reader.keep("site", index, "rgba", model.site_rgba[index], DEFAULT_RGBA)
        material = reader.name("material", int(model.site_matid[index]))
        reader.keep("site", index, "material", material, "")
        reader.keep_user("site", index, "site_user")
