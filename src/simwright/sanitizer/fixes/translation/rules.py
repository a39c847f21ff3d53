# SPDX-License-Identifier: Apache-2.0
"""The rules that ask for neutral words (REP-0158 1.2.1, 1.3, 1.4, 4.2.2): one prim, one name, one layer or all.

What an engine says is said in neutral words too, and the engine keeps its own: most engines of today read nothing else.
The neutral words stand where the engine's do, or, where those are in the layer of the engine, where the prim is
defined.  Once everything is said in neutral words, the engine's go to the layer of the engine (:mod:`..layers`).  Words
that leave a value to the engine say what no words say, and go.

Of numbers of joints, colliders and materials, where two engines are told different things, the one that is believed
first is translated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pxr import Sdf, Usd, UsdPhysics, UsdShade

from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema
from simwright.core.diag import Diagnostic
from simwright.resolve.table import UNSET, PrimType, Row, Scale
from simwright.resolve.translation import Pair, are_same, list_blocking, list_pairs, read_known
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.layers import split_all
from simwright.sanitizer.fixes.translation.dynamics import (
    translate_follower,
    translate_inertia,
    translate_motor,
)
from simwright.sanitizer.fixes.translation.engine_words import (
    EngineSurvey,
    Reasons,
    apply_schema,
    attempt,
    find_neutral_place,
    list_angular,
    list_apis,
    list_attribute_specs,
    read_authored,
    survey_stage,
    write_number,
)
from simwright.sanitizer.layering.roles import VENDOR
from simwright.usd.edit import Editor, Refused

_TRANSLATED = "all words of engines are said in neutral ones"


@dataclass(slots=True)
class _TranslationPlan:
    """What a prim says, and what is to become of it.

    ``angles`` are whether the axes of a joint turn or slide.  ``idle`` are pairs that leave the value to the engine,
    and that no neutral word has to repeat; ``writes`` are (spec, pair, number).
    """

    prim: Usd.Prim
    authored: dict[str, Any]
    scale: Scale
    angles: tuple[bool, ...]
    idle: list[Pair] = field(default_factory=list)
    writes: list[tuple[Sdf.PrimSpec, Pair, float]] = field(default_factory=list)
    reasons: Reasons = field(default_factory=dict)

    def keep(self, pair: Pair, reason: str) -> None:
        """The attributes of a pair have to stay."""
        for name in pair.theirs.attributes:
            if name in self.authored:
                self.reasons.setdefault(name, reason)


def find_kind(prim: Usd.Prim) -> PrimType | None:
    """The row of the tables that a prim belongs to: joint, material, shape, or none."""
    if prim.IsA(UsdPhysics.Joint):
        return PrimType.JOINT
    if prim.IsA(UsdShade.Material):
        return PrimType.MATERIAL
    return PrimType.SHAPE if prim.HasAPI(UsdPhysics.CollisionAPI) else None


def translate_values(editor: Editor, prim: Usd.Prim, scale: Scale) -> Reasons:
    """Ask for what can be translated; gives the attributes that only the engine has, and why."""
    kind = find_kind(prim)
    if kind is None:
        return {}
    said = set(prim.GetAuthoredPropertyNames())
    theirs = said & _list_rows(kind).keys()
    if not theirs:
        return {}
    quantities = _list_quantities(kind)
    try:
        authored = read_authored(prim, sorted(theirs | (said & {pairs[0].name for _, pairs in quantities})))
    except Refused as reason:
        return dict.fromkeys(theirs, str(reason))
    angles = list_angular(prim) if kind is PrimType.JOINT else (False,)
    plan = _TranslationPlan(prim, authored, scale, angles)
    for names, pairs in quantities:
        if not names.isdisjoint(authored):
            _plan_quantity(editor, plan, pairs)
    gone = _list_left_to_engine(plan, kind)
    problem = attempt(editor, lambda: _ask_for_numbers(editor, plan, gone))
    return dict.fromkeys(theirs, problem) | plan.reasons if problem else plan.reasons


def _plan_quantity(editor: Editor, plan: _TranslationPlan, pairs: tuple[Pair, ...]) -> None:
    """One neutral attribute: who is believed, who says the same."""
    authored, scale, angles = plan.authored, plan.scale, plan.angles
    # one chain: pairs come in the order in which engines are believed, and each case ends with a reason
    wanted = authored.get(pairs[0].name)
    for pair in pairs:
        numbers = [pair.to_neutral(authored, scale, angular=angular) for angular in angles]
        if numbers[0] is None:
            continue
        if any(not are_same(number, numbers[0]) for number in numbers):
            plan.keep(pair, "its turning and sliding axes would need two different numbers")
        elif numbers[0] is UNSET and _is_alone(plan, pair, pairs):
            plan.idle.append(pair)  # "as you like" is what no words at all say
        elif numbers[0] is UNSET:
            plan.keep(pair, "only one engine would still get a value")
        elif not all(_is_exact(plan, pair, angular=angular) for angular in angles):
            plan.keep(pair, f"{pair.name} cannot say all of it")
        elif wanted is None:
            wanted = numbers[0]
            _plan_writing(editor, plan, pair)
        elif not are_same(wanted, numbers[0]):
            plan.keep(pair, f"it says {numbers[0]:g} where {pair.name} is {wanted:g}; decide which is right")
        if wanted is None:
            return  # who is believed first has no translation, so the others must not be heard instead


def _is_alone(plan: _TranslationPlan, pair: Pair, pairs: tuple[Pair, ...]) -> bool:
    """Is nobody else told the value?"""
    others = [other for other in pairs if other is not pair]
    said = [other.theirs.read(plan.authored, plan.scale) for other in others]
    return pair.name not in plan.authored and all(value is None or value is UNSET for value in said)


def _is_exact(plan: _TranslationPlan, pair: Pair, *, angular: bool) -> bool:
    known = read_known(pair.vendor, pair.ours.prim, plan.authored, plan.scale, angular=angular)
    others = {key: value for key, value in known.items() if key != pair.ours.key}
    return pair.is_exact(plan.authored, plan.scale, angular=angular, others=others)


def _plan_writing(editor: Editor, plan: _TranslationPlan, pair: Pair) -> None:
    """A neutral number beside every one of the engine's."""
    used = {name for name in pair.theirs.attributes if name in plan.authored}
    specs: dict[tuple[str, str], Sdf.PrimSpec] = {}
    for name in sorted(used):
        for found in list_attribute_specs(plan.prim, name):
            specs.setdefault((found.layer.identifier, str(found.owner.path)), found.owner)
    for spec in specs.values():
        here = {name: _read_default(spec, name) for name in used}
        # a number made of several attributes is only known in a layer that says all of them
        if any(value is None for value in here.values()):
            plan.keep(pair, "its numbers are said in different layers")
            return
        number = pair.to_neutral({**plan.authored, **here}, plan.scale, angular=plan.angles[0])
        if number is None or number is UNSET:
            plan.keep(pair, "a weaker opinion has no neutral form")
            return
        try:
            plan.writes.append((find_neutral_place(editor, plan.prim, spec), pair, number))
        except Refused as reason:
            plan.keep(pair, str(reason))
            return


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


