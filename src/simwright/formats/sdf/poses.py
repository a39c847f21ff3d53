# SPDX-License-Identifier: Apache-2.0
"""The frame graph: which frame every pose is relative to, and which link every frame is attached to.

SDFormat 1.7 frame semantics ("Pose Frame Semantics" of the SDFormat documentation), which also describe the
older versions when their fixed conventions are taken as defaults:

* a link, frame or nested model is placed in its model's frame ``__model__`` (a frame: in the frame it is
  attached to), a joint in the frame of its child, a model in the world;
* ``relative_to`` names another frame of the same model, ``nested::name`` one inside a nested model;
* with ``placement_frame`` the model's pose is the pose of that frame, not of the model frame.

Poses are worked out when asked for; a chain that comes back to itself is an error that shows the chain.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simwright.core.diag import NOWHERE, Level, Reporter, Where, declare
from simwright.core.errors import ParseError, UnknownNameError
from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.sdf.document import SdfDocument
from simwright.formats.sdf.tree import SEPARATOR, ModelNode, NamedElement, join_scope
from simwright.formats.xml import Element

UNKNOWN_FRAME = declare(
    "sdf-unknown-frame",
    Level.ERROR,
    "{what} names the frame {name!r}, which does not exist in {scope}",
    hint="{near}; {default} is used",
    doc="A relative_to, attached_to, expressed_in, placement_frame or canonical_link names nothing in scope.",
)
DUPLICATE_NAME = declare(
    "sdf-duplicate-name",
    Level.ERROR,
    "{tag} {name!r} has the name of another {other} in {scope}",
    hint="give it a name of its own; references mean the first one",
    doc="Links, joints, frames and nested models of one model must have different names.",
)


@dataclass(slots=True, eq=False)
class Scope:
    """The names that can be used inside a model; merged models share ``names`` with their parent."""

    model: SdfFrame
    names: dict[str, SdfFrame] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class SdfFrame:
    """A node of the graph: ``raw`` is its pose in ``base``; ``holder`` what it is attached to."""

    name: str
    tag: str
    raw: Pose = IDENTITY
    base: SdfFrame | None = None
    holder: SdfFrame | None = None
    item: NamedElement | None = None
    scope: Scope | None = None
    placement: SdfFrame | None = None
    where: Where = NOWHERE


class FrameGraph:
    """Every frame of a model tree."""

    def __init__(self, top: ModelNode, reporter: Reporter) -> None:
        self.reporter = reporter
        self.world = SdfFrame("world", "world")
        self.world.scope = Scope(self.world)
        self._poses: dict[int, Pose] = {id(self.world): IDENTITY}
        self._placing: dict[int, SdfFrame] = {}
        top.frame = self.world
        self._declare(top)
        self._connect(top)

    def pose(self, frame: SdfFrame) -> Pose:
        """Pose of a frame in the asset's frame."""
        chain: dict[int, SdfFrame] = {}
        at: SdfFrame = frame
        while id(at) not in self._poses:
            self._extend(chain, at, "relative_to")
            assert at.base is not None
            at = at.base
        pose = self._poses[id(at)]
        for link in reversed(chain.values()):
            pose = pose @ self._local(link)
            self._poses[id(link)] = pose
        return pose

    def pose_in(self, frame: SdfFrame, model: SdfFrame) -> Pose:
        """Pose of a frame in the frame of a model that contains it."""
        chain: dict[int, SdfFrame] = {}
        at: SdfFrame = frame
        while at is not model:
            self._extend(chain, at, "relative_to")
            if at.base is None:  # only a merged model can name something outside of itself
                raise ParseError(
                    f"the frame {frame.name!r} is not placed inside {model.name!r}",
                    hint="name a placement_frame of the included model",
                    where=model.where,
                )
            at = at.base
        pose = IDENTITY
        for link in reversed(chain.values()):
            pose = pose @ self._local(link)
        return pose

    def link_of(self, frame: SdfFrame) -> NamedElement | None:
        """The link a frame moves with; None for the world."""
        chain: dict[int, SdfFrame] = {}
        at: SdfFrame | None = frame
        while at is not None and at.tag not in ("link", "world"):
            self._extend(chain, at, "attached_to")
            at = at.holder
        return at.item if at is not None else None

    def find(self, name: str, scope: Scope) -> SdfFrame | None:
        """The frame a name means inside a model, None if there is none."""
        if name == "__model__":
            return scope.model
        if name in scope.names:
            return scope.names[name]
        # A model cannot name the world in a pose, only joints can.
        if name in ("world", "__root__") and scope.model is self.world:
            return self.world
        if SEPARATOR in name:
            first, rest = name.split(SEPARATOR, 1)
            inner = scope.names.get(first)
            if inner is not None and inner.scope is not None:
                return self.find(rest, inner.scope)
        return None

    def refer(self, name: str, scope: Scope, default: SdfFrame, where: Where, what: str) -> SdfFrame:
        """The frame a name means; an unknown one is reported and gives the default."""
        if not name:
            return default
        found = self.find(name, scope)
        if found is not None:
            return found
        self.reporter.report(
            UNKNOWN_FRAME,
            where,
            what=what,
            name=name,
            scope=describe_scope(scope),
            near=UnknownNameError("frame", name, scope.names).hint,
            default=f"{default.tag} {default.name!r}" if default.tag != "world" else "the world",
        )
        return default

    def place(self, document: SdfDocument, element: Element, scope: Scope, within: SdfFrame) -> Pose:
        """Pose, in the frame ``within``, of something that sits in it (a collision, a sensor, a light ...)."""
        raw, name = document.pose(element)
        base = self.refer(name, scope, within, document.where(element), f"the pose of <{element.tag}>")
        return raw if base is within else ~self.pose(within) @ self.pose(base) @ raw

    def _local(self, frame: SdfFrame) -> Pose:
        if frame.placement is None:
            return frame.raw
        self._extend(self._placing, frame, "placement_frame")
        local = frame.raw @ ~self.pose_in(frame.placement, frame)
        del self._placing[id(frame)]
        return local

    def _extend(self, chain: dict[int, SdfFrame], at: SdfFrame, attribute: str) -> None:
        """Add a frame to a chain; one that is in it already closes a circle."""
        if id(at) not in chain:
            chain[id(at)] = at
            return
        frames = list(chain.values())
        ring = [f.name for f in frames[frames.index(at) :]] + [at.name]
        raise ParseError(
            f"the frames {' -> '.join(repr(name) for name in ring)} refer to each other in a circle",
            hint=f"let one of them have another {attribute}",
            where=at.where,
        )

    # -- first pass: every frame gets its name ---------------------------------------------------------

    def _declare(self, node: ModelNode) -> None:
        assert node.frame is not None
        scope = node.frame.scope
        assert scope is not None
        for tag, items in (("link", node.links), ("joint", node.joints), ("frame", node.frames)):
            for item in items:
                where = item.document.where(item.element)
                item.frame = SdfFrame(item.scoped, tag, item=item, where=where)
                self._claim(scope, item.name, item.frame, item.document)
        for model in node.models:
            model.frame = SdfFrame(model.scope or model.name, "model", where=model.where)
            model.frame.scope = Scope(model.frame, scope.names if model.merged else {})
            if not model.merged:
                self._claim(scope, model.name, model.frame, model.document)
            self._declare(model)

    def _claim(self, scope: Scope, name: str, frame: SdfFrame, document: SdfDocument) -> None:
        other = scope.names.setdefault(name, frame)
        # before 1.7 only things of the same kind had to differ
        if other is not frame and (other.tag == frame.tag or document.version >= (1, 7)):
            scoped = describe_scope(scope)
            self.reporter.report(
                DUPLICATE_NAME, frame.where, tag=frame.tag, other=other.tag, name=name, scope=scoped
            )

    # -- second pass: every frame gets the frames it refers to -----------------------------------------

    def _connect(self, node: ModelNode) -> None:
        assert node.frame is not None
        assert node.frame.scope is not None
        scope = node.frame.scope
        for item in node.frames:
            self._connect_frame(item, scope)
        for item in node.links:
            assert item.frame is not None
            self._connect_pose(item.document, item.element, item.frame, scope, scope.model)
        for item in node.joints:
            assert item.frame is not None
            child = self.joint_end(item, "child", scope)
            item.frame.holder = child
            self._connect_pose(item.document, item.element, item.frame, scope, child or scope.model)
        for model in node.models:
            self._connect_model(model, scope)
            self._connect(model)

    def _connect_pose(
        self, document: SdfDocument, element: Element, frame: SdfFrame, scope: Scope, default: SdfFrame
    ) -> None:
        frame.raw, name = document.pose(element)
        what = f"the pose of {frame.tag} {frame.name!r}"
        frame.base = self.refer(name, scope, default, document.where(element), what)

    def _connect_frame(self, item: NamedElement, scope: Scope) -> None:
        frame = item.frame
        assert frame is not None
        name = (item.element.get("attached_to") or "").strip()
        frame.holder = self.refer(name, scope, scope.model, frame.where, f"frame {frame.name!r}")
        self._connect_pose(item.document, item.element, frame, scope, frame.holder)

    def _connect_model(self, model: ModelNode, outer: Scope) -> None:
        frame = model.frame
        assert frame is not None
        assert frame.scope is not None
        assert model.placer is not None
        assert model.placer_document is not None
        self._connect_pose(model.placer_document, model.placer, frame, outer, outer.model)
        what = f"model {model.name!r}"
        if model.placement_frame:
            name = model.placement_frame
            placement = self.refer(name, frame.scope, frame, frame.where, f"placement_frame of {what}")
            frame.placement = placement if placement is not frame else None
        first = model.canonical()
        default = first.frame if first is not None and first.frame is not None else self.world
        name = (model.element.get("canonical_link") or "").strip()
        frame.holder = self.refer(name, frame.scope, default, frame.where, f"canonical_link of {what}")

    def joint_end(self, item: NamedElement, tag: str, scope: Scope) -> SdfFrame | None:
        """The frame a joint's ``<parent>`` or ``<child>`` names; None if there is no such frame."""
        name = item.document.text(item.element, tag)
        found = self.find(name, scope) if name else None
        return self.world if found is None and name in ("world", "__root__") else found


def describe_scope(scope: Scope) -> str:
    """What a scope is called in messages."""
    return "the world" if scope.model.tag == "world" else f"model {scope.model.name!r}"


def scope_of(node: ModelNode) -> Scope:
    """The names that can be used inside a model of the tree."""
    assert node.frame is not None
    assert node.frame.scope is not None
    return node.frame.scope


def frame_of(item: NamedElement) -> SdfFrame:
    """The frame of a link, joint or frame element."""
    assert item.frame is not None, join_scope(item.model.scope, item.name)
    return item.frame
