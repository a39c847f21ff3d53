# SPDX-License-Identifier: Apache-2.0
"""Can the neutral schemas say what MuJoCo's actuators and tendons do?  (REP-0158 4.2.2)

ExtendedPhysicsActuatorAPI drives revolute and prismatic joints as motor, position or velocity servo, with a lag.
Muscles, cylinders, motors on tendons, sites and bodies have no neutral form, nor have tendons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, Opinion, OpinionContent
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.vendors import (
    HALVES,
    NEUTRAL_TYPES,
    find_neutral,
    find_neutral_property,
    find_neutral_schema,
)
from simwright.usd.questions import items_of

if TYPE_CHECKING:
    from pxr import Sdf

MJC = "MjcActuator"
NEUTRAL = "an Xform or Scope with ExtendedPhysicsActuatorAPI"
_ACTUATOR_API = "ExtendedPhysicsActuatorAPI"
_TENDON = "MjcTendon"
_MARGIN = "mjc:margin"
_OF_COLLIDERS = frozenset({"ext_physics:contact:margin", "ext_physics:contact:gap"})
_JOINTS = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")


def has_neutral_form(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Does an MjcActuator drive a joint by a law that the neutral schema has?  Remembered on the snapshot."""
    known: dict[int, bool] = snapshot.shared("neutral forms", lambda _: {})
    if id(node) not in known:
        known[id(node)] = _has_neutral_form(node, snapshot)
    return known[id(node)]


# one function: the conditions of one law, force = gain * control + bias
def _has_neutral_form(node: PrimNode, snapshot: StageSnapshot) -> bool:
    targets = [snapshot.node(path) for path in node.relationships().get("mjc:target", ())]
    if not targets or any(target is None or target.type not in _JOINTS for target in targets):
        return False
    dynamics = _read(node, "mjc:dynType", "none")
    if _read(node, "mjc:gainType", "fixed") != "fixed" or dynamics not in ("none", "filter", "filterexact"):
        return False
    bias = _read(node, "mjc:biasType", "none")
    if bias == "none":
        return True
    gain, numbers = _numbers(node, "mjc:gainPrm", [1.0]), _numbers(node, "mjc:biasPrm", [])
    # MuJoCo's affine bias has a constant, a factor of the position and a factor of the velocity
    first, second, third = (*numbers, 0.0, 0.0, 0.0)[:3]
    # a position servo: the gain acts on control minus position, and damping may be added
    is_position = second == -gain[0] and third <= 0.0
    # a velocity servo: the gain acts on control minus velocity
    is_velocity = second == 0.0 and third == -gain[0]
    return bias == "affine" and first == 0.0 and (is_position or is_velocity)


