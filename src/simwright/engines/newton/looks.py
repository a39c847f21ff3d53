# SPDX-License-Identifier: Apache-2.0
"""What is seen of a stage, as Newton's viewers want it: normals, texture coordinates, pictures, parts of meshes.

Newton's own functions build it from the prims, so that a picture of the scene is the same with either importer.  A mesh
that they refuse (bad normals, no points) is drawn from the model instead, without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pxr import Usd

_REFUSALS = (ValueError, TypeError, RuntimeError, IndexError, KeyError)


@dataclass(frozen=True, slots=True)
class SeenMesh:
    """A mesh to be drawn under a label; its colour is that of the shape unless it is a part with its own material."""

    label: str
    mesh: Any
    is_part: bool = False


class StageLooks:
    """Asks Newton what the prims of a stage look like."""

    def __init__(self, stage: Usd.Stage) -> None:
        from newton._src.usd._visuals import _UsdVisuals

        self._stage = stage
        self._theirs = _UsdVisuals(stage)

    def find_meshes(self, path: str, *, parts: bool) -> list[SeenMesh]:
        """The meshes of a prim: one for each material of its faces (``parts``), or one; none if Newton refuses it."""
        prim = self._stage.GetPrimAtPath(path)
        if not prim or prim.GetTypeName() != "Mesh":
            return []
        try:
            subsets = self._theirs.get_visual_material_subset_meshes(prim) if parts else []
            if subsets:
                return [SeenMesh(label, mesh, is_part=True) for label, mesh in subsets]
            return [SeenMesh(path, self._theirs.get_mesh_with_visual_material(prim, path_name=path))]
        except _REFUSALS:
            return []

    def find_color(self, path: str) -> tuple[tuple[float, ...] | None, float | None] | None:
        """Display colour and opacity; None where Newton cannot tell."""
        prim = self._stage.GetPrimAtPath(path)
        if not prim:
            return None
        try:
            found = self._theirs.get_material_props_cached(prim)
        except _REFUSALS:
            return None
        color = found.get("color")
        if color is None and found.get("texture") is not None and prim.GetTypeName() == "Mesh":
            return None, found.get("opacity")
        return color, found.get("opacity")


def open_looks(stage: Usd.Stage | None) -> StageLooks | None:
    """None without a stage, or with a version of Newton that keeps these functions elsewhere."""
    if stage is None:
        return None
    try:
        return StageLooks(stage)
    except ImportError:
        return None
