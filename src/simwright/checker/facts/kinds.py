# SPDX-License-Identifier: Apache-2.0
"""The model hierarchy of a stage: which prims have a kind, and what stands above them (REP-0158 1.2.2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from pxr import Kind

if TYPE_CHECKING:
    from simwright.checker.facts.graph import Component
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


@dataclass(slots=True)
class ModelKinds:
    """Kinds by node path, and the places where the hierarchy is broken."""

    of: dict[str, str] = field(default_factory=dict)
    models: list[PrimNode] = field(default_factory=list)
    nested: list[tuple[PrimNode, PrimNode]] = field(default_factory=list)
    """(model, the component above it)"""
    cut_off: list[tuple[PrimNode, PrimNode]] = field(default_factory=list)
    """(model, the nearest ancestor that is not a group)"""


@cache
def is_kind(kind: str, base: str) -> bool:
    """Is a kind ``base`` or derived from it, custom kinds included?"""
    return bool(kind) and bool(Kind.Registry.IsA(kind, base))


def find_kinds(snapshot: StageSnapshot) -> ModelKinds:
    """The hierarchy, read once."""
    return snapshot.shared("kinds", _find_kinds)


def _find_kinds(snapshot: StageSnapshot) -> ModelKinds:
    kinds = ModelKinds()
    inside: dict[int, list[PrimNode]] = {}
    names = _list_candidates(snapshot)
    for node in snapshot.nodes:
        if node.prototype is not None:
            inside.setdefault(id(node.prototype), []).append(node)
        if node.in_prototype and node.parent is None:
            continue  # a prototype's root stands for its instances, which are nodes themselves
        kind = node.prim.GetKind() if names is None or node.name in names else ""
        if kind:
            kinds.of[node.path] = kind
            if is_kind(kind, "model"):
                kinds.models.append(node)
    for model in kinds.models:
        _place(model, kinds, inside)
    return kinds


def _list_candidates(snapshot: StageSnapshot) -> set[str] | None:
    """Names of the prims that layers give a kind; None where any prim may have one.

    An arc renames the prim it leads to, so with arcs to prims with kinds every prim may be the one.
    """
    said = [(facts, path) for facts in snapshot.layers for path in facts.kinds]
    if any(not facts.is_root or any(not arc.asset for arc in facts.arcs) for facts, _ in said):
        return None
    return {path.StripAllVariantSelections().name for _, path in said}


def _place(model: PrimNode, kinds: ModelKinds, inside: dict[int, list[PrimNode]]) -> None:
    """Look up from a model: a component above is a fault, and so is a gap in the chain of groups."""
    gap: PrimNode | None = None
    above = _above(model, inside)
    while above is not None:
        kind = kinds.of.get(above.path, "")
        if is_kind(kind, "component"):
            kinds.nested.append((model, above))
            return
        if gap is None and not is_kind(kind, "group"):
            gap = above
        above = _above(above, inside)
    if gap is not None:
        kinds.cut_off.append((model, gap))


def _above(node: PrimNode, inside: dict[int, list[PrimNode]]) -> PrimNode | None:
    parent = node.parent
    if parent is None or not (parent.in_prototype and parent.parent is None):
        return parent
    # the prototype's root is bare: the instance stands in the hierarchy
    instances = inside.get(id(parent))
    return instances[0] if instances else None


def find_parts(snapshot: StageSnapshot) -> list[PrimNode]:
    """Robots and machines below the default prim that nobody gave a kind, where it holds several of them.

    Each is the outermost prim that holds one mechanism alone.  It counts as a machine of its own if it is brought in by
    an arc, has an articulation root, or a ROS context.
    """
    return snapshot.shared("kinds.parts", _find_parts)


# one function: two passes over the same chains of prims, counting and then choosing
def _find_parts(snapshot: StageSnapshot) -> list[PrimNode]:
    top = snapshot.default_node
    mechanisms = [component for component in snapshot.graph.components if component.moving]
    if top is None or len(mechanisms) < 2:
        return []
    holds: Counter[str] = Counter()
    chains = []
    for component in mechanisms:
        chain = [component.base, *component.base.ancestors()]
        chain = chain[: next((i for i, node in enumerate(chain) if node is top), 0)]
        holds.update(node.path for node in chain)
        chains.append((component, chain))
    parts = []
    for component, chain in chains:
        alone = [node for node in chain if holds[node.path] == 1]
        if not alone or not _is_machine(component, alone):
            return []
        parts.append(alone[-1])
    return parts


def _is_machine(component: Component, chain: list[PrimNode]) -> bool:
    """Is a mechanism somebody's asset, and not only a loose piece of one?"""
    return bool(component.roots) or any(
        node.has("RosContextAPI") or node.prim.HasAuthoredReferences() or node.prim.HasAuthoredPayloads()
        for node in chain
    )
