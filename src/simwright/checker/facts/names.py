# SPDX-License-Identifier: Apache-2.0
"""ROS names as a simulator resolves them: namespaces, interface names, TF frames (REP-0158 2.1 to 2.7).

A prim inside an instance prototype stands at several places of the stage, one per instance, and has a name of
its own at each: the namespaces above an instance differ.  :func:`find_places` gives them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from simwright.core.names import join_namespaces, make_identifier

if TYPE_CHECKING:
    from simwright.checker.facts.graph import Component
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


KINDS = {"RosTopicAPI": "topic", "RosServiceAPI": "service", "RosActionAPI": "action"}
MAX_PLACES = 256
"""Places of one prim that are looked at, where instances of instances would make very many."""

_FRAME_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)*\Z")


@dataclass(frozen=True, slots=True)
class StagePlace:
    """Where a prim stands: its path on the stage, and itself and everything above it, nearest first."""

    path: str
    chain: tuple[PrimNode, ...]

    @property
    def contexts(self) -> list[PrimNode]:
        """Contexts at and above, nearest first."""
        return [node for node in self.chain if node.has("RosContextAPI")]


@dataclass(frozen=True, slots=True)
class InterfaceName:
    """An interface with its resolved absolute name.  ``name`` and ``type`` are as authored, "" if not."""

    node: PrimNode
    kind: str
    name: str
    type: str
    role: str
    namespace: str
    resolved: str
    path: str = ""
    """The prim's path at this place."""


@dataclass(frozen=True, slots=True)
class ContextName:
    """A context at one place: its effective namespace, and the next context above, if any."""

    node: PrimNode
    path: str
    segment: str
    namespace: str
    above: PrimNode | None


@dataclass(frozen=True, slots=True)
class TfFrame:
    """A TF frame; ``explicit`` by RosFrameAPI; ``context`` the outermost context it belongs to."""

    node: PrimNode
    id: str
    explicit: bool
    context: PrimNode | None


@dataclass(slots=True)
class RosNames:
    """Everything resolved.

    ``interfaces`` has each interface once (a prim in a prototype at its first instance), ``everywhere`` once
    per instance; so do ``contexts``.
    """

    outermost: list[PrimNode] = field(default_factory=list)
    contexts: list[ContextName] = field(default_factory=list)
    interfaces: list[InterfaceName] = field(default_factory=list)
    everywhere: list[InterfaceName] = field(default_factory=list)
    frames: list[TfFrame] = field(default_factory=list)
    frame_of: dict[str, TfFrame] = field(default_factory=dict)
    """Frames by node path."""


def resolve_names(snapshot: StageSnapshot) -> RosNames:
    """Resolve every name of the stage's current variant state."""
    names = RosNames()
    names.outermost = [node for node in snapshot.contexts if outermost_context(node) is node]
    for node in snapshot.contexts:
        names.contexts.extend(_resolve_context(node, place) for place in find_places(node))
    for node in snapshot.interfaces:
        places = find_places(node)
        for api, kind in KINDS.items():
            if node.has(api):
                found = [_resolve_interface(node, kind, place) for place in places]
                names.interfaces.extend(found[:1])
                names.everywhere.extend(found)
    for frame in _find_frames(snapshot):
        if frame.node.path not in names.frame_of:
            names.frames.append(frame)
            names.frame_of[frame.node.path] = frame
    return names


def find_places(node: PrimNode) -> list[StagePlace]:
    """Every place of the stage a prim stands at: one, or one per instance for a prim in a prototype."""
    if node.users is not None:
        return [place for user in node.users[:MAX_PLACES] for place in find_places(user)][:MAX_PLACES]
    inner = [node]
    above = node.parent
    while above is not None and above.users is None:
        inner.append(above)
        above = above.parent
    if above is None:
        return [StagePlace(node.path, tuple(inner))]
    # the root of a prototype is bare: the instance takes its place
    tail = node.prim.GetPath().pathString[len(above.prim.GetPath().pathString) :]
    return [StagePlace(place.path + tail, (*inner, *place.chain)) for place in find_places(above)]


def lineage(node: PrimNode) -> tuple[PrimNode, ...]:
    """The node and everything above it; out of a prototype it goes on at the first instance."""
    if node.in_prototype:
        places = find_places(node)
        if places:
            return places[0].chain
    return (node, *node.ancestors())


def outermost_context(node: PrimNode) -> PrimNode | None:
    """The top-most context at or above a node."""
    contexts = [place for place in lineage(node) if place.has("RosContextAPI")]
    return contexts[-1] if contexts else None


