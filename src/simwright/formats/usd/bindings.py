# SPDX-License-Identifier: Apache-2.0
"""Which material goes with which prim, for looks and for contact (REP-0158 1.3.4, 3.1).

Bindings of all prims are computed in two calls.  Instances of one material are one material.
"""

from __future__ import annotations

from collections.abc import Iterable

from pxr import Usd, UsdShade

from simwright.core.diag import Level, declare
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
    loss=True,
)


class Bindings:
    """Names of the materials bound to prims, and the materials themselves by shared path."""

    def __init__(self, source: Source, scan: Scan, more: Iterable[Found] = ()) -> None:
        self._source = source
        self._keys: dict[str, str] = {}
        self.materials: dict[str, Usd.Prim] = {}
        for found in scan.materials:
            self._add(found.prim)
        shapes = [*scan.geometry, *more]
        subsets = [subset for found in shapes for subset in found.subsets or ()]
        colliders = [found for found in shapes if COLLISION in found.apis]
        self._render = self._bind([*shapes, *subsets], UsdShade.Tokens.preview)
        self._physics = self._bind(colliders, "physics")
        # not by shared path: the names of prototypes change from run to run
        paths = {key: prim.GetPath().pathString for key, prim in self.materials.items()}
        names = choose_names(paths.values())
        self.names = {key: names[path] for key, path in paths.items()}
        self._has_surface = {key: _has_surface(prim) for key, prim in self.materials.items()}
        self._has_contact = {key: PHYSICS_MATERIAL in list_apis(p) for key, p in self.materials.items()}

    def render_name(self, found: Found) -> str:
        """The look of a shape or of a mesh subset, empty for none."""
        key = self._render.get(found.path)
        return self.names[key] if key is not None and self._has_surface[key] else ""

    def physics_name(self, found: Found) -> str:
        """The contact material of a collider, empty for none."""
        key = self._physics.get(found.path)
        if key is None:
            return ""
        if self._has_contact[key]:
            return self.names[key]
        relationship = UsdShade.MaterialBindingAPI(found.prim).GetDirectBindingRel("physics")
        if relationship and relationship.HasAuthoredTargets():
            where = self._source.where(found, "material:binding:physics")
            material = self.materials[key].GetPath()
            self._source.reporter.report(PHYSICS_BINDING_EMPTY, where, material=material, name=found.name)
        return ""

    def looks(self) -> list[tuple[str, Usd.Prim]]:
        """Materials with a surface, by name."""
        return [(self.names[key], prim) for key, prim in self.materials.items() if self._has_surface[key]]

    def contacts(self) -> list[tuple[str, Usd.Prim]]:
        """Materials with contact properties, by name."""
        return [(self.names[key], prim) for key, prim in self.materials.items() if self._has_contact[key]]

    def _add(self, prim: Usd.Prim) -> str:
        """Note a material; gives the path it shares with its other instances."""
        path = prim.GetPath().pathString
        if path not in self._keys:
            self._keys[path] = find_prototype_path(prim)
            self.materials.setdefault(self._keys[path], prim)
        return self._keys[path]

    def _bind(self, founds: list[Found], purpose: str) -> dict[str, str]:
        """The bound material of each path that has one; nothing is bound where no prim above says so."""
        founds = [found for found in founds if found.bound]
        if not founds:
            return {}
        prims = [found.prim for found in founds]
        materials, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(prims, purpose)
        pairs = zip(founds, materials, strict=True)
        return {found.path: self._add(material.GetPrim()) for found, material in pairs if material}


def _has_surface(prim: Usd.Prim) -> bool:
    """Does the material say how it looks, for any renderer?"""
    return any(output.HasConnectedSource() for output in UsdShade.Material(prim).GetSurfaceOutputs())
