# SPDX-License-Identifier: Apache-2.0
"""The joints of a robot have different, non-empty names in ROS.

Why: JointState messages, trajectories and ros2_control find a joint by its name alone.  With two of one name a
command goes to either, or to both.

Fails: two joints `left/hip` and `right/hip` of one robot without ros:joint:name; two equal ros:joint:name; an empty
one.
Passes: `ros:joint:name = "left_hip"` and `"right_hip"`; equal names in two robots, which have contexts of their own.

Fix: none.  The names are the author's.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.lineage import find_robot, list_copies
from simwright.checker.facts.owners import find_joint_names
from simwright.checker.facts.schemas import JOINT_NAME
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("jname-unique", "2.10", "must", on="stage")
def jname_unique(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Per outermost context; a joint outside every context belongs to no ROS robot."""
    if not snapshot.contexts:
        return
    values = find_joint_names(snapshot)
    groups: dict[tuple[int, str], list[PrimNode]] = {}
    for joint in snapshot.joints:
        value = values.get(joint.path)
        if isinstance(value, str) and not value.strip():
            yield Finding(
                "ros:joint:name is empty",
                hint="write the joint's ROS name, or remove the property to use the prim name",
                at=joint,
                prop=JOINT_NAME,
            )
            continue
        name = value if isinstance(value, str) else joint.name
        # an instance multiplies its joints, each copy in the robot the instance belongs to
        for place in list_copies(joint, snapshot) or [joint]:
            robot = find_robot(place, snapshot)
            if robot is not None:
                groups.setdefault((id(robot), name), []).append(joint)
    reported: set[int] = set()
    for (_, name), joints in groups.items():
        for joint in joints[1:]:
            if id(joint) not in reported:
                reported.add(id(joint))
                yield _report(name, joints[0], joint)


def _report(name: str, first: PrimNode, joint: PrimNode) -> Finding:
    prop = JOINT_NAME if joint.authored(JOINT_NAME) is not None else ""
    if first is joint:
        message = f"the joint name {name!r} is there more than once: every instance of the prim brings it"
    else:
        message = f"the joint name {name!r} is taken by {first.path} already"
    return Finding(
        message,
        hint="give each joint of the robot a name of its own with custom string ros:joint:name",
        at=joint,
        prop=prop,
        data={"name": name},
    )
