# SPDX-License-Identifier: Apache-2.0
"""Dynamic bodies author a mass above 0.

Why: without one every engine takes the volume of the colliders times a density of its own, and the same asset
weighs differently in each.

Fails: a rigid body without PhysicsMassAPI, or with the API but no `physics:mass`.
Passes: `float physics:mass = 2.4` on the body.  Kinematic and disabled bodies need none.

Fix: unsafe.  The mass that follows from the colliders, with the density of 1000 kg/m^3 of UsdPhysics where none is
said; without a collider it is never invented: `--set mass.LINK=KILOGRAMS` says it, and the inertia is that of a ball
of that density.

Reading: where density or the masses of colliders give the mass, it is a warning.  A mass of 0 is reported by
`mass-no-zero-static`, a base that is fixed to the world by `anchor-mass`.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.masses import (
    describe_missing_mass,
    has_mass,
    is_anchored,
    is_dynamic,
    read_mass,
)
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "mass-positive",
    "1.3",
    "must",
    on="api:PhysicsRigidBodyAPI",
    fix="unsafe",
    fix_title="author the mass of the body",
)
def mass_positive(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only where no mass is said; a wrong one is another rule's."""
    if has_mass(node, snapshot) or not is_dynamic(node) or is_anchored(node, snapshot):
        return
    mass = read_mass(node)
    # reported by mass-no-zero-static, which says what to do instead
    if mass is not None and mass <= 0 and node.has("PhysicsMassAPI"):
        return
    yield describe_missing_mass(node, snapshot, "the dynamic body")
