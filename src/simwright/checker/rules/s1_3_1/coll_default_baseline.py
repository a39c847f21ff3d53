# SPDX-License-Identifier: Apache-2.0
"""In the default state colliders are primitives or convex hulls.

Why: every engine has these.  Concave triangle meshes, decompositions and distance fields are for engines that
support them and are chosen by a variant.

Fails: a concave mesh with `physics:approximation = "none"`, or with convexDecomposition, meshSimplification, sdf.
Passes: Cube, Sphere, Capsule, Cylinder, Cone, Plane; a mesh with convexHull, boundingCube or boundingSphere; a
mesh that is convex by itself with "none".

Fix: unsafe.  convexHull fills hollows; a hand-made set of primitives may be wanted instead.

Reading: the default state is what the asset selects.  Another variant of `collision_fidelity`, chosen by a user
or a sweep, may hold what it likes.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.body_shapes import CollisionForm, find_form, read_approximation
from simwright.checker.facts.lineage import walk_up
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.variant_sets import COLLISION, find_sets, shows_default
from simwright.checker.rule import Finding, rule


@rule(
    "coll-default-baseline",
    "1.3.1",
    "must",
    on="api:PhysicsCollisionAPI",
    fix="unsafe",
    fix_title='set physics:approximation = "convexHull"',
)
def coll_default_baseline(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Judged by what the shape is, not by what it is called."""
    if find_form(node, snapshot) is not CollisionForm.COMPLEX or not _is_default(node, snapshot):
        return
    said = read_approximation(node)
    if node.type != "Mesh":
        what, prop = f"the collider is a {node.type}", ""
    elif said in (None, "none"):
        what, prop = "the collider is a concave triangle mesh", "physics:approximation"
    else:
        what, prop = f'physics:approximation is "{said}"', "physics:approximation"
    yield Finding(
        f"{what}; the default state must have primitives or convexHull",
        hint='use physics:approximation = "convexHull" or primitives here, and keep this one for a second variant '
        "of collision_fidelity",
        at=node,
        prop=prop,
        data={"approximation": said},
    )


def _is_default(node: PrimNode, snapshot: StageSnapshot) -> bool:
    holders = {id(holder) for holder in find_sets(snapshot, COLLISION)}
    if not holders:
        return True
    # a sweep over variants shows the finer state too, where anything is allowed
    return all(
        shows_default(above, COLLISION, snapshot)
        for above in (node, *walk_up(node, snapshot))
        if id(above) in holders
    )
