# SPDX-License-Identifier: Apache-2.0
"""Bodies and joints of a stage as a graph: components, anchors, cycles, articulation roots (REP-0158 1.3).

Built from ``physics:body0``/``body1`` alone.  A target below a rigid body counts as that body; no target, a
missing prim or a prim without a body above it is the world.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.check.snapshot import Node, Snapshot


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

    def other(self, body: Node | None) -> Node | None:
        """The other end."""
        return self.body1 if self.body0 is body else self.body0


@dataclass(slots=True)
class Component:
    """Bodies that are held together by enabled joints (excluded ones too); the world joins nobody."""

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


@dataclass(slots=True)
class JointGraph:
    """All joints and the components they make."""

    links: list[Link] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    loops: list[Link] = field(default_factory=list)
    """Enabled joints, not excluded from the articulation, that close a cycle."""
    of_body: dict[str, Component] = field(default_factory=dict)
    links_of: dict[str, list[Link]] = field(default_factory=dict)


def build_graph(snapshot: Snapshot) -> JointGraph:
    """The graph of a stage, in order of traversal."""
    graph = JointGraph(links=[_make_link(joint, snapshot) for joint in snapshot.joints])
    parent: dict[str, str] = {body.path: body.path for body in snapshot.bodies}

    def find(path: str) -> str:
        while parent[path] != path:
            parent[path] = parent[parent[path]]
            path = parent[path]
        return path

    for link in graph.links:
        for body in {id(b): b for b in (link.body0, link.body1) if b is not None}.values():
            graph.links_of.setdefault(body.path, []).append(link)
        if link.enabled and link.body0 is not None and link.body1 is not None:
            parent[find(link.body1.path)] = find(link.body0.path)
    groups: dict[str, Component] = {}
    for body in snapshot.bodies:
        component = groups.setdefault(find(body.path), Component())
        component.bodies.append(body)
        graph.of_body[body.path] = component
    graph.components = list(groups.values())
    for link in graph.links:
        held = link.body0 or link.body1
        if link.enabled and held is not None:
            graph.of_body[held.path].links.append(link)
    _find_loops(graph)
    _assign_roots(snapshot, graph)
    return graph


def _make_link(joint: Node, snapshot: Snapshot) -> Link:
    missing: list[str] = []
    ends: list[Node | None] = []
    for name in ("physics:body0", "physics:body1"):
        targets = joint.targets(name)
        node = snapshot.node(targets[0]) if targets else None
        if targets and node is None:
            missing.append(targets[0].pathString)
        ends.append(snapshot.owning_body(node) if node is not None else None)
    return Link(
        joint=joint,
        body0=ends[0],
        body1=ends[1],
        enabled=joint.value("physics:jointEnabled") is not False,
        excluded=joint.value("physics:excludeFromArticulation") is True,
        missing=missing,
    )


def _find_loops(graph: JointGraph) -> None:
    """Joints that close a cycle of the non-excluded joints; the world is one node per component."""
    parent: dict[str, str] = {}

    def find(path: str) -> str:
        parent.setdefault(path, path)
        while parent[path] != path:
            parent[path] = parent[parent[path]]
            path = parent[path]
        return path

    for component in graph.components:
        world = f"world of {component.bodies[0].path}"
        for link in component.links:
            if link.excluded:
                continue
            a = find(link.body0.path if link.body0 else world)
            b = find(link.body1.path if link.body1 else world)
            if a == b:
                graph.loops.append(link)
            else:
                parent[b] = a


def _assign_roots(snapshot: Snapshot, graph: JointGraph) -> None:
    """Which articulation roots govern which component: on a body, on a joint, or on a prim above bodies."""
    for root in snapshot.having("PhysicsArticulationRootAPI"):
        governed: list[Component] = []
        if root.has("PhysicsRigidBodyAPI"):
            governed = [graph.of_body[root.path]]
        elif root.is_a("PhysicsJoint"):
            bodies = [b for link in graph.links if link.joint is root for b in (link.body0, link.body1) if b]
            governed = [graph.of_body[body.path] for body in bodies[:1]]
        else:
            below = [n for n in root.descendants() if n.has("PhysicsRigidBodyAPI")]
            governed = list({id(c): c for c in (graph.of_body.get(n.path) for n in below) if c}.values())
        for component in governed:
            component.roots.append(root)
