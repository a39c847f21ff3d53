# SPDX-License-Identifier: Apache-2.0
"""What is seen of a stage, as Newton's viewers want it: normals, texture coordinates, pictures, parts of meshes.

Newton's own functions build it from the prims, so that a picture of the scene is the same with either importer.  A mesh
that they refuse (bad normals, no points) is drawn from the model instead, without them.  Also here: the order in which
Newton adds shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simwright.model.asset import Asset, Shape, Site

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


_COLLIDER_TYPES = (
    "Sphere", "Cube", "Capsule", "Capsule_1", "Cylinder", "Cylinder_1", "Cone", "Plane", "Mesh",
)  # fmt: skip
"""Types of colliders in the order in which OpenUSD's physics parser gives them."""


def order_shapes(asset: Asset, stage: Usd.Stage | None, bodies: Mapping[str, int]) -> list[Shape | Site]:
    """Shapes and sites as Newton's importer adds them, which also chooses colours by number.

    Of a stage: what is seen of each body, its sites among it, then what is seen of the world, then colliders by type.
    Otherwise shapes in their order, then sites.
    """
    elements: list[Shape | Site] = [*asset.shapes, *asset.sites]
    if stage is None:
        return elements
    place = _find_places(asset, stage) if asset.sites else {}

    def rank(element: Shape | Site) -> tuple[int, int, int]:
        at = place.get(element.path, 0)
        if isinstance(element, Shape) and element.collision:
            kind = str(stage.GetPrimAtPath(element.path).GetTypeName()) if element.path else ""
            return 2, _COLLIDER_TYPES.index(kind) if kind in _COLLIDER_TYPES else len(_COLLIDER_TYPES), at
        body = bodies.get(element.body, -1)
        return (0, body, at) if body >= 0 else (1, 0, at)

    return sorted(elements, key=rank)


def _find_places(asset: Asset, stage: Usd.Stage) -> dict[str, int]:
    """Numbers of the prims of shapes and sites, in the order of the stage."""
    from pxr import Usd

    wanted = {shape.path for shape in asset.shapes} | {site.path for site in asset.sites}
    walk = Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
    paths = (prim.GetPath().pathString for prim in walk)
    return {path: number for number, path in enumerate(paths) if path in wanted}