def _list_left_to_engine(plan: _TranslationPlan, kind: PrimType) -> set[str]:
    """Authored attributes that only say "the engine decides": they can go, since saying nothing means the same."""
    rows = _list_rows(kind)
    idle = {id(pair.theirs) for pair in plan.idle}
    found = set()
    for name in (name for pair in plan.idle for name in pair.theirs.attributes if name in plan.authored):
        speaking = [row for row in rows[name] if row.read(plan.authored) is not None]
        if all(id(row) in idle for row in speaking):
            found.add(name)
    return found - plan.reasons.keys()


def _ask_for_numbers(editor: Editor, plan: _TranslationPlan, gone: set[str]) -> None:
    prim = plan.prim
    for spec, pair, number in plan.writes:
        apply_schema(editor, prim, spec, pair.ours.schema)
        write_number(editor, spec, pair.name, number)
    for name in sorted(gone):
        editor.remove_property(prim, name)


def translate_prim(editor: Editor, prim: Usd.Prim, survey: EngineSurvey) -> Reasons:
    """Ask for all that can be translated on a prim; gives what only its engine has, by name, and why."""
    if prim.IsInstanceProxy() or not prim:
        return {}
    reasons = translate_values(editor, prim, survey.scale)
    reasons |= translate_follower(editor, prim)
    reasons |= translate_motor(editor, prim, survey)
    reasons |= translate_inertia(editor, prim)
    return reasons


