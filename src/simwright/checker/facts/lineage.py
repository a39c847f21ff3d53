# SPDX-License-Identifier: Apache-2.0
"""What is above a node, also beyond the border of an instance: its robot, its body, its inherited purpose.

A node inside a prototype has no parent above the prototype's root.  What a simulator sees above it are the
ancestors of each instance; here the first instance stands for all, except where copies are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


def walk_up(node: PrimNode, snapshot: StageSnapshot) -> Iterator[PrimNode]:
    """Parent, grandparent ... up to the stage's root.

    Out of a prototype the way leads through its first instance, which has the APIs applied to instances.
    """
    seen = 0
    # a bound, because instances of instances lead from prototype to prototype
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


def find_robot(node: PrimNode, snapshot: StageSnapshot) -> PrimNode | None:
    """The outermost ROS context at or above a node, also from inside an instance."""
    found = node if node.has("RosContextAPI") else None
    for above in walk_up(node, snapshot):
        if above.has("RosContextAPI"):
            found = above
    return found


def find_body(node: PrimNode, snapshot: StageSnapshot) -> PrimNode | None:
    """The rigid body at or above a node, also from inside an instance."""
    if node.has("PhysicsRigidBodyAPI"):
        return node
    return next((a for a in walk_up(node, snapshot) if a.has("PhysicsRigidBodyAPI")), None)


def list_copies(node: PrimNode, snapshot: StageSnapshot) -> list[PrimNode]:
    """The instances that show a node of a prototype; empty for a node that is there once."""
    if not node.in_prototype:
        return []
    return snapshot.shared("lineage.instances", _group_instances).get(id(find_top(node)), [])


def find_top(node: PrimNode) -> PrimNode:
    """The highest prim above a node: a root prim, or the root of the prototype it is in."""
    while node.parent is not None:
        node = node.parent
    return node


def _group_instances(snapshot: StageSnapshot) -> dict[int, list[PrimNode]]:
    groups: dict[int, list[PrimNode]] = {}
    for node in snapshot.nodes:
        if node.prototype is not None:
            groups.setdefault(id(node.prototype), []).append(node)
    return groups


_ONLY = {name: frozenset((name,)) for name in ("default", "guide", "proxy", "render")}


def find_purposes(node: PrimNode, snapshot: StageSnapshot) -> frozenset[str]:
    """Purposes a prim has by an opinion on itself or above, "" for none.

    More than one only in a prototype whose instances stand in different places.
    """
    book: dict[int, frozenset[str]] = snapshot.shared("purposes", lambda _: {})
    return _find(node, snapshot, book)


def _find(node: PrimNode, snapshot: StageSnapshot, book: dict[int, frozenset[str]]) -> frozenset[str]:
    trail: list[PrimNode] = []
    here: PrimNode | None = node
    known: frozenset[str] = frozenset(("",))
    while here is not None:
        if id(here) in book:
            known = book[id(here)]
            break
        own = here.authored("purpose") if "Imageable" in here.bases else None
        if isinstance(own, str) and own:
            known = book[id(here)] = _ONLY.get(own) or frozenset((own,))
            break
        trail.append(here)
        if here.parent is None and here.in_prototype:
            copies = list_copies(here, snapshot)
            known = frozenset().union(*(_find(one, snapshot, book) for one in copies)) or known
            break
        here = here.parent
    # the answer is the same for everything on the way up
    for passed in trail:
        book[id(passed)] = known
    return known
