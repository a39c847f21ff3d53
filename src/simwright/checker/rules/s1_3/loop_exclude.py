# SPDX-License-Identifier: Apache-2.0
"""Joints that close a loop set physics:excludeFromArticulation = true.

Why: the loop joint is then a constraint of its own, and the rest is a tree that every solver can take.

Fails: the fourth joint of a four-bar linkage without it; two anchors of one mechanism to the world.
Passes: `uniform bool physics:excludeFromArticulation = true` on one joint of each cycle.

Fix: unsafe.  Any joint of the cycle could be the one; the joint named is one without a drive where there is one.
Joints that move the same two bodies along or about several axes stand for one joint with several freedoms; excluded
they would lock each other.  The fix puts a link of next to no mass between them instead, and every joint stays what
it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule

_EXCLUDE = "author uniform bool physics:excludeFromArticulation = true here, or on another joint of the loop"
_CHAIN = "put a link of next to no mass between them, so that each joint connects two links of its own"


@rule(
    "loop-exclude",
    "1.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="set physics:excludeFromArticulation = true on the joint that closes the loop, or put a link between",
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
        stack = graph.find_stack(loop)
        if stack:
            message += "; only some simulators take them for one joint with several axes, in others they lock"
        yield Finding(
            message,
            hint=_CHAIN if stack else _EXCLUDE,
            at=loop.joint,
            data={
                "cycle": [edge.joint.path for edge in cycle],
                "stack": [edge.joint.path for edge in stack],
            },
        )
