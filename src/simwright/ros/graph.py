# SPDX-License-Identifier: Apache-2.0
"""The ROS side of an asset as a simulator has to bring it to life, as plain data (REP-0158 section 2).

:func:`build_graph` takes any asset: those of OpenUSD say namespaces by contexts, one without contexts is one robot
without a namespace.  Names are absolute, policies settled, types looked up, frames put together to one tree for each
robot.  Nothing here needs ROS.

At the end: the TF tree of every robot as SVG.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from simwright.checker.facts.interfaces import InterfaceTypes, is_well_formed
from simwright.core.diag import NOWHERE, Level, Reporter, Where, declare
from simwright.core.names import join_namespaces
from simwright.core.visible import make_visible
from simwright.model.asset import Asset
from simwright.model.joint import Joint, Motion
from simwright.model.ros import Controller, Interface, InterfaceKind, RosContext
from simwright.ros.frames import ODOM_FRAME, FrameTree, GraphFrame, build_frames, find_frame_id
from simwright.ros.qos import DEFAULT_QOS, EndpointQos, settle_qos

TYPE_UNKNOWN = declare(
    "ros-type-unknown",
    Level.WARNING,
    "{kind} {name!r} has the type {type!r}, which is not known here; it is disabled, all others are served",
    hint="source the ROS workspace that has it, or name its folder with --interfaces",
    doc="A type that cannot be resolved disables its own interface only (REP-0158 2.3).",
    section="2.3",
)
NAME_INVALID = declare(
    "ros-name-invalid",
    Level.WARNING,
    "{kind} {name!r} has no name that ROS takes; it is disabled, all others are served",
    hint="letters, digits and underscores between slashes, no digit first, at most 240 characters",
    doc="A middleware refuses such a name, or takes it for a pattern of names.",
    section="2.3",
)
JOINT_STATE = "sensor_msgs/msg/JointState"
_NAME = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")
_LONGEST_NAME = 240
"""Of 255 characters that DDS has, ROS needs some for itself."""
_KIND_WORDS = {InterfaceKind.TOPIC: "msg", InterfaceKind.SERVICE: "srv", InterfaceKind.ACTION: "action"}


@dataclass(frozen=True, slots=True)
class RosEndpoint:
    """A topic, service or action with its absolute name.

    ``rate`` [Hz] is that of publishers; ``problem`` says why it is not served, "" where it is; ``enabled`` whether it
    is served from the beginning.  ``joints`` are the names ROS has for the joints it is about, ``controller`` the
    controller that it belongs to, ``interface`` what the asset says.
    """

    kind: InterfaceKind
    role: str
    name: str
    type: str
    domain_id: int | None = None
    rate: float | None = None
    qos: EndpointQos = DEFAULT_QOS
    frame_id: str = ""
    enabled: bool = True
    problem: str = ""
    joints: tuple[str, ...] = ()
    controller: str = ""
    interface: Interface | None = None

    @property
    def source(self) -> Where:
        """The place in the file."""
        return NOWHERE if self.interface is None else self.interface.source

    def describe(self) -> dict[str, Any]:
        """As JSON has it."""
        described: dict[str, Any] = {
            "kind": self.kind.value,
            "role": self.role,
            "name": self.name,
            "type": self.type,
            "domain_id": self.domain_id,
            "enabled": self.enabled,
            "problem": self.problem or None,
            "frame_id": self.frame_id or None,
            "joints": list(self.joints),
            "controller": self.controller or None,
            "prim": self.source.prim or None,
        }
        if self.kind is InterfaceKind.TOPIC:
            described["rate"] = self.rate
            described["qos"] = {
                name: getattr(self.qos, name)
                for name in ("reliability", "durability", "history", "depth", "match_publisher")
            }
        return described


@dataclass(frozen=True, slots=True)
class GraphController:
    """A controller of the asset with the endpoints it speaks by, by role."""

    controller: Controller
    endpoints: dict[str, RosEndpoint]


@dataclass(slots=True)
class GraphRobot:
    """One robot: all that is below one outermost context, or all that is below none.

    ``namespace`` is that of its outermost context alone, which TF topics have.  ``joints`` are the movable ones.
    """

    name: str
    namespace: str = ""
    domain_id: int | None = None
    context: RosContext | None = None
    endpoints: list[RosEndpoint] = field(default_factory=list)
    controllers: list[GraphController] = field(default_factory=list)
    frames: FrameTree = field(default_factory=FrameTree)
    joints: list[Joint] = field(default_factory=list)

    @property
    def tf_topic(self) -> str:
        """Where moving frames are told."""
        return f"{self.namespace}/tf"

    @property
    def static_tf_topic(self) -> str:
        """Where frames that keep their place are told."""
        return f"{self.namespace}/tf_static"

    @property
    def description_topic(self) -> str:
        """Where the robot is told as URDF."""
        return f"{self.namespace}/robot_description"

    def describe(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "namespace": self.namespace or "/",
            "domain_id": self.domain_id,
            "tf": self.tf_topic,
            "tf_static": self.static_tf_topic,
            "joints": [joint.public_name for joint in self.joints],
            "endpoints": [endpoint.describe() for endpoint in self.endpoints],
            "controllers": [
                {
                    "name": entry.controller.name,
                    "kind": entry.controller.kind,
                    "enabled": entry.controller.starts_enabled,
                    "joints": entry.controller.joints,
                    "endpoints": {role: endpoint.name for role, endpoint in entry.endpoints.items()},
                }
                for entry in self.controllers
            ],
            "frames": [frame.describe() for frame in self.frames.frames],
        }


@dataclass(slots=True)
class RosGraph:
    """All robots of an asset."""

    asset: Asset
    robots: list[GraphRobot] = field(default_factory=list)

    @property
    def endpoints(self) -> list[RosEndpoint]:
        """Those of all robots."""
        return [endpoint for robot in self.robots for endpoint in robot.endpoints]

    def describe(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "version": 1,
            "asset": self.asset.name,
            "robots": [robot.describe() for robot in self.robots],
        }


def build_graph(
    asset: Asset, reporter: Reporter | None = None, *, types: InterfaceTypes | None = None
) -> RosGraph:
    """The graph of an asset; a type that is not known is told, and disables its endpoint."""
    reporter = Reporter() if reporter is None else reporter
    types = find_known_types() if types is None else types
    scopes = _ContextScopes(asset.contexts)
    graph = RosGraph(asset)
    frames = build_frames(asset, scopes.outermost)
    for context in [*scopes.outermost, None]:
        robot = _make_robot(asset, context, scopes)
        robot.frames = frames.get(id(context), FrameTree())
        if context is not None or robot.endpoints or robot.controllers or robot.frames.frames:
            graph.robots.append(robot)
    for robot in graph.robots:
        robot.endpoints = [_look_up(endpoint, types, reporter) for endpoint in robot.endpoints]
        _attach_controllers(asset, robot, scopes)
    return graph


def find_known_types(folders: Iterable[Path] = ()) -> InterfaceTypes:
    """The types of the sourced ROS environment, of folders, and those that every ROS has."""
    value = os.environ.get("AMENT_PREFIX_PATH", "")
    return InterfaceTypes([Path(part) for part in value.split(os.pathsep) if part], folders)


class _ContextScopes:
    """Which contexts are above what: by prim paths, since only OpenUSD has contexts."""

    def __init__(self, contexts: Sequence[RosContext]) -> None:
        self._contexts = sorted(contexts, key=lambda context: len(context.path))
        self.outermost = [context for context in contexts if self.above(context.path)[0] is context]

    def above(self, path: str) -> list[RosContext]:
        """Contexts at and above a prim, outermost first; one without a path is above everything."""
        return [
            context
            for context in self._contexts
            if not context.path or path == context.path or path.startswith(f"{context.path}/")
        ]

    def outermost_of(self, path: str) -> RosContext | None:
        """The outermost one above a prim."""
        return next(iter(self.above(path)), None)


def _make_robot(asset: Asset, context: RosContext | None, scopes: _ContextScopes) -> GraphRobot:
    joints = [
        joint
        for joint in asset.joints
        if joint.dofs
        and joint.enabled
        # a joint that closes a loop has no coordinate of its own
        and not joint.closes_loop
        and scopes.outermost_of(joint.path) is context
    ]
    robot = GraphRobot(asset.name if context is None else _name_context(asset, context), joints=joints)
    if context is not None:
        robot.context, robot.namespace = context, join_namespaces([context.namespace])
        robot.domain_id = context.domain_id
    for interface in asset.interfaces:
        chain = scopes.above(interface.path)
        if (chain[0] if chain else None) is context:
            robot.endpoints.append(_make_endpoint(asset, interface, chain))
    return robot


def _name_context(asset: Asset, context: RosContext) -> str:
    return context.path.rpartition("/")[2] or context.at or asset.name


def _make_endpoint(asset: Asset, interface: Interface, chain: Sequence[RosContext]) -> RosEndpoint:
    namespace = join_namespaces(context.namespace for context in chain)
    name = interface.name
    domains = [context.domain_id for context in chain if context.domain_id is not None]
    return RosEndpoint(
        interface.kind,
        interface.role,
        # ROS: an absolute name ignores the namespace
        name if name.startswith("/") else f"{namespace}/{name}",
        interface.type,
        # the nearest context that says one
        domains[-1] if domains else None,
        interface.rate,
        settle_qos(interface.qos, interface.type, interface.role)
        if interface.kind is InterfaceKind.TOPIC
        else DEFAULT_QOS,
        find_frame_id(asset, interface, chain),
        interface.starts_enabled,
        interface=interface,
    )


def _look_up(endpoint: RosEndpoint, types: InterfaceTypes, reporter: Reporter) -> RosEndpoint:
    if not _NAME.fullmatch(endpoint.name) or len(endpoint.name) > _LONGEST_NAME:
        shown = endpoint.name[:_LONGEST_NAME]
        reporter.report(NAME_INVALID, endpoint.source, kind=endpoint.kind.value, name=shown)
        return replace(endpoint, problem="its name is none that ROS takes", enabled=False)
    kind = endpoint.type.split("/")[1] if is_well_formed(endpoint.type) else ""
    if kind == _KIND_WORDS[endpoint.kind] and types.knows(endpoint.type):
        return endpoint
    reporter.report(
        TYPE_UNKNOWN, endpoint.source, kind=endpoint.kind.value, name=endpoint.name, type=endpoint.type
    )
    return replace(endpoint, problem=f"the type {endpoint.type!r} is not known", enabled=False)


def _attach_controllers(asset: Asset, robot: GraphRobot, scopes: _ContextScopes) -> None:
    """Controllers of a robot with their endpoints; what they say about joints goes to the endpoints."""
    mine = [c for c in asset.controllers if scopes.outermost_of(c.path) is robot.context]
    rows = {
        controller.name: {
            role: row
            for role, name in controller.interfaces.items()
            if (row := _find_row(robot.endpoints, name, controller.path)) is not None
        }
        for controller in mine
    }
    for controller in mine:
        for role, row in rows[controller.name].items():
            robot.endpoints[row] = _own_endpoint(robot.endpoints[row], controller, role, asset)
    moving = tuple(joint.public_name for joint in robot.joints if _has_coordinate(joint))
    for row, endpoint in enumerate(robot.endpoints):
        if endpoint.type == JOINT_STATE and not endpoint.joints:
            robot.endpoints[row] = replace(endpoint, joints=moving)
    # endpoints are values: controllers hold the ones with joints
    robot.controllers = [
        GraphController(c, {role: robot.endpoints[row] for role, row in rows[c.name].items()}) for c in mine
    ]


def _own_endpoint(endpoint: RosEndpoint, controller: Controller, role: str, asset: Asset) -> RosEndpoint:
    """An endpoint as its controller has it."""
    names = {joint.name: joint.public_name for joint in asset.joints}
    joints = dict.fromkeys(names[j] for group in controller.joints.values() for j in group if j in names)
    owned = replace(endpoint, joints=tuple(joints), controller=controller.name)
    if role == "odom" and endpoint.interface is not None and not endpoint.interface.frame_override:
        # a pose is told in the frame it is counted from, wherever the interface sits
        return replace(owned, frame_id=str(controller.settings.get("odom_frame") or ODOM_FRAME))
    return owned


def _has_coordinate(joint: Joint) -> bool:
    return len(joint.dofs) == 1 and joint.dofs[0].motion in (Motion.HINGE, Motion.SLIDE)


def _find_row(endpoints: Sequence[RosEndpoint], name: str, path: str) -> int | None:
    """The endpoint that the asset calls so; among several, the one nearest to the controller's prim."""
    best: tuple[int, int] | None = None
    for row, endpoint in enumerate(endpoints):
        if endpoint.interface is None or endpoint.interface.name != name:
            continue
        pairs = zip(endpoint.interface.path.split("/"), path.split("/"), strict=False)
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        if best is None or shared > best[0]:
            best = (shared, row)
    return None if best is None else best[1]


