# SPDX-License-Identifier: Apache-2.0
"""Looks made ready for glTF: linear colours, and the materials that mesh files bring (REP-0158 3.1).

The model holds colours as they appear on a screen.  A visual without a look of its own has those of its mesh file,
one for each face set.
"""

from __future__ import annotations

import dataclasses

from simwright.core.colors import make_linear
from simwright.core.diag import Reporter
from simwright.core.errors import InputError
from simwright.formats.gltf.messages import LOOK_HIGHLIGHTS, LOOK_UNREADABLE
from simwright.formats.parts.looks import FileLooks, is_plain, rename_looks
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh
from simwright.model.material import RenderMaterial, Rgb, Texture

_COLORED = frozenset({"diffuse", "emissive", "specular"})


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
    """Dresses visuals in the looks of their mesh files."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._looks = FileLooks(asset, reporter, LOOK_UNREADABLE)
        self._meshes: dict[tuple[int, bool], Mesh] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live

    def dress(self) -> None:
        """Every visual whose mesh file has face sets with looks the asset does not know."""
        for shape in self._asset.shapes:
            mesh = shape.geometry
            if shape.visual and isinstance(mesh, Mesh) and mesh.file:
                self._dress(shape, mesh)
        self._looks.report_dimmed(LOOK_HIGHLIGHTS)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        try:
            data = mesh.data
        except InputError:
            return  # said where the mesh itself is written
        if not data.subsets or any(subset.material in self._looks.own for subset in data.subsets):
            return
        key = (id(mesh), is_plain(shape))
        if key not in self._meshes:
            self._kept.append(mesh)
            looks = {} if is_plain(shape) else self._looks.take(mesh)
            self._meshes[key] = Mesh(
                rename_looks(data, looks), source=mesh.source, file=mesh.file, gate=mesh.gate
            )
        shape.geometry = self._meshes[key]
