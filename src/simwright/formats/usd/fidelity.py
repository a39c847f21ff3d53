# SPDX-License-Identifier: Apache-2.0
"""Colliders for other formats: the mesh itself where the stage collides with its convex hull (REP-0158 1.3.1).

The default of ``collision_fidelity`` is what every engine takes, mostly hulls of meshes that are in the variant
``advanced``.  A file in another format should have those meshes: engines that need hulls make them (MuJoCo always
does), and the hull alone would lose what the source had.  A default that is anything else than the hulls of the same
prims was made on purpose and stays.
"""

from __future__ import annotations

from collections.abc import Mapping

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

SET, FINE = "collision_fidelity", "advanced"
_HULL = UsdPhysics.Tokens.convexHull

Colliders = dict[Sdf.Path, str]
"""Prim types by path."""


def select_fine_colliders(stage: Usd.Stage, chosen: Mapping[str, str]) -> None:
    """Select the meshes of hulls in the session layer; nothing where ``chosen`` has the variant set."""
    if SET in chosen:
        return
    hulls = {prim.GetPath(): found for prim in _list_holders(stage) if (found := _list_hulls(prim))}
    _select(stage, dict.fromkeys(hulls, FINE))
    other = {path for path, found in hulls.items() if _list_colliders(stage.GetPrimAtPath(path)) != found}
    _select(stage, dict.fromkeys(other, ""))


def _list_holders(stage: Usd.Stage) -> list[Usd.Prim]:
    """Prims at which the finer colliders can be chosen, and are not."""
    found = []
    for prim in Usd.PrimRange(stage.GetDefaultPrim() or stage.GetPseudoRoot()):
        if not prim.HasVariantSets():
            continue
        variants = prim.GetVariantSets().GetVariantSet(SET)
        if FINE in variants.GetVariantNames() and variants.GetVariantSelection() != FINE:
            found.append(prim)
    return found


def _list_hulls(holder: Usd.Prim) -> Colliders:
    """Colliders below a prim if each mesh of them is a hull, else nothing."""
    colliders = _list_colliders(holder)
    stage = holder.GetStage()
    meshes = [path for path, kind in colliders.items() if kind == "Mesh"]
    words = {
        UsdPhysics.MeshCollisionAPI(stage.GetPrimAtPath(path)).GetApproximationAttr().Get() for path in meshes
    }
    return colliders if words == {_HULL} else {}


def _list_colliders(holder: Usd.Prim) -> Colliders:
    return {
        prim.GetPath(): str(prim.GetTypeName())
        for prim in Usd.PrimRange(holder, Usd.TraverseInstanceProxies())
        if prim.HasAPI(UsdPhysics.CollisionAPI) and prim.IsA(UsdGeom.Gprim)
    }


def _select(stage: Usd.Stage, selections: Mapping[Sdf.Path, str]) -> None:
    """All at once, which composes the stage again once; an empty name leaves it to the layers."""
    layer = stage.GetSessionLayer()
    with Sdf.ChangeBlock():
        for path, name in selections.items():
            spec = Sdf.CreatePrimInLayer(layer, path)
            if name:
                spec.variantSelections[SET] = name
            else:
                del spec.variantSelections[SET]
