# SPDX-License-Identifier: Apache-2.0
"""Does what the joints hold together make a tree, with one articulation root each?  (REP-0158 1.3)"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from simwright.core.diag import Level, declare
from simwright.formats.usd.source import Source
from simwright.model.joint import WORLD
from simwright.model.kinematics import build_tree

JOINT_CYCLE = declare(
    "usd-joint-cycle",
    Level.WARNING,
    "joint {name!r} closes a loop but does not say physics:excludeFromArticulation",
    hint="author physics:excludeFromArticulation = true on the joint that closes the loop",
    doc="Articulations must form a tree; the joint is taken as the one that closes the loop.",
    section="1.3",
)
ARTICULATION_ROOTS = declare(
    "usd-articulation-roots",
    Level.WARNING,
    "the tree of body {body!r} has {count} articulation roots: {roots}",
    hint="delete PhysicsArticulationRootAPI on all but one",
    doc="A connected kinematic tree has more than one articulation root.",
    section="1.3",
)
ARTICULATION_EMPTY = declare(
    "usd-articulation-empty",
    Level.WARNING,
    "articulation root {name!r} has no rigid body on it, below it or at its joint",
    hint="apply PhysicsArticulationRootAPI to a body, a joint to the world, or an ancestor of the bodies",
    doc="An articulation root stands where it concerns no body.",
    section="1.3",
)


def check_topology(source: Source) -> None:
    """Report loops that are not declared and trees with several articulation roots."""
    tree = build_tree(source.asset)
    for joint in tree.loops:
        if not (joint.closes_loop or joint.distance is not None):
            source.reporter.report(JOINT_CYCLE, joint.source, name=joint.name)
    component: dict[str, str] = {root: root for root in tree.roots}
    for edge in tree.edges:
        component[edge.child] = edge.child if edge.parent == WORLD else component[edge.parent]
    _check_roots(source, component)


def _check_roots(source: Source, component: dict[str, str]) -> None:
    roots: dict[str, list[str]] = {}
    members = Members(source)
    for articulation in source.asset.articulations:
        bodies = members.find(articulation.path)
        if not bodies:
            source.reporter.report(ARTICULATION_EMPTY, articulation.source, name=articulation.name)
        for tree in dict.fromkeys(component[body] for body in bodies):
            roots.setdefault(tree, []).append(articulation.path)
    for body, paths in roots.items():
        if len(paths) > 1:
            where = source.asset.body(body).source
            source.reporter.report(
                ARTICULATION_ROOTS, where, body=body, count=len(paths), roots=", ".join(paths)
            )


class Members:
    """Who belongs to an articulation root; many roots are asked for, so paths are indexed once."""

    def __init__(self, source: Source) -> None:
        self._below = PathIndex(source.bodies)
        self._names = [frame.name for frame in source.bodies.values()]
        self._children = {joint.path: joint.child for joint in source.asset.joints}

    def find(self, path: str) -> list[str]:
        """Bodies on or below an articulation root, or the child of the joint it is on."""
        names = [self._names[number] for number in self._below.find(path)]
        if path in self._children:
            names.append(self._children[path])
        return names


class PathIndex:
    """Finds the paths at or below another one without looking at all of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._rows = sorted((f"{path}/", number) for number, path in enumerate(paths))
        self._paths = [path for path, _ in self._rows]

    def find(self, path: str) -> list[int]:
        """Positions, in the order the paths came in."""
        prefix = path.rstrip("/") + "/"
        first = bisect_left(self._paths, prefix)
        last = bisect_left(self._paths, prefix[:-1] + chr(ord("/") + 1))
        return sorted(number for _, number in self._rows[first:last])


def find_members(source: Source, path: str) -> list[str]:
    """Members of one articulation root (see :class:`Members`, which is faster for many)."""
    return Members(source).find(path)
