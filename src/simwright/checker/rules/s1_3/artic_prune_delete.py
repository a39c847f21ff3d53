# SPDX-License-Identifier: Apache-2.0
"""A composing stage prunes nested articulation roots with a delete list edit.

Why: `delete apiSchemas` takes away one schema and leaves the rest of the part as it was delivered; an explicit
list in the stronger layer silently drops every other schema too.

Fails: a referenced gripper that keeps its root in the arm's tree; a root removed by `apiSchemas = [...]`.
Passes: `over "palm" (delete apiSchemas = ["PhysicsArticulationRootAPI"])` in the composing layer.

Fix: unsafe.  The delete edit is written to the composing layer.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.graph import sort_roots
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_API = "PhysicsArticulationRootAPI"


@rule(
    "artic-prune-delete",
    "1.3",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="write delete apiSchemas in the composing layer",
)
def artic_prune_delete(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Nested roots that came with a referenced part, and roots that were pruned with an explicit list."""
    yield from _find_unpruned(snapshot)
    yield from _find_overwritten(snapshot)


def _find_unpruned(snapshot: StageSnapshot) -> Iterator[Finding]:
    told: set[int] = set()
    for tree in snapshot.graph.trees:
        if len(tree.roots) < 2:
            continue
        kept, *surplus = sort_roots(tree.roots)
        first = _source(kept)
        for root in surplus:
            source = _source(root)
            if id(root) in told or source is None or source == first:
                continue
            told.add(id(root))
            name = _show(source)
            yield Finding(
                f"the articulation root of {root.name} came with {name} and is not pruned where it was mounted",
                hint=f'in the layer that mounts it: over "{root.name}" (delete apiSchemas = ["{_API}"])',
                at=root,
                data={"from": name, "kept": kept.path},
            )


# one function: the layers give names, the names give prims, the prims give the spec
def _find_overwritten(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Prims without the API although a weaker layer applies it, because a stronger one lists others."""
    names: set[str] = set()
    renamed = False
    for facts in snapshot.layers:
        if facts.is_root:
            continue
        # the API is gone from the composed prim, so only the layers still show it
        for opinion in facts.find(lambda content: content.what == _API):
            place = opinion.path.StripAllVariantSelections()
            names.add(place.name)
            renamed = renamed or place.IsRootPrimPath()
    if not names:
        return
    for node in snapshot.nodes:
        if node.has(_API) or not (node.name in names or (renamed and node.prim.HasAuthoredReferences())):
            continue
        spec = _find_explicit(node)
        if spec is not None:
            yield Finding(
                f"an explicit apiSchemas list prunes the articulation root of {node.name}, and every other schema "
                "that the part applies",
                hint=f'write delete apiSchemas = ["{_API}"] instead',
                at=spec.path,
                layer=spec.layer,
            )


def _find_explicit(node: PrimNode) -> Sdf.PrimSpec | None:
    """The explicit list that hides a weaker opinion with the API."""
    explicit = None
    for spec in node.prim.GetPrimStack():
        if not spec.HasInfo("apiSchemas"):
            continue
        listed = spec.GetInfo("apiSchemas")
        # the stack is strongest first: the explicit list came before this weaker opinion
        if explicit is not None and _API in listed.GetAddedOrExplicitItems():
            return explicit
        if _API in listed.deletedItems:
            return None
        if listed.isExplicit and explicit is None:
            explicit = spec
    return None


def _source(root: PrimNode) -> Sdf.Layer | None:
    """The layer that applies the API."""
    for spec in root.prim.GetPrimStack():
        if spec.HasInfo("apiSchemas") and _API in spec.GetInfo("apiSchemas").GetAddedOrExplicitItems():
            return spec.layer
    return None


def _show(layer: Sdf.Layer) -> str:
    return str(layer.GetDisplayName() or layer.identifier)
