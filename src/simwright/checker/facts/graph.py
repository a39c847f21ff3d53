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

import numpy as np

from simwright.core.math3d import Array, quat_rotate, vec3

if TYPE_CHECKING:
    from pxr import Sdf

    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

_SAME_AXIS = 0.999
"""Cosine of the angle below which two axes are one: files round."""
NEXT_TO_NONE = 1e-5
"""Share of the mass beside it below which a link without parts only divides a joint of several axes."""
_SAME_PLACE = 1e-5
"""Distance of anchors that are one [stage units]."""


@dataclass(slots=True)
class JointEdge:
    """A joint as an edge; a body of None is the world."""

    joint: PrimNode
    body0: PrimNode | None
    body1: PrimNode | None
    enabled: bool
    excluded: bool
    missing: list[str] = field(default_factory=list)
    """Targets that lead to no prim."""
    places: tuple[str, str] = ("", "")
    """Where its bodies are on the stage: bodies of two instances are two, though one node stands for both."""

    @property
    def is_fixed(self) -> bool:
        """Is it a fixed joint?"""
        return self.joint.type == "PhysicsFixedJoint"

    @property
    def to_world(self) -> bool:
        """Is one of its ends the world?"""
        return (self.body0 is None) != (self.body1 is None)

    @property
    def held(self) -> PrimNode | None:
        """The body at its end, the first one of two."""
        return self.body0 if self.body0 is not None else self.body1

    def other(self, body: PrimNode | None) -> PrimNode | None:
        """The other end."""
        return self.body1 if self.body0 is body else self.body0


@dataclass(slots=True)
class Component:
    """Bodies that are held together by joints; the world joins nobody."""

    bodies: list[PrimNode] = field(default_factory=list)
    edges: list[JointEdge] = field(default_factory=list)
    roots: list[PrimNode] = field(default_factory=list)
    """Prims with PhysicsArticulationRootAPI that govern it."""

    @property
    def anchors(self) -> list[JointEdge]:
        """Joints to the world."""
        return [edge for edge in self.edges if edge.to_world]

    @property
    def moving(self) -> list[JointEdge]:
        """Joints that are not fixed."""
        return [edge for edge in self.edges if not edge.is_fixed]

    @property
    def anchor(self) -> PrimNode | None:
        """The first fixed joint to the world that is part of the articulation."""
        return next((e.joint for e in self.edges if e.to_world and e.is_fixed and not e.excluded), None)

    @property
    def base(self) -> PrimNode:
        """The body to name it by: the one a fixed joint anchors, else the one highest up in the hierarchy."""
        for edge in self.edges:
            if edge.to_world and edge.is_fixed and edge.held is not None:
                return edge.held
        return min(self.bodies, key=lambda body: body.path.count("/"))


@dataclass(slots=True)
class JointGraph:
    """All joints and the components they make."""

    edges: list[JointEdge] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    trees: list[Component] = field(default_factory=list)
    """Components of the joints that are not excluded from the articulation."""
    loops: list[JointEdge] = field(default_factory=list)
    """Enabled joints, not excluded from the articulation, that close a cycle."""
    of_body: dict[str, Component] = field(default_factory=dict)
    tree_of: dict[str, Component] = field(default_factory=dict)
    edges_of: dict[str, list[JointEdge]] = field(default_factory=dict)
    _beside: dict[frozenset[int], list[JointEdge]] = field(default_factory=dict, repr=False)
    """Joints that leave freedoms of their own between two bodies, by the identities of these."""

    def find_stack(self, loop: JointEdge) -> list[JointEdge]:
        """Joints of one freedom that move the same two bodies as ``loop``, in the order they are met; empty if none do.

        Newton and MuJoCo's reader take them for the axes of one joint; as a tree joint and a loop joint they would
        lock each other.  A joint that has the axis of another one is a second hinge of a door, or said twice: it is
        not part of a stack, and may be excluded.
        """
        cycle = self.find_cycle(loop)
        if len(cycle) != 2 or loop.held is None:
            return []
        ends = frozenset((id(loop.body0), id(loop.body1)))
        # several rules ask for each of the joints of a stack
        if ends not in self._beside:
            self._beside[ends] = self._list_beside(ends, self.of_body[loop.held.path])
        stack = self._beside[ends]
        return stack if any(edge is loop for edge in stack) and len(stack) > 1 else []

    def _list_beside(self, ends: frozenset[int], component: Component) -> list[JointEdge]:
        beside = [
            edge for edge in component.edges if not edge.excluded and {id(edge.body0), id(edge.body1)} == ends
        ]
        if any(edge.is_fixed for edge in beside):
            return []
        # the first of those that leave the same freedom stands for all of them
        stack: list[JointEdge] = []
        for edge in beside:
            if not any(_are_doubled(edge, other) for other in stack):
                stack.append(edge)
        return stack

    def find_cycle(self, loop: JointEdge) -> list[JointEdge]:
        """The joints of the cycle that a loop joint closes, the loop joint last."""
        if loop.held is None:
            return [loop]
        skip = {id(edge) for edge in self.loops}
        around: dict[int, list[JointEdge]] = {}
        for edge in self.of_body[loop.held.path].edges:
            if not edge.excluded and id(edge) not in skip:
                for end in (edge.body0, edge.body1):
                    around.setdefault(id(end), []).append(edge)
        came: dict[int, JointEdge | None] = {id(loop.body0): None}
        queue: deque[PrimNode | None] = deque([loop.body0])
        while queue:
            here = queue.popleft()
            for edge in around.get(id(here), ()):
                there = edge.other(here)
                if id(there) not in came:
                    came[id(there)] = edge
                    queue.append(there)
        path: list[JointEdge] = []
        end = loop.body1
        while (step := came.get(id(end))) is not None:
            path.append(step)
            end = step.other(end)
        return [*reversed(path), loop]


