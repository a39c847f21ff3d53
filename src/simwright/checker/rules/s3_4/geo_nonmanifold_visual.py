# SPDX-License-Identifier: Apache-2.0
"""Open or non-manifold meshes are only visual, never colliders.

Why: leaves, decals and thin sheets may be open as long as no physics depends on them.  A mesh that is both visual
and collider has to meet the stricter of both rules.

Fails: a mesh that is drawn (purpose default or render), has PhysicsCollisionAPI, and is open.
Passes: the open mesh without the API, beside a closed collider of purpose `guide`.

Fix: unsafe.  A copy is made to be seen and the collider becomes a guide; geo-coll-watertight names the fault of the
surface itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.lineage import find_purposes
from simwright.checker.facts.meshes import list_collision_meshes, read_mesh
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.topology import describe_faults
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

# no authored purpose is the purpose default
_DRAWN = {"", "default", "render"}


@rule(
    "geo-nonmanifold-visual",
    "3.4",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="make a visual of its own, and a guide of the collider",
)
def geo_nonmanifold_visual(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Meshes in both roles."""
    for node in list_collision_meshes(snapshot):
        facts = read_mesh(node, snapshot)
        if facts.problem or facts.topology.is_closed:
            continue
        if not find_purposes(node, snapshot) & _DRAWN:
            continue
        yield Finding(
            f"this mesh is drawn and collided with, and being open is for purely visual meshes"
            f" ({describe_faults(facts.topology)})",
            hint="take PhysicsCollisionAPI off this mesh and give the body a closed collider of purpose guide",
            at=node,
            level=Level.WARNING if facts.is_flat else None,
        )
