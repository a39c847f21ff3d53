# SPDX-License-Identifier: Apache-2.0
"""ROS names as a simulator resolves them: namespaces, interface names, TF frames (REP-0158 2.1 to 2.7).

A prim inside an instance prototype stands at several places of the stage, one per instance, and has a name of
its own at each: the namespaces above an instance differ.  :func:`find_places` gives them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simwright.core.names import make_identifier

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot

KINDS = {"RosTopicAPI": "topic", "RosServiceAPI": "service", "RosActionAPI": "action"}
MAX_PLACES = 256
"""Places of one prim that are looked at, where instances of instances would make very many."""

_FRAME_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)*\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a prim stands: its path on the stage, and itself and everything above it, nearest first."""

    path: str
    chain: tuple[Node, ...]

    @property
    def contexts(self) -> list[Node]:
        """Contexts at and above, nearest first."""
        return [node for node in self.chain if node.has("RosContextAPI")]


@dataclass(frozen=True, slots=True)
class InterfaceName:
    """An interface with its resolved absolute name.  ``name`` and ``type`` are as authored, "" if not."""

    node: Node
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

    node: Node
    path: str
    segment: str
    namespace: str
    above: Node | None


@dataclass(frozen=True, slots=True)
class Frame:
    """A TF frame; ``explicit`` by RosFrameAPI; ``context`` the outermost context it belongs to."""

    node: Node
    id: str
    explicit: bool
    context: Node | None


@dataclass(slots=True)
class RosNames:
    """Everything resolved.

    ``interfaces`` has each interface once (a prim in a prototype at its first instance), ``everywhere`` once
    per instance; so do ``contexts``.
    """

    outermost: list[Node] = field(default_factory=list)
    contexts: list[ContextName] = field(default_factory=list)
    interfaces: list[InterfaceName] = field(default_factory=list)
    everywhere: list[InterfaceName] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    frame_of: dict[str, Frame] = field(default_factory=dict)
    """Frames by node path."""


def resolve_names(snapshot: Snapshot) -> RosNames:
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


def find_places(node: Node) -> list[Place]:
    """Every place of the stage a prim stands at: one, or one per instance for a prim in a prototype."""
    if node.users is not None:
        return [place for user in node.users[:MAX_PLACES] for place in find_places(user)][:MAX_PLACES]
    inner = [node]
    above = node.parent
    while above is not None and above.users is None:
        inner.append(above)
        above = above.parent
    if above is None:
        return [Place(node.path, tuple(inner))]
    # the root of a prototype is bare: the instance takes its place
    tail = node.prim.GetPath().pathString[len(above.prim.GetPath().pathString) :]
    return [Place(place.path + tail, (*inner, *place.chain)) for place in find_places(above)]


def lineage(node: Node) -> tuple[Node, ...]:
    """The node and everything above it; out of a prototype it goes on at the first instance."""
    if node.in_prototype:
        places = find_places(node)
        if places:
            return places[0].chain
    return (node, *node.ancestors())


def outermost_context(node: Node) -> Node | None:
    """The top-most context at or above a node."""
    contexts = [place for place in lineage(node) if place.has("RosContextAPI")]
    return contexts[-1] if contexts else None


def nearest_context(node: Node) -> Node | None:
    """The nearest context above a node, itself not counted."""
    return next((above for above in lineage(node)[1:] if above.has("RosContextAPI")), None)


def own_namespace(context: Node) -> str:
    """The authored namespace of a context as text, "" if there is none."""
    value = context.authored("ros:context:namespace")
    return value if isinstance(value, str) else ""


def effective_namespace(node: Node) -> str:
    """``/a/b`` from the contexts at and above a node; a leading slash starts again; "" if none."""
    return _join_namespaces(lineage(node))


def _join_namespaces(chain: tuple[Node, ...]) -> str:
    segments: list[str] = []
    for context in chain:
        if not context.has("RosContextAPI"):
            continue
        text = own_namespace(context)
        stripped = text.strip("/")
        if stripped:
            segments.insert(0, stripped)
        if text.startswith("/"):
            break
    return "/" + "/".join(segments) if segments else ""


def _resolve_context(node: Node, place: Place) -> ContextName:
    above = next((n for n in place.chain[1:] if n.has("RosContextAPI")), None)
    return ContextName(node, place.path, own_namespace(node), _join_namespaces(place.chain), above)


def _resolve_interface(node: Node, kind: str, place: Place) -> InterfaceName:
    name, type_name, role = (
        str(node.authored(f"ros:{kind}:{key}") or "") for key in ("name", "type", "role")
    )
    namespace = _join_namespaces(place.chain)
    resolved = name if name.startswith("/") else f"{namespace}/{name}"
    return InterfaceName(node, kind, name, type_name, role, namespace, resolved, place.path)


def is_frame_id(text: str) -> bool:
    """Can it be a tf2 frame id: no leading slash, no empty part, no space?"""
    return bool(_FRAME_ID.match(text))


def _find_frames(snapshot: Snapshot) -> list[Frame]:
    """Contexts, bodies joined (directly or not) to a framed body, and explicit frames."""
    frames = [_make_frame(node) for node in snapshot.contexts]
    if snapshot.contexts:
        for component in snapshot.graph.components:
            in_tree = any(outermost_context(body) for body in component.bodies)
            if in_tree and (component.links or any(body.has("RosContextAPI") for body in component.bodies)):
                frames.extend(_make_frame(body) for body in component.bodies)
    explicit = [_make_frame(node) for node in snapshot.frames]
    return [*explicit, *frames]


def _make_frame(node: Node) -> Frame:
    explicit = node.has("RosFrameAPI")
    authored = str(node.authored("ros:frame:id") or "") if explicit else ""
    return Frame(node, authored or make_identifier(node.name), explicit, outermost_context(node))


def nearest_frame(node: Node, names: RosNames) -> Frame | None:
    """The frame an interface prim's data is in: its nearest ancestor (or itself) that is a frame."""
    for place in lineage(node):
        if place.path in names.frame_of:
            return names.frame_of[place.path]
    return None
