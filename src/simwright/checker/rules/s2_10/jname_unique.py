# SPDX-License-Identifier: Apache-2.0
"""The joints of a robot have different, non-empty names in ROS.

Why: JointState messages, trajectories and ros2_control find a joint by its name alone.  With two of one name a
command goes to either, or to both.

Fails: two joints `left/hip` and `right/hip` of one robot without ros:joint:name; two equal ros:joint:name; an empty
one.
Passes: `ros:joint:name = "left_hip"` and `"right_hip"`; equal names in two robots, which have contexts of their own.

Reading: joints outside of every context belong to the mechanism they are part of; there equal prim names are a warning,
equal ros:joint:name an error.

Fix: none.  The names are the author's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simwright.checker.facts.lineage import find_robot, list_copies
from simwright.checker.facts.owners import find_joint_names
from simwright.checker.facts.schemas import JOINT_NAME
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule("jname-unique", "2.10", "must", on="stage")
def jname_unique(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Per outermost context; without one, per mechanism."""
    values = find_joint_names(snapshot)
    for joint in snapshot.joints:
        if _is_blank(values.get(joint.path)):
            yield Finding(
                "ros:joint:name is empty",
                hint="write the joint's ROS name, or remove the property to use the prim name",
                at=joint,
                prop=JOINT_NAME,
            )
    reported: set[int] = set()
    for (_, name), joints in _group_by_robot(snapshot, values).items():
        for joint in joints[1:]:
            if id(joint) not in reported:
                reported.add(id(joint))
                yield _report(name, joints[0], joint, snapshot)


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _group_by_robot(
    snapshot: StageSnapshot, values: Mapping[str, object]
) -> dict[tuple[int, str], list[PrimNode]]:
    """Joints by robot and name; a joint that instances show is there once for each."""
    groups: dict[tuple[int, str], list[PrimNode]] = {}
    mechanisms = {id(edge.joint): id(one) for one in snapshot.graph.components for edge in one.edges}
    for joint in snapshot.joints:
        value = values.get(joint.path)
        if _is_blank(value):
            continue
        name = value if isinstance(value, str) else joint.name
        # an instance multiplies its joints, each copy in the robot the instance belongs to
        for place in list_copies(joint, snapshot) or [joint]:
            robot = find_robot(place, snapshot) if snapshot.contexts else None
            # instances outside of every context are robots of their own
            alone = mechanisms.get(id(joint)) if place is joint else None
            home = id(robot) if robot is not None else alone
            if home is not None:
                groups.setdefault((home, name), []).append(joint)
    return groups


def _report(name: str, first: PrimNode, joint: PrimNode, snapshot: StageSnapshot) -> Finding:
    prop = JOINT_NAME if joint.authored(JOINT_NAME) is not None else ""
    # a robot that nobody gave a context, nor its joints a name, is not in ROS yet
    is_ros = bool(prop) or find_robot(joint, snapshot) is not None or first is joint
    if first is joint:
        message = f"the joint name {name!r} occurs more than once: every instance of the prim brings it"
    else:
        message = f"the joint name {name!r} is taken by {first.path} already"
    return Finding(
        message,
        hint="give each joint of the robot a name of its own with custom string ros:joint:name",
        at=joint,
        prop=prop,
        level=None if is_ros else Level.WARNING,
        data={"name": name},
    )