_ROW, _INDENT, _HEIGHT, _LETTER = 30, 28, 22, 7.2
"""Pixels: between rows, of one level, of a box, of a letter."""
_MOST = 2000
"""Frames that are drawn; a picture of more is of no use."""
_INKS = {"root": "#d9d9d9", "context": "#cfe2f3", "link": "#ffffff", "frame": "#fff2cc", "site": "#fff2cc"}

_WORDS = {
    "root": "root", "context": "context", "link": "body", "frame": "RosFrameAPI", "site": "named frame",
    "odometry": "counted by a controller",
}  # fmt: skip


def draw_frames(graph: RosGraph) -> str:
    """A picture with a heading for each robot, below it its frames, each under its parent."""
    marks: list[str] = []
    y, width = 24, 320.0
    for robot in graph.robots:
        heading = f"{robot.name}: {robot.tf_topic}, {robot.static_tf_topic}"
        marks.append(_write(12, y, heading, "bold"))
        width = max(width, 24 + _LETTER * len(heading))
        y += _ROW
        for level, row, frame, parent_row in _list_rows(robot.frames):
            x, top = 12 + level * _INDENT, y + row * _ROW
            marks += _draw_row(frame, x, top, None if parent_row is None else y + parent_row * _ROW)
            width = max(width, x + _measure(frame) + 200)
        y += _ROW * len(robot.frames.frames[:_MOST]) + 12
    size = f'width="{width:.0f}" height="{y:.0f}" viewBox="0 0 {width:.0f} {y:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *marks, "</svg>", ""])


