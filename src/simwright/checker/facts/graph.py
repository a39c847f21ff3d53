# SPDX-License-Identifier: Apache-2.0
"""Bodies and joints of a stage as a graph: components, trees, anchors, loops, articulation roots (REP-0158 1.3).

Built from ``physics:body0``/``body1`` alone.  A target below a rigid body counts as that body; no target, a
missing prim or a prim without a body above it is the world.  A *component* is held together by every enabled
joint; a *tree* only by those that are not excluded from the articulation, for excluded joints are constraints
and not parent-child links.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pxr import Sdf

    from simwright.checker.facts.snapshot import Node, Snapshot


@dataclass(slots=True)
class Link:
    """A joint as an edge; a body of None is the world."""

    joint: Node
    body0: Node | None
    body1: Node | None
    enabled: bool
    excluded: bool
    missing: list[str] = field(default_factory=list)
    """Targets that lead to no prim."""

    @property
    def is_fixed(self) -> bool:
        """Is it a fixed joint?"""
        return self.joint.type == "PhysicsFixedJoint"

    @property
    def to_world(self) -> bool:
        """Is one of its ends the world?"""
        return (self.body0 is None) != (self.body1 is None)

    @property
    def held(self) -> Node | None:
        """The body at its end, the first one of two."""
        return self.body0 if self.body0 is not None else self.body1

    def other(self, body: Node | None) -> Node | None:
        """The other end."""
        return self.body1 if self.body0 is body else self.body0


@dataclass(slots=True)
class Component:
    """Bodies that are held together by joints; the world joins nobody."""

    bodies: list[Node] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    roots: list[Node] = field(default_factory=list)
    """Prims with PhysicsArticulationRootAPI that govern it."""

    @property
    def anchors(self) -> list[Link]:
        """Joints to the world."""
        return [link for link in self.links if link.to_world]

    @property
    def moving(self) -> list[Link]:
        """Joints that are not fixed."""
        return [link for link in self.links if not link.is_fixed]

    @property
    def base(self) -> Node:
        """The body to name it by: the one a fixed joint anchors, else the one highest up in the hierarchy."""
        for link in self.links:
            if link.to_world and link.is_fixed and link.held is not None:
                return link.held
        return min(self.bodies, key=lambda body: body.path.count("/"))


@dataclass(slots=True)
class JointGraph:
    """All joints and the components they make."""

    links: list[Link] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    trees: list[Component] = field(default_factory=list)
    """Components of the joints that are not excluded from the articulation."""
    loops: list[Link] = field(default_factory=list)
    """Enabled joints, not excluded from the articulation, that close a cycle."""
    of_body: dict[str, Component] = field(default_factory=dict)
    tree_of: dict[str, Component] = field(default_factory=dict)
    links_of: dict[str, list[Link]] = field(default_factory=dict)

    def find_cycle(self, loop: Link) -> list[Link]:
        """The joints of the cycle that a loop joint closes, the loop joint last."""
        if loop.held is None or loop.body0 is loop.body1:
            return [loop]
        skip = {id(link) for link in self.loops}
        around: dict[int, list[Link]] = {}
        for link in self.of_body[loop.held.path].links:
            if not link.excluded and id(link) not in skip:
                for end in (link.body0, link.body1):
                    around.setdefault(id(end), []).append(link)
        came: dict[int, Link | None] = {id(loop.body0): None}
        queue: deque[Node | None] = deque([loop.body0])
        while queue:
            here = queue.popleft()
            for link in around.get(id(here), ()):
                there = link.other(here)
                if id(there) not in came:
                    came[id(there)] = link
                    queue.append(there)
        path: list[Link] = []
        end = loop.body1
        while (step := came.get(id(end))) is not None:
            path.append(step)
            end = step.other(end)
        return [*reversed(path), loop]


class _Sets:
    """Union-find over paths."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, path: str) -> str:
        parent = self._parent
        parent.setdefault(path, path)
        while parent[path] != path:
            parent[path] = parent[parent[path]]
            path = parent[path]
        return path

    def join(self, a: str, b: str) -> bool:
        """Make two sets one; False if they are one already."""
        a, b = self.find(a), self.find(b)
        self._parent[b] = a
        return a != b


