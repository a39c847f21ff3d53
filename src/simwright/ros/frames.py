# SPDX-License-Identifier: Apache-2.0
"""The TF tree of a robot: which frames there are, what each hangs on, and on which topic it is told (REP-0158 2.7).

Frames are contexts, bodies that joints connect to a robot, and what the asset asks for (RosFrameAPI).  The tree follows
the joints.  Fixed joints and rigid parents give static frames, told once; movable ones are told over and over.

A robot whose wheels are counted (differential drive) hangs on its odometry frame, as navigation expects it; below a
context, the odometry frame hangs on the context, so that the tree still tells where the robot truly is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import make_identifier
from simwright.engines.layout import find_floating
from simwright.model.asset import Asset, Body, Site
from simwright.model.joint import WORLD
from simwright.model.kinematics import Tree, build_tree
from simwright.model.ros import Controller, Interface, RosContext, find_frame

WORLD_FRAME = "world"
ODOM_FRAME = "odom"


@dataclass(frozen=True, slots=True)
class GraphFrame:
    """A frame: ``pose`` on ``body`` (the empty name is the world), below the frame ``parent`` ("" for a root).

    ``why`` tells where it comes from: root, context, link, frame (RosFrameAPI), site or odometry.  The frame of an
    ``odometry`` moves as a controller computes it; ``controller`` names it, there and on the frame below.
    """

    id: str
    parent: str
    static: bool
    why: str
    body: str = WORLD
    pose: Pose = IDENTITY
    controller: str = ""

    def describe(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "id": self.id,
            "parent": self.parent or None,
            "static": self.static,
            "from": self.why,
            "body": self.body or None,
        }


@dataclass(slots=True)
class FrameTree:
    """Frames of one robot, parents before children; ``clashes`` are ids that more than one thing claims."""

    frames: list[GraphFrame] = field(default_factory=list)
    clashes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def roots(self) -> list[str]:
        """Ids of frames that hang on none."""
        return [frame.id for frame in self.frames if not frame.parent]

    def find(self, name: str) -> GraphFrame | None:
        """The frame of an id."""
        return next((frame for frame in self.frames if frame.id == name), None)

    def list_edges(self, *, static: bool) -> list[tuple[GraphFrame, GraphFrame]]:
        """Pairs of parent and child that are told on /tf_static, or on /tf."""
        known = {frame.id: frame for frame in self.frames}
        return [(known[f.parent], f) for f in self.frames if f.parent and f.static is static]


def name_body(body: Body) -> str:
    """The frame id of a body: the name of its prim, which may be that of a body of another robot too."""
    return make_identifier(body.path.rpartition("/")[2]) if body.path.startswith("/") else body.name


def find_frame_id(asset: Asset, interface: Interface, chain: Sequence[RosContext]) -> str:
    """``header.frame_id`` of an interface: the one it names, else the nearest frame above it."""
    named = find_frame(asset, interface)
    bodies = {body.name: body for body in asset.bodies}
    if interface.frame_override or named not in bodies:
        if named and (interface.frame_override or named != asset.name):
            return named
        return name_context(chain[-1]) if chain and chain[-1].path else ""
    # a context between the body and the interface is nearer
    body = bodies[named]
    nearest = chain[-1] if chain else None
    if nearest is not None and body.path and nearest.path.startswith(f"{body.path}/"):
        return name_context(nearest)
    return name_body(body)


def name_context(context: RosContext) -> str:
    """The frame id of a context: the name of its prim."""
    return make_identifier(context.path.rpartition("/")[2])


def build_frames(asset: Asset, outermost: Sequence[RosContext]) -> dict[int, FrameTree]:
    """The tree of each outermost context by its ``id``; ``id(None)`` is what is below none."""
    tree = build_tree(asset)
    trees: dict[int, FrameTree] = {}
    for context in [*outermost, None]:
        # without contexts the asset is one robot; with them, what is below none is not a robot
        if context is None and outermost:
            continue
        trees[id(context)] = _FrameBuilder(asset, tree, context).build()
    return trees


class _FrameBuilder:
    """Puts the frames of one robot together."""

    def __init__(self, asset: Asset, tree: Tree, context: RosContext | None) -> None:
        self._asset, self._tree, self._context = asset, tree, context
        self._bodies = {body.name: body for body in asset.bodies}
        self._parents = tree.parents()
        self._floating = set(find_floating(asset, tree))
        self._made = FrameTree()
        self._ids: dict[str, GraphFrame] = {}
        self._by_path: dict[str, str] = {}

    def build(self) -> FrameTree:
        chains = self._list_chains()
        own = [
            c for c in self._asset.contexts if self._is_below(c.path) and c.path not in self._paths_of(chains)
        ]
        if not chains and not own and not self._list_sites():
            return self._made
        base = self._start()
        odometry = _find_odometry(self._asset, self._is_below)
        for chain in chains:
            self._add_chain(chain, base, odometry)
        self._add_contexts(own)
        self._add_sites(base)
        return self._made

    def _is_below(self, path: str) -> bool:
        if self._context is None:
            return True
        own = self._context.path
        return not own or path == own or path.startswith(f"{own}/")

    def _start(self) -> str:
        """The frame that everything hangs on: the parent frame, or the context on a prim of its own below it."""
        context = self._context
        parent = context.parent_frame if context is not None else WORLD_FRAME
        if context is None or context.at in self._bodies or not context.path:
            return parent
        self._add(GraphFrame(parent, "", True, "root"))
        self._add(GraphFrame(name_context(context), parent, True, "context", WORLD, context.pose))
        self._by_path[context.path] = name_context(context)
        return name_context(context)

    def _list_chains(self) -> list[list[str]]:
        """Bodies of each mechanism of the robot, its root first; bodies that nothing is joined to are none."""
        groups: dict[str, list[str]] = {name: [name] for name in self._tree.roots}
        owner = {name: name for name in self._tree.roots}
        for edge in self._tree.edges:
            # what hangs on the world begins a mechanism of its own
            owner[edge.child] = edge.child if edge.parent == WORLD else owner[edge.parent]
            groups.setdefault(owner[edge.child], []).append(edge.child)
        # a body that nothing is joined to is a frame only where something of ROS is on it (2.7: no props)
        wanted = {interface.at for interface in self._asset.interfaces} | {
            context.at for context in self._asset.contexts
        }
        anchored = {edge.child for edge in self._tree.edges if edge.parent == WORLD}
        return [
            names
            for root, names in groups.items()
            if (len(names) > 1 or root in anchored or wanted & set(names))
            and any(self._is_below(self._bodies[name].path) for name in names)
        ]

    def _paths_of(self, chains: Sequence[Sequence[str]]) -> set[str]:
        paths = {self._bodies[name].path for chain in chains for name in chain}
        return paths | ({self._context.path} if self._context is not None else set())

    def _add_chain(self, chain: Sequence[str], base: str, odometry: Controller | None) -> None:
        root = chain[0]
        edge = self._parents.get(root)
        is_static = root not in self._floating and (edge is None or not edge.joint.dofs)
        frame = name_body(self._bodies[root])
        if odometry is not None and self._carries(odometry, chain):
            self._add_odometry(odometry, root, frame, base)
        else:
            if base not in self._ids:
                self._add(GraphFrame(base, "", True, "root"))
            self._add(GraphFrame(frame, base, is_static, "link", root))
        self._by_path[self._bodies[root].path] = frame
        for name in chain[1:]:
            edge = self._parents[name]
            child = name_body(self._bodies[name])
            parent = name_body(self._bodies[edge.parent])
            self._add(GraphFrame(child, parent, not edge.joint.dofs, "link", name))
            self._by_path[self._bodies[name].path] = child

    def _carries(self, controller: Controller, chain: Sequence[str]) -> bool:
        wheels = {name for role in ("left", "right") for name in controller.joints.get(role, ())}
        return any(joint.child in chain for joint in self._asset.joints if joint.name in wheels)

    def _add_odometry(self, controller: Controller, root: str, frame: str, base: str) -> None:
        """``odom`` -> base; a base frame that is a site of the root body comes between."""
        odom = str(controller.settings.get("odom_frame") or ODOM_FRAME)
        if self._context is not None:
            if base not in self._ids:
                self._add(GraphFrame(base, "", True, "root"))
            self._add(GraphFrame(odom, base, False, "odometry", controller=controller.name))
        else:
            self._add(GraphFrame(odom, "", True, "root", controller=controller.name))
        named = str(controller.settings.get("base_frame") or frame)
        site = next((s for s in self._asset.sites if s.body == root and named in (s.ros_frame, s.name)), None)
        if site is None:
            self._add(GraphFrame(frame, odom, False, "link", root, controller=controller.name))
            return
        self._add(GraphFrame(named, odom, False, "site", root, site.pose, controller.name))
        self._add(GraphFrame(frame, named, True, "link", root))

    def _add_contexts(self, contexts: Sequence[RosContext]) -> None:
        """Contexts within the robot that are no bodies: rigid on the nearest frame above."""
        sites = {site.name: site for site in self._asset.sites}
        for context in sorted(contexts, key=lambda one: len(one.path)):
            body, pose = WORLD, context.pose
            if context.at in self._bodies:
                body = context.at
            elif context.at in sites:
                site = sites[context.at]
                body, pose = site.body, site.pose @ context.pose
            parent = self._find_above(context.path)
            if parent:
                self._add(GraphFrame(name_context(context), parent, True, "context", body, pose))
                self._by_path[context.path] = name_context(context)

    def _list_sites(self) -> list[Site]:
        named = {interface.frame_override for interface in self._asset.interfaces}
        return [
            site
            for site in self._asset.sites
            if self._is_below(site.path) and (site.ros_frame or site.name in named)
        ]

    def _add_sites(self, base: str) -> None:
        for site in sorted(self._list_sites(), key=lambda one: one.path.count("/")):
            frame = site.ros_frame or site.name
            above = self._find_above(site.path)
            own = name_body(self._bodies[site.body]) if site.body else base
            parent = above or (own if own in self._ids else base)
            if parent not in self._ids:
                self._add(GraphFrame(parent, "", True, "root"))
            # on a body that is not a frame itself, a frame moves against the one above although it is rigid on its body
            rigid = self._ids[parent].body == site.body
            why = "frame" if site.ros_frame else "site"
            if frame not in self._ids or self._ids[frame].why != "site":
                self._add(GraphFrame(frame, parent, site.static and rigid, why, site.body, site.pose))
            self._by_path[site.path] = frame

    def _find_above(self, path: str) -> str:
        """The nearest frame above a prim; "" where paths tell nothing."""
        while "/" in path:
            path = path.rpartition("/")[0]
            if path in self._by_path:
                return self._by_path[path]
        return ""

    def _add(self, frame: GraphFrame) -> None:
        known = self._ids.get(frame.id)
        if known is not None:
            # the parent of several mechanisms is the same frame
            if frame.why != "root":
                self._made.clashes.append((frame.id, frame.body or frame.why))
            return
        self._ids[frame.id] = frame
        self._made.frames.append(frame)


def _find_odometry(asset: Asset, is_below: Any) -> Controller | None:
    return next(
        (
            controller
            for controller in asset.controllers
            if controller.kind == "diff_drive"
            and controller.interfaces.get("odom")
            and is_below(controller.path)
        ),
        None,
    )
