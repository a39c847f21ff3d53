# SPDX-License-Identifier: Apache-2.0
"""Joints that close a loop set physics:excludeFromArticulation = true.

Why: the loop joint is then a constraint of its own, and the rest is a tree that every solver can take.

Fails: the fourth joint of a four-bar linkage without it; two anchors of one mechanism to the world.
Passes: `uniform bool physics:excludeFromArticulation = true` on one joint of each cycle.

Fix: unsafe.  Any joint of the cycle could be the one; the joint named is one without a drive where there is one.
Two joints that move the same two bodies about several axes are left: they are read as one joint, and as a tree joint
and a loop joint they would lock each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule

_EXCLUDE = "author uniform bool physics:excludeFromArticulation = true here, or on another joint of the loop"
_MERGE = "write one PhysicsJoint that leaves the axes of both free, or put a body between them"


@rule(
    "loop-exclude",
    "1.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="set physics:excludeFromArticulation = true on the joint that closes the loop",
)
def loop_exclude(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per cycle, with all its joints."""
    graph = snapshot.graph
    for loop in graph.loops:
        # all joints are named: the author may want to exclude another one of them
        cycle = graph.find_cycle(loop)
        names = ", ".join(edge.joint.name for edge in cycle)
        if len(cycle) == 1:
            message = "the joint connects a body with itself"
        elif len(cycle) == 2:
            message = f"two joints ({names}) connect the same two bodies"
        else:
            message = f"the joint closes the loop {names} and is not excluded from the articulation"
        if any(edge.to_world for edge in cycle):
            message += ", by way of the world"
        yield Finding(
            message,
            hint=_MERGE if graph.is_parallel(loop) else _EXCLUDE,
            at=loop.joint,
            data={"cycle": [edge.joint.path for edge in cycle], "parallel": graph.is_parallel(loop)},
        )
