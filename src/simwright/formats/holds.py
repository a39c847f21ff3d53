# SPDX-License-Identifier: Apache-2.0
"""What a format can hold: a table per format, and the losses of a conversion that follow from it.

The vocabulary (``simwright.formats.vocabulary``) has a key for everything an asset can say.  The table of a format, in
``formats/<name>/holds.py``, says what its writer does with each; a key that is not there has no place in the format,
and every element that uses it is reported.  Writers report by themselves only what depends on more than one value.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from simwright.core.diag import NOWHERE, Level, Reporter, Where, declare
from simwright.formats.aspects import Aspect, ElementFamily, find_uses
from simwright.formats.parts.words import name_of
from simwright.formats.vocabulary import FAMILIES
from simwright.model.asset import Actuator, Asset, Body
from simwright.model.joint import Dof, Motion
from simwright.model.servo import has_one_axis, pulls_to_position

LOST_MOTION = declare(
    "write-lost-motion",
    Level.WARNING,
    "{format} has no place for {what}, the first {first!r}; the result moves differently",
    hint="{advice}",
    doc="The written format has no place for something that changes how the machine moves; docs/formats.md lists what "
    "each format can hold.",
    section="3.8",
    loss=True,
)
LOST = declare(
    "write-lost",
    Level.INFO,
    "{format} has no place for {what}, the first {first!r}",
    hint="{advice}",
    doc="The written format has no place for something that does not change how the machine moves; docs/formats.md "
    "lists what each format can hold.",
    section="3.8",
    loss=True,
)
ADVICE = "keep the source file"


class Held(enum.StrEnum):
    """How much of an aspect a format holds."""

    YES = "yes"
    OTHERWISE = "in another form"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Holding:
    """What a format does with an aspect.

    ``why`` is for people: the other form, the reason of a *partly*, what to do about a *no*.  ``only`` are the values
    that are held; ``where`` names a condition of :data:`CONDITIONS` on what has the value.  All others are lost, and
    reported from here.  A *partly* with neither depends on more than the value: its writer reports what it loses.
    """

    held: Held
    why: str = ""
    only: tuple[str, ...] = ()
    where: str = ""

    @property
    def is_settled(self) -> bool:
        """Is there nothing to report from the table?"""
        return self.held is not Held.NO and not self.only and not self.where

    def keeps(self, owner: Any, value: Any) -> bool:
        """Is this value of this owner held?"""
        if self.held is Held.NO:
            return False
        if self.only and not set(_list_words(value)) <= set(self.only):
            return False
        return not self.where or CONDITIONS[self.where](owner)


YES = Holding(Held.YES)
NO = Holding(Held.NO)
Table: TypeAlias = Mapping[str, Holding]
NOTHING: Table = {}
"""The table of a format that declares none: everything is lost, and everything is reported."""


def partly(why: str, *, only: Iterable[str] = (), where: str = "") -> Holding:
    """Held for some values or owners; without ``only`` and ``where``, the writer reports what it loses."""
    return Holding(Held.PARTLY, why, tuple(only), where)


def otherwise(why: str, *, only: Iterable[str] = ()) -> Holding:
    """Held in another form: what is read again says the same in other words."""
    return Holding(Held.OTHERWISE, why, tuple(only))


def no(advice: str) -> Holding:
    """Not held, with what to do about it."""
    return Holding(Held.NO, advice)


def rows(holding: Holding, *keys: str) -> dict[str, Holding]:
    """The same for several keys; ``"joints.dofs: lower upper"`` is short for two of them."""
    table: dict[str, Holding] = {}
    for key in keys:
        family, colon, names = key.partition(": ")
        table |= {f"{family}.{name}": holding for name in names.split()} if colon else {family: holding}
    return table


def find_holding(table: Table, key: str) -> Holding:
    """What a table says about a key: of its own, or that of the whole it is in, where that is not held as it is."""
    if key in table:
        return table[key]
    whole = key.rpartition(".")[0]
    if "." in whole:
        # A part of something held as it is needs a row of its own; a part of something lost or changed shares its
        # fate.
        above = find_holding(table, whole)
        return NO if above.held is Held.YES else above
    return NO


def _is_not_free(dof: Dof) -> bool:
    return dof.motion is not Motion.FREE


def _has_no_gains(dof: Dof) -> bool:
    return dof.drive is None or not (dof.drive.stiffness or dof.drive.damping)


def _drives_to_position(dof: Dof) -> bool:
    return _has_no_gains(dof) or pulls_to_position(dof)


def _falls_or_not(body: Body) -> bool:
    return body.gravity_scale in (0.0, 1.0)


def _is_transmission(actuator: Actuator) -> bool:
    return "transmission" in actuator.settings


def _has_a_word(actuator: Actuator) -> bool:
    return actuator.kind != "general" or _is_transmission(actuator)


def _is_direct(actuator: Actuator) -> bool:
    return actuator.gear[:1] in ((), (1.0,))


CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "hinges and slides": has_one_axis,
    "hinges, slides and balls": _is_not_free,
    "drives without gains": _has_no_gains,
    "drives to a position": _drives_to_position,
    "all of gravity, or none": _falls_or_not,
    "transmissions": _is_transmission,
    "commands and transmissions": _has_a_word,
    "actuators without a gear": _is_direct,
}
"""Conditions that tables name, on what has the value: a freedom, a body, an actuator."""


def report_losses(asset: Asset, table: Table, title: str, reporter: Reporter) -> None:
    """Report what ``asset`` says and a format has no place for: a finding for each aspect."""
    for family in FAMILIES.values():
        elements = family.list(asset)
        if not elements:
            continue
        holding = table.get(family.key, NO)
        # One finding for the whole family: its parts are lost with it.
        if holding.held is Held.NO and not family.quiet:
            what = family.count(len(elements))
            moving = any(family.moves(element) for element in elements)
            report_lost(reporter, title, what, elements, moves=moving, advice=holding.why, aspect=family.key)
        else:
            for aspect, holding, lost in _find_losses(family, elements, table):
                # The environment has no name of its own.
                named = [asset.name] if lost[0][0] is asset.environment else [element for element, _ in lost]
                moving = any(aspect.moves(element) for element, _ in lost)
                advice = (
                    holding.why if holding.held is Held.NO or not holding.why else f"{ADVICE}: {holding.why}"
                )
                what = _describe(family, aspect, lost, holding)
                report_lost(reporter, title, what, named, moves=moving, advice=advice, aspect=aspect.key)


Lost: TypeAlias = list[tuple[Any, list[Any]]]
"""Elements with the values that are not held."""


def _find_losses(
    family: ElementFamily, elements: Sequence[Any], table: Table
) -> Iterator[tuple[Aspect, Holding, Lost]]:
    """Aspects of a family of which something is lost; an element that is left out loses nothing more."""
    # One function: what is reported, and what is left out as a whole, decides about the aspects after it.
    reported: list[str] = []
    for aspect in family.aspects:
        holding = find_holding(table, aspect.key)
        if holding.is_settled or any(aspect.key.startswith(f"{key}.") for key in reported):
            continue
        # Without a spring, its rest position says nothing.
        if find_holding(table, aspect.part_of).held is Held.NO and aspect.part_of:
            continue
        lost = [(e, values) for e in elements if (values := _find_lost(e, aspect, holding))]
        reported.append(aspect.key)
        if lost:
            yield aspect, holding, lost
        if aspect.whole:
            # A joint of an unknown kind is not written, so its damping is not lost once more.
            gone = {id(element) for element, _ in lost}
            elements = [element for element in elements if id(element) not in gone]


def _find_lost(element: Any, aspect: Aspect, holding: Holding) -> list[Any]:
    """Values that an element says and the format does not hold."""
    return [value for owner, value in find_uses(element, aspect) if not holding.keeps(owner, value)]


def _describe(family: ElementFamily, aspect: Aspect, lost: Lost, holding: Holding) -> str:
    """``the damping of 3 joints``, ``2 lights of the kind dome``."""
    words = {word for _, values in lost for value in values for word in _list_words(value)}
    named = ", ".join(sorted(words - set(holding.only))) if aspect.whole or holding.only else ""
    if aspect.whole:
        return f"{family.count(len(lost))} of {aspect.words} {named}"
    return f"{aspect.words}{f' ({named})' if named else ''} of {family.count(len(lost))}"


def _list_words(value: Any) -> list[str]:
    """The words that ``only`` is about: the name of a kind, or the keys of a table."""
    if isinstance(value, Mapping):
        return [str(key) for key in value]
    # Geometries and enums alike: what they are called in files.
    return [str(getattr(value, "kind", value))]


def report_lost(
    reporter: Reporter,
    title: str,
    what: str,
    lost: Sequence[Any],
    *,
    moves: bool,
    advice: str = "",
    aspect: str = "",
) -> None:
    """One finding for elements, or a value of them, that a format has no place for.

    ``what`` is said in words with a count; ``moves`` tells whether the machine moves differently without it.
    """
    where: Where = getattr(lost[0], "source", NOWHERE)
    data: dict[str, Any] = {
        "format": title,
        "what": what,
        "count": len(lost),
        "first": name_of(lost[0]),
        "aspect": aspect,
    }
    reporter.report(LOST_MOTION if moves else LOST, where, **data, advice=advice or ADVICE)
