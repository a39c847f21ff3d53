# SPDX-License-Identifier: Apache-2.0
"""Looks made ready for UsdPreviewSurface: materials of mesh files (REP-0158 3.1).

A visual without a material of its own has those of its mesh file (OBJ with MTL, COLLADA, glTF), one for each face
set.  Images keep their values, and say ``sRGB`` where they are pictures.  Highlights of the Phong model (specular
colours of MTL and COLLADA) have no counterpart: a specular colour of UsdPreviewSurface would make metal of them.
Shininess becomes roughness.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from simwright.core.diag import Reporter, Where
from simwright.core.errors import InputError
from simwright.core.names import NameScope
from simwright.formats.mesh import load_mesh_materials
from simwright.formats.usd.writer.messages import LOOK_HIGHLIGHTS, LOOK_UNREADABLE
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh, MeshData, Subset
from simwright.model.material import RenderMaterial

_METALLIC_MESHES = frozenset({".gltf", ".glb"})
"""Files whose specular colours are no Phong highlights."""


def settle_looks(asset: Asset, reporter: Reporter) -> None:
    """Complete the looks of an asset that may be changed."""
    _Wardrobe(asset, reporter).dress()


class _Wardrobe:
    """Materials of mesh files, each file opened once."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._reporter = reporter
        self._names = NameScope(material.name for material in asset.materials)
        self._known = {material.name for material in asset.materials}
        self._files: dict[str, dict[str, str]] = {}
        self._meshes: dict[tuple[int, bool], tuple[Mesh, str]] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live
        self._dimmed: list[RenderMaterial] = []

    def dress(self) -> None:
        """Every visual whose mesh has face sets that the asset knows no looks of."""
        for shape in self._asset.shapes:
            geometry = shape.geometry
            if shape.visual and isinstance(geometry, Mesh) and geometry.file:
                subsets = geometry.data.subsets
                if subsets and not any(subset.material in self._known for subset in subsets):
                    self._dress(shape, geometry)
        if self._dimmed:
            first = self._dimmed[0]
            count = len(self._dimmed)
            self._reporter.report(LOOK_HIGHLIGHTS, first.source, count=count, first=first.name)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        """The looks of the file, or none of its own where the source gives the shape one."""
        is_plain = bool(shape.material) or shape.color is not None
        key = (id(mesh), is_plain)
        if key not in self._meshes:
            self._kept.append(mesh)
            data, look = mesh.data, ""
            changed = (
                dataclasses.replace(data, subsets=())
                if is_plain
                else self._rename(data, self._open(mesh.file))
            )
            if len(changed.subsets) == 1 and len(changed.subsets[0].faces) == data.face_count:
                look = changed.subsets[0].material  # one look for all of it needs no face set
                changed = dataclasses.replace(data, subsets=())
            self._meshes[key] = Mesh(changed, source=mesh.source, file=mesh.file), look
        shape.geometry, look = self._meshes[key]
        shape.material = shape.material or look

    def _rename(self, data: MeshData, looks: dict[str, str]) -> MeshData:
        subsets = tuple(
            Subset(subset.name, subset.faces, looks[subset.material])
            for subset in data.subsets
            if subset.material in looks
        )
        return dataclasses.replace(data, subsets=subsets)

    def _open(self, file: str) -> dict[str, str]:
        """Materials of a file: name there -> name in the asset."""
        if file in self._files:
            return self._files[file]
        found = self._files[file] = {}
        try:
            materials = load_mesh_materials(file)
        except InputError as error:
            where = error.where or Where(file)
            self._reporter.report(LOOK_UNREADABLE, where, file=Path(file).name, why=error.message)
            return found
        for material in materials:
            name = material.name
            if material.opacity <= 0.0:  # exporters disagree what 0 means; nobody draws a part to hide it
                material.opacity = 1.0
            if Path(file).suffix.lower() not in _METALLIC_MESHES:
                self._dim(material)
            twin = next((m for m in self._asset.materials if _is_same(m, material)), None)
            if twin is None:
                material.name = self._names.claim(name or "material")
                self._asset.materials.append(material)
                twin = material
            found[name] = twin.name
        return found

    def _dim(self, material: RenderMaterial) -> None:
        picture = material.textures.pop("specular", None)
        if picture is not None or (material.specular is not None and any(material.specular)):
            self._dimmed.append(material)
        material.specular = None


def _is_same(a: RenderMaterial, b: RenderMaterial) -> bool:
    """Equal looks under one name, from two files of one robot."""
    return a.name == b.name and dataclasses.replace(a, source=b.source) == b
