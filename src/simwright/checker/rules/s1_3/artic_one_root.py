# SPDX-License-Identifier: Apache-2.0
"""A kinematic tree has at most one articulation root.

Why: a second PhysicsArticulationRootAPI in the same tree makes reduced-coordinate solvers cut the robot in two.

Fails: an arm with a root and, at its end, a gripper that still has its own.
Passes: two robots on one stage with a root each; a root on a prim above two separate trees.

Fix: unsafe.  The outermost root is kept, the others are removed with `delete apiSchemas`.

Reading: a tree is what enabled joints hold together that are not excluded from the articulation.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.graph import sort_roots
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "artic-one-root",
    "1.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="keep the outermost articulation root and delete the others",
)
def artic_one_root(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per surplus root."""
    # a root above two trees is a surplus in both of them
    told: set[int] = set()
    for tree in snapshot.graph.trees:
        if len(tree.roots) < 2:
            continue
        kept, *surplus = sort_roots(tree.roots)
        for root in surplus:
            if id(root) in told:
                continue
            told.add(id(root))
            yield Finding(
                f"{len(tree.roots)} articulation roots govern one kinematic tree; {kept.path} has one already",
                hint='remove this one: delete apiSchemas = ["PhysicsArticulationRootAPI"]',
                at=root,
                data={"roots": [node.path for node in tree.roots], "kept": kept.path},
            )
