# SPDX-License-Identifier: Apache-2.0
"""A controller names what it acts on, by relationships or collections that lead to the right prims.

Why: simulators must not guess a controller's scope from nesting.  What is not targeted is not controlled.

Fails: RosControlDiffDriveAPI without `ros:diff_drive:left_wheels`; a wheel relationship to a body instead of a joint; a
target that does not exist; a bare RosControlIntegratedAPI with neither relationship nor collection.
Passes: every relationship of the schema authored, joints to joints, topics to prims with RosTopicAPI.

Fix: none.  Only the author knows the targets.

Reading: RosControlIntegratedAPI and RosControlExternalAPI define no relationships; any relationship or CollectionAPI on
their prim will do.  For the external marker alone it is a warning: the registry offers it no property for this.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.controllers import (
    MARKERS,
    ControllerPrim,
    ExpectedTarget,
    find_controller,
    list_expected_targets,
)
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_WANTED = {
    "topic": "a prim with RosTopicAPI",
    "action": "a prim with RosActionAPI",
    "joint": "a joint",
    "body": "a prim with PhysicsRigidBodyAPI",
}


@rule("ctrl-targets-rel", "4.2.3", "must", on="api:RosControl*")
def ctrl_targets_rel(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """The relationships of the schema, else any."""
    controller = find_controller(node, snapshot)
    ends = list_expected_targets(controller)
    for name, end in ends:
        yield from _check_end(controller, name, end)
    if not ends and not controller.rels and not node.has("CollectionAPI"):
        yield Finding(
            f"{controller.apis[0]} has no target: neither a relationship nor a collection",
            hint="add a relationship to the joints it controls, or apply CollectionAPI with includes",
            # an external controller knows its joints from ros2_control's own files
            level=Level.WARNING if controller.apis == [MARKERS[0]] else None,
        )
    known = {name for name, _ in ends}
    for name, targets in controller.rels.items():
        for target in targets:
            if target.node is None and name not in known:
                yield _missing(name, target.path)


def _check_end(controller: ControllerPrim, name: str, end: ExpectedTarget) -> Iterator[Finding]:
    targets = controller.rels.get(name, [])
    if not targets:
        yield Finding(
            f"{name} has no target",
            hint=f"write rel {name} = </path> to {_WANTED[end.what]}",
            prop=name,
        )
        return
    if len(targets) > 1 and not end.many:
        yield Finding(f"{name} has {len(targets)} targets, it takes one", hint="keep one target", prop=name)
    for target in targets:
        if target.node is None:
            yield _missing(name, target.path)
        elif not _fits(target.node, end.what):
            yield Finding(
                f"{name} leads to {target.path}, which is not {_WANTED[end.what]}",
                hint=f"target {_WANTED[end.what]}",
                prop=name,
            )


def _missing(name: str, path: str) -> Finding:
    return Finding(f"{name} leads to {path}, which is not a prim", hint="correct the path", prop=name)


def _fits(node: PrimNode, what: str) -> bool:
    if what == "joint":
        return node.is_a("PhysicsJoint")
    api = {"topic": "RosTopicAPI", "action": "RosActionAPI", "body": "PhysicsRigidBodyAPI"}[what]
    return node.has(api)
