# SPDX-License-Identifier: Apache-2.0
"""Interfaces of the whole robot are not on or below a rigid body.

Why: joint states, odometry, velocity commands and trajectories belong to the kinematic tree, not to a link.
On a link they move, are copied and are deleted with it, and look like a sensor of that link.

Fails: RosTopicAPI with sensor_msgs/msg/JointState on /robot/base_link.
Passes: the same on /robot/Interfaces/joint_states.

Fix: unsafe.  The prim moves to an Interfaces scope below the context; its frame changes with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.interfaces import ROBOT_WIDE_TYPES
from simwright.checker.facts.names import KINDS, lineage
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "iface-robotwide-decoupled",
    "2.2",
    "should",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
    heuristic=True,
    fix="unsafe",
    fix_title="move the interface to a logical prim below the context",
)
def iface_robotwide_decoupled(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """The type tells what is robot-wide; a body at or above tells where it is."""
    for api, kind in KINDS.items():
        type_name = node.authored(f"ros:{kind}:type") if node.has(api) else None
        if type_name not in ROBOT_WIDE_TYPES:
            continue
        # through the first instance too: a robot may be instanced as a whole
        body = next((place for place in lineage(node) if place.has("PhysicsRigidBodyAPI")), None)
        if body is not None:
            where = "on" if body is node else "below"
            yield Finding(
                f"{type_name} speaks for the whole robot but is {where} the rigid body {body.path}",
                hint="put it on a prim of its own without physics, for example /robot/Interfaces",
                at=node,
                prop=f"ros:{kind}:type",
                data={"type": type_name, "body": body.path},
            )
