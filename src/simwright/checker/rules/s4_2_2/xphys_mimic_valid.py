# SPDX-License-Identifier: Apache-2.0
"""A mimic joint follows exactly one other joint, and no joint follows itself around a loop.

Why: position = offset + multiplier * leader.  Without one leader the rule is not defined; in a loop it is a
constraint that nothing but standing still can meet.

Fails: ExtendedPhysicsMimicAPI on a fixed joint, with no target, two targets, a body as target, itself as target, or
two joints that follow each other.
Passes: a finger joint with `rel ext_physics:mimic:joint = </gripper/left_joint>`; chains.

Fix: none.  Only the author knows which joint leads.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.schemas import allowed_types
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

API = "ExtendedPhysicsMimicAPI"
LEADER = "ext_physics:mimic:joint"


@rule("xphys-mimic-valid", "4.2.2", "must", on=f"api:{API}")
def xphys_mimic_valid(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """The prim, its target, and the chain of leaders."""
    wanted = allowed_types(API)
    if not any(node.is_a(name) for name in wanted):
        yield Finding(
            f"{API} is on {node.type or 'a prim without a type'}, it must be on {' or '.join(wanted)}",
            hint="apply it to the joint that follows",
        )
    targets = node.targets(LEADER)
    if len(targets) != 1:
        yield Finding(
            f"{LEADER} has {len(targets)} targets, it must have one",
            hint=f"write rel {LEADER} = </path/of/the/leading/joint>",
            prop=LEADER,
        )
        return
    leader = snapshot.node(targets[0])
    problem = ""
    if leader is None:
        problem = "which is not a prim"
    elif leader is node:
        problem = "the joint itself"
    elif not any(leader.is_a(name) for name in wanted):
        problem = f"which is {leader.type or 'a prim without a type'} and no {' or '.join(wanted)}"
    elif _closes_loop(node, snapshot):
        problem = "and following the leaders leads back here"
    if problem:
        yield Finding(
            f"{LEADER} leads to {targets[0]}, {problem}",
            hint="target another revolute or prismatic joint, one that does not follow this one",
            prop=LEADER,
        )


def _closes_loop(start: PrimNode, snapshot: StageSnapshot) -> bool:
    """Is the joint on a loop of leaders?  Only for the first of the loop by path, so that a loop is told once."""
    loop = [start]
    while True:
        targets = loop[-1].targets(LEADER) if loop[-1].has(API) else []
        leader = snapshot.node(targets[0]) if len(targets) == 1 else None
        if leader is None:
            return False
        if leader is start:
            return len(loop) > 1 and start.path == min(node.path for node in loop)
        # a loop further up that this joint is not part of: its own joints report it
        if leader in loop:
            return False
        loop.append(leader)
