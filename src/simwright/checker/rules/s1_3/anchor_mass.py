# SPDX-License-Identifier: Apache-2.0
"""A robot base that is fixed to the world still has a mass above 0.

Why: some engines build the base before they see the joint, and a body without mass is refused or made up; and
the base may be mounted on something that moves.

Fails: the body of a fixed joint to the world without `physics:mass`, or with 0.
Passes: the same with its real mass.

Fix: unsafe.  The mass that follows from the colliders, with the density of 1000 kg/m^3 of UsdPhysics where none is
said; without a collider it is never invented.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.masses import describe_missing_mass, has_mass, is_anchored, is_dynamic, read_mass
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "anchor-mass",
    "1.3",
    "must",
    on="api:PhysicsRigidBodyAPI",
    fix="unsafe",
    fix_title="author the mass of the base",
)
def anchor_mass(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only bodies that a fixed joint holds to the world."""
    if has_mass(node, snapshot) or not is_dynamic(node) or not is_anchored(node, snapshot):
        return
    mass = read_mass(node)
    # a zero mass is the classic way to say "static": answer that directly
    if mass is not None and mass <= 0 and node.has("PhysicsMassAPI"):
        yield Finding(
            f"the base is fixed to the world, but its mass is {mass:g}",
            hint="the fixed joint alone holds it; write its real mass [kg]",
            at=node,
            prop="physics:mass",
        )
        return
    yield describe_missing_mass(node, snapshot, "the base that is fixed to the world")