def build_graph(snapshot: Snapshot) -> JointGraph:
    """The graph of a stage, in order of traversal."""
    graph = JointGraph(links=[_make_link(joint, snapshot) for joint in snapshot.joints])
    for link in graph.links:
        if link.body0 is not None:
            graph.links_of.setdefault(link.body0.path, []).append(link)
        if link.body1 is not None and link.body1 is not link.body0:
            graph.links_of.setdefault(link.body1.path, []).append(link)
    enabled = [link for link in graph.links if link.enabled]
    bodies = snapshot.bodies
    graph.components, graph.of_body = _group(bodies, enabled)
    if any(link.excluded for link in enabled):
        graph.trees, graph.tree_of = _group(bodies, [link for link in enabled if not link.excluded])
    else:
        graph.trees = [Component(list(one.bodies), list(one.links)) for one in graph.components]
        graph.tree_of = {body.path: tree for tree in graph.trees for body in tree.bodies}
    _find_loops(graph)
    _assign_roots(snapshot, graph)
    return graph


def _group(bodies: list[Node], links: Iterable[Link]) -> tuple[list[Component], dict[str, Component]]:
    sets = _Sets()
    links = list(links)
    for link in links:
        if link.body0 is not None and link.body1 is not None:
            sets.join(link.body0.path, link.body1.path)
    groups: dict[str, Component] = {}
    of_body: dict[str, Component] = {}
    for body in bodies:
        component = groups.setdefault(sets.find(body.path), Component())
        component.bodies.append(body)
        of_body[body.path] = component
    for link in links:
        if link.held is not None:
            of_body[link.held.path].links.append(link)
    return list(groups.values()), of_body


def _make_link(joint: Node, snapshot: Snapshot) -> Link:
    missing: list[str] = []
    ends: list[Node | None] = []
    for name in ("physics:body0", "physics:body1"):
        targets = joint.targets(name)
        node = snapshot.node(targets[0].GetPrimPath()) if targets else None
        if targets and node is None:
            missing.append(targets[0].pathString)
        if node is not None and "PhysicsRigidBodyAPI" not in node.heads:
            node = _find_body(targets[0].GetPrimPath(), snapshot)
        ends.append(node)
    return Link(
        joint=joint,
        body0=ends[0],
        body1=ends[1],
        enabled=joint.value("physics:jointEnabled") is not False,
        excluded=joint.value("physics:excludeFromArticulation") is True,
        missing=missing,
    )


def _find_body(path: Sdf.Path, snapshot: Snapshot) -> Node | None:
    """The body at or above a path, also out of an instance."""
    for place in path.GetAncestorsRange():
        node = snapshot.node(place)
        if node is not None and node.has("PhysicsRigidBodyAPI"):
            return node
    return None


def _find_loops(graph: JointGraph) -> None:
    """Joints that close a cycle of the non-excluded joints; the world is one node per component.

    Driven joints go into the spanning tree first, so that what is left over is rather a passive one.
    """
    sets = _Sets()
    for component in graph.components:
        if len(component.links) < len(component.bodies) or not component.links:
            continue
        world = f"world of {component.bodies[0].path}"
        loops: set[int] = set()
        for link in sorted(component.links, key=lambda one: not one.joint.has("PhysicsDriveAPI")):
            a = link.body0.path if link.body0 else world
            b = link.body1.path if link.body1 else world
            if not link.excluded and not sets.join(a, b):
                loops.add(id(link))
        graph.loops.extend(link for link in component.links if id(link) in loops)


def _assign_roots(snapshot: Snapshot, graph: JointGraph) -> None:
    """Which articulation roots govern what: on a body, on a joint, or on a prim above bodies."""
    ends = {id(link.joint): link for link in graph.links}
    for root in snapshot.having("PhysicsArticulationRootAPI"):
        if root.has("PhysicsRigidBodyAPI"):
            bodies = [root]
        elif id(root) in ends:
            link = ends[id(root)]
            bodies = [body for body in (link.body0, link.body1) if body is not None]
        else:
            bodies = [node for node in root.descendants() if node.has("PhysicsRigidBodyAPI")]
        for table in (graph.of_body, graph.tree_of):
            governed = {id(c): c for c in (table.get(body.path) for body in bodies) if c is not None}
            for component in governed.values():
                component.roots.append(root)
