# SPDX-License-Identifier: Apache-2.0
"""Filtered pairs are few, name prims that exist, and do not repeat what joints already filter.

Why: a joint switches off the contact between its two bodies already; long lists of pairs are what collision
groups are for; a pair with a missing prim does nothing.

Fails: `physics:filteredPairs` to a prim that is not there; a pair of two bodies that one joint connects; a link
paired with a dozen others.
Passes: a handful of pairs between bodies that no joint connects; a body that is fixed to the world and the link that
turns on it, or two that a loop joint closes, since MuJoCo lets these two touch in spite of the joint.

Fix: unsafe.  Pairs that a joint filters can be dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_PAIRS = "physics:filteredPairs"
# beyond a handful nobody keeps the list up to date by hand
_MANY = 8


@rule(
    "selfcoll-pairs",
    "1.3.3",
    "may",
    on="api:PhysicsFilteredPairsAPI",
    fix="unsafe",
    fix_title="drop the pairs that a joint filters",
)
def selfcoll_pairs(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per kind of flaw."""
    targets = node.targets(_PAIRS)
    joints = {target: _find_joint(node, snapshot.node(target), snapshot) for target in targets}
    filtered = {target: joint for target, joint in joints.items() if joint is not None}
    data = {"superfluous": [str(target) for target in filtered]}
    missing = [target for target in targets if not snapshot.stage.GetObjectAtPath(target)]
    if missing:
        yield Finding(
            f"{_PAIRS} names {missing[0]}, where there is no prim",
            hint="correct or remove the target",
            at=node,
            prop=_PAIRS,
            data=data,
        )
    for target, joint in filtered.items():
        yield Finding(
            f"the pair with {target} is superfluous: the joint {joint.path} filters it already",
            hint="remove the target",
            at=node,
            prop=_PAIRS,
            data=data,
        )
    if len(targets) > _MANY:
        yield Finding(
            f"{node.name} is paired with {len(targets)} others",
            hint="use a PhysicsCollisionGroup for so many",
            at=node,
            prop=_PAIRS,
        )


def _find_joint(node: PrimNode, target: PrimNode | None, snapshot: StageSnapshot) -> PrimNode | None:
    """The joint between two bodies that filters their contact."""
    if target is None or not node.has("PhysicsRigidBodyAPI") or not target.has("PhysicsRigidBodyAPI"):
        return None
    for edge in snapshot.graph.edges_of.get(node.path, ()):
        # UsdPhysics: the bodies of a joint do not collide unless collisionEnabled says so
        filters = edge.enabled and edge.joint.value("physics:collisionEnabled") is not True
        if filters and edge.other(node) is target:
            # MuJoCo takes a joint that closes a loop for a constraint, which filters nothing
            if edge.joint.value("physics:excludeFromArticulation") is True:
                return None
            return None if _is_held(node, snapshot) or _is_held(target, snapshot) else edge.joint
    return None


def _is_held(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Do fixed joints hold the body to the world?  MuJoCo filters no contact of such a body."""
    seen, queue = {node.path}, [node]
    for body in queue:  # grows while it is read
        for edge in snapshot.graph.edges_of.get(body.path, ()):
            if not (edge.is_fixed and edge.enabled):
                continue
            if edge.to_world:
                return True
            other = edge.other(body)
            if other is not None and other.path not in seen:
                seen.add(other.path)
                queue.append(other)
    return False
