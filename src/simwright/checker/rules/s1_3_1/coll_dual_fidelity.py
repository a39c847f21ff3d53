# SPDX-License-Identifier: Apache-2.0
"""Mesh colliders come in two fidelities, by a collision_fidelity variant set.

Why: standard engines get hulls, contact-rich solvers get the real surface, from one asset.

Fails: a concave triangle mesh as collider and no variant set `collision_fidelity` at it or above it.
Passes: the set with a default variant of hulls or primitives and a second one with the triangles.  Assets whose
colliders are primitives need no set.

Fix: unsafe.  A set with the hull as default can be generated; where there are hulls only, a finer form has to be made.

Reading: the set may be on any prim from the collider up to the asset's root.  An asset with hulls only works
everywhere; there the missing set is an info.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.body_shapes import CollisionForm, find_form
from simwright.checker.facts.lineage import walk_up
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.variant_sets import COLLISION, find_sets
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level


@rule(
    "coll-dual-fidelity",
    "1.3.1",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="make a collision_fidelity set with hulls as its default",
)
def coll_dual_fidelity(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per asset."""
    meshes = _list_unswitched_meshes(snapshot)
    concave = [node for node in meshes if find_form(node, snapshot) is CollisionForm.COMPLEX]
    # an asset of hulls alone works in every engine, so it is only mentioned, and there is nothing finer to switch to
    found = concave or [node for node in meshes if find_form(node, snapshot) is CollisionForm.HULL]
    if not found:
        return
    kind, level, fix = (
        ("finer than a convex hull", None, None)
        if concave
        else ("a convex hull of a mesh", Level.INFO, Fixable.NO)
    )
    which = found[0].path if len(found) == 1 else f"{found[0].path} and {len(found) - 1} more"
    yield Finding(
        f"collision geometry is {kind} ({which}) and there is no collision_fidelity variant set",
        hint="add the set on the collision scope: hulls or primitives in the default variant, the triangles in another",
        at=found[0],
        level=level,
        fix=fix,
        data={"colliders": [node.path for node in found]},
    )


def _list_unswitched_meshes(snapshot: StageSnapshot) -> list[PrimNode]:
    """Mesh colliders that no collision_fidelity set, at or above them, switches."""
    holders = {id(holder) for holder in find_sets(snapshot, COLLISION)}
    meshes = [node for node in snapshot.colliders if node.type == "Mesh"]
    return [node for node in meshes if not _is_held(node, snapshot, holders)] if holders else meshes


def _is_held(node: PrimNode, snapshot: StageSnapshot, holders: set[int]) -> bool:
    # the set may be on the collider, its scope, its link or the asset
    return any(id(above) in holders for above in (node, *walk_up(node, snapshot)))
