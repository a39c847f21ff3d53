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

from simwright.checker.facts.collision_forms import Form, find_form
from simwright.checker.facts.fidelity import COLLISION, find_sets
from simwright.checker.facts.lineage import walk_up
from simwright.checker.facts.snapshot import Node, Snapshot
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
def coll_dual_fidelity(snapshot: Snapshot) -> Iterator[Finding]:
    """One finding per asset."""
    holders = {id(holder) for holder in find_sets(snapshot, COLLISION)}
    meshes = [node for node in snapshot.colliders if node.type == "Mesh"]
    if holders:
        meshes = [node for node in meshes if not _is_held(node, snapshot, holders)]
    concave = [node for node in meshes if find_form(node, snapshot) is Form.COMPLEX]
    found = concave or [node for node in meshes if find_form(node, snapshot) is Form.HULL]
    if not found:
        return
    kind = "finer than a convex hull" if concave else "a convex hull of a mesh"
    which = found[0].path if len(found) == 1 else f"{found[0].path} and {len(found) - 1} more"
    yield Finding(
        f"collision geometry is {kind} ({which}) and there is no collision_fidelity variant set",
        hint="add the set on the collision scope: hulls or primitives in the default variant, the triangles in another",
        at=found[0],
        level=None if concave else Level.INFO,
        fix=None if concave else Fixable.NO,
        data={"colliders": [node.path for node in found]},
    )


def _is_held(node: Node, snapshot: Snapshot, holders: set[int]) -> bool:
    return any(id(above) in holders for above in (node, *walk_up(node, snapshot)))
