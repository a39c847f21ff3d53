# SPDX-License-Identifier: Apache-2.0
"""Collision filtering uses PhysicsCollisionGroup, and the targets of its groups exist.

Why: an engine's own self-collision switch is not read by the others, where the links then collide.

Fails: `physxArticulation:enabledSelfCollisions = 0` and no collision group; a group that includes a prim that is
not there, or filters something that is not a group.
Passes: a group of the links that filters itself.  Without any filtering no group is needed.

Fix: no.  Which links may touch must be known.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_FLAGS = ("physxArticulation:enabledSelfCollisions", "newton:selfCollisionEnabled")


@rule(
    "selfcoll-groups",
    "1.3.3",
    "should",
    on=("isa:PhysicsCollisionGroup", "api:PhysicsArticulationRootAPI"),
    heuristic=True,
)
def selfcoll_groups(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Groups that lead nowhere, and switches of one engine."""
    if node.is_a("PhysicsCollisionGroup"):
        yield from _check_group(node, snapshot)
        return
    # exporters write it as a bool or as a number
    flag = next((name for name in _FLAGS if node.authored(name) is False or node.authored(name) == 0), None)
    if flag is not None and not snapshot.shared("groups", lambda s: s.of_type("PhysicsCollisionGroup")):
        yield Finding(
            f"{flag} = false switches self-collision off for one engine only",
            hint="author a PhysicsCollisionGroup of the links whose physics:filteredGroups names the group itself",
            at=node,
            prop=flag,
        )


def _check_group(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    includes = "collection:colliders:includes"
    for target in node.targets(includes):
        if not _exists(target.pathString, snapshot):
            yield Finding(
                f"the group includes {target}, where there is no prim",
                hint="correct or remove the target",
                at=node,
                prop=includes,
            )
    # a collection is filled by targets, by its root, or by a membership expression
    if not node.targets(includes) and not node.authored("collection:colliders:includeRoot"):
        expression = node.authored("collection:colliders:membershipExpression")
        if not expression:
            yield Finding(
                "the group includes nothing",
                hint=f"name its links in {includes}",
                at=node,
                prop=includes,
            )
    for target in node.targets("physics:filteredGroups"):
        group = snapshot.node(target)
        if group is None or not group.is_a("PhysicsCollisionGroup"):
            yield Finding(
                f"physics:filteredGroups names {target}, which is not a PhysicsCollisionGroup",
                hint="correct or remove the target",
                at=node,
                prop="physics:filteredGroups",
            )


def _exists(path: str, snapshot: StageSnapshot) -> bool:
    return bool(snapshot.stage.GetObjectAtPath(path))