@fix("xphys-no-vendor", phase=0)
def translate_opinion(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The prim of one opinion, with all that it says."""
    prims = _find_prims(editor, finding)
    name = finding.where.prop or finding.message.partition(" ")[0]
    mark = len(editor.edits)
    for prim in prims:
        reasons = translate_prim(editor, prim, survey_stage(editor))
        _refuse(reasons, name)
    if prims and len(editor.edits) == mark:
        _isolate_words(editor)


@fix("extphys-use", phase=0)
def translate_feature(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A mimic joint or a motor."""
    prim = editor.find_prim(finding.where.prim)
    reasons = translate_prim(editor, prim, survey_stage(editor))
    _refuse(reasons, str(finding.data.get("vendor", "")))


@fix("proprietary-minimal", phase=0)
def translate_name(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Translate all prims that use a name."""
    name = str(finding.data["name"])
    _translate_all(
        editor, [prim for prim in survey_stage(editor).prims.values() if _uses(prim, name)], {name}
    )


@fix("isol-minimize", phase=0)
def translate_vendor(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Write every attribute of one engine, on all prims, in the words that all engines share."""
    vendor = str(finding.data["vendor"])
    _translate_all(editor, _list_speaking(editor, vendor), None)


@fix("xphys-lifecycle", phase=0)
def translate_layer(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Write the attributes of one engine that a layer has in the words that all engines share."""
    vendor = str(finding.data["vendor"])
    layer = editor.find_layer(finding.where.file).identifier
    survey = survey_stage(editor)
    paths = {path for (place, _), found in survey.holders.items() if place == layer for path in found}
    _translate_all(
        editor, [prim for prim in _list_speaking(editor, vendor) if str(prim.GetPath()) in paths], None
    )


def _isolate_words(editor: Editor) -> None:
    """Ask for all words of engines to go to the layers of the engines, once everything is said in neutral words."""
    # what is still to be written in this round, for this finding or another, would be written into specs that are
    # moved: the next round is early enough
    if editor.edits:
        return
    if _TRANSLATED not in editor.known:
        expected = editor.expected.copy()
        for prim in survey_stage(editor).prims.values():
            translate_prim(editor, prim, survey_stage(editor))
        editor.known[_TRANSLATED] = not editor.edits
        editor.drop_edits(0)
        editor.expected = expected
    if editor.known[_TRANSLATED]:
        split_all(editor, {VENDOR})


def _translate_all(editor: Editor, prims: Iterable[Usd.Prim], names: set[str] | None) -> None:
    """Translate whatever can be translated; refused only where nothing can."""
    survey = survey_stage(editor)
    before = len(editor.edits)
    kept: Reasons = {}
    for prim in prims:
        for name, reason in translate_prim(editor, prim, survey).items():
            if names is None or name.partition(":")[0] in names or name in names:
                kept.setdefault(name, f"{name} of {prim.GetPath()}: {reason}")
    if len(editor.edits) == before:
        _isolate_words(editor)
    # where other findings asked for something, the next round tells what is left
    if not editor.edits and kept:
        raise Refused(next(iter(kept.values())))


def _refuse(reasons: Reasons, name: str) -> None:
    """Say why a name has to stay."""
    reason = reasons.get(name) or next(
        (text for key, text in reasons.items() if key.partition(":")[0] == name), ""
    )
    if reason:
        raise Refused(reason)


def _find_prims(editor: Editor, finding: Diagnostic) -> list[Usd.Prim]:
    """The prims that an opinion in a layer is about; an opinion that is gone already is about none."""
    editor.find_layer(finding.where.file)
    survey = survey_stage(editor)
    found = survey.find(finding.where.file, finding.where.prim)
    if not found and "{" in finding.where.prim:
        raise Refused("it is said in a variant that is not selected")
    return found


def _list_speaking(editor: Editor, vendor: str) -> list[Usd.Prim]:
    """Prims that tell an engine something."""
    return [
        prim
        for prim in survey_stage(editor).prims.values()
        if vendor_of_schema(str(prim.GetTypeName())) == vendor
        or any(vendor_of_schema(api) == vendor for api in list_apis(prim))
        or any(vendor_of_property(name) == vendor for name in prim.GetAuthoredPropertyNames())
    ]


def _uses(prim: Usd.Prim, name: str) -> bool:
    return (
        name in prim.GetAuthoredPropertyNames()
        or name == str(prim.GetTypeName())
        or any(api.partition(":")[0] == name for api in list_apis(prim))
    )
