# SPDX-License-Identifier: Apache-2.0
"""Looks made ready for UsdPreviewSurface: materials of mesh files (REP-0158 3.1).

A visual without a material of its own has those of its mesh file (OBJ with MTL, COLLADA, glTF), one for each face
set.  Images keep their values, and say ``sRGB`` where they are pictures.  Highlights of the Phong model (specular
colours of MTL and COLLADA) have no counterpart: a specular colour of UsdPreviewSurface would make metal of them.
Shininess becomes roughness.
"""

from __future__ import annotations

import dataclasses

from simwright.core.diag import Reporter
from simwright.formats.parts.looks import FileLooks, is_plain, rename_looks
from simwright.formats.usd.writer.messages import LOOK_HIGHLIGHTS, LOOK_UNREADABLE
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh


def settle_looks(asset: Asset, reporter: Reporter) -> None:
    """Complete the looks of an asset that may be changed."""
    _Wardrobe(asset, reporter).dress()


class _Wardrobe:
    """Dresses visuals in the looks of their mesh files."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._looks = FileLooks(asset, reporter, LOOK_UNREADABLE)
        self._meshes: dict[tuple[int, bool], tuple[Mesh, str]] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live

    def dress(self) -> None:
        """Every visual whose mesh has face sets that the asset knows no looks of."""
        for shape in self._asset.shapes:
            geometry = shape.geometry
            if shape.visual and isinstance(geometry, Mesh) and geometry.file:
                subsets = geometry.data.subsets
                if subsets and not any(subset.material in self._looks.own for subset in subsets):
                    self._dress(shape, geometry)
        self._looks.report_dimmed(LOOK_HIGHLIGHTS)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        """The looks of the file, or none of its own where the source gives the shape one."""
        key = (id(mesh), is_plain(shape))
        if key not in self._meshes:
            self._kept.append(mesh)
            look = ""
            changed = rename_looks(mesh.data, {} if is_plain(shape) else self._looks.take(mesh))
            if len(changed.subsets) == 1 and len(changed.subsets[0].faces) == changed.face_count:
                look = changed.subsets[0].material  # one look for all of it needs no face set
                changed = dataclasses.replace(changed, subsets=())
            self._meshes[key] = Mesh(changed, source=mesh.source, file=mesh.file, gate=mesh.gate), look
        shape.geometry, look = self._meshes[key]
        shape.material = shape.material or look
