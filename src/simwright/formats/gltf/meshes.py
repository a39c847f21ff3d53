# SPDX-License-Identifier: Apache-2.0
"""Meshes: one for each geometry and look, shared by all nodes that show it (REP-0158 3.5).

A mesh has a primitive for each look of its face sets.  Where it is asked for, numbers are stored in few bits
(KHR_mesh_quantization): points as 16-bit integers over the mesh's bounds, which the node scales back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import InputError
from simwright.core.math3d import Array
from simwright.formats.gltf.buffer import INDICES, VERTICES
from simwright.formats.gltf.draft import Draft
from simwright.formats.gltf.materials import DEFAULT, Wearer
from simwright.formats.gltf.messages import COLORS_HIDDEN, COORDINATES_MISSING, GEOMETRY_LEFT_OUT
from simwright.formats.gltf.solids import find_unit, make_mesh
from simwright.formats.gltf.vertices import Cutter, Needs, Vertices
from simwright.model.asset import Shape
from simwright.model.geometry import Geometry
from simwright.model.material import RenderMaterial

Faces = npt.NDArray[Any]
Names = tuple[str, ...]
"""A look and, where there are variants, the look in each."""
_SHORT, _BYTE, _USHORT = 32767.0, 127.0, 65535.0
_QUANTIZED = "KHR_mesh_quantization"
_VARIANTS = "KHR_materials_variants"


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A mesh of the document; the points of its shape are ``origin + unit * stored``.

    Primitives are stretched ones of unit size, so that all boxes of a look are one mesh.
    """

    number: int
    origin: Array
    unit: Array