def _are_doubled(edge: JointEdge, other: JointEdge) -> bool:
    """Do two joints leave the same freedom: one type, one axis, and other anchors on it or the same limits there?"""
    one, two = _find_axis(edge), _find_axis(other)
    if (
        edge.joint.type != other.joint.type
        or one is None
        or two is None
        or abs(float(one @ two)) < _SAME_AXIS
    ):
        return False
    way = _read_anchor(edge) - _read_anchor(other)
    along = float(way @ one) * one
    # beside each other they roll, as the toes of a foot do
    if edge.joint.type == "PhysicsRevoluteJoint" and float(np.abs(way - along).max()) > _SAME_PLACE:
        return False
    # at one point and with limits of its own it is rather the play of a joint, as MJCF models say it
    names = ("physics:lowerLimit", "physics:upperLimit")
    is_alike = all(edge.joint.value(name) == other.joint.value(name) for name in names)
    return is_alike or float(np.abs(along).max()) > _SAME_PLACE


def _find_axis(edge: JointEdge) -> Array | None:
    """The direction of a hinge or slide in the frame of its first body by path; None for other joints."""
    if edge.joint.type not in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        return None
    token = str(edge.joint.value("physics:axis") or "X")
    turn = edge.joint.value(f"physics:localRot{_choose_end(edge)}")
    axis = vec3([float(token == letter) for letter in "XYZ"])
    if turn is None or token not in ("X", "Y", "Z"):
        return axis
    return quat_rotate((turn.GetReal(), *turn.GetImaginary()), axis)


def _read_anchor(edge: JointEdge) -> Array:
    place = edge.joint.value(f"physics:localPos{_choose_end(edge)}")
    return vec3([float(value) for value in place]) if place is not None else vec3()


def _choose_end(edge: JointEdge) -> int:
    """The end at the first of the two bodies by path: joints may name their bodies the other way round."""
    bodies = [body.path if body is not None else "" for body in (edge.body0, edge.body1)]
    return int(bodies[1] < bodies[0])


