# SPDX-License-Identifier: Apache-2.0
"""Variant sets: which prims have them, what the asset itself selects, what the variants hold (REP-0158 1.2.4, 1.3).

What is inside the variants that are not selected is seen on a private stage, masked to the prims concerned and
with a session layer of its own.  The user's stage is never edited.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from pxr import Sdf, Usd

from simwright.usd.open import open_again

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


def list_variant_nodes(snapshot: StageSnapshot) -> list[PrimNode]:
    """Nodes with variant sets; a prototype's root stands for instances, which are nodes themselves."""
    return snapshot.shared("variant nodes", _list_variant_nodes)


def _list_variant_nodes(snapshot: StageSnapshot) -> list[PrimNode]:
    if not any(facts.has_variants for facts in snapshot.layers):
        return []
    return [
        node
        for node in snapshot.nodes
        if node.prim.HasVariantSets() and not (node.in_prototype and node.parent is None)
    ]


def find_selection(prim: Usd.Prim, name: str, snapshot: StageSnapshot) -> str:
    """The strongest authored selection of a set in the asset's layers, "" if there is none.

    ``GetVariantSelection`` would also tell of the session layer and of fallbacks.
    """
    own = snapshot.shared("own layers", lambda s: {facts.layer.identifier for facts in s.layers})
    for spec in prim.GetPrimStack():
        if spec.layer.identifier in own and name in spec.variantSelections:
            return str(spec.variantSelections[name])
    return ""


VISUAL = "visual_representation"
COLLISION = "collision_fidelity"
MESH_TIERS = ("mesh_low", "mesh_medium", "mesh_high")
SPLAT = "volumetric_splat"

# bounds: every variant is composed on a private stage, which costs as much as opening the asset
_MOST_HOLDERS = 64
_MOST_VARIANTS = 8


@dataclass(slots=True)
class VariantContent:
    """What is below the prim while one variant is selected."""

    types: Counter[str] = field(default_factory=Counter)
    triangles: int = 0
    colliders: list[tuple[Sdf.Layer | None, Sdf.Path]] = field(default_factory=list)
    """Where each collider that the variant brings is said to be one."""


@dataclass(slots=True)
class VisualSet:
    """A prim with a visual_representation set, and the content of its variants."""

    node: PrimNode
    variants: dict[str, VariantContent] = field(default_factory=dict)


def find_sets(snapshot: StageSnapshot, name: str) -> list[PrimNode]:
    """Nodes that have a variant set of that name."""
    return snapshot.shared(f"sets {name}", lambda s: [n for n in list_variant_nodes(s) if _has_set(n, name)])


def _has_set(node: PrimNode, name: str) -> bool:
    return name in node.prim.GetVariantSets().GetNames()


def default_selection(node: PrimNode, name: str, snapshot: StageSnapshot) -> str:
    """The selection the asset itself authors, session layer aside; "" for none."""
    return find_selection(node.prim, name, snapshot)


def shows_default(node: PrimNode, name: str, snapshot: StageSnapshot) -> bool:
    """Is the variant on the stage the asset's own choice, not one of the session (a sweep, a user)?"""
    session = snapshot.stage.GetSessionLayer()
    if session is None or session.empty:
        return True
    return bool(
        node.prim.GetVariantSet(name).GetVariantSelection() == default_selection(node, name, snapshot)
    )


def survey_visuals(snapshot: StageSnapshot) -> list[VisualSet]:
    """Content of every variant of every visual_representation set (one of each kind, at most 64)."""
    return snapshot.shared("visual sets", _survey)


# one function: one private stage is opened and all variants are tried on it in turn
def _survey(snapshot: StageSnapshot) -> list[VisualSet]:
    distinct: dict[Any, PrimNode] = {}
    for node in find_sets(snapshot, VISUAL):
        if not node.in_prototype:
            distinct.setdefault(_origin(node), node)
    found = [VisualSet(node) for node in list(distinct.values())[:_MOST_HOLDERS]]
    if not found:
        return []
    stage, session = _open_private(snapshot, [one.node.prim.GetPath() for one in found])
    names = {one.node.path: one.node.prim.GetVariantSet(VISUAL).GetVariantNames() for one in found}
    for variant in list(dict.fromkeys(name for some in names.values() for name in some))[:_MOST_VARIANTS]:
        chosen = [one for one in found if variant in names[one.node.path]]
        # one recomposition per variant instead of one per prim
        with Sdf.ChangeBlock():
            for one in chosen:
                spec = Sdf.CreatePrimInLayer(session, one.node.prim.GetPath())
                spec.variantSelections[VISUAL] = variant
        read: dict[str, int] = {}
        for one in chosen:
            prim = stage.GetPrimAtPath(one.node.prim.GetPath())
            if prim:
                one.variants[variant] = _look_inside(prim, read)
    return found


def _origin(node: PrimNode) -> Any:
    """The same for copies of one asset: where the set is written."""
    specs = (spec for spec in node.prim.GetPrimStack() if VISUAL in spec.variantSets.keys())  # noqa: SIM118 - a proxy
    return tuple((spec.layer.identifier, spec.path.pathString) for spec in specs) or node.path


def _open_private(snapshot: StageSnapshot, paths: list[Sdf.Path]) -> tuple[Usd.Stage, Sdf.Layer]:
    session = Sdf.Layer.CreateAnonymous("variants")
    own = snapshot.stage.GetSessionLayer()
    if own is not None:
        session.TransferContent(own)
    # opened empty, then given the load rules of the user: payloads they left out stay out
    stage = open_again(snapshot.stage, session, load=False, mask=Usd.StagePopulationMask(paths))
    stage.SetLoadRules(snapshot.stage.GetLoadRules())
    return stage, session


def _look_inside(root: Usd.Prim, read: dict[str, int]) -> VariantContent:
    content = VariantContent()
    for prim in Usd.PrimRange(root, Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
        kind = prim.GetTypeName()
        content.types[kind] += 1
        if kind == "Mesh":
            content.triangles += _count_triangles(prim, read)
        if "PhysicsCollisionAPI" in prim.GetAppliedSchemas() and _is_from_variant(prim):
            content.colliders.append(_find_source(prim))
    return content


def _count_triangles(prim: Usd.Prim, read: dict[str, int]) -> int:
    source = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
    key = source.GetPath().pathString
    if key not in read:
        counts = source.GetAttribute("faceVertexCounts").Get()
        corners = np.asarray(counts if counts is not None else (), dtype=np.int64)
        read[key] = int(np.maximum(corners - 2, 0).sum())
    return read[key]


def _is_from_variant(prim: Usd.Prim) -> bool:
    """Does a variant of the set bring the prim (or the instance it is in)?"""
    # a proxy has no prim index of its own
    while prim.IsInstanceProxy():
        prim = prim.GetParent()
    stack = [prim.GetPrimIndex().rootNode]
    while stack:
        node = stack.pop()
        path = node.path
        if path.ContainsPrimVariantSelection() and f"{{{VISUAL}=" in path.pathString:
            return True
        stack.extend(node.children)
    return False


def _find_source(prim: Usd.Prim) -> tuple[Sdf.Layer | None, Sdf.Path]:
    source = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
    for spec in source.GetPrimStack():
        if spec.HasInfo("apiSchemas") and "PhysicsCollisionAPI" in str(spec.GetInfo("apiSchemas")):
            return spec.layer, spec.path
    return None, prim.GetPath()
