# SPDX-License-Identifier: Apache-2.0
"""Dynamic bodies author a mass above 0.

Why: without one every engine takes the volume of the colliders times a density of its own, and the same asset
weighs differently in each.

Fails: a rigid body without PhysicsMassAPI, or with the API but no `physics:mass`.
Passes: `float physics:mass = 2.4` on the body.  Kinematic and disabled bodies need none.

Fix: unsafe.  The mass that follows from the colliders, with the density of 1000 kg/m^3 of UsdPhysics where none is
said; without a collider it is never invented.

Reading: where density or the masses of colliders give the mass, it is a warning.  A mass of 0 is reported by
`mass-no-zero-static`, a base that is fixed to the world by `anchor-mass`.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.masses import derive_mass, has_mass, is_dynamic, read_mass
from simwright.checker.facts.snapshot import Node, Snapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "mass-positive",
    "1.3",
    "must",
    on="api:PhysicsRigidBodyAPI",
    fix="unsafe",
    fix_title="author the mass of the body",
)
def mass_positive(node: Node, snapshot: Snapshot) -> Iterator[Finding]:
    """Only where no mass is said; a wrong one is another rule's."""
    if has_mass(node, snapshot) or not is_dynamic(node) or is_anchored(node, snapshot):
        return
    mass = read_mass(node)
    if mass is not None and mass <= 0 and node.has("PhysicsMassAPI"):
        return
    yield describe_missing_mass(node, snapshot, "the dynamic body")


def is_anchored(node: Node, snapshot: Snapshot) -> bool:
    """Does an enabled fixed joint hold the body to the world?"""
    links = snapshot.graph.links_of.get(node.path, ())
    return any(link.is_fixed and link.to_world and link.enabled for link in links)


def describe_missing_mass(node: Node, snapshot: Snapshot, what: str) -> Finding:
    """Say what is missing, milder where the mass follows from something else."""
    mass = read_mass(node)
    if mass is not None and not node.has("PhysicsMassAPI"):
        return Finding(
            f"physics:mass is {mass:g} on {what}, but PhysicsMassAPI is not applied, so it is not read",
            hint='add "PhysicsMassAPI" to apiSchemas',
            at=node,
            prop="physics:mass",
        )
    if mass is not None:
        return Finding(
            f"physics:mass of {what} is {mass:g}, it must be a number above 0",
            hint="author float physics:mass [kg]",
            at=node,
            prop="physics:mass",
        )
    source = derive_mass(node, snapshot)
    if source:
        return Finding(
            f"{what} authors no mass of its own; it follows from {source}",
            hint="author float physics:mass [kg] on the body, so that it is the same in every engine",
            at=node,
            level=Level.WARNING,
        )
    return Finding(
        f"{what} authors no mass, so every engine computes one with its own density",
        hint="apply PhysicsMassAPI and author float physics:mass [kg]",
        at=node,
    )
