# SPDX-License-Identifier: Apache-2.0
"""Numbers of joints, colliders and materials: each opinion becomes a neutral one in the same place.

An engine's attribute goes away only where the neutral one says the same: where two engines are told different things,
the one that is believed first is translated and the other stays.  An attribute that says several things stays unless
all of them have a neutral word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pxr import Sdf, Usd, UsdPhysics, UsdShade

from simwright.resolve.table import PrimType, Row, Scale
from simwright.resolve.transforms import UNSET
from simwright.resolve.translation import Pair, are_same, list_blocking, list_pairs, read_known
from simwright.sanitizer.fixes.translation.sayings import (
    Reasons,
    apply_schema,
    attempt,
    list_attribute_specs,
    list_turns,
    read_authored,
    write_number,
)
from simwright.usd.edit import Editor, Refused


@dataclass(slots=True)
class _Plan:
    """What a prim says, and what is to become of it.

    ``angles`` are whether the axes of a joint turn or slide.  ``same`` are pairs that say what the neutral word says or
    will say; ``writes`` are (spec, pair, number).
    """

    prim: Usd.Prim
    authored: dict[str, Any]
    scale: Scale
    angles: tuple[bool, ...]
    same: list[Pair] = field(default_factory=list)
    writes: list[tuple[Sdf.PrimSpec, Pair, float]] = field(default_factory=list)
    reasons: Reasons = field(default_factory=dict)

    def keep(self, pair: Pair, reason: str) -> None:
        """The attributes of a pair have to stay."""
        for name in pair.theirs.attributes:
            if name in self.authored:
                self.reasons.setdefault(name, reason)


def find_kind(prim: Usd.Prim) -> PrimType | None:
    """What a prim is to the tables."""
    if prim.IsA(UsdPhysics.Joint):
        return PrimType.JOINT
    if prim.IsA(UsdShade.Material):
        return PrimType.MATERIAL
    return PrimType.SHAPE if prim.HasAPI(UsdPhysics.CollisionAPI) else None


def translate_values(editor: Editor, prim: Usd.Prim, scale: Scale) -> tuple[set[str], Reasons]:
    """Ask for what can be translated; gives the attributes that go, and why others stay."""
    kind = find_kind(prim)
    if kind is None:
        return set(), {}
    said = set(prim.GetAuthoredPropertyNames())
    theirs = said & _list_rows(kind).keys()
    if not theirs:
        return set(), {}
    quantities = _list_quantities(kind)
    try:
        authored = read_authored(prim, sorted(theirs | (said & {pairs[0].name for _, pairs in quantities})))
    except Refused as reason:
        return set(), dict.fromkeys(theirs, str(reason))
    angles = list_turns(prim) if kind is PrimType.JOINT else (False,)
    plan = _Plan(prim, authored, scale, angles)
    for names, pairs in quantities:
        if not names.isdisjoint(authored):
            _plan_quantity(plan, pairs)
    gone = _find_idle(plan, kind)
    problem = attempt(editor, lambda: _ask(editor, plan, gone))
    if problem:
        return set(), dict.fromkeys(gone, problem) | plan.reasons
    return gone, plan.reasons


def _plan_quantity(plan: _Plan, pairs: tuple[Pair, ...]) -> None:
    """One neutral attribute: who is believed, who says the same."""
    authored, scale, angles = plan.authored, plan.scale, plan.angles
    wanted = authored.get(pairs[0].name)
    for pair in pairs:
        numbers = [pair.to_neutral(authored, scale, angular=angular) for angular in angles]
        if numbers[0] is None:
            continue
        if any(not are_same(number, numbers[0]) for number in numbers):
            plan.keep(pair, "its turning and sliding axes would need two different numbers")
        elif numbers[0] is UNSET and _is_alone(plan, pair, pairs):
            plan.same.append(pair)  # "as you like" is what no words at all say
        elif numbers[0] is UNSET:
            plan.keep(pair, "it leaves the value to one engine, where others are told one")
        elif not all(_is_exact(plan, pair, angular=angular) for angular in angles):
            plan.keep(pair, f"{pair.name} cannot say all of it")
        elif wanted is None:
            wanted = numbers[0]
            _plan_writing(plan, pair)
        elif are_same(wanted, numbers[0]):
            plan.same.append(pair)
        else:
            plan.keep(pair, f"it says {numbers[0]:g} where {pair.name} is {wanted:g}; decide which is right")
        if wanted is None:
            return  # who is believed first has no translation, so the others must not be heard instead


def _is_alone(plan: _Plan, pair: Pair, pairs: tuple[Pair, ...]) -> bool:
    """Is nobody else told the value?"""
    others = [other for other in pairs if other is not pair]
    said = [other.theirs.read(plan.authored, plan.scale) for other in others]
    return pair.name not in plan.authored and all(value is None or value is UNSET for value in said)


def _is_exact(plan: _Plan, pair: Pair, *, angular: bool) -> bool:
    known = read_known(pair.vendor, pair.ours.prim, plan.authored, plan.scale, angular=angular)
    others = {key: value for key, value in known.items() if key != pair.ours.key}
    return pair.is_exact(plan.authored, plan.scale, angular=angular, others=others)


def _plan_writing(plan: _Plan, pair: Pair) -> None:
    """A neutral number in every spec that has the engine's."""
    used = {name for name in pair.theirs.attributes if name in plan.authored}
    specs: dict[tuple[str, str], Sdf.PrimSpec] = {}
    for name in sorted(used):
        for found in list_attribute_specs(plan.prim, name):
            specs.setdefault((found.layer.identifier, str(found.owner.path)), found.owner)
    for spec in specs.values():
        here = {name: _read_default(spec, name) for name in used}
        if any(value is None for value in here.values()):
            plan.keep(pair, "its numbers are said in different layers")
            return
        number = pair.to_neutral({**plan.authored, **here}, plan.scale, angular=plan.angles[0])
        if number is None or number is UNSET:
            plan.keep(pair, "a weaker opinion has no neutral form")
            return
        plan.writes.append((spec, pair, number))
    plan.same.append(pair)


