# SPDX-License-Identifier: Apache-2.0
"""The default variants give a complete asset.

Why: whoever loads the asset without choosing should get a robot with visuals and colliders, not a part of it.

Fails: a default variant without colliders where another one has them; one that sets `active = false` on the only
collider or visual of a link; a joint to a link that only another variant has.
Passes: defaults with visuals and colliders; an empty "none" variant of a gripper mount, with no joint left behind.

Reading: only assets with variant sets are judged, in the state the asset selects.  A set that leaves out bodies as a
whole ("no gripper") is legal as long as no joint points at them.

Fix: no.  The author has to choose what belongs there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pxr import Sdf, Usd

from simwright.checker.facts.body_shapes import find_shapes
from simwright.checker.facts.domains import GEOMETRY_TYPES, Domain
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.variant_sets import list_variant_nodes
from simwright.checker.rule import Finding, rule


@rule("variant-default-complete", "1.2.4", "must", on="stage")
def variant_default_complete(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Dangling joints, invisible assets, and links that lose their shapes."""
    nodes = list_variant_nodes(snapshot)
    if not nodes:
        return
    # a joint that names a body of another variant is the usual trace of an incomplete default
    for edge in snapshot.graph.edges:
        for target in edge.missing:
            yield Finding(
                f"in the default variants the joint's target {target} does not exist",
                hint="put the joint into the variant that has the link, or select that variant by default",
                at=edge.joint,
            )
    seen: set[str] = set()  # sets may be nested: what is below both is looked at once
    for node in nodes:
        yield from _judge_shapes(node, snapshot)
        yield from _judge_inactive(node, snapshot, seen)


def _judge_shapes(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    below = [node, *node.descendants()]
    if not any(_is_shape(part) for part in below) and _offers(node, snapshot, _is_shape_opinion):
        yield Finding(
            f"the default variants of {', '.join(node.prim.GetVariantSets().GetNames())} have no shape, others do",
            hint="select a variant that has the geometry, or give the default one some",
            at=node,
        )
    elif not any(part.has("PhysicsCollisionAPI") for part in below) and _offers(node, snapshot, _is_collider):
        yield Finding(
            f"the default variants of {', '.join(node.prim.GetVariantSets().GetNames())} have no collider, others do",
            hint="select a variant with collision shapes, or give the default one some",
            at=node,
        )


def _judge_inactive(node: PrimNode, snapshot: StageSnapshot, seen: set[str]) -> Iterator[Finding]:
    """Links that lose all their colliders, or all their visuals, to ``active = false`` in a selected variant."""
    walk = iter(Usd.PrimRange(node.prim, Usd.PrimIsDefined & ~Usd.PrimIsAbstract))
    for prim in walk:
        if prim.IsActive() or prim.GetPath().pathString in seen:
            continue
        walk.PruneChildren()
        seen.add(prim.GetPath().pathString)
        link = _find_link(prim, snapshot)
        kinds = _list_contents(prim) if link is not None and _is_off_by_variant(prim) else set()
        # the set decides whether a whole link is there, which is legal
        if link is None or not kinds or "link" in kinds:
            continue
        left = find_shapes(link, snapshot)
        for kind, others in (("collider", left.colliders), ("visual", left.visuals)):
            if kind in kinds and not others and left.complete:
                yield Finding(
                    f"the default variants switch off {prim.GetPath()}: {link.path} has no {kind} then",
                    hint=f"select a variant with the {kind} by default, or give the default one another",
                    at=link,
                    data={"inactive": prim.GetPath().pathString, "kind": kind},
                )


def _find_link(prim: Usd.Prim, snapshot: StageSnapshot) -> PrimNode | None:
    above = snapshot.node(prim.GetPath().GetParentPath())
    return snapshot.owning_body(above) if above is not None else None


def _is_off_by_variant(prim: Usd.Prim) -> bool:
    strongest = next((spec for spec in prim.GetPrimStack() if spec.HasInfo("active")), None)
    return strongest is not None and bool(strongest.path.ContainsPrimVariantSelection())


def _list_contents(prim: Usd.Prim) -> set[str]:
    """What the layers define at and below a prim that is not composed: ``collider``, ``visual``, ``link``."""
    found: set[str] = set()
    waiting = list(prim.GetPrimStack())
    schemas: dict[str, set[str]] = {}
    types: dict[str, str] = {}
    while waiting:
        spec = waiting.pop()
        key = str(spec.path.StripAllVariantSelections())
        applied = spec.GetInfo("apiSchemas").GetAddedOrExplicitItems() if spec.HasInfo("apiSchemas") else ()
        schemas.setdefault(key, set()).update(applied)
        types[key] = types.get(key) or spec.typeName
        waiting.extend(spec.nameChildren)
    for key, applied in schemas.items():
        if "PhysicsRigidBodyAPI" in applied:
            found.add("link")
        elif "PhysicsCollisionAPI" in applied:
            found.add("collider")
        elif types[key] in GEOMETRY_TYPES:
            found.add("visual")
    return found


def _is_shape(node: PrimNode) -> bool:
    return node.is_a("Gprim") or node.is_a("PointInstancer")


def _offers(node: PrimNode, snapshot: StageSnapshot, wanted: Callable[[str], bool]) -> bool:
    """Do variants of the node's sets bring what is wanted, without bringing or taking away whole bodies?"""
    found = False
    # where the layers speak of the prim: not at the stage's path, where one of them is referenced
    places = [(spec.layer, spec.path.StripAllVariantSelections()) for spec in node.prim.GetPrimStack()]
    for facts in snapshot.layers:
        holders = {path for layer, path in places if layer == facts.layer}
        if not facts.has_variants or not holders:
            continue
        for opinion in facts.of(Domain.PHYSICS, Domain.GEOMETRY):
            if opinion.kind != "property" and _find_holder(opinion.path) in holders:
                # the set decides whether the part is there at all ("no gripper"), which is legal
                if opinion.what == "PhysicsRigidBodyAPI":
                    return False
                found = found or wanted(opinion.what)
    return found


def _find_holder(path: Sdf.Path) -> Sdf.Path | None:
    """The prim that has the variant set which a path is in, the innermost one."""
    while path.ContainsPrimVariantSelection():
        if path.IsPrimVariantSelectionPath():
            return path.StripAllVariantSelections()
        path = path.GetParentPath()
    return None


def _is_shape_opinion(what: str) -> bool:
    return what in GEOMETRY_TYPES


def _is_collider(what: str) -> bool:
    return what == "PhysicsCollisionAPI"