def nearest_context(node: PrimNode) -> PrimNode | None:
    """The nearest context above a node, itself not counted."""
    return next((above for above in lineage(node)[1:] if above.has("RosContextAPI")), None)


def own_namespace(context: PrimNode) -> str:
    """The authored namespace of a context as text, "" if there is none."""
    value = context.authored("ros:context:namespace")
    return value if isinstance(value, str) else ""


def effective_namespace(node: PrimNode) -> str:
    """``/a/b`` from the contexts at and above a node; a leading slash starts again; "" if none."""
    return _join_namespaces(lineage(node))


def _join_namespaces(chain: tuple[PrimNode, ...]) -> str:
    contexts = [node for node in chain if node.has("RosContextAPI")]
    return join_namespaces(own_namespace(context) for context in reversed(contexts))


def _resolve_context(node: PrimNode, place: StagePlace) -> ContextName:
    above = next((n for n in place.chain[1:] if n.has("RosContextAPI")), None)
    return ContextName(node, place.path, own_namespace(node), _join_namespaces(place.chain), above)


def _resolve_interface(node: PrimNode, kind: str, place: StagePlace) -> InterfaceName:
    name, type_name, role = (
        str(node.authored(f"ros:{kind}:{key}") or "") for key in ("name", "type", "role")
    )
    namespace = _join_namespaces(place.chain)
    # ROS: an absolute topic name ignores the namespace
    resolved = name if name.startswith("/") else f"{namespace}/{name}"
    return InterfaceName(node, kind, name, type_name, role, namespace, resolved, place.path)


def is_frame_id(text: str) -> bool:
    """Can it be a tf2 frame id: no leading slash, no empty part, no space?"""
    return bool(_FRAME_ID.match(text))


def _find_frames(snapshot: StageSnapshot) -> list[TfFrame]:
    """Contexts, bodies joined (directly or not) to a framed body, and explicit frames."""
    frames = [_make_frame(node) for node in snapshot.contexts]
    if snapshot.contexts:
        for component in snapshot.graph.components:
            # REP-0158 2.7: bodies that joints connect to a framed body are frames, others are not
            in_tree = any(outermost_context(body) for body in component.bodies)
            if in_tree and (component.edges or any(body.has("RosContextAPI") for body in component.bodies)):
                frames.extend(_make_frame(body) for body in component.bodies)
    explicit = [_make_frame(node) for node in snapshot.frames]
    return [*explicit, *frames]


def _make_frame(node: PrimNode) -> TfFrame:
    explicit = node.has("RosFrameAPI")
    authored = str(node.authored("ros:frame:id") or "") if explicit else ""
    return TfFrame(node, authored or make_identifier(node.name), explicit, outermost_context(node))


def nearest_frame(node: PrimNode, names: RosNames) -> TfFrame | None:
    """The frame an interface prim's data is in: its nearest ancestor (or itself) that is a frame."""
    for place in lineage(node):
        if place.path in names.frame_of:
            return names.frame_of[place.path]
    return None


# REP 105 and the habits of URDF: tool0 and tcp are the flange and tool point
_WORDS = frozenset({"optical", "frame", "tool0", "tcp", "footprint"})
_SPLIT = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+")


@cache
def looks_like_frame(name: str) -> bool:
    """Is one of the words of a snake_case or camelCase name a frame's?"""
    return any(word.lower() in _WORDS for word in _SPLIT.findall(name))


# one function: which robots there are, where each begins, and which interface is in which
def find_unnamed_robots(snapshot: StageSnapshot) -> list[PrimNode]:
    """Roots of robots that have ROS interfaces but no context, where there is more than one robot."""
    alone = [node for node in snapshot.interfaces if outermost_context(node) is None]
    if not alone:
        return []
    robots = [component for component in snapshot.graph.components if component.moving]
    if len(robots) < 2:
        return []
    shared = Counter(path for robot in robots for path in _paths_above(robot))
    roots = [_find_root(robot, shared) for robot in robots]
    found: dict[str, PrimNode] = {}
    for node in alone:
        above = {place.path for place in lineage(node)}
        for root in roots:
            if root is not None and root.path in above:
                found[root.path] = root
    return list(found.values())


def _paths_above(robot: Component) -> set[str]:
    return {place.path for body in robot.bodies for place in lineage(body)}


def _find_root(robot: Component, shared: Counter[str]) -> PrimNode | None:
    """The highest prim above a robot's first body that is above no body of another robot."""
    chain = [place for place in lineage(robot.bodies[0]) if shared[place.path] == 1]
    return chain[-1] if chain else None
