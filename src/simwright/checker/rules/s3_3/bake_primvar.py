# SPDX-License-Identifier: Apache-2.0
"""Primvars that a material reads are on the meshes that it is bound to.

Why: a reader whose primvar is missing gives its fallback: a texture shrinks to one texel, baked colours turn
black.

Fails: a UsdPrimvarReader_float2 with `varname = "st"` on a mesh that has `primvars:UVMap` only.
Passes: the primvar is on the mesh or inherited from a prim above it; a colour reader with a `fallback`.

Fix: no.  Either the primvar has to be baked or the name corrected; only the author knows which.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import UsdGeom

from simwright.checker.facts.material_uses import MeshMaterial, list_mesh_materials
from simwright.checker.facts.shading import PrimvarReader
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("bake-primvar", "3.3", "may", on="stage")
def bake_primvar(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Once per mesh and primvar, and once per reader without a name."""
    seen: set[tuple[str, str]] = set()
    for look in list_mesh_materials(snapshot):
        for reader in look.material.readers:
            key = (look.mesh.path, reader.primvar) if reader.primvar else (str(reader.shader.GetPath()), "")
            if key in seen:
                continue
            seen.add(key)
            if not reader.primvar:
                yield Finding(
                    "the primvar reader does not say which primvar it reads",
                    hint='write string inputs:varname = "st", or the name of the baked primvar',
                    at=snapshot.node(reader.shader.GetPath()),
                    prop="inputs:varname",
                )
            elif not _is_there(look, reader):
                yield Finding(
                    f"the material {look.material.prim.GetName()} reads the primvar {reader.primvar!r}, which the"
                    " mesh does not have",
                    hint=f"bake primvars:{reader.primvar} on the mesh, or correct inputs:varname of the reader",
                    at=look.mesh,
                )


def _is_there(look: MeshMaterial, reader: PrimvarReader) -> bool:
    # a fallback colour is a colour; a fallback coordinate is one texel for the whole mesh
    if reader.has_fallback and not reader.is_texcoord:
        return True
    primvar = UsdGeom.PrimvarsAPI(look.mesh.prim).FindPrimvarWithInheritance(reader.primvar)
    return bool(primvar and primvar.HasAuthoredValue())