def _list_rows(tree: FrameTree) -> list[tuple[int, int, GraphFrame, int | None]]:
    """Level, row, frame and row of the parent, depth first."""
    below: dict[str, list[GraphFrame]] = {}
    for frame in tree.frames[:_MOST]:
        below.setdefault(frame.parent, []).append(frame)
    rows: list[tuple[int, int, GraphFrame, int | None]] = []
    # a stack of our own: chains may be longer than Python recurses
    waiting: list[tuple[int, GraphFrame, int | None]] = [
        (0, frame, None) for frame in reversed(below.get("", []))
    ]
    while waiting:
        level, frame, parent = waiting.pop()
        row = len(rows)
        rows.append((level, row, frame, parent))
        waiting += [(level + 1, child, row) for child in reversed(below.get(frame.id, []))]
    return rows


def _draw_row(frame: GraphFrame, x: float, y: float, parent_y: float | None) -> list[str]:
    marks = []
    if parent_y is not None:
        # siblings share the upright line: only the way to the box tells whether it moves
        dash = ' stroke-dasharray="3 2"' if frame.static else ""
        left = x - _INDENT / 2
        marks.append(f'<path d="M{left:.0f} {parent_y + 7:.0f} V{y - 4:.0f}" stroke="#999999"/>')
        marks.append(f'<path d="M{left:.0f} {y - 4:.0f} H{x:.0f}" stroke="#333333"{dash}/>')
    fill = _INKS.get(frame.why, "#e2f0d9")
    marks.append(
        f'<rect x="{x:.0f}" y="{y - 15:.0f}" width="{_measure(frame):.0f}" height="{_HEIGHT}" rx="4" '
        f'fill="{fill}" stroke="#555555"/>'
    )
    marks.append(_write(x + 6, y, frame.id))
    if frame.parent:
        told = "static" if frame.static else "moving"
        marks.append(_write(x + _measure(frame) + 8, y, f"{told}, {_WORDS[frame.why]}", fill="#666666"))
    return marks


def _measure(frame: GraphFrame) -> float:
    return 14 + _LETTER * len(frame.id)


def _write(x: float, y: float, text: str, weight: str = "normal", fill: str = "#222222") -> str:
    style = f"font-weight={quoteattr(weight)} fill={quoteattr(fill)}"
    return f'<text x="{x:.0f}" y="{y:.0f}" {style}>{escape(make_visible(text))}</text>'
