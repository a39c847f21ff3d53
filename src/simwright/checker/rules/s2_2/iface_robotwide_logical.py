# SPDX-License-Identifier: Apache-2.0
"""Interfaces of the whole robot are on logical prims below the robot's context.

Why: a plain Xform or Scope below the context has no physics and no mesh, so the interface is at the same place in
every robot and gets the robot's namespace.

Fails: an action server for FollowJointTrajectory on a joint, on a mesh, or outside every context.
Passes: a Scope `/robot/Interfaces/arm` where /robot has RosContextAPI; the context prim itself.

Fix: unsafe.  The interface moves to another prim.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.interfaces import ROBOT_WIDE_TYPES
from simwright.checker.facts.names import KINDS, outermost_context
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "iface-robotwide-logical",
    "2.2",
    "should",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
    fix="unsafe",
    fix_title="move the interface to a logical prim below the context",
)
def iface_robotwide_logical(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Bodies are reported by iface-robotwide-decoupled; here other physics, geometry, and the context."""
    for api, kind in KINDS.items():
        type_name = node.authored(f"ros:{kind}:type") if node.has(api) else None
        if type_name not in ROBOT_WIDE_TYPES:
            continue
        fault = _find_fault(node)
        if fault:
            yield Finding(
                f"{type_name} speaks for the whole robot, but {fault}",
                hint="put it on an Xform or Scope without physics, below the prim with RosContextAPI",
                at=node,
                prop=f"ros:{kind}:type",
                data={"type": type_name},
            )


def _find_fault(node: PrimNode) -> str:
    if outermost_context(node) is None:
        return "no prim above it has RosContextAPI"
    # a body is reported by iface-robotwide-decoupled, and the context prim speaks for the robot
    if node.has("RosContextAPI") or node.has("PhysicsRigidBodyAPI"):
        return ""
    if node.type not in ("", "Xform", "Scope"):
        return f"it is on a {node.type}"
    physics = next((api for api in node.apis if api.startswith(("Physics", "ExtendedPhysics"))), "")
    return f"its prim has {physics}" if physics else ""
