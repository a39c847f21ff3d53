# SPDX-License-Identifier: Apache-2.0
"""The looks that mesh files bring.

A mesh of another format may have materials in its file (OBJ, COLLADA, glTF): visuals that the source gives no look of
their own get those.
"""

from __future__ import annotations

import dataclasses

from simwright.core.diag import Reporter
from simwright.formats.mjcf.writer.messages import LOOK_UNREADABLE
from simwright.formats.parts.looks import FileLooks, is_plain
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh, Subset


def settle_looks(asset: Asset, reporter: Reporter) -> Asset:
    """The asset, or a copy with all looks it needs."""
    if asset.provenance.format == "mjcf":
        return asset
    twin = asset.copy()
    _Wardrobe(twin, reporter).dress()
    return twin


class _Wardrobe:
    """Dresses visuals in the looks of their mesh files."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._looks = FileLooks(asset, reporter, LOOK_UNREADABLE, highlights=True)
        self._meshes: dict[tuple[int, bool], Mesh] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live

    def dress(self) -> None:
        """Every visual whose mesh has face sets: each set with a look that is known, or none."""
        for shape in self._asset.shapes:
            mesh = shape.geometry
            if shape.visual and isinstance(mesh, Mesh) and mesh.data.subsets:
                self._dress(shape, mesh)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        key = (id(mesh), is_plain(shape))
        if key not in self._meshes:
            self._kept.append(mesh)
            changed = dataclasses.replace(mesh.data, subsets=self._choose(mesh, is_plain(shape)))
            self._meshes[key] = Mesh(changed, source=mesh.source, file=mesh.file, gate=mesh.gate)
        shape.geometry = self._meshes[key]

    def _choose(self, mesh: Mesh, is_dressed: bool) -> tuple[Subset, ...]:
        """The sets with a look; where the source gives the shape one, that of the file does not count."""
        result = []
        for subset in mesh.data.subsets:
            name: str | None = subset.material if subset.material in self._looks.own else None
            if name is None and mesh.file and not is_dressed:
                name = self._looks.take(mesh).get(subset.material)
            if name and len(subset.faces):
                result.append(Subset(subset.name or name, subset.faces, name))
        return tuple(result)
