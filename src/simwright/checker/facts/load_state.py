# SPDX-License-Identifier: Apache-2.0
"""What is only there with payloads loaded: layers, and kinematic prims (REP-0158 1.2.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pxr import Sdf, Usd

if TYPE_CHECKING:
    from simwright.checker.facts.layers import LayerFacts
    from simwright.checker.facts.snapshot import Node, Snapshot


@dataclass(slots=True)
class Hidden:
    """Kinematic prims that one payload brings in: ``holder`` is the prim that has the payload."""

    holder: Node | None
    bodies: list[Node] = field(default_factory=list)
    joints: list[Node] = field(default_factory=list)
    ros: list[Node] = field(default_factory=list)

    @property
    def first(self) -> Node:
        """A prim to show."""
        return (self.bodies or self.joints or self.ros)[0]


@dataclass(slots=True)
class LateOpinion:
    """A prim that is always there, but whose APIs or joint type come from a payload."""

    node: Node
    what: list[str]


@dataclass(slots=True)
class PayloadFacts:
    """Difference between the loaded stage and the one without payloads."""

    hidden: list[Hidden] = field(default_factory=list)
    late: list[LateOpinion] = field(default_factory=list)
    always: list[LayerFacts] = field(default_factory=list)
    """Layers in use without payloads."""
    only_loaded: list[LayerFacts] = field(default_factory=list)
    """Layers that payloads alone bring in."""


def compare_payloads(snapshot: Snapshot) -> PayloadFacts:
    """The difference, computed once."""
    return snapshot.shared("payloads", _compare)


def _compare(snapshot: Snapshot) -> PayloadFacts:
    unloaded = snapshot.unloaded
    if unloaded is None:
        return PayloadFacts(always=list(snapshot.layers))
    facts = PayloadFacts()
    used = {layer.identifier for layer in unloaded.stage.GetUsedLayers(includeClipLayers=True)}
    for layer in snapshot.layers:
        (facts.always if layer.layer.identifier in used else facts.only_loaded).append(layer)
    groups: dict[str, Hidden] = {}
    for node in snapshot.nodes:
        wanted = name_kinematics(node)
        if not wanted:
            continue
        twin = unloaded.node(node.path)
        if twin is None:
            _file(node, snapshot, unloaded, groups)
            continue
        missing = [what for what in wanted if what not in name_kinematics(twin)]
        if missing:
            facts.late.append(LateOpinion(node, missing))
    facts.hidden = list(groups.values())
    return facts


def name_kinematics(node: Node) -> list[str]:
    """What makes a prim part of the topology: its body API, its joint type, its Ros APIs."""
    names = [api for api in node.apis if api == "PhysicsRigidBodyAPI" or api.startswith("Ros")]
    return [*names, node.type] if node.is_a("PhysicsJoint") else names


def _file(node: Node, snapshot: Snapshot, unloaded: Snapshot, groups: dict[str, Hidden]) -> None:
    """Put a hidden prim under the nearest ancestor that is there without payloads."""
    path = Sdf.Path(node.path).GetParentPath()
    while not path.IsAbsoluteRootPath() and unloaded.node(path) is None:
        path = path.GetParentPath()
    hidden = groups.setdefault(path.pathString, Hidden(snapshot.node(path)))
    if node.is_a("PhysicsJoint"):
        hidden.joints.append(node)
    elif node.has("PhysicsRigidBodyAPI"):
        hidden.bodies.append(node)
    else:
        hidden.ros.append(node)


def find_payload_spec(prim: Usd.Prim) -> Sdf.PrimSpec | None:
    """The strongest spec of a prim that authors a payload."""
    return next((spec for spec in prim.GetPrimStack() if spec.HasInfo("payload")), None)
