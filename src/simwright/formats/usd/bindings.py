# SPDX-License-Identifier: Apache-2.0
"""Which material goes with which prim, for looks and for contact (REP-0158 1.3.4, 3.1).

Bindings of all prims are computed in two calls.  Instances of one material are one material.
"""

from __future__ import annotations

from collections.abc import Iterable

from pxr import Usd, UsdShade

from simwright.core.diag import Level, declare
from simwright.formats.usd.meshes import list_subsets
from simwright.formats.usd.naming import choose_names
from simwright.formats.usd.scan import COLLISION, PHYSICS_MATERIAL, Found, Scan, list_apis
from simwright.formats.usd.source import Source, find_prototype_path

PHYSICS_BINDING_EMPTY = declare(
    "usd-physics-material-empty",
    Level.WARNING,
    "the physics material {material} bound to {name!r} has no PhysicsMaterialAPI; it is left out",
    hint="apply PhysicsMaterialAPI to the material",
    doc="material:binding:physics leads to a material that says nothing about contact.",
    section="1.3.4",
)


class Bindings:
    """Names of the materials bound to prims, and the materials themselves by shared path."""

    def __init__(self, source: Source, scan: Scan, more: Iterable[Found] = ()) -> None:
        self._source = source
        shapes = [*scan.geometry, *more]
        subsets = [child for found in shapes if found.type == "Mesh" for child in list_subsets(found.prim)]
        colliders = [found.prim for found in shapes if COLLISION in found.apis]
        self._render = _bind([*(found.prim for found in shapes), *subsets], UsdShade.Tokens.preview)
        self._physics = _bind(colliders, "physics")
        self.materials: dict[str, Usd.Prim] = {}
        for prim in (*(f.prim for f in scan.materials), *self._render.values(), *self._physics.values()):
            self.materials.setdefault(find_prototype_path(prim), prim)
        self.names = choose_names(self.materials)
        self._has_surface = {key: _has_surface(prim) for key, prim in self.materials.items()}
        self._has_contact = {key: PHYSICS_MATERIAL in list_apis(p) for key, p in self.materials.items()}

    def render_name(self, found: Found) -> str:
        """The look of a shape, empty for none."""
        return self._look(found.path)

    def subset_name(self, subset: Usd.Prim) -> str:
        """The look of a mesh subset, empty for none."""
        return self._look(str(subset.GetPath()))

    def physics_name(self, found: Found) -> str:
        """The contact material of a collider, empty for none."""
        prim = self._physics.get(found.path)
        if prim is None:
            return ""
        key = find_prototype_path(prim)
        if self._has_contact[key]:
            return self.names[key]
        relationship = UsdShade.MaterialBindingAPI(found.prim).GetDirectBindingRel("physics")
        if relationship and relationship.HasAuthoredTargets():
            where = self._source.where(found.prim, "material:binding:physics")
            self._source.reporter.report(
                PHYSICS_BINDING_EMPTY, where, material=prim.GetPath(), name=found.prim.GetName()
            )
        return ""

    def looks(self) -> list[tuple[str, Usd.Prim]]:
        """Materials with a surface, by name."""
        return [(self.names[key], prim) for key, prim in self.materials.items() if self._has_surface[key]]

    def contacts(self) -> list[tuple[str, Usd.Prim]]:
        """Materials with contact properties, by name."""
        return [(self.names[key], prim) for key, prim in self.materials.items() if self._has_contact[key]]

    def _look(self, path: str) -> str:
        prim = self._render.get(path)
        if prim is None:
            return ""
        key = find_prototype_path(prim)
        return self.names[key] if self._has_surface[key] else ""


def _bind(prims: list[Usd.Prim], purpose: str) -> dict[str, Usd.Prim]:
    """The bound material prim of each path that has one."""
    if not prims:
        return {}
    materials, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(prims, purpose)
    pairs = zip(prims, materials, strict=True)
    return {str(prim.GetPath()): material.GetPrim() for prim, material in pairs if material}


def _has_surface(prim: Usd.Prim) -> bool:
    """Does the material say how it looks, for any renderer?"""
    return any(output.HasConnectedSource() for output in UsdShade.Material(prim).GetSurfaceOutputs())
