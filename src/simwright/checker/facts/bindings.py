# SPDX-License-Identifier: Apache-2.0
"""Which material a prim is bound to for the physics purpose, and which relationship says so (REP-0158 1.3.4).

OpenUSD's own answer falls back to the all-purpose binding without saying so, and is slow when asked for every
collider.  Here the two purposes are kept apart and every prim's own bindings are read once: nearest binding
first, ``strongerThanDescendants`` honoured, collection bindings before direct ones of the same prim.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pxr import Sdf, Usd

from simwright.checker.facts.lineage import list_copies
from simwright.checker.facts.owners import Owners, find_owners

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

PHYSICS = "physics"
ALL_PURPOSE = ""
_BINDING = "material:binding"
_STRONG = "strongerThanDescendants"


@dataclass(frozen=True, slots=True)
class Binding:
    """One binding opinion: the prim that holds it, the relationship's name, and where it leads."""

    holder: PrimNode
    relation: str
    target: Sdf.Path
    collection: Sdf.Path | None = None

    @property
    def strong(self) -> bool:
        """Does it win over bindings below it?  Asked for only where two meet."""
        relation = self.holder.prim.GetRelationship(self.relation)
        return bool(relation.GetMetadata("bindMaterialAs") == _STRONG)


@dataclass(slots=True)
class _OwnBindings:
    """The bindings a prim itself holds, for one purpose."""

    direct: Binding | None = None
    collections: list[Binding] = field(default_factory=list)


_NONE = _OwnBindings()
Answers: TypeAlias = tuple[Binding | None, ...]


class BindingResolver:
    """Which material each prim of a snapshot is bound to, by purpose; answers are kept per prim."""

    def __init__(self, snapshot: StageSnapshot) -> None:
        self._snapshot = snapshot
        self._own: dict[int, dict[str, _OwnBindings]] = {}
        self._found: dict[str, dict[int, Answers]] = {PHYSICS: {}, ALL_PURPOSE: {}}
        self._with_collections: dict[str, set[int]] = {PHYSICS: set(), ALL_PURPOSE: set()}
        self._queries: dict[Sdf.Path, Any] = {}
        self._owners = find_binders(snapshot)

    def find(self, node: PrimNode, purpose: str) -> Answers:
        """What a prim is bound to: one answer, or several for a prototype whose instances differ."""
        found = self._found[purpose]
        passed: list[PrimNode] = []
        here = node
        # most prims have no binding of their own: go up to one that may, and remember the answer for all on
        # the way
        while id(here) not in found and here.parent is not None and not self._may_bind(here):
            passed.append(here)
            here = here.parent
        answers = self._work_out(here, purpose)
        if id(here) in self._with_collections[purpose]:  # what a collection includes is asked for each prim
            return self._work_out(node, purpose)
        for between in passed:
            found[id(between)] = answers
        return answers

    def _work_out(self, node: PrimNode, purpose: str) -> Answers:
        """The answer for a prim that may have bindings of its own."""
        found = self._found[purpose]
        waiting = [node]
        while waiting:  # from the prim up to one that is known, and down again
            here = waiting[-1]
            above = self._above(here)
            unknown = [parent for parent in above if id(parent) not in found]
            if unknown:
                waiting.extend(unknown)
                continue
            waiting.pop()
            if id(here) not in found:
                found[id(here)] = self._settle(here, above, purpose)
        return found[id(node)]

    # one function: the rules of precedence of UsdShade, in their order
    def _settle(self, node: PrimNode, above: list[PrimNode], purpose: str) -> Answers:
        """The answer for a prim whose parents have theirs."""
        own = self._read(node).get(purpose)
        seen = self._with_collections[purpose]
        if (own is not None and own.collections) or (seen and any(id(parent) in seen for parent in above)):
            seen.add(id(node))
            return (self._walk(node, purpose),)
        found = self._found[purpose]
        direct = own.direct if own is not None else None
        if len(above) == 1 and direct is None:
            return found[id(above[0])]
        answers: dict[Binding | None, None] = {}
        for parent in above:
            for inherited in found[id(parent)]:
                # UsdShade: the nearest binding wins, unless one above says strongerThanDescendants
                keep = inherited is not None and (direct is None or inherited.strong)
                answers[inherited if keep else direct] = None
        return tuple(answers) or (direct,)

    def find_subsets(self, node: PrimNode, purpose: str) -> list[Binding]:
        """Direct bindings of a mesh's GeomSubset children."""
        subsets = (child for child in node.children if child.type == "GeomSubset")
        owns = (self._read(child).get(purpose, _NONE).direct for child in subsets)
        return [binding for binding in owns if binding is not None]

    def _above(self, node: PrimNode) -> list[PrimNode]:
        if node.parent is not None:
            return [node.parent]
        return list_copies(node, self._snapshot) if node.in_prototype else []

    def _walk(self, node: PrimNode, purpose: str) -> Binding | None:
        """From the prim upwards; out of a prototype by way of its first instance."""
        found: Binding | None = None
        path = Sdf.Path(node.path)
        here: PrimNode | None = node
        while here is not None:
            own = self._read(here).get(purpose, _NONE)
            included = next((b for b in own.collections if self._includes(b, path)), None)
            if own.direct is not None and (found is None or own.direct.strong):
                found = own.direct
            if included is not None and (found is None or included.strong or found is own.direct):
                found = included
            above = self._above(here)
            here = above[0] if above else None
        return found

    def _includes(self, binding: Binding, path: Sdf.Path) -> bool:
        where = binding.collection
        if where is None:
            return False
        if where not in self._queries:
            collection = Usd.CollectionAPI.Get(self._snapshot.stage, where)
            self._queries[where] = collection.ComputeMembershipQuery() if collection else None
        query = self._queries[where]
        return bool(query is not None and query.IsPathIncluded(path))

    def _read(self, node: PrimNode) -> dict[str, _OwnBindings]:
        if id(node) not in self._own:
            found: dict[str, _OwnBindings] = {}
            if self._may_bind(node):
                for relation in self._list_relations(node.prim):
                    _add(found, node, relation)
            self._own[id(node)] = found
        return self._own[id(node)]

    def _may_bind(self, node: PrimNode) -> bool:
        return self._owners is None or self._owners.may_be(node)

    def _list_relations(self, prim: Usd.Prim) -> list[Usd.Relationship]:
        authored = prim.GetAuthoredPropertiesInNamespace("material")
        relations = (one for one in authored if isinstance(one, Usd.Relationship))
        return [relation for relation in relations if relation.GetName().startswith(_BINDING)]


