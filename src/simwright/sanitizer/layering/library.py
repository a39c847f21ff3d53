# SPDX-License-Identifier: Apache-2.0
"""Mesh data in a crate of its own, ``geometries.usdc``, which comes back by payload (REP-0158 1.2.1, 1.2.3).

Equal shapes are stored once.  Only arrays move: type, place, bounds and bindings of a shape stay where they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from pxr import Sdf

from simwright.checker.facts.domains import SMALL_GEOMETRY, Domain, domain_of_property, is_bounds
from simwright.core.names import NameScope, make_identifier
from simwright.sanitizer.layering.moving import make_layer
from simwright.sanitizer.layering.stacks import LayerStack, list_sites
from simwright.usd.edit import Editor, Refused

FILE = "geometries.usdc"
ROOT = Sdf.Path("/geometries")


@dataclass(slots=True, eq=False)
class GeometryCrate:
    """Arrays of the layers of one stack, and the crate they go to."""

    editor: Editor
    stack: LayerStack
    shapes: dict[tuple[str, Any], list[str]] = field(default_factory=dict)
    names: NameScope = field(default_factory=NameScope)
    stored: dict[str, Any] = field(default_factory=dict)
    layer: Sdf.Layer = None

    def ask(self, layers: Iterable[Sdf.Layer]) -> None:
        """Ask for the mesh data of some layers to be moved."""
        chosen = list(layers)
        for layer in chosen:
            for path in list_sites(layer):
                names = list_arrays(layer.GetPrimAtPath(path)) if path.IsPrimPath() else []
                if names:
                    self._check(path, names)
                    self.shapes[(layer.identifier, path)] = names
        if not self.shapes:
            return
        if self.stack.problem:
            raise Refused(self.stack.problem)
        for layer in chosen:
            count = sum(1 for identifier, _ in self.shapes if identifier == layer.identifier)
            if count:
                what = f"mesh data of {count} prims to {FILE}"
                self.editor.add(layer, Sdf.Path.absoluteRootPath, what, lambda layer=layer: self._move(layer))  # type: ignore[misc]

    def _check(self, path: Sdf.Path, names: list[str]) -> None:
        """A payload is weaker than nearly all else: nothing else may speak of the same arrays."""
        plain = path.StripAllVariantSelections()
        # also what is said outside of the variant that has the arrays
        for site in {path, plain}:
            told = [layer for layer in self.stack.layers if _tells(layer, site, names)]
            if len(told) + (site != path) > 1:
                raise Refused(f"several layers have arrays of {plain}; decide which of them are meant")
        prim = self.stack.stage.GetPrimAtPath(plain)
        if not prim or len(prim.GetPrimStack()) == 1:
            return
        for name in names:
            specs = prim.GetAttribute(name).GetPropertyStack()
            if len(specs) > 1:
                raise Refused(f"{name} of {plain} is said in {len(specs)} places; decide which is meant")

    def _move(self, layer: Sdf.Layer) -> None:
        if self.layer is None:
            self.layer = make_layer(self.editor, self.stack.root, FILE)
            self.layer.defaultPrim = ROOT.name
            root = Sdf.CreatePrimInLayer(self.layer, ROOT)
            root.specifier, root.typeName = Sdf.SpecifierDef, "Scope"
        for identifier, path in [key for key in self.shapes if key[0] == layer.identifier]:
            names = self.shapes[(identifier, path)]
            spec = layer.GetPrimAtPath(path)
            # equal shapes are stored once
            sign = _sign(spec, names)
            target = self.stored.get(sign) if sign else None
            if target is None:
                target = self._store(spec, names)
                if sign:
                    self.stored[sign] = target
            for name in names:
                spec.RemoveProperty(layer.GetPropertyAtPath(path.AppendProperty(name)))
            _load(spec, f"./{_name(self.layer)}", target)
        self.layer.Save()

    def _store(self, spec: Sdf.PrimSpec, names: list[str]) -> Sdf.Path:
        name = self.names.claim(make_identifier(spec.name, "shape"))
        target = ROOT.AppendChild(name)
        copy = Sdf.CreatePrimInLayer(self.layer, target)
        prim = self.stack.stage.GetPrimAtPath(spec.path.StripAllVariantSelections())
        # as defined as the prim whose arrays it holds
        if spec.specifier == Sdf.SpecifierDef or (prim and prim.IsDefined()):
            copy.specifier = Sdf.SpecifierDef
        copy.typeName = self.stack.find_kind(spec.path)
        for known in names:
            Sdf.CopySpec(
                spec.layer, spec.path.AppendProperty(known), self.layer, target.AppendProperty(known)
            )
        return target


def list_arrays(spec: Sdf.PrimSpec) -> list[str]:
    """Names of the arrays that make up a shape; none for a prim that has only small ones."""
    found, is_shape = [], False
    for name in spec.GetInfo("properties") or ():
        if not _is_array(name):
            continue
        known = spec.layer.GetPropertyAtPath(spec.path.AppendProperty(name))
        if not isinstance(known, Sdf.AttributeSpec) or not known.typeName.isArray:
            continue
        # a primvar of one value is a colour, not mesh data
        if known.HasInfo("timeSamples") or _count(known.default) > name.startswith("primvars:"):
            found.append(name)
            is_shape |= not name.startswith("primvars:")
    return found if is_shape else []


@cache
def _is_array(name: str) -> bool:
    """May a property be a part of a shape that is heavy?"""
    is_heavy = domain_of_property(name) is Domain.GEOMETRY and name not in SMALL_GEOMETRY
    return is_heavy and not is_bounds(name)


def _count(value: Any) -> int:
    """How many elements an array has; a value that is blocked has none."""
    return len(value) if hasattr(value, "__len__") else 0


def _tells(layer: Sdf.Layer, path: Sdf.Path, names: list[str]) -> bool:
    return any(layer.GetPropertyAtPath(path.AppendProperty(name)) for name in names)


def _sign(spec: Sdf.PrimSpec, names: list[str]) -> str:
    """The same text for the same arrays; empty for those that change over time."""
    digest = hashlib.sha256(str(spec.typeName).encode())
    for name in sorted(names):
        known = spec.layer.GetPropertyAtPath(spec.path.AppendProperty(name))
        if known.HasInfo("timeSamples") or known.HasInfo("connectionPaths"):
            return ""
        digest.update(f"{name} {known.typeName}".encode())
        digest.update(np.ascontiguousarray(np.asarray(known.default)).tobytes())
        for key in sorted(known.ListInfoKeys()):
            if key not in ("default", "typeName"):
                digest.update(f"{key} {known.GetInfo(key)}".encode())
    return digest.hexdigest()


def _load(spec: Sdf.PrimSpec, address: str, target: Sdf.Path) -> None:
    listed = spec.payloadList
    arc = Sdf.Payload(address, target)
    if listed.isExplicit:
        listed.explicitItems.append(arc)
    else:
        listed.prependedItems.append(arc)


def _name(layer: Sdf.Layer) -> str:
    return str(layer.GetDisplayName())
