# SPDX-License-Identifier: Apache-2.0
"""Where a node stands: its ancestors beyond an instance's border, its robot, and how often it is there.

A node inside a prototype has no parent above the prototype's root.  What a simulator sees above it are the
ancestors of each instance; here the first instance stands for all, except where copies are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot


def walk_up(node: Node, snapshot: Snapshot) -> Iterator[Node]:
    """Parent, grandparent ... up to the stage's root.

    Out of a prototype the way leads through its first instance, which has the APIs applied to instances.
    """
    seen = 0
    while seen < 10_000:
        seen += 1
        above = node.parent
        if above is None and node.in_prototype:
            instance = snapshot.node(node.path)
            above = None if instance is node else instance
        if above is None:
            return
        yield above
        node = above


def find_robot(node: Node, snapshot: Snapshot) -> Node | None:
    """The outermost ROS context at or above a node, also from inside an instance."""
    found = node if node.has("RosContextAPI") else None
    for above in walk_up(node, snapshot):
        if above.has("RosContextAPI"):
            found = above
    return found


def find_body(node: Node, snapshot: Snapshot) -> Node | None:
    """The rigid body at or above a node, also from inside an instance."""
    if node.has("PhysicsRigidBodyAPI"):
        return node
    return next((a for a in walk_up(node, snapshot) if a.has("PhysicsRigidBodyAPI")), None)


def list_copies(node: Node, snapshot: Snapshot) -> list[Node]:
    """The instances that show a node of a prototype; empty for a node that is there once."""
    if not node.in_prototype:
        return []
    root = node
    while root.parent is not None:
        root = root.parent
    return snapshot.shared("lineage.instances", _group_instances).get(id(root), [])


def _group_instances(snapshot: Snapshot) -> dict[int, list[Node]]:
    groups: dict[int, list[Node]] = {}
    for node in snapshot.nodes:
        if node.prototype is not None:
            groups.setdefault(id(node.prototype), []).append(node)
    return groups