def _read_default(spec: Sdf.PrimSpec, name: str) -> Any:
    found = spec.layer.GetAttributeAtPath(spec.path.AppendProperty(name))
    return None if found is None else found.default


@cache
def _list_rows(kind: PrimType) -> dict[str, tuple[Row, ...]]:
    """Every row that reads an attribute, with a neutral word or without."""
    rows: dict[str, list[Row]] = {name: list(found) for name, found in list_blocking(kind).items()}
    for pair in list_pairs(kind):
        for name in pair.theirs.attributes:
            rows.setdefault(name, []).append(pair.theirs)
    return {name: tuple(found) for name, found in rows.items()}


@cache
def _list_quantities(kind: PrimType) -> tuple[tuple[frozenset[str], tuple[Pair, ...]], ...]:
    """The pairs of each neutral attribute, and the engine's attributes that they read."""
    groups: dict[str, list[Pair]] = {}
    for pair in list_pairs(kind):
        groups.setdefault(pair.name, []).append(pair)
    return tuple(
        (frozenset(name for pair in pairs for name in pair.theirs.attributes), tuple(pairs))
        for pairs in groups.values()
    )


def _find_idle(plan: _Plan, kind: PrimType) -> set[str]:
    """Attributes of which everything is said in neutral words now, or that say nothing."""
    rows = _list_rows(kind)
    same = {id(pair.theirs) for pair in plan.same}
    idle = set()
    for name in (name for name in plan.authored if name in rows):
        speaking = [row for row in rows[name] if row.read(plan.authored) is not None]
        if all(id(row) in same for row in speaking):
            idle.add(name)
        elif any(id(row) in same for row in speaking):
            plan.reasons.setdefault(name, "it also says something that has no neutral form")
    return idle - plan.reasons.keys()


def _ask(editor: Editor, plan: _Plan, gone: set[str]) -> None:
    prim = plan.prim
    for spec, pair, number in plan.writes:
        apply_schema(editor, prim, spec, pair.ours.schema)
        write_number(editor, spec, pair.name, number)
    for name in sorted(gone):
        editor.remove_property(prim, name)
