# SPDX-License-Identifier: Apache-2.0
"""The articulation root of a fixed base is on its fixed joint to the world, or above it.

Why: with PhysicsArticulationRootAPI on the base link, PhysX (Isaac Sim) makes the base float and holds it by a loose
joint, so that the arm has six freedoms more than it should and sways.

Fails: an arm whose base is held by a PhysicsFixedJoint and carries the root itself.
Passes: the root on that joint or on a prim above both; the root on the base link of a robot that nothing holds.

Fix: unsafe.  The API goes from the link to the joint, with what engines say of the root; in an asset that has words of
MuJoCo only with `--set articulation-root=joint`.

Reading: REP-0158 is silent; this is the rule of UsdPhysics.  MuJoCo's own USD reader (4.0.0) wants the root on the base
link all the same: `simwright convert --for mujoco` writes such assets, and this finding is about what they are not for.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "artic-fixed-root",
    "1.3",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="move the articulation root from the base link to its fixed joint",
)
def artic_fixed_root(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per root on a link of a tree that a fixed joint holds to the world."""
    for tree in snapshot.graph.trees:
        anchor = tree.anchor
        # which of several roots stays is decided by artic-one-root
        if anchor is None or len(tree.roots) != 1 or not tree.roots[0].has("PhysicsRigidBodyAPI"):
            continue
        root = tree.roots[0]
        yield Finding(
            f"the articulation root is on {root.name}, but {anchor.name} fixes this articulation to the world: PhysX "
            "makes the base float",
            hint=f"move PhysicsArticulationRootAPI from {root.path} to {anchor.path}",
            at=root,
            data={"anchor": anchor.path},
        )
