# SPDX-License-Identifier: Apache-2.0
"""Looks made ready for glTF: linear colours, and the materials that mesh files bring (REP-0158 3.1).

The model holds colours as they appear on a screen.  A visual without a look of its own has those of its mesh file,
one for each face set.
"""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

from simwright.core.colors import make_linear
from simwright.core.diag import Reporter, Where
from simwright.core.errors import InputError
from simwright.core.names import NameScope
from simwright.formats.gltf.messages import LOOK_HIGHLIGHTS, LOOK_UNREADABLE
from simwright.formats.mesh import load_mesh_materials
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh, Subset
from simwright.model.material import RenderMaterial, Rgb, Texture

_COLORED = frozenset({"diffuse", "emissive", "specular"})
_METALLIC_FILES = frozenset({".gltf", ".glb"})
"""Files whose specular colours are no Phong highlights."""


def settle_looks(asset: Asset, reporter: Reporter) -> Asset:
    """A copy of the asset with linear colours and all looks it needs."""
    twin = asset.copy()
    _Wardrobe(twin, reporter).dress()
    twin.materials = [_make_linear(material) for material in twin.materials]
    for shape in twin.shapes:
        if shape.color is not None:
            shape.color = (*make_linear(shape.color[:3]), shape.color[3])
    return twin


def _make_linear(material: RenderMaterial) -> RenderMaterial:
    specular = material.specular
    return dataclasses.replace(
        material,
        diffuse=make_linear(material.diffuse),
        emissive=make_linear(material.emissive),
        specular=None if specular is None else make_linear(specular),
        textures={
            key: _make_texture_linear(texture) if key in _COLORED else texture
            for key, texture in material.textures.items()
        },
    )


def _make_texture_linear(texture: Texture) -> Texture:
    red, green, blue, alpha = texture.gain
    color: Rgb = make_linear((red, green, blue))
    return dataclasses.replace(texture, gain=(*color, alpha))


class _Wardrobe:
    """Materials of mesh files, each file opened once."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._reporter = reporter
        self._names = NameScope(material.name for material in asset.materials)
        self._known = {material.name for material in asset.materials}
        self._files: dict[str, dict[str, str]] = {}
        self._meshes: dict[tuple[int, bool], Mesh] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live
        self._dimmed: list[RenderMaterial] = []

    def dress(self) -> None:
        """Every visual whose mesh file has face sets with looks the asset does not know."""
        for shape in self._asset.shapes:
            mesh = shape.geometry
            if shape.visual and isinstance(mesh, Mesh) and mesh.file:
                self._dress(shape, mesh)
        if self._dimmed:
            first = self._dimmed[0]
            self._reporter.report(LOOK_HIGHLIGHTS, first.source, count=len(self._dimmed), first=first.name)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        try:
            subsets = mesh.data.subsets
        except InputError:
            return  # said where the mesh itself is written
        if not subsets or any(subset.material in self._known for subset in subsets):
            return
        is_plain = bool(shape.material) or shape.color is not None
        key = (id(mesh), is_plain)
        if key not in self._meshes:
            self._kept.append(mesh)
            looks = {} if is_plain else self._open(mesh.file)
            renamed = tuple(
                Subset(s.name, s.faces, looks[s.material]) for s in subsets if s.material in looks
            )
            data = dataclasses.replace(mesh.data, subsets=renamed)
            self._meshes[key] = Mesh(data, source=mesh.source, file=mesh.file)
        shape.geometry = self._meshes[key]

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
            if material.opacity <= 0.0:  # exporters disagree what 0 means; nobody draws a part to hide it
                material.opacity = 1.0
            if PurePath(file).suffix.lower() not in _METALLIC_FILES:
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
