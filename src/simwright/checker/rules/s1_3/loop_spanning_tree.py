# SPDX-License-Identifier: Apache-2.0
"""The joints of an articulation form a spanning tree of its bodies.

Why: reduced-coordinate solvers give every body exactly one parent.  With a loop there are two; with a tree joint
excluded, a part of the mechanism falls out of the articulation.

Fails: four bodies and four joints in a ring, none excluded; an elbow marked as excluded.
Passes: the ring with its closing joint excluded: three tree joints for four bodies.

Fix: unsafe.  See `loop-exclude`: which joint closes the loop is a choice.

Reading: an anchor to the world counts as one more body.  A part that only excluded joints hold may be meant so
(a trailer), it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.graph import Component, JointGraph
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_EXCLUDE = "set physics:excludeFromArticulation = true on the joints that close the loops"
_CHAIN = "let each joint connect two links of its own, with links of next to no mass between"


@rule(
    "loop-spanning-tree",
    "1.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="exclude the loop-closing joints from the articulation",
)
def loop_spanning_tree(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Count per articulation; name its root."""
    graph = snapshot.graph
    loops: dict[int, list[str]] = {}
    stacked = {edge.joint.path for edge in graph.loops if graph.find_stack(edge)}
    for edge in graph.loops:
        if edge.held is not None:
            component = graph.of_body[edge.held.path]
            loops.setdefault(id(component), []).append(edge.joint.path)
    for component in graph.components:
        # without an articulation a solver uses maximal coordinates, where loops do no harm
        if component.roots:
            yield from _check_loops(component, loops.get(id(component), []), stacked)
            yield from _check_parts(component, graph)


def _check_loops(component: Component, loops: list[str], stacked: set[str]) -> Iterator[Finding]:
    surplus = len(loops)
    if surplus:
        joints = [edge for edge in component.edges if not edge.excluded]
        bodies = len(component.bodies)
        # counted from the loops, not from the bodies: an anchor to the world is one more edge
        needed = len(joints) - surplus
        yield Finding(
            f"the articulation has {len(joints)} joints for {bodies} bodies where a tree has {needed}: "
            f"{surplus} too many",
            hint=_CHAIN if stacked.issuperset(loops) else _EXCLUDE,
            at=component.roots[0],
            data={
                "bodies": bodies,
                "joints": len(joints),
                "surplus": surplus,
                "loops": loops,
                "stacked": [path for path in loops if path in stacked],
            },
        )


def _check_parts(component: Component, graph: JointGraph) -> Iterator[Finding]:
    parts = {id(tree): tree for tree in (graph.tree_of[body.path] for body in component.bodies)}
    for tree in parts.values():
        if tree.roots or len(parts) == 1:
            continue
        names = ", ".join(body.name for body in tree.bodies[:3]) + (", ..." if len(tree.bodies) > 3 else "")
        yield Finding(
            f"only excluded joints hold {names} to the articulation of {component.roots[0].name}, so it is outside",
            hint="exclude only joints that close a loop; the one from the parent link stays in the tree",
            at=tree.base,
            level=Level.WARNING,
            data={"bodies": [body.path for body in tree.bodies]},
        )
