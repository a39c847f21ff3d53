# SPDX-License-Identifier: Apache-2.0
"""A joint sits beside its child link, inside its parent link.

Why: a link that holds its joints and child links can be moved, referenced or removed as a whole.  Simulators
follow `physics:body0` and `physics:body1` only; the place is for people and for reuse.

Fails: all joints in `/robot/joints`, or links and joints side by side below `/robot`.
Passes: `/robot/base/elbow_joint` beside `/robot/base/arm`, with body0 `/robot/base`.

Fix: unsafe.  Moving a prim changes its path; relationships that name it must follow.

Reading: a joint to the world belongs beside the base link or above it.  A joint that closes a loop
(`physics:excludeFromArticulation = true`) belongs to two branches and is not reported.  A link of next
to no mass with nothing in it, which only divides a joint of several axes, may stand beside the child; the joint between
the two is then beside both.  Joints that are misplaced in the same prim are reported together.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.graph import NEXT_TO_NONE, JointEdge
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "joint-placement",
    "1.3",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="move the joint beside its child link, inside its parent link",
)
def joint_placement(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per prim that holds misplaced joints."""
    graph = snapshot.graph
    # joints that share two bodies have no place of their own until links come between them (loop-exclude)
    loops = {id(edge) for loop in graph.loops for edge in (loop, *graph.find_stack(loop))}
    groups: dict[int, list[JointEdge]] = {}
    for edge in graph.edges:
        # loop joints belong to two branches, and targets that are missing are another rule's finding
        if edge.excluded or edge.missing or id(edge) in loops or edge.held is None:
            continue
        if not _is_well_placed(edge):
            groups.setdefault(id(edge.joint.parent), []).append(edge)
    for edges in groups.values():
        yield _describe(edges)


def _is_well_placed(edge: JointEdge) -> bool:
    if edge.body0 is None or edge.body1 is None:
        return _is_beside_base(edge.joint, edge.held)
    holder = _body_above(edge.joint)
    if _is_divided(edge) and holder is _body_above(edge.body1):
        return True
    return any(
        holder is parent and _body_above(child) is parent
        # files differ in which body is body0: either may be the parent
        for parent, child in ((edge.body0, edge.body1), (edge.body1, edge.body0))
    )


def _is_divided(edge: JointEdge) -> bool:
    """Does it lead on from a link of next to no mass that has nothing in it and stands beside the child?"""
    first, second = edge.body0, edge.body1
    if first is None or second is None or first.children or first.parent is not second.parent:
        return False
    # several such links may follow each other: the child of the last one is the heaviest
    beside = first.parent.children if first.parent is not None else (second,)
    masses = [float(body.value("physics:mass") or 0.0) for body in (first, *beside)]
    return 0.0 < masses[0] < NEXT_TO_NONE * max(masses)


def _is_beside_base(joint: PrimNode, base: PrimNode | None) -> bool:
    """Beside the base or above it; inside it only where the base is the whole asset."""
    if base is None or joint.parent is None or joint.parent is base.parent:
        return True
    if joint.parent is base:
        # no room beside a base that is the root prim
        return base.parent is None
    return joint.parent in base.ancestors()


def _body_above(node: PrimNode) -> PrimNode | None:
    return next((above for above in node.ancestors() if above.has("PhysicsRigidBodyAPI")), None)


def _describe(edges: list[JointEdge]) -> Finding:
    first = edges[0].joint
    place = first.parent.path if first.parent is not None else "/"
    data = {"joints": [edge.joint.path for edge in edges]}
    if len(edges) > 1:
        names = ", ".join(edge.joint.name for edge in edges[:3]) + (", ..." if len(edges) > 3 else "")
        return Finding(
            f"{len(edges)} joints in {place} ({names}) are not beside their child links inside their parent links",
            hint="nest each child link below its parent link and put the joint beside the child",
            at=first.parent or first,
            data=data,
        )
    parent, child = edges[0].body0, edges[0].body1
    if parent is None or child is None:
        base = edges[0].held
        assert base is not None
        return Finding(
            f"the joint to the world is in {place}, not beside the base link {base.path}",
            hint=f"put the joint beside {base.name}",
            at=first,
            data=data,
        )
    return Finding(
        f"the joint is in {place}, not beside its child link {child.path} inside its parent link {parent.path}",
        hint=f"put {child.name} below {parent.path}, and the joint beside it",
        at=first,
        data=data,
    )
