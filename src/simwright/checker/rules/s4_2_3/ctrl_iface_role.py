# SPDX-License-Identifier: Apache-2.0
"""The interface of a controller has the role and the type that its schema asks for.

Why: a drive that listens on a topic of the wrong type never hears a command, and one that is connected to a publisher
has nothing to listen to.

Fails: `ros:diff_drive:subscriber` to a publisher, or to a topic of std_msgs/msg/String.
Passes: a subscription of geometry_msgs/msg/Twist; odometry as a publisher of nav_msgs/msg/Odometry; a
FollowJointTrajectory server; a publisher of sensor_msgs/msg/JointState.

Fix: none.  Whether the interface or the relationship is wrong is not known.

Reading: newer ros2_controllers use TwistStamped; that is a warning, because the registry's schema says Twist.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.controllers import ExpectedTarget, find_controller, list_expected_targets
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_APIS = {"topic": "RosTopicAPI", "action": "RosActionAPI"}


@rule("ctrl-iface-role", "4.2.3", "must", on="api:RosControl*")
def ctrl_iface_role(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Interfaces with another API are reported by ctrl-targets-rel, missing attributes by the rules of section 2."""
    controller = find_controller(node, snapshot)
    for name, end in list_expected_targets(controller):
        for target in controller.rels.get(name, []):
            if target.node is not None and end.what in _APIS and target.node.has(_APIS[end.what]):
                yield from _check(name, end, target.node)


def _check(name: str, end: ExpectedTarget, interface: PrimNode) -> Iterator[Finding]:
    role = interface.authored(f"ros:{end.what}:role")
    kind = interface.authored(f"ros:{end.what}:type")
    if role and role != end.role:
        yield Finding(
            f"{name} leads to {interface.path} with the role {role}, it must be {end.role}",
            hint=f'target an interface with ros:{end.what}:role = "{end.role}"',
            prop=name,
        )
    if kind and kind not in end.types:
        # newer ros2_controllers take stamped commands
        is_newer = kind in end.newer
        yield Finding(
            f"{name} leads to {interface.path} of type {kind}, the schema says {' or '.join(end.types)}",
            hint=f'target an interface with ros:{end.what}:type = "{end.types[0]}"',
            prop=name,
            level=Level.WARNING if is_newer else None,
        )
