# SPDX-License-Identifier: Apache-2.0
"""The looks that mesh files bring.

A mesh of another format may have materials in its file (OBJ, COLLADA, glTF): visuals that the source gives no look of
their own get those.
"""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

import numpy as np

from simwright.core.diag import Reporter, Where
from simwright.core.errors import InputError
from simwright.core.names import NameScope
from simwright.formats.mesh import load_mesh_materials
from simwright.formats.mjcf.writer.messages import LOOK_UNREADABLE
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Faces, Mesh, Subset
from simwright.model.material import RenderMaterial


def settle_looks(asset: Asset, reporter: Reporter) -> Asset:
    """The asset, or a copy with all looks it needs."""
    if asset.provenance.format == "mjcf":
        return asset
    twin = asset.copy()
    _Wardrobe(twin, reporter).dress()
    return twin


class _Wardrobe:
    """Materials of mesh files, each file opened once."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._reporter = reporter
        self._names = NameScope(material.name for material in asset.materials)
        self._own = {material.name for material in asset.materials}
        self._files: dict[str, dict[str, str]] = {}
        self._meshes: dict[tuple[int, bool], Mesh] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live

    def dress(self) -> None:
        """Every visual whose mesh has face sets: each set with a look that is known, or none."""
        for shape in self._asset.shapes:
            mesh = shape.geometry
            if shape.visual and isinstance(mesh, Mesh) and mesh.data.subsets:
                self._dress(shape, mesh)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        is_plain = bool(shape.material) or shape.color is not None
        key = (id(mesh), is_plain)
        if key not in self._meshes:
            self._kept.append(mesh)
            subsets = self._choose(mesh, is_plain)
            changed = dataclasses.replace(mesh.data, subsets=subsets)
            self._meshes[key] = Mesh(changed, source=mesh.source, file=mesh.file)
        shape.geometry = self._meshes[key]

    def _choose(self, mesh: Mesh, is_plain: bool) -> tuple[Subset, ...]:
        """The sets with a look; where the source gives the shape one, that of the file does not count."""
        result = []
        for subset in mesh.data.subsets:
            name: str | None = subset.material if subset.material in self._own else None
            if name is None and mesh.file and not is_plain:
                name = self._open(mesh.file).get(subset.material)
            if name and len(subset.faces):
                result.append(Subset(subset.name or name, subset.faces, name))
        return tuple(result)

    def _open(self, file: str) -> dict[str, str]:
        """Materials of a file: name there -> name in the asset."""
        if file in self._files:
            return self._files[file]
        found = self._files[file] = {}
        try:
            materials = load_mesh_materials(file)
        except InputError as error:
            where = error.where or Where(file)
            self._reporter.report(LOOK_UNREADABLE, where, file=PurePath(file).name, why=error.message)
            return found
        for material in materials:
            name = material.name
            material.opacity = (
                material.opacity if material.opacity > 0.0 else 1.0
            )  # exporters disagree what 0 means
            twin = next((m for m in self._asset.materials if _is_same(m, material)), None)
            if twin is None:
                material.name = self._names.claim(name or "material")
                self._asset.materials.append(material)
                twin = material
            found[name] = twin.name
        return found


def _is_same(a: RenderMaterial, b: RenderMaterial) -> bool:
    """Equal looks under one name, from two files of one robot."""
    return a.name == b.name and dataclasses.replace(a, source=b.source) == b


def list_uncovered(mesh: Mesh) -> Faces:
    """Faces that are in no set."""
    covered = np.zeros(mesh.data.face_count, dtype=bool)
    for subset in mesh.data.subsets:
        covered[subset.faces] = True
    rest: Faces = np.flatnonzero(~covered).astype(np.int32)
    return rest
