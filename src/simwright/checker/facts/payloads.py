# SPDX-License-Identifier: Apache-2.0
"""What is only there while payloads are loaded: layers, kinematic prims, APIs and values (REP-0158 1.2.3, 2.1.1, 2.2).

The answer comes from the stage itself, opened a second time without payloads: a prim below a payload-bearing ancestor
is fine if the layers outside the payload define it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pxr import Sdf, Usd

if TYPE_CHECKING:
    from simwright.checker.facts.layers import LayerFacts
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


@dataclass(slots=True)
class PayloadPrims:
    """Kinematic prims that one payload brings in: ``holder`` is the prim that has the payload."""

    holder: PrimNode | None
    bodies: list[PrimNode] = field(default_factory=list)
    joints: list[PrimNode] = field(default_factory=list)
    ros: list[PrimNode] = field(default_factory=list)

    @property
    def first(self) -> PrimNode:
        """A prim to show."""
        return (self.bodies or self.joints or self.ros)[0]


@dataclass(slots=True)
class LateOpinion:
    """A prim that is always there, but whose APIs or joint type come from a payload."""

    node: PrimNode
    what: list[str]


@dataclass(slots=True)
class PayloadFacts:
    """Difference between the loaded stage and the one without payloads."""

    hidden: list[PayloadPrims] = field(default_factory=list)
    late: list[LateOpinion] = field(default_factory=list)
    always: list[LayerFacts] = field(default_factory=list)
    """Layers in use without payloads."""
    only_loaded: list[LayerFacts] = field(default_factory=list)
    """Layers that payloads alone bring in."""


def compare_payloads(snapshot: StageSnapshot) -> PayloadFacts:
    """The difference, computed once."""
    return snapshot.shared("payloads", _compare)


def _compare(snapshot: StageSnapshot) -> PayloadFacts:
    unloaded = snapshot.unloaded
    if unloaded is None:
        return PayloadFacts(always=list(snapshot.layers))
    facts = PayloadFacts()
    used = {layer.identifier for layer in unloaded.stage.GetUsedLayers(includeClipLayers=True)}
    for layer in snapshot.layers:
        (facts.always if layer.layer.identifier in used else facts.only_loaded).append(layer)
    groups = _HiddenPrims(snapshot, unloaded)
    for node in snapshot.nodes:
        wanted = name_kinematics(node)
        if not wanted:
            continue
        twin = unloaded.node(node.path)
        if twin is None:
            groups.file(node)
            continue
        # the prim is there either way, but what makes it a body or an interface may come late
        missing = [what for what in wanted if what not in name_kinematics(twin)]
        if missing:
            facts.late.append(LateOpinion(node, missing))
    facts.hidden = list(groups.found.values())
    return facts


def name_kinematics(node: PrimNode) -> list[str]:
    """What makes a prim part of the topology: its body API, its joint type, its Ros APIs."""
    names = [api for api in node.apis if api == "PhysicsRigidBodyAPI" or api.startswith("Ros")]
    return [*names, node.type] if node.is_a("PhysicsJoint") else names


class _HiddenPrims:
    """Prims that only payloads bring, under the nearest ancestor that is there without payloads."""

    def __init__(self, snapshot: StageSnapshot, unloaded: StageSnapshot) -> None:
        self.snapshot = snapshot
        self.unloaded = unloaded
        self.found: dict[str, PayloadPrims] = {}
        self.nearest: dict[str, str] = {}
        """Path -> the path itself, or that of an ancestor, that is there."""

    def file(self, node: PrimNode) -> None:
        """Put a hidden prim under its ancestor."""
        path = self.find_nearest(node.path.rpartition("/")[0])
        hidden = self.found.get(path)
        if hidden is None:
            hidden = self.found[path] = PayloadPrims(self.snapshot.node(path))
        if node.is_a("PhysicsJoint"):
            hidden.joints.append(node)
        elif node.has("PhysicsRigidBodyAPI"):
            hidden.bodies.append(node)
        else:
            hidden.ros.append(node)

    def find_nearest(self, path: str) -> str:
        """Most prims stand beside others that were asked for before."""
        passed = []
        here = path
        while here and here not in self.nearest and self.unloaded.node(here) is None:
            passed.append(here)
            here = here.rpartition("/")[0]
        found = self.nearest.get(here, here or "/")
        self.nearest.update(dict.fromkeys((*passed, here), found))
        return found


def find_payload_spec(prim: Usd.Prim) -> Sdf.PrimSpec | None:
    """The strongest spec of a prim that authors a payload."""
    return next((spec for spec in prim.GetPrimStack() if spec.HasInfo("payload")), None)


@dataclass(frozen=True, slots=True)
class PayloadLoss:
    """Something that only a payload brings: ``what`` is the prim, an API or a property."""

    what: str
    name: str


def find_payload_loss(
    node: PrimNode, snapshot: StageSnapshot, apis: Collection[str], namespaces: tuple[str, ...]
) -> PayloadLoss | None:
    """The first thing that is missing without payloads: the prim, one of the APIs, a property, or its value."""
    unloaded = snapshot.unloaded
    if unloaded is None:
        return None
    there = unloaded.node(node.path)
    if there is None:
        return PayloadLoss("prim", node.path)
    for api in apis:
        if not there.has(api):
            return PayloadLoss("api", api)
    for name in node.property_names():
        if name.startswith(namespaces) and _differs(node, there, name):
            return PayloadLoss("property", name)
    return None


def _differs(node: PrimNode, there: PrimNode, name: str) -> bool:
    attribute = node.prim.GetAttribute(name)
    if attribute:
        other = there.prim.GetAttribute(name)
        # a value that a payload overrides is lost as well
        return not other or not other.IsAuthored() or bool(other.Get() != attribute.Get())
    return there.targets(name) != node.targets(name)
