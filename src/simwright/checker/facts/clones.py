# SPDX-License-Identifier: Apache-2.0
"""Articulated mechanisms of which the stage holds several identical copies (REP-0158 1.2.6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from simwright.checker.facts.lineage import find_robot

if TYPE_CHECKING:
    from simwright.checker.facts.graph import Component
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

_NUMBER = re.compile(r"_?\d+$")


@dataclass(frozen=True, slots=True)
class Clones:
    """Copies of one mechanism: the base body of each."""

    bases: list[PrimNode]
    joints: int
    is_grid: bool
    """Do they stand at equal distances in rows (or all in one place)?"""


def find_clones(snapshot: StageSnapshot) -> list[Clones]:
    """Mechanisms with at least ``clone_count`` copies; fleets with a ROS namespace each are not clones."""
    return snapshot.shared("clones", _find)


def _find(snapshot: StageSnapshot) -> list[Clones]:
    least = max(snapshot.settings.clone_count, 2)
    groups: dict[tuple[str, ...], list[Component]] = {}
    for component in snapshot.graph.components:
        if component.moving:
            groups.setdefault(_sign(component), []).append(component)
    found = []
    for components in groups.values():
        if len(components) < least or _is_fleet(components, snapshot):
            continue
        bases = [component.base for component in components]
        places = [_place(base, snapshot) for base in bases]
        found.append(Clones(bases, len(components[0].edges), is_grid(places)))
    return found


def _sign(component: Component) -> tuple[str, ...]:
    """Names and types of bodies and joints, numbers at the end of names left out."""
    bodies = (_NUMBER.sub("", body.name) for body in component.bodies)
    joints = []
    for edge in component.edges:
        ends = (_NUMBER.sub("", end.name) if end is not None else "" for end in (edge.body0, edge.body1))
        joints.append(":".join((edge.joint.type, _NUMBER.sub("", edge.joint.name), *ends)))
    return (*sorted(bodies), *sorted(joints))


def _is_fleet(components: list[Component], snapshot: StageSnapshot) -> bool:
    """Is each in a ROS context of its own?"""
    robots = [find_robot(component.base, snapshot) for component in components]
    if any(robot is None for robot in robots):
        return False
    names = {str(robot.authored("ros:context:namespace") or "") for robot in robots if robot is not None}
    return len(names) == len(components)


def _place(base: PrimNode, snapshot: StageSnapshot) -> tuple[float, float, float]:
    moved = snapshot.xforms.GetLocalToWorldTransform(base.prim).ExtractTranslation()
    return float(moved[0]), float(moved[1]), float(moved[2])


def is_grid(places: Sequence[tuple[float, float, float]]) -> bool:
    """Do the places fill a regular grid, but for its last row?"""
    # steps are counted in ten-thousandths of the extent, so that float noise does not matter
    size = max((max(axis) - min(axis) for axis in zip(*places, strict=True)), default=0.0)
    step = max(size, 1.0) * 1e-4
    cells = 1
    longest = 1
    for axis in zip(*places, strict=True):
        marks = sorted({round(value / step) for value in axis})
        gaps = [b - a for a, b in pairwise(marks)]
        # spacings of a grid made by a script differ in the last digits only
        if gaps and max(gaps) - min(gaps) > max(2, 0.02 * max(gaps)):
            return False
        cells *= len(marks)
        longest = max(longest, len(marks))
    # the last row of a grid may be incomplete
    return cells - len(places) < longest
