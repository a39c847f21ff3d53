# SPDX-License-Identifier: Apache-2.0
"""Articulated mechanisms of which the stage holds several identical copies (REP-0158 1.2.6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from simwright.checker.facts.graph import Component
from simwright.checker.facts.lineage import find_robot, list_copies

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

_NUMBER = re.compile(r"_?\d+")
_ARRAY = 4
"""A fleet of so many times ``clone_count`` in a regular grid is an array, whatever its namespaces."""


@dataclass(frozen=True, slots=True)
class Clones:
    """Copies of one mechanism: the base body of each, or the instance that shows it."""

    bases: list[PrimNode]
    joints: int
    is_grid: bool
    """Do they stand at equal distances in rows (or all in one place)?"""
    is_fleet: bool
    """Has each a ROS namespace of its own?"""
    is_array: bool
    """Is it too many for a fleet, and too regular?"""


def find_clones(snapshot: StageSnapshot) -> list[Clones]:
    """Mechanisms with at least ``clone_count`` copies."""
    return snapshot.shared("clones", _find)


# one function: mechanisms, their copies and what the copies are, each from the one before
def _find(snapshot: StageSnapshot) -> list[Clones]:
    least = max(snapshot.settings.clone_count, 2)
    groups: dict[tuple[str, ...], list[tuple[PrimNode, int]]] = {}
    for component in snapshot.graph.components:
        for part in _split(component, least):
            if any(not edge.is_fixed for edge in part.edges):
                copies = list_copies(part.base, snapshot) or [part.base]
                groups.setdefault(_sign(part), []).extend((copy, len(part.edges)) for copy in copies)
    found = []
    for group in groups.values():
        if len(group) < least:
            continue
        bases = [base for base, _ in group]
        grid, fleet = is_grid([_place(base, snapshot) for base in bases]), _is_fleet(bases, snapshot)
        is_array = grid and (not fleet or len(bases) >= _ARRAY * least)
        found.append(Clones(bases, group[0][1], grid, fleet, is_array))
    return found


# one function: which bodies and joints are whose
def _split(component: Component, least: int) -> list[Component]:
    """The robots of a component: one, unless joints to a common ground hold several articulations together."""
    if len(component.roots) < least:
        return [component]
    parts = []
    for root in component.roots:
        inside = f"{root.path}/"
        bodies = [body for body in component.bodies if body is root or body.path.startswith(inside)]
        own = {id(body) for body in bodies}
        edges = [e for e in component.edges if id(e.body1) in own or (e.body1 is None and id(e.body0) in own)]
        if bodies:
            parts.append(Component(bodies, edges, [root]))
    return parts if len(parts) >= least else [component]


def _sign(component: Component) -> tuple[str, ...]:
    """Names and types of bodies and joints, numbers in names left out."""
    bodies = (_NUMBER.sub("", body.name) for body in component.bodies)
    joints = []
    for edge in component.edges:
        ends = (_NUMBER.sub("", end.name) if end is not None else "" for end in (edge.body0, edge.body1))
        joints.append(":".join((edge.joint.type, _NUMBER.sub("", edge.joint.name), *ends)))
    return (*sorted(bodies), *sorted(joints))


def _is_fleet(bases: list[PrimNode], snapshot: StageSnapshot) -> bool:
    """Is each in a ROS context of its own?"""
    robots = [find_robot(base, snapshot) for base in bases]
    if any(robot is None for robot in robots):
        return False
    names = {str(robot.authored("ros:context:namespace") or "") for robot in robots if robot is not None}
    return len(names) == len(bases)


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
