# SPDX-License-Identifier: Apache-2.0
"""Meshes: one for each geometry and look, shared by all nodes that show it (REP-0158 3.5).

A mesh has a primitive for each look of its face sets.  Where it is asked for, numbers are stored in few bits
(KHR_mesh_quantization): points as 16-bit integers over the mesh's bounds, which the node scales back.

glTF has nothing but meshes, so boxes, spheres and the like become triangles, with normals and texture coordinates.
Round bodies have edges of at most ten degrees; texture coordinates go once round, once up, and over every face of a box
and every disc.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import InputError
from simwright.core.math3d import Array
from simwright.formats.gltf.document import GltfDocument
from simwright.formats.gltf.materials import DEFAULT, MaterialUse
from simwright.formats.gltf.messages import COLORS_HIDDEN, COORDINATES_MISSING, GEOMETRY_LEFT_OUT
from simwright.formats.gltf.vertices import INDICES, VERTICES, PrimitiveInputs, TriangulatedMesh, Vertices
from simwright.formats.parts.coordinates import cover, find_made_texture
from simwright.model.asset import Shape
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    MeshData,
    Plane,
    Polyline,
    Sphere,
)
from simwright.model.material import RenderMaterial
from simwright.model.moments import outline_solid

Faces = npt.NDArray[Any]
Names = tuple[str, ...]
"""A look and, where there are variants, the look in each."""
_SHORT, _BYTE, _USHORT = 32767.0, 127.0, 65535.0
_QUANTIZED = "KHR_mesh_quantization"
_VARIANTS = "KHR_materials_variants"


@dataclass(frozen=True, slots=True, eq=False)
class GltfMesh:
    """A mesh of the document; the points of its shape are ``origin + unit * stored``.

    Primitives are stretched ones of unit size, so that all boxes of a look are one mesh.
    """

    number: int
    origin: Array
    unit: Array


class GltfMeshLibrary:
    """The meshes of the document."""

    def __init__(self, gltf: GltfDocument) -> None:
        self._gltf = gltf
        self._looks = {material.name: material for material in gltf.asset.materials}
        self._colors: dict[tuple[float, ...], RenderMaterial] = {}
        self._stored: dict[tuple[object, ...], GltfMesh | None] = {}
        self._triangulated: dict[int, TriangulatedMesh | None] = {}
        self._kept: list[Geometry] = []  # their ids are keys, so they must live
        self._covers: dict[tuple[object, ...], Mesh | None] = {}
        self._bare: dict[str, int] = {}
        self._hidden: list[str] = []

    def find(self, shape: Shape) -> GltfMesh | None:
        """The mesh a shape shows; None (reported) if it has no triangles."""
        # All boxes of one look are one mesh; the node stretches it.
        geometry, size = self._cover(shape) or find_unit(shape.geometry)
        key = (id(geometry), *self._identify(shape))
        if key not in self._stored:
            self._kept.append(geometry)
            self._stored[key] = self._store(shape, geometry)
        stored = self._stored[key]
        if stored is None or geometry is shape.geometry:
            return stored
        return GltfMesh(stored.number, stored.origin * size, stored.unit * size)

    def _cover(self, shape: Shape) -> tuple[Geometry, Array] | None:
        """A primitive that wears an image, with the texture coordinates of it; None where there is no image."""
        texture = find_made_texture(self._looks.get(shape.material))
        if texture is None or isinstance(shape.geometry, Mesh):
            return None
        key = (id(shape.geometry), texture.uv_set, texture.scale)
        if key not in self._covers:
            self._kept.append(shape.geometry)
            data = cover(shape.geometry, texture, GROUND)
            self._covers[key] = None if data is None else Mesh(data)
        mesh = self._covers[key]
        return None if mesh is None else (mesh, np.ones(3))

    def report(self) -> None:
        """Findings about meshes, one of each sort."""
        report = self._gltf.reporter.report
        for name, count in self._bare.items():
            report(COORDINATES_MISSING, self._looks[name].source, name=name, count=count)
        if self._hidden:
            report(COLORS_HIDDEN, count=len(self._hidden), first=self._hidden[0])

    def _identify(self, shape: Shape) -> tuple[object, ...]:
        choices = tuple(
            tuple(
                sorted((part, look) for (name, part), look in variant.materials.items() if name == shape.name)
            )
            for variant in self._gltf.asset.look_variants
        )
        # A material hides the colour of a shape, so shapes that differ only there share a mesh.
        color = None if shape.material else shape.color
        return shape.material, color, shape.double_sided, choices

    def _store(self, shape: Shape, geometry: Geometry) -> GltfMesh | None:
        triangulated = self._cut(shape, geometry)
        if triangulated is None:
            return None
        low, high = triangulated.data.vertices.min(axis=0), triangulated.data.vertices.max(axis=0)
        origin, unit = np.zeros(3), np.ones(3)
        if self._gltf.options.quantize:
            # One unit for all axes: stretched normals would have to be corrected.
            origin, unit = (low + high) / 2.0, np.full(3, float((high - low).max()) / 2.0 or 1.0)
        primitives = []
        for names, faces in self._list_parts(shape, triangulated):
            row = self._write_primitive(shape, triangulated, names, faces, GltfMesh(0, origin, unit))
            if row is not None:
                primitives.append(row)
        if not primitives:
            self._refuse(shape, "it has no triangles")
            return None
        meshes = self._gltf.meshes
        name = shape.name if geometry is shape.geometry else geometry.kind
        meshes.append({"name": name, "primitives": primitives})
        return GltfMesh(len(meshes) - 1, origin, unit)

    def _cut(self, shape: Shape, geometry: Geometry) -> TriangulatedMesh | None:
        key = id(geometry)
        if key not in self._triangulated:
            try:
                data = make_mesh(geometry)
            except InputError as error:
                self._refuse(shape, error.message)
                self._triangulated[key] = None
                return None
            has_faces = data is not None and len(data.vertices) > 0 and data.face_count > 0
            self._triangulated[key] = TriangulatedMesh(data) if data is not None and has_faces else None
            if not has_faces:
                self._refuse(shape, "it is empty")
        return self._triangulated[key]

    def _refuse(self, shape: Shape, why: str) -> None:
        kind = shape.geometry.kind
        self._gltf.reporter.report(GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why)

    def _list_parts(self, shape: Shape, triangulated: TriangulatedMesh) -> list[tuple[Names, Faces | None]]:
        """Faces by look; a face in several sets is in the first."""
        parts: dict[Names, list[Faces]] = {}
        free = np.ones(triangulated.data.face_count, dtype=bool)
        for subset in triangulated.data.subsets:
            names = self._choose(shape, subset.name, subset.material)
            if any(name in self._looks for name in names) and len(subset.faces):
                parts.setdefault(names, []).append(subset.faces[free[subset.faces]])
                free[subset.faces] = False
        own = self._choose(shape, "", shape.material)
        if not parts:
            return [(own, None)]
        if free.any():
            parts.setdefault(own, []).append(np.flatnonzero(free))
        return [(names, np.concatenate(faces)) for names, faces in parts.items()]

    def _choose(self, shape: Shape, part: str, look: str) -> Names:
        variants = self._gltf.asset.look_variants
        return look, *(variant.materials.get((shape.name, part), look) for variant in variants)

    def _write_primitive(
        self,
        shape: Shape,
        triangulated: TriangulatedMesh,
        names: Names,
        faces: Faces | None,
        stored: GltfMesh,
    ) -> dict[str, Any] | None:
        # One function: the looks decide what the vertices need, and both decide which materials are made.
        looks = [self._find_look(shape, triangulated, name) for name in names]
        uv_names = self._list_uvs(triangulated, looks)
        colored = [_is_colored(triangulated, look) for look in looks]
        if triangulated.data.colors is not None and not any(colored):
            self._hidden.append(shape.name)
        normal = next((t for t in map(self._find_normal, looks) if t is not None and t in uv_names), None)
        needs = PrimitiveInputs(uv_names, any(colored), None if normal is None else uv_names.index(normal))
        vertices = triangulated.make(faces, needs)
        if vertices is None:
            return None
        attributes, indices = self._write_vertices(vertices, stored)
        numbers = [
            self._gltf.materials.find(look, MaterialUse(uv_names, shape.double_sided, is_colored))
            for look, is_colored in zip(looks, colored, strict=True)
        ]
        row: dict[str, Any] = {"attributes": attributes, "indices": indices, "material": numbers[0]}
        # Variants that end in the same material need no mapping.
        if len(set(numbers)) > 1:
            mappings: dict[int, list[int]] = {}
            for variant, number in enumerate(numbers[1:]):
                mappings.setdefault(number, []).append(variant)
            rows = [{"material": number, "variants": variants} for number, variants in mappings.items()]
            self._gltf.extend(row, _VARIANTS, {"mappings": rows})
        return row

    def _find_look(self, shape: Shape, triangulated: TriangulatedMesh, name: str) -> RenderMaterial:
        if name in self._looks:
            return self._looks[name]
        if shape.color is not None:
            red, green, blue, alpha = shape.color
            if shape.color not in self._colors:
                text = "".join(f"{round(min(max(v, 0.0), 1.0) * 255):02x}" for v in shape.color)
                self._colors[shape.color] = RenderMaterial(
                    f"color_{text}", diffuse=(red, green, blue), opacity=alpha
                )
            return self._colors[shape.color]
        if triangulated.data.colors is not None:
            return self._colors.setdefault((), RenderMaterial("vertex_colors", vertex_colors=True))
        return DEFAULT

    def _list_uvs(self, triangulated: TriangulatedMesh, looks: list[RenderMaterial]) -> tuple[str, ...]:
        """Texture coordinates that the looks read and the mesh has."""
        wanted: dict[str, None] = {}
        for look in looks:
            # Only what is read: sets that no image uses would be dead weight.
            names = {t.uv_set for t in self._gltf.materials.list_textures(look).values()}
            missing = [name for name in names if triangulated.find_uvs(name) is None]
            if missing:
                self._bare[look.name] = self._bare.get(look.name, 0) + 1
            wanted.update(dict.fromkeys(sorted(names - set(missing))))
        # The mesh's own set is TEXCOORD_0, which viewers without support for others show.
        return tuple(sorted(wanted, key=lambda name: (name != triangulated.data.uv_name, name)))

    def _find_normal(self, look: RenderMaterial) -> str | None:
        texture = self._gltf.materials.list_textures(look).get("normal")
        return None if texture is None else texture.uv_set

    def _write_vertices(self, vertices: Vertices, stored: GltfMesh) -> tuple[dict[str, int], int]:
        add, small = self._gltf.buffer.add, self._gltf.options.quantize
        kind = np.uint16 if len(vertices.points) <= _USHORT else np.uint32
        indices = add(vertices.triangles.reshape(-1).astype(kind), INDICES)
        if small:
            self._gltf.used.add(_QUANTIZED)
            # Required: a viewer that does not know it would show integers as metres.
            self._gltf.required.add(_QUANTIZED)
            return _write_small(self._gltf, vertices, stored), indices
        attributes = {
            "POSITION": add(vertices.points.astype(np.float32), VERTICES, bounds=True),
            "NORMAL": add(vertices.normals, VERTICES),
        }
        if vertices.tangents is not None:
            attributes["TANGENT"] = add(vertices.tangents, VERTICES)
        for number, rows in enumerate(vertices.uvs):
            attributes[f"TEXCOORD_{number}"] = add(rows, VERTICES)
        if vertices.colors is not None:
            attributes["COLOR_0"] = add(vertices.colors, VERTICES)
        return attributes, indices


def _is_colored(triangulated: TriangulatedMesh, look: RenderMaterial) -> bool:
    return look.vertex_colors and triangulated.data.colors is not None


def _write_small(gltf: GltfDocument, vertices: Vertices, stored: GltfMesh) -> dict[str, int]:
    add = gltf.buffer.add
    # Normalized integers stand for -1 to 1, so the unit of the mesh is half its longest side.
    points = np.rint((vertices.points - stored.origin) / stored.unit * _SHORT)
    attributes = {
        "POSITION": add(points.astype(np.int16), VERTICES, bounds=True, scaled=True),
        "NORMAL": add(np.rint(vertices.normals * _BYTE).astype(np.int8), VERTICES, scaled=True),
    }
    if vertices.tangents is not None:
        attributes["TANGENT"] = add(np.rint(vertices.tangents * _BYTE).astype(np.int8), VERTICES, scaled=True)
    for number, rows in enumerate(vertices.uvs):
        # Unsigned integers cannot say coordinates of a repeated texture.
        is_inside = bool(((rows >= 0.0) & (rows <= 1.0)).all())
        attributes[f"TEXCOORD_{number}"] = (
            add(np.rint(rows * _USHORT).astype(np.uint16), VERTICES, scaled=True)
            if is_inside
            else add(rows, VERTICES)
        )
    if vertices.colors is not None:
        colors = np.rint(vertices.colors * _USHORT).astype(np.uint16)
        attributes["COLOR_0"] = add(colors, VERTICES, scaled=True)
    return attributes


_SIDES = 36
_RINGS = 18
GROUND = 20.0
"""Edge length of a plane without end [m]."""
_BOX, _BALL, _COLUMN, _CONE = Box.of(1.0, 1.0, 1.0), Sphere(1.0), Cylinder(1.0, 1.0), Cone(1.0, 1.0)
_CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def find_unit(geometry: Geometry) -> tuple[Geometry, Array]:
    """The one primitive that all of a kind are, and what it is stretched by; others are their own."""
    match geometry:
        case Box():
            return _BOX, np.asarray(geometry.size, dtype=np.float64)
        case Sphere():
            return _BALL, np.full(3, float(geometry.radius))
        case Ellipsoid():
            return _BALL, np.asarray(geometry.radii, dtype=np.float64)
        case Cylinder():
            return _COLUMN, np.array((geometry.radius, geometry.radius, geometry.length), dtype=np.float64)
        case Cone():
            return _CONE, np.array((geometry.radius, geometry.radius, geometry.length), dtype=np.float64)
        case _:
            return geometry, np.ones(3)


def make_mesh(geometry: Geometry) -> MeshData | None:
    """The mesh of any geometry; None for one that has none."""
    match geometry:
        case Mesh():
            return geometry.data
        case Box():
            return _make_box(geometry.size)
        case Plane():
            size = (GROUND, GROUND) if geometry.size is None else geometry.size
            return _make_sheet(float(size[0]), float(size[1]))
        case Sphere():
            return _make_profile(_list_ball(geometry.radius, 0.0))
        case Ellipsoid():
            return _stretch(_make_profile(_list_ball(1.0, 0.0)), np.asarray(geometry.radii, dtype=float))
        case Capsule():
            return _make_profile(_list_ball(geometry.radius, geometry.length / 2.0))
        case Cylinder():
            return _make_profile(_list_column(geometry.radius, geometry.radius, geometry.length / 2.0))
        case Cone():
            return _make_profile(_list_column(geometry.radius, 0.0, geometry.length / 2.0))
        case Heightfield():
            return _make_terrain(geometry)
        case Polyline():
            return _extrude(geometry)


def _make_box(size: Array) -> MeshData:
    points, normals = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            normal = np.zeros(3)
            normal[axis] = side
            u, v = np.zeros(3), np.zeros(3)
            u[(axis + 1) % 3], v[(axis + 2) % 3] = side, 1.0
            points += [normal + x * u + y * v for x, y in _CORNERS]
            normals += [normal] * 4
    uvs = np.tile((np.array(_CORNERS) + 1.0) / 2.0, (6, 1))
    starts = np.arange(6, dtype=np.int32)[:, None] * 4
    faces = (starts + np.array((0, 1, 2, 0, 2, 3), dtype=np.int32)).reshape(-1)
    return MeshData(np.array(points) * (np.asarray(size) / 2.0), faces, normals=np.array(normals), uvs=uvs)


def _make_sheet(x: float, y: float) -> MeshData:
    points = np.array([(u * x / 2.0, v * y / 2.0, 0.0) for u, v in _CORNERS])
    faces = np.array((0, 1, 2, 0, 2, 3), dtype=np.int32)
    normals = np.tile((0.0, 0.0, 1.0), (4, 1))
    return MeshData(points, faces, normals=normals, uvs=(np.array(_CORNERS) + 1.0) / 2.0)


def _list_ball(radius: float, half: float) -> list[tuple[float, ...]]:
    """A profile from the lower to the upper pole: distance from the axis, height, outward direction, v."""
    angles = [math.pi * (k / _RINGS - 0.5) for k in range(_RINGS + 1)]
    middle = _RINGS // 2
    lower = [(a, -half) for a in angles[: middle + 1]]
    upper = [(a, half) for a in (angles[middle:] if half else angles[middle + 1 :])]
    total = 2.0 * half + math.pi * radius
    return [
        (
            0.0 if abs(a) == math.pi / 2 else radius * math.cos(a),
            h + radius * math.sin(a),
            math.cos(a),
            math.sin(a),
            (radius * (a + math.pi / 2) + (h + half)) / total,
        )
        for a, h in (*lower, *upper)
    ]


def _list_column(bottom: float, top: float, half: float) -> list[tuple[float, ...]]:
    """The same for a cylinder or a cone: pairs of rows where the direction jumps."""
    slope = math.atan2(bottom - top, 2.0 * half)
    out = (math.cos(slope), math.sin(slope))
    rows: list[tuple[float, ...]] = [(0.0, -half, 0.0, -1.0, 0.0), (bottom, -half, 0.0, -1.0, 1.0)]
    rows += [(bottom, -half, *out, 0.0), (top, half, *out, 1.0)]
    if top > 0.0:
        rows += [(top, half, 0.0, 1.0, 0.0), (0.0, half, 0.0, 1.0, 1.0)]
    return rows


def _make_profile(rows: list[tuple[float, ...]]) -> MeshData:
    """A profile turned about Z."""
    turn = np.linspace(0.0, 2.0 * math.pi, _SIDES + 1)
    cos, sin = np.cos(turn), np.sin(turn)
    # The seam is closed exactly: sin(2 pi) is not 0 in floating point.
    cos[-1], sin[-1] = cos[0], sin[0]
    profile = np.array(rows)
    radius, height, out, up, v = profile.T[:, :, None]
    flat = np.broadcast_to
    shape = (len(rows), _SIDES + 1)
    points = np.stack((radius * cos, radius * sin, flat(height, shape)), axis=-1).reshape(-1, 3)
    normals = np.stack((out * cos, out * sin, flat(up, shape)), axis=-1).reshape(-1, 3)
    uvs = np.stack((flat(turn / (2.0 * math.pi), shape), flat(v, shape)), axis=-1).reshape(-1, 2)
    row, side = np.meshgrid(np.arange(len(rows) - 1), np.arange(_SIDES), indexing="ij")
    a = (row * (_SIDES + 1) + side).reshape(-1)
    b, c, d = a + 1, a + _SIDES + 2, a + _SIDES + 1
    # At a pole one of the two triangles of a quad has no area.
    low, high = profile[:-1, 0].repeat(_SIDES), profile[1:, 0].repeat(_SIDES)
    jumps = (np.diff(profile[:, 0]) == 0.0) & (np.diff(profile[:, 1]) == 0.0)
    is_face = ~jumps.repeat(_SIDES)
    first = np.stack((a, b, c), axis=1)[is_face & (low > 0.0)]
    second = np.stack((a, c, d), axis=1)[is_face & (high > 0.0)]
    faces = np.concatenate((first, second)).astype(np.int32).reshape(-1)
    return MeshData(points, faces, normals=normals, uvs=uvs)


def _stretch(data: MeshData, radii: Array) -> MeshData:
    assert data.normals is not None
    # Normals scale by the inverse of the radii.
    safe = np.maximum(np.abs(radii), 1e-12)
    return MeshData(data.vertices * radii, data.indices, normals=data.normals / safe, uvs=data.uvs)


def _make_terrain(field: Heightfield) -> MeshData:
    rows, columns = field.heights.shape
    x = np.linspace(-0.5, 0.5, columns) * field.size[0]
    y = np.linspace(-0.5, 0.5, rows) * field.size[1]
    points = np.stack((*np.meshgrid(x, y), field.heights), axis=-1).reshape(-1, 3)
    uvs = np.stack(np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows)), axis=-1).reshape(-1, 2)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.stack((a, a + 1, a + columns + 1, a, a + columns + 1, a + columns), axis=1)
    return MeshData(points, faces.astype(np.int32).reshape(-1), uvs=uvs, smooth=True)


def _extrude(outline: Polyline) -> MeshData | None:
    solid = outline_solid(outline)
    return None if solid is None else MeshData(solid[0], solid[1].reshape(-1))
