# SPDX-License-Identifier: Apache-2.0
"""An asset holds one canonical environment, not many copies of it.

Why: simulators that train in parallel copy the environment themselves; a file with 64 robots can only be used as
64 robots.

Fails: four or more mechanisms with the same bodies and joints (the number is `clone_count`).
Passes: one robot; a fleet whose robots have a ROS namespace each.

Fix: unsafe.  The first copy is kept.

Reading: mechanisms are the same if names and types of their bodies and joints are, numbers at the end aside.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.clones import find_clones
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "canonical-single",
    "1.2.6",
    "must",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="keep the first copy",
)
def canonical_single(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per mechanism."""
    for clones in find_clones(snapshot):
        if clones.is_fleet:
            continue
        # traversal order: the copy that a fix keeps
        first = clones.bases[0]
        yield Finding(
            f"the mechanism of {first.name} ({clones.joints} joints) is there {len(clones.bases)} times",
            hint="distribute one; for a fleet give each robot its own ros:context:namespace, or raise clone_count",
            at=first,
            data={"copies": [base.path for base in clones.bases]},
        )