class Library:
    """The meshes of the document."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._looks = {material.name: material for material in draft.asset.materials}
        self._colors: dict[tuple[float, ...], RenderMaterial] = {}
        self._stored: dict[tuple[object, ...], Stored | None] = {}
        self._cutters: dict[int, Cutter | None] = {}
        self._kept: list[Geometry] = []  # their ids are keys, so they must live
        self._bare: dict[str, int] = {}
        self._hidden: list[str] = []

    def find(self, shape: Shape) -> Stored | None:
        """The mesh a shape shows; None (reported) if it has no triangles."""
        geometry, size = find_unit(shape.geometry)
        key = (id(geometry), *self._identify(shape))
        if key not in self._stored:
            self._kept.append(geometry)
            self._stored[key] = self._store(shape, geometry)
        stored = self._stored[key]
        if stored is None or geometry is shape.geometry:
            return stored
        return Stored(stored.number, stored.origin * size, stored.unit * size)

    def report(self) -> None:
        """Findings about meshes, one of each sort."""
        report = self._draft.reporter.report
        for name, count in self._bare.items():
            report(COORDINATES_MISSING, self._looks[name].source, name=name, count=count)
        if self._hidden:
            report(COLORS_HIDDEN, count=len(self._hidden), first=self._hidden[0])

    def _identify(self, shape: Shape) -> tuple[object, ...]:
        choices = tuple(
            tuple(
                sorted((part, look) for (name, part), look in variant.materials.items() if name == shape.name)
            )
            for variant in self._draft.asset.look_variants
        )
        color = None if shape.material else shape.color
        return shape.material, color, shape.double_sided, choices

    def _store(self, shape: Shape, geometry: Geometry) -> Stored | None:
        cutter = self._cut(shape, geometry)
        if cutter is None:
            return None
        low, high = cutter.data.vertices.min(axis=0), cutter.data.vertices.max(axis=0)
        origin, unit = np.zeros(3), np.ones(3)
        if self._draft.options.quantize:
            origin, unit = (low + high) / 2.0, np.full(3, float((high - low).max()) / 2.0 or 1.0)
        primitives = []
        for names, faces in self._list_parts(shape, cutter):
            row = self._write_primitive(shape, cutter, names, faces, Stored(0, origin, unit))
            if row is not None:
                primitives.append(row)
        if not primitives:
            self._refuse(shape, "it has no triangles")
            return None
        meshes = self._draft.meshes
        name = shape.name if geometry is shape.geometry else geometry.kind
        meshes.append({"name": name, "primitives": primitives})
        return Stored(len(meshes) - 1, origin, unit)

    def _cut(self, shape: Shape, geometry: Geometry) -> Cutter | None:
        key = id(geometry)
        if key not in self._cutters:
            try:
                data = make_mesh(geometry)
            except InputError as error:
                self._refuse(shape, error.message)
                self._cutters[key] = None
                return None
            has_faces = data is not None and len(data.vertices) > 0 and data.face_count > 0
            self._cutters[key] = Cutter(data) if data is not None and has_faces else None
            if not has_faces:
                self._refuse(shape, "it is empty")
        return self._cutters[key]

    def _refuse(self, shape: Shape, why: str) -> None:
        kind = shape.geometry.kind
        self._draft.reporter.report(GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why)

    def _list_parts(self, shape: Shape, cutter: Cutter) -> list[tuple[Names, Faces | None]]:
        """Faces by look; a face in several sets is in the first."""
        parts: dict[Names, list[Faces]] = {}
        free = np.ones(cutter.data.face_count, dtype=bool)
        for subset in cutter.data.subsets:
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
        variants = self._draft.asset.look_variants
        return look, *(variant.materials.get((shape.name, part), look) for variant in variants)

    def _write_primitive(
        self, shape: Shape, cutter: Cutter, names: Names, faces: Faces | None, stored: Stored
    ) -> dict[str, Any] | None:
        looks = [self._find_look(shape, cutter, name) for name in names]
        uv_names = self._list_uvs(cutter, looks)
        colored = [_is_colored(cutter, look) for look in looks]
        if cutter.data.colors is not None and not any(colored):
            self._hidden.append(shape.name)
        normal = next((t for t in map(self._find_normal, looks) if t is not None and t in uv_names), None)
        needs = Needs(uv_names, any(colored), None if normal is None else uv_names.index(normal))
        vertices = cutter.make(faces, needs)
        if vertices is None:
            return None
        attributes, indices = self._write_vertices(vertices, stored)
        numbers = [
            self._draft.materials.find(look, Wearer(uv_names, shape.double_sided, is_colored))
            for look, is_colored in zip(looks, colored, strict=True)
        ]
        row: dict[str, Any] = {"attributes": attributes, "indices": indices, "material": numbers[0]}
        if len(set(numbers)) > 1:
            mappings: dict[int, list[int]] = {}
            for variant, number in enumerate(numbers[1:]):
                mappings.setdefault(number, []).append(variant)
            rows = [{"material": number, "variants": variants} for number, variants in mappings.items()]
            self._draft.extend(row, _VARIANTS, {"mappings": rows})
        return row

    def _find_look(self, shape: Shape, cutter: Cutter, name: str) -> RenderMaterial:
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
        if cutter.data.colors is not None:
            return self._colors.setdefault((), RenderMaterial("vertex_colors", vertex_colors=True))
        return DEFAULT

    def _list_uvs(self, cutter: Cutter, looks: list[RenderMaterial]) -> tuple[str, ...]:
        """Texture coordinates that the looks read and the mesh has."""
        wanted: dict[str, None] = {}
        for look in looks:
            names = {t.uv_set for t in self._draft.materials.list_textures(look).values()}
            missing = [name for name in names if cutter.find_uvs(name) is None]
            if missing:
                self._bare[look.name] = self._bare.get(look.name, 0) + 1
            wanted.update(dict.fromkeys(sorted(names - set(missing))))
        return tuple(sorted(wanted, key=lambda name: (name != cutter.data.uv_name, name)))

    def _find_normal(self, look: RenderMaterial) -> str | None:
        texture = self._draft.materials.list_textures(look).get("normal")
        return None if texture is None else texture.uv_set

    def _write_vertices(self, vertices: Vertices, stored: Stored) -> tuple[dict[str, int], int]:
        add, small = self._draft.buffer.add, self._draft.options.quantize
        kind = np.uint16 if len(vertices.points) <= _USHORT else np.uint32
        indices = add(vertices.triangles.reshape(-1).astype(kind), INDICES)
        if small:
            self._draft.used.add(_QUANTIZED)
            self._draft.required.add(_QUANTIZED)
            return _write_small(self._draft, vertices, stored), indices
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


def _is_colored(cutter: Cutter, look: RenderMaterial) -> bool:
    return look.vertex_colors and cutter.data.colors is not None


def _write_small(draft: Draft, vertices: Vertices, stored: Stored) -> dict[str, int]:
    add = draft.buffer.add
    points = np.rint((vertices.points - stored.origin) / stored.unit * _SHORT)
    attributes = {
        "POSITION": add(points.astype(np.int16), VERTICES, bounds=True, scaled=True),
        "NORMAL": add(np.rint(vertices.normals * _BYTE).astype(np.int8), VERTICES, scaled=True),
    }
    if vertices.tangents is not None:
        attributes["TANGENT"] = add(np.rint(vertices.tangents * _BYTE).astype(np.int8), VERTICES, scaled=True)
    for number, rows in enumerate(vertices.uvs):
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