class _Sets:
    """Union-find over paths."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, path: str) -> str:
        parent = self._parent
        parent.setdefault(path, path)
        while parent[path] != path:
            # path halving keeps the trees flat
            parent[path] = parent[parent[path]]
            path = parent[path]
        return path

    def join(self, a: str, b: str) -> bool:
        """Make two sets one; False if they are one already."""
        a, b = self.find(a), self.find(b)
        self._parent[b] = a
        return a != b


# one function: the graph is filled step by step, each step uses the one before
def build_graph(snapshot: StageSnapshot) -> JointGraph:
    """The graph of a stage, in order of traversal."""
    graph = JointGraph(edges=[_make_edge(joint, snapshot) for joint in snapshot.joints])
    for edge in graph.edges:
        if edge.body0 is not None:
            graph.edges_of.setdefault(edge.body0.path, []).append(edge)
        if edge.body1 is not None and edge.body1 is not edge.body0:
            graph.edges_of.setdefault(edge.body1.path, []).append(edge)
    enabled = [edge for edge in graph.edges if edge.enabled]
    bodies = snapshot.bodies
    graph.components, graph.of_body = _group(bodies, enabled)
    if any(edge.excluded for edge in enabled):
        graph.trees, graph.tree_of = _group(bodies, [edge for edge in enabled if not edge.excluded])
    else:
        # without excluded joints trees and components are the same bodies, but their roots are assigned apart
        graph.trees = [Component(list(one.bodies), list(one.edges)) for one in graph.components]
        graph.tree_of = {body.path: tree for tree in graph.trees for body in tree.bodies}
    _find_loops(graph)
    _assign_roots(snapshot, graph)
    return graph


def _group(
    bodies: list[PrimNode], edges: Iterable[JointEdge]
) -> tuple[list[Component], dict[str, Component]]:
    sets = _Sets()
    edges = list(edges)
    for edge in edges:
        if edge.body0 is not None and edge.body1 is not None:
            sets.join(edge.body0.path, edge.body1.path)
    groups: dict[str, Component] = {}
    of_body: dict[str, Component] = {}
    for body in bodies:
        component = groups.setdefault(sets.find(body.path), Component())
        component.bodies.append(body)
        of_body[body.path] = component
    for edge in edges:
        if edge.held is not None:
            of_body[edge.held.path].edges.append(edge)
    return list(groups.values()), of_body


def _make_edge(joint: PrimNode, snapshot: StageSnapshot) -> JointEdge:
    missing: list[str] = []
    ends: list[PrimNode | None] = []
    places: list[str] = []
    for name in ("physics:body0", "physics:body1"):
        targets = joint.targets(name)
        if not targets:
            ends.append(None)
            places.append("")
            continue
        node = snapshot.node(targets[0] if targets[0].IsPrimPath() else targets[0].GetPrimPath())
        if node is None:
            missing.append(targets[0].pathString)
        elif "PhysicsRigidBodyAPI" not in node.kind_facts.heads:
            node = _find_body(targets[0].GetPrimPath(), snapshot)
        ends.append(node)
        places.append("" if node is None else _find_place(node, targets[0], snapshot))
    return JointEdge(
        joint=joint,
        body0=ends[0],
        body1=ends[1],
        enabled=joint.value("physics:jointEnabled") is not False,
        excluded=joint.value("physics:excludeFromArticulation") is True,
        missing=missing,
        places=(places[0], places[1]),
    )


def _find_place(body: PrimNode, target: Sdf.Path, snapshot: StageSnapshot) -> str:
    """The path of the body that a joint's target leads to."""
    if not body.in_prototype:
        return body.path
    above = (path for path in target.GetPrimPath().GetAncestorsRange() if snapshot.node(path) is body)
    return next((path.pathString for path in above), body.path)


def _find_body(path: Sdf.Path, snapshot: StageSnapshot) -> PrimNode | None:
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
        # fewer joints than bodies cannot close a loop: most components
        if len(component.edges) < len(component.bodies) or not component.edges:
            continue
        world = f"world of {component.bodies[0].path}"
        loops: set[int] = set()
        for edge in sorted(component.edges, key=lambda one: not one.joint.has("PhysicsDriveAPI")):
            a, b = (place or world for place in edge.places)
            if not edge.excluded and not sets.join(a, b):
                loops.add(id(edge))
        graph.loops.extend(edge for edge in component.edges if id(edge) in loops)


# one function: a root may be on a body, on a joint or above both, and governs trees and components alike
def _assign_roots(snapshot: StageSnapshot, graph: JointGraph) -> None:
    """Which articulation roots govern what: on a body, on a joint, or on a prim above bodies."""
    ends = {id(edge.joint): edge for edge in graph.edges}
    for root in snapshot.having("PhysicsArticulationRootAPI"):
        if root.has("PhysicsRigidBodyAPI"):
            bodies = [root]
        elif id(root) in ends:
            edge = ends[id(root)]
            bodies = [body for body in (edge.body0, edge.body1) if body is not None]
        else:
            bodies = [node for node in root.descendants() if node.has("PhysicsRigidBodyAPI")]
        for table in (graph.of_body, graph.tree_of):
            governed = {id(c): c for c in (table.get(body.path) for body in bodies) if c is not None}
            for component in governed.values():
                component.roots.append(root)


def sort_roots(roots: list[PrimNode]) -> list[PrimNode]:
    """Outermost first."""
    return sorted(roots, key=lambda root: root.path.count("/"))
