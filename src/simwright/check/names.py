# SPDX-License-Identifier: Apache-2.0
"""ROS names as a simulator resolves them: namespaces, interface names, TF frames (REP-0158 2.1 to 2.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simwright.core.names import make_identifier

if TYPE_CHECKING:
    from simwright.check.snapshot import Node, Snapshot

KINDS = {"RosTopicAPI": "topic", "RosServiceAPI": "service", "RosActionAPI": "action"}


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


@dataclass(frozen=True, slots=True)
class Frame:
    """A TF frame; ``explicit`` by RosFrameAPI; ``context`` the outermost context it belongs to."""

    node: Node
    id: str
    explicit: bool
    context: Node | None


@dataclass(slots=True)
class RosNames:
    """Everything resolved."""

    outermost: list[Node] = field(default_factory=list)
    interfaces: list[InterfaceName] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    frame_of: dict[str, Frame] = field(default_factory=dict)
    """Frames by node path."""


def resolve_names(snapshot: Snapshot) -> RosNames:
    """Resolve every name of the stage's current variant state."""
    names = RosNames()
    names.outermost = [node for node in snapshot.contexts if outermost_context(node) is node]
    for node in snapshot.interfaces:
        for api, kind in KINDS.items():
            if node.has(api):
                names.interfaces.append(_resolve_interface(node, kind))
    for frame in _find_frames(snapshot):
        if frame.node.path not in names.frame_of:
            names.frames.append(frame)
            names.frame_of[frame.node.path] = frame
    return names


def outermost_context(node: Node) -> Node | None:
    """The top-most context at or above a node."""
    found = node if node.has("RosContextAPI") else None
    for above in node.ancestors():
        if above.has("RosContextAPI"):
            found = above
    return found


def effective_namespace(node: Node) -> str:
    """``/a/b`` from the contexts at and above a node; a leading slash starts again; "" if none."""
    segments: list[str] = []
    for context in (node, *node.ancestors()):
        if not context.has("RosContextAPI"):
            continue
        text = str(context.authored("ros:context:namespace") or "")
        stripped = text.strip("/")
        if stripped:
            segments.insert(0, stripped)
        if text.startswith("/"):
            break
    return "/" + "/".join(segments) if segments else ""


def _resolve_interface(node: Node, kind: str) -> InterfaceName:
    name, type_name, role = (
        str(node.authored(f"ros:{kind}:{key}") or "") for key in ("name", "type", "role")
    )
    namespace = effective_namespace(node)
    resolved = name if name.startswith("/") else f"{namespace}/{name}"
    return InterfaceName(node, kind, name, type_name, role, namespace, resolved)


def _find_frames(snapshot: Snapshot) -> list[Frame]:
    """Contexts, bodies joined (directly or not) to a framed body, and explicit frames."""
    frames = [_make_frame(node) for node in snapshot.contexts]
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
    for place in (node, *node.ancestors()):
        if place.path in names.frame_of:
            return names.frame_of[place.path]
    return None
