# SPDX-License-Identifier: Apache-2.0
"""Fixed props are colliders without a rigid body.

Why: a collider without a body above it is static by definition.  A body that is welded to the world costs a
solver a joint, and drifts where that joint is soft.

Fails: a rack with PhysicsRigidBodyAPI and a fixed joint to the world; a wall with `physics:rigidBodyEnabled = 0`.
Passes: the rack with PhysicsCollisionAPI on its shapes, and nothing else.

Fix: unsafe.  PhysicsRigidBodyAPI and the joint are removed.

Reading: a body of an articulation, or with any other joint, is the base of a robot and is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "static-collision-only",
    "1.3",
    "must",
    on="api:PhysicsRigidBodyAPI",
    heuristic=True,
    fix="unsafe",
    fix_title="remove PhysicsRigidBodyAPI and the weld",
)
def static_collision_only(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """A lone body that cannot move."""
    component = snapshot.graph.of_body[node.path]
    # a base of a robot may be fixed: the tree needs a body to start from
    if component.roots or len(component.bodies) > 1 or component.moving:
        return
    if component.edges and component.edges[0].joint.type == "PhysicsFixedJoint":
        joint = component.edges[0].joint.path
        yield Finding(
            f"{node.name} is a rigid body that only the fixed joint {joint} holds, to the world: a static prop",
            hint="remove PhysicsRigidBodyAPI and the joint; its colliders are static then",
            at=node,
            data={"joint": joint},
        )
    elif node.authored("physics:rigidBodyEnabled") is False and not component.edges:
        yield Finding(
            f"{node.name} is a rigid body that is switched off: a static prop",
            hint="remove PhysicsRigidBodyAPI; its colliders are static then",
            at=node,
            prop="physics:rigidBodyEnabled",
        )
