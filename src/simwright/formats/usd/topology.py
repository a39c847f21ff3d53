# SPDX-License-Identifier: Apache-2.0
"""Does what the joints hold together make a tree, with one articulation root each?  (REP-0158 1.3)"""

from __future__ import annotations

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
    for articulation in source.asset.articulations:
        members = find_members(source, articulation.path)
        if not members:
            source.reporter.report(ARTICULATION_EMPTY, articulation.source, name=articulation.name)
        for tree in dict.fromkeys(component[body] for body in members):
            roots.setdefault(tree, []).append(articulation.path)
    for body, paths in roots.items():
        if len(paths) > 1:
            where = source.asset.body(body).source
            source.reporter.report(
                ARTICULATION_ROOTS, where, body=body, count=len(paths), roots=", ".join(paths)
            )


def find_members(source: Source, path: str) -> list[str]:
    """Bodies on or below an articulation root, or the child of the joint it is on."""
    below = path.rstrip("/") + "/"
    names = [frame.name for at, frame in source.bodies.items() if at == path or at.startswith(below)]
    if path in source.joints:
        names.append(source.asset.joint(source.joints[path]).child)
    return names
