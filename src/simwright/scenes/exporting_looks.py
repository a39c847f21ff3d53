# SPDX-License-Identifier: Apache-2.0
"""Materials of the assets a scene was made of, gathered under names that are unique in the whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from simwright.core.names import NameScope
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh
from simwright.model.material import RenderMaterial
from simwright.runtime.model import Model


class LookTaker:
    """Gives exported shapes the materials they had in their assets."""

    def __init__(self, model: Model, asset: Asset) -> None:
        self._model = model
        self._asset = asset
        self._scope = NameScope()
        self._names: dict[tuple[int, str], str] = {}
        self._meshes: dict[tuple[int, int], Mesh] = {}

    def dress(self, shape: Shape, index: int) -> None:
        """Set the material of a shape and of the faces of its mesh."""
        look = self._model.look_of(index)
        if look is None or not shape.visual:
            return
        name, materials = look
        if name in materials:
            shape.material = self._claim(name, materials)
            shape.color = None
        if isinstance(shape.geometry, Mesh) and shape.geometry.data.subsets:
            shape.geometry = self._dress_faces(shape.geometry, materials)

    def _dress_faces(self, mesh: Mesh, materials: Mapping[str, RenderMaterial]) -> Mesh:
        """The same mesh with the new names on its faces; one object for one mesh."""
        key = (id(mesh), id(materials))
        if key not in self._meshes:
            subsets = tuple(
                dataclasses.replace(subset, material=self._claim(subset.material, materials))
                if subset.material in materials
                else subset
                for subset in mesh.data.subsets
            )
            same = all(a.material == b.material for a, b in zip(subsets, mesh.data.subsets, strict=True))
            renamed = dataclasses.replace(mesh.data, subsets=subsets)
            self._meshes[key] = (
                mesh if same else Mesh(renamed, source=mesh.source, file=mesh.file, gate=mesh.gate)
            )
        return self._meshes[key]

    def _claim(self, name: str, materials: Mapping[str, Any]) -> str:
        key = (id(materials), name)
        if key not in self._names:
            self._names[key] = self._scope.claim(name)
            self._asset.materials.append(dataclasses.replace(materials[name], name=self._names[key]))
        return self._names[key]
