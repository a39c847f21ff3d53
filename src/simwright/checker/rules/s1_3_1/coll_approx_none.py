# SPDX-License-Identifier: Apache-2.0
"""A collision mesh says its physics:approximation.

Why: without PhysicsMeshCollisionAPI and an explicit value each engine chooses: the triangles, a hull, or a
decomposition that takes minutes.

Fails: a Mesh with PhysicsCollisionAPI and no PhysicsMeshCollisionAPI, or with the API and no value.
Passes: `uniform token physics:approximation = "none"` (or `"convexHull"`).  Cubes and spheres need none.

Fix: unsafe.  "none" is OpenUSD's fallback, but some engines do otherwise where it is not said.

Reading: section 1.3.1 asks for "none" and for a default of convexHull or primitives.  Any explicit value passes
here; which ones the default state may have is checked by `coll-default-baseline`.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.body_shapes import CollisionForm, find_form, read_approximation
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "physics:approximation"


@rule(
    "coll-approx-none",
    "1.3.1",
    "should",
    on="api:PhysicsCollisionAPI",
    fix="unsafe",
    fix_title="apply PhysicsMeshCollisionAPI and author physics:approximation",
)
def coll_approx_none(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Meshes only."""
    if (
        node.type != "Mesh"
        or find_form(node, snapshot) is CollisionForm.HULL
        or read_approximation(node) is not None
    ):
        return
    # the attribute without its API is a frequent slip: every engine ignores it
    said = node.authored(_NAME)
    if said:
        message = f'{_NAME} is "{said}" but PhysicsMeshCollisionAPI is not applied, so it is not read'
        hint = 'add "PhysicsMeshCollisionAPI" to apiSchemas'
    elif node.has("PhysicsMeshCollisionAPI"):
        message = f"the collision mesh does not author {_NAME}"
        hint = f'author uniform token {_NAME} = "none" for a convex mesh, else "convexHull"'
    else:
        message = "the collision mesh has no PhysicsMeshCollisionAPI, so its approximation is not authored"
        hint = f'apply it and author uniform token {_NAME} = "none" for a convex mesh, else "convexHull"'
    yield Finding(message, hint=hint, at=node, prop=_NAME)
