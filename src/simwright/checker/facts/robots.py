# SPDX-License-Identifier: Apache-2.0
"""Robots of a stage by their joints, for questions that concern more than one of them (REP-0158 2.1.1)."""

from __future__ import annotations

from collections import Counter

from simwright.checker.facts.graph import Component
from simwright.checker.facts.names import lineage, outermost_context
from simwright.checker.facts.snapshot import Node, Snapshot


def find_unnamed_robots(snapshot: Snapshot) -> list[Node]:
    """Roots of robots that have ROS interfaces but no context, where there is more than one robot."""
    alone = [node for node in snapshot.interfaces if outermost_context(node) is None]
    if not alone:
        return []
    robots = [component for component in snapshot.graph.components if component.moving]
    if len(robots) < 2:
        return []
    shared = Counter(path for robot in robots for path in _paths_above(robot))
    roots = [_find_root(robot, shared) for robot in robots]
    found: dict[str, Node] = {}
    for node in alone:
        above = {place.path for place in lineage(node)}
        for root in roots:
            if root is not None and root.path in above:
                found[root.path] = root
    return list(found.values())


def _paths_above(robot: Component) -> set[str]:
    return {place.path for body in robot.bodies for place in lineage(body)}


def _find_root(robot: Component, shared: Counter[str]) -> Node | None:
    """The highest prim above a robot's first body that is above no body of another robot."""
    chain = [place for place in lineage(robot.bodies[0]) if shared[place.path] == 1]
    return chain[-1] if chain else None
