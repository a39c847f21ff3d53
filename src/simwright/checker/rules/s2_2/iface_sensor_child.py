# SPDX-License-Identifier: Apache-2.0
"""Sensor interfaces are on an Xform below the link that carries the sensor.

Why: the messages get the frame of the nearest link, and the Xform says where on the link the sensor looks
from.  On the link itself the sensor has no pose of its own; away from every link it does not move along.

Fails: RosTopicAPI with sensor_msgs/msg/LaserScan on the body /robot/base_link, on a Camera, or on
/robot/Interfaces of a robot with links.
Passes: an Xform /robot/base_link/lidar; an optical frame below a Camera below a link.

Reading: "child" is read as any depth, since section 2.8 puts a camera between.  A sensor in an asset without
bodies (a camera on a wall) has no link to be below; in a world with bodies, one that stands still is below a frame of
its own (RosFrameAPI) that is below no link.  Subscriptions are not sensors.

Fix: unsafe.  A child Xform is made and takes the interface.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.interfaces import SENSOR_TYPES
from simwright.checker.facts.names import lineage, outermost_context
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_TYPE = "ros:topic:type"


@rule(
    "iface-sensor-child",
    "2.2",
    "must",
    on="api:RosTopicAPI",
    fix="unsafe",
    fix_title="make a child Xform of the link and move the interface there",
)
def iface_sensor_child(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Sensor publishers by their type."""
    type_name = node.authored(_TYPE)
    if type_name not in SENSOR_TYPES or node.authored("ros:topic:role") == "subscription":
        return
    fault, hint = _find_fault(node, snapshot)
    if fault:
        yield Finding(
            f"the sensor interface {type_name} {fault}",
            hint=hint,
            at=node,
            prop=_TYPE,
            data={"type": type_name},
        )


def _find_fault(node: PrimNode, snapshot: StageSnapshot) -> tuple[str, str]:
    if node.has("PhysicsRigidBodyAPI"):
        return (
            "is on the rigid body itself",
            f'make a child: def Xform "{node.name}_sensor", and move it there',
        )
    chain = lineage(node)
    # a camera on a wall, in a world where other things move: its frame is RosFrameAPI's
    stands_still = any(above.has("RosFrameAPI") for above in chain[1:-1])
    if not stands_still and not any(above.has("PhysicsRigidBodyAPI") for above in chain[1:]):
        root = outermost_context(node) or chain[-1]
        # only a robot with links has a link to put the sensor on
        if root.path in snapshot.shared("paths above bodies", _find_scopes):
            return (
                "is not below any rigid body",
                "move it to a child Xform of the link that carries the sensor",
            )
    if not node.is_a("Xform"):
        found = f"a {node.type}" if node.type else "a prim without a type"
        return f"is on {found}, not on an Xform", "put it on a child: def Xform, with the sensor's pose"
    return "", ""


def _find_scopes(snapshot: StageSnapshot) -> set[str]:
    return {place.path for body in snapshot.bodies for place in lineage(body)}
