# SPDX-License-Identifier: Apache-2.0
"""ros:joint:name, where it is authored, is a string on a joint.

Why: the property renames a joint for ROS.  On a body or an Xform nobody reads it, and as a token or a number some
readers do not understand it.

Fails: `string ros:joint:name = "hip"` on a link; `token ros:joint:name` on a joint.
Passes: `custom string ros:joint:name = "hip-joint"` on a PhysicsRevoluteJoint; a joint without the property.

Fix: none.  Which joint was meant is not known.

Reading: no schema defines the property, so it is a custom string; a missing `custom` keyword is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.owners import find_holders
from simwright.checker.facts.schemas import JOINT_NAME
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("jname-may", "2.10", "may", on="stage")
def jname_may(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only prims that have the property are asked."""
    for node, names in find_holders(snapshot, "ros", Domain.ROS, Domain.CONTROL):
        if JOINT_NAME not in names:
            continue
        if not node.is_a("PhysicsJoint"):
            yield Finding(
                f"ros:joint:name is on {node.type or 'a prim without a type'}, which is not a joint",
                hint="move the property to the joint prim that it names",
                at=node,
                prop=JOINT_NAME,
            )
            continue
        attribute = node.prim.GetAttribute(JOINT_NAME)
        # no schema defines the property, so GetTypeName tells what the layers say
        found = str(attribute.GetTypeName()) if attribute else "a relationship"
        if found != "string":
            yield Finding(
                f"ros:joint:name is {found}, it must be a string",
                hint='write custom string ros:joint:name = "..."',
                at=node,
                prop=JOINT_NAME,
            )