def has_drives(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Do all joints that an MjcActuator acts on have a drive, which says the same to other engines?"""
    targets = [snapshot.node(path) for path in node.relationships().get("mjc:target", ())]
    return bool(targets) and all(target is not None and target.has("PhysicsDriveAPI") for target in targets)


_KEPT = 4096
"""Opinions of a layer that are looked at once for all rules; more are looked at by each, one at a time."""


def list_translatable(facts: LayerFacts, snapshot: StageSnapshot) -> Iterable[Opinion]:
    """A vendor's opinions that a neutral word could say and none says."""
    opinions = facts.of(Domain.VENDOR)
    if len(opinions) > _KEPT:
        return _find_translatable(facts, snapshot)
    return snapshot.shared(
        f"translatable {facts.layer.identifier}", lambda _: list(_find_translatable(facts, snapshot))
    )


def _find_translatable(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Opinion]:
    words = _VendorWords(facts, snapshot)
    for opinion in facts.find(_has_neutral_word):
        if not words.are_needed(opinion):
            yield opinion


def _has_neutral_word(content: OpinionContent) -> bool:
    """Is it a vendor's, with a neutral word for it?"""
    if content.domain is not Domain.VENDOR:
        return False
    # the instance name of a multiple-apply API does not matter for its meaning
    name = content.what.partition(":")[0] if content.kind == "api" else content.what
    return bool(find_neutral(name) or find_neutral(content.what))


class _VendorWords:
    """A vendor's words in a layer: which of them no neutral word can take the place of?"""

    def __init__(self, facts: LayerFacts, snapshot: StageSnapshot) -> None:
        self.layer = facts.layer
        self.is_vendor = facts.is_vendor
        self.snapshot = snapshot
        self.has_tendons = any(
            content.what == _TENDON for contents in facts.said.values() for content in contents
        )

    def are_needed(self, opinion: Opinion) -> bool:
        """Is an opinion about something else than its neutral word, or said there already?"""
        return self.is_of_other(opinion) or self.is_repeated(opinion)

    # one function: the cases, the cheap ones first
    def is_of_other(self, opinion: Opinion) -> bool:
        """Is it said of something that the neutral word is not for?

        The damping of a tendon is not that of a joint, the margin of a joint's stops not that of a collider, a shape
        that nothing touches has no contacts, and the contact offset of PhysX alone, without its rest offset, says
        nothing about the gap.
        """
        what = opinion.what
        # a neutral value that is made of two words cannot be made of one
        others = HALVES.get(what, ())
        is_contact = find_neutral(what) in _OF_COLLIDERS
        if not (self.has_tendons or others or is_contact or what == _MARGIN):
            return False
        spec = self.layer.GetPrimAtPath(opinion.at)
        if spec is None:
            return False
        # mjc:margin on a joint is about its limits, on a geom about its contacts
        if spec.typeName == _TENDON or (what == _MARGIN and _is_joint(spec)):
            return True
        # MuJoCo gives every geom a margin, those that only show something too (distance sensors use it)
        if is_contact and _tail(spec.path) in self.snapshot.shared(
            "prims that nothing touches", _list_untouched
        ):
            return True
        return bool(others) and not any(name in spec.properties for name in others)

    def is_repeated(self, opinion: Opinion) -> bool:
        """Does a vendor's layer repeat for its engine what a neutral layer says of the same prim?"""
        if not self.is_vendor:
            return False
        neutral = find_neutral(opinion.what.partition(":")[0] if opinion.kind == "api" else opinion.what)
        if opinion.what in NEUTRAL_TYPES:
            neutral = _ACTUATOR_API
        return bool(neutral) and (_tail(opinion.at), neutral) in self.snapshot.shared(
            "neutral words", _list_neutral
        )


def _is_joint(spec: Sdf.PrimSpec) -> bool:
    applied = spec.GetInfo("apiSchemas").GetAppliedItems() if spec.HasInfo("apiSchemas") else ()
    return "MjcJointAPI" in applied


def _list_untouched(snapshot: StageSnapshot) -> set[str]:
    colliders = {_below_root(node.path) for node in snapshot.colliders}
    return {_below_root(node.path) for node in snapshot.nodes} - colliders


def _list_neutral(snapshot: StageSnapshot) -> set[tuple[str, str]]:
    return {
        (_tail(opinion.at), opinion.what)
        for facts in snapshot.layers
        if not facts.is_vendor
        for opinion in facts.of(Domain.EXTENDED)
    }


def _tail(path: Sdf.Path) -> str:
    """The path below the root prim, which may have another name in the layer that refers to it."""
    return _below_root(str(path.StripAllVariantSelections()))


def _below_root(path: str) -> str:
    return path.partition("/")[2].partition("/")[2]


def _read(node: PrimNode, name: str, default: str) -> str:
    attribute = node.prim.GetAttribute(name)
    value = attribute.Get() if attribute else None
    return default if value is None else str(value)


def _numbers(node: PrimNode, name: str, default: list[float]) -> list[float]:
    attribute = node.prim.GetAttribute(name)
    value = attribute.Get() if attribute else None
    try:
        return [*map(float, items_of(value))] or default if value is not None else default
    except (TypeError, ValueError):
        return default


def find_neutral_form(opinion: Opinion) -> str | None:
    """The neutral word for a vendor's opinion."""
    find = find_neutral_property if opinion.kind == "property" else find_neutral_schema
    return find(opinion.what)
