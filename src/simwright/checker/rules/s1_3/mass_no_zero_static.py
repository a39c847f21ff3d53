# SPDX-License-Identifier: Apache-2.0
"""No mass of 0 stands for a static or infinitely heavy thing.

Why: UsdPhysics ignores a mass of 0 and computes a default one, so the "static" thing falls.

Fails: `float physics:mass = 0` on a wall or a robot base.
Passes: a wall with PhysicsCollisionAPI and no PhysicsRigidBodyAPI; a base with its real mass and a fixed joint
to the world; `physics:kinematicEnabled = true` for what is animated.

Fix: unsafe.  Without a joint at it the body can lose PhysicsRigidBodyAPI; else its mass must be known.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.masses import NO_MASS, has_mass, read_mass
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "mass-no-zero-static",
    "1.3",
    "must not",
    on="api:PhysicsMassAPI",
    fix="unsafe",
    fix_title="remove PhysicsRigidBodyAPI from a body that no joint holds",
)
def mass_no_zero_static(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored opinions only: the fallback 0 is not a statement."""
    if has_mass(node, snapshot):
        return
    mass = read_mass(node)
    # nan is left to mass-positive
    if mass is None or not mass <= 0:
        return
    jointed = bool(snapshot.graph.edges_of.get(node.path))
    if not node.has("PhysicsRigidBodyAPI"):
        hint = "remove the opinion, or write the mass of the collider [kg]"
    elif jointed:
        hint = "write its real mass [kg]; a fixed joint to the world holds it still"
    else:
        hint = "write its real mass [kg]; if it is static, remove PhysicsRigidBodyAPI and keep PhysicsCollisionAPI"
    yield Finding(
        f"physics:mass is {mass:g}; it is ignored and does not make anything static",
        hint=hint,
        at=node,
        prop="physics:mass",
        data={"value": mass, "fault": NO_MASS},
    )
