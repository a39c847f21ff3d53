# SPDX-License-Identifier: Apache-2.0
"""The default variants give a complete asset.

Why: whoever loads the asset without choosing should get a robot with visuals and colliders, not a part of it.

Fails: a default variant without colliders where another one has them; a joint to a link that only another variant has.
Passes: defaults with visuals and colliders; an empty "none" variant of a gripper mount, with no joint left behind.

Reading: only assets with variant sets are judged, in the state the asset selects.  A set that leaves out bodies as a
whole ("no gripper") is legal as long as no joint points at them.

Fix: no.  The author has to choose what belongs there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pxr import Sdf

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
    for node in nodes:
        yield from _judge_shapes(node, snapshot)


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


def _is_shape(node: PrimNode) -> bool:
    return node.is_a("Gprim") or node.is_a("PointInstancer")


def _offers(node: PrimNode, snapshot: StageSnapshot, wanted: Callable[[str], bool]) -> bool:
    """Do variants of the node's sets bring what is wanted, without bringing or taking away whole bodies?"""
    found = False
    for facts in snapshot.layers:
        if not facts.has_variants:
            continue
        for opinion in facts.of(Domain.PHYSICS, Domain.GEOMETRY):
            if opinion.kind != "property" and _is_in_set_of(opinion.path, node):
                # the set decides whether the part is there at all ("no gripper"), which is legal
                if opinion.what == "PhysicsRigidBodyAPI":
                    return False
                found = found or wanted(opinion.what)
    return found


def _is_in_set_of(path: Sdf.Path, node: PrimNode) -> bool:
    """Is a path inside a variant of a prim named like the node?"""
    while path.ContainsPrimVariantSelection():
        if path.IsPrimVariantSelectionPath():
            holder = path.StripAllVariantSelections()
            # by name: the layer's path is not the stage's where the layer is referenced
            return bool(holder.name == node.name or holder.IsRootPrimPath())
        path = path.GetParentPath()
    return False


def _is_shape_opinion(what: str) -> bool:
    return what in GEOMETRY_TYPES


def _is_collider(what: str) -> bool:
    return what == "PhysicsCollisionAPI"