def find_binders(snapshot: StageSnapshot) -> Owners | None:
    """The prims that may hold bindings; None where layers other than the asset's have a say."""
    if not snapshot.is_plain:
        return None
    layers = snapshot.layers
    paths = (
        path for facts in layers for path in facts.list_relations(lambda name: name.startswith(_BINDING))
    )
    return find_owners(paths, snapshot)


def _add(found: dict[str, _OwnBindings], node: PrimNode, relation: Usd.Relationship) -> None:
    """File a relationship under its purpose; ``material:binding[:collection][:PURPOSE][:NAME]``."""
    name: str = relation.GetName()
    targets = relation.GetForwardedTargets()
    parts = name.split(":")[2:]
    if parts[:1] != ["collection"]:
        if len(parts) <= 1 and targets:
            purpose = parts[0] if parts else ALL_PURPOSE
            own = found.setdefault(purpose, _OwnBindings())
            own.direct = Binding(node, name, targets[0])
        return
    # material:binding:collection:PURPOSE:NAME; with one part less it has no purpose
    purpose = parts[1] if len(parts) == 3 else ALL_PURPOSE
    collection = next((target for target in targets if target.IsPropertyPath()), None)
    material = next((target for target in targets if target.IsPrimPath()), None)
    if collection is not None and material is not None:
        own = found.setdefault(purpose, _OwnBindings())
        own.collections.append(Binding(node, name, material, collection))


def read_bindings(snapshot: StageSnapshot) -> BindingResolver:
    """The snapshot's bindings."""
    return snapshot.shared("bindings", BindingResolver)


def is_physics_material(binding: Binding | None, snapshot: StageSnapshot) -> bool:
    """Does the binding lead to a material with PhysicsMaterialAPI?"""
    material = snapshot.node(binding.target) if binding is not None else None
    return material is not None and material.type == "Material" and material.has("PhysicsMaterialAPI")
