# SPDX-License-Identifier: Apache-2.0
"""The looks that mesh files bring: materials of OBJ, COLLADA and glTF files, taken into the asset.

A visual without a look of its own has those of its mesh file, one for each face set.  Which shapes want them, and
what becomes of their face sets, is for each format to say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import PurePath

import numpy as np

from simwright.core.diag import Kind, Reporter, Where
from simwright.core.errors import InputError
from simwright.core.names import NameScope
from simwright.formats.mesh import load_mesh_materials
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Faces, Mesh, MeshData, Subset
from simwright.model.material import RenderMaterial

_METALLIC_FILES = frozenset({".gltf", ".glb"})
"""Files whose specular colours are no Phong highlights."""


class FileLooks:
    """Materials of mesh files, each file opened once; equal ones of several files are taken once.

    ``unreadable`` is the kind of finding for files whose materials cannot be read: it has ``file`` and ``why``.
    Without ``highlights``, specular colours of the Phong model are left out; :meth:`report_dimmed` says so.
    """

    def __init__(
        self, asset: Asset, reporter: Reporter, unreadable: Kind, *, highlights: bool = False
    ) -> None:
        self.own = frozenset(material.name for material in asset.materials)
        """Names of the looks that the asset has without its mesh files."""
        self._materials = asset.materials
        self._reporter = reporter
        self._unreadable = unreadable
        self._highlights = highlights
        self._names = NameScope(material.name for material in asset.materials)
        self._files: dict[str, dict[str, str]] = {}
        self._dimmed: list[RenderMaterial] = []

    def take(self, mesh: Mesh) -> Mapping[str, str]:
        """Materials of a mesh file: name there -> name in the asset."""
        file = mesh.file
        if file not in self._files:
            self._files[file] = {}
            for material in self._load(mesh):
                name = material.name
                self._files[file][name] = self._adopt(file, material)
        return self._files[file]

    def report_dimmed(self, kind: Kind) -> None:
        """Report looks without their highlights, once; the kind has ``count`` and ``first``."""
        if self._dimmed:
            first = self._dimmed[0]
            self._reporter.report(kind, first.source, count=len(self._dimmed), first=first.name)

    def _load(self, mesh: Mesh) -> list[RenderMaterial]:
        file = mesh.file
        try:
            return list(load_mesh_materials(file, mesh.gate))
        except InputError as error:
            where = error.where or Where(file)
            self._reporter.report(self._unreadable, where, file=PurePath(file).name, why=error.message)
            return []

    def _adopt(self, file: str, material: RenderMaterial) -> str:
        if material.opacity <= 0.0:  # exporters disagree what 0 means; nobody draws a part to hide it
            material.opacity = 1.0
        if not self._highlights and PurePath(file).suffix.lower() not in _METALLIC_FILES:
            self._dim(material)
        # Parts of one robot are exported with the same materials again and again.
        twin = next((m for m in self._materials if _is_same(m, material)), None)
        if twin is not None:
            return twin.name
        material.name = self._names.claim(material.name or "material")
        self._materials.append(material)
        return material.name

    def _dim(self, material: RenderMaterial) -> None:
        picture = material.textures.pop("specular", None)
        if picture is not None or (material.specular is not None and any(material.specular)):
            self._dimmed.append(material)
        material.specular = None


def _is_same(a: RenderMaterial, b: RenderMaterial) -> bool:
    """Equal looks under one name, from two files of one robot."""
    return a.name == b.name and dataclasses.replace(a, source=b.source) == b


def is_plain(shape: Shape) -> bool:
    """Has the source given the shape a look?  Those of its mesh file do not count then."""
    return bool(shape.material) or shape.color is not None


def rename_looks(data: MeshData, looks: Mapping[str, str]) -> MeshData:
    """The mesh whose face sets have looks by new names; sets without one there are left out."""
    subsets = tuple(
        Subset(subset.name, subset.faces, looks[subset.material])
        for subset in data.subsets
        if subset.material in looks
    )
    return dataclasses.replace(data, subsets=subsets)


def list_uncovered(data: MeshData) -> Faces:
    """Faces that are in no set."""
    left = np.ones(data.face_count, dtype=bool)
    for subset in data.subsets:
        left[subset.faces] = False
    rest: Faces = np.flatnonzero(left).astype(np.int32)
    return rest
