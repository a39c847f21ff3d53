# SPDX-License-Identifier: Apache-2.0
"""One table between the words of engines and the neutral ones (REP-0158 4.2.2), used both ways.

A pair is a row of an engine and the row of the neutral schemas for the same quantity, if both measure the same thing:
:meth:`Pair.to_neutral` says in ``ext_physics:`` what an engine's attributes say, :meth:`Pair.to_vendor` the reverse.
MuJoCo's contact reference is no pair of a contact stiffness: one is per mass, the other is not.

Joints that follow others are in :mod:`simwright.resolve.laws`, motors in :mod:`simwright.resolve.laws`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from simwright.resolve.resolver import DEFAULT_ORDER, NEUTRAL, find_resolver
from simwright.resolve.table import SI, AuthoredAttributes, PrimType, Row, Scale
from simwright.resolve.transforms import UNSET

TOLERANCE = 1e-6
"""Relative difference of two numbers that say the same; attributes are single precision."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The same quantity in an engine's words (``theirs``) and in neutral ones (``ours``)."""

    vendor: str
    theirs: Row
    ours: Row

    @property
    def name(self) -> str:
        """The neutral attribute."""
        return self.ours.attributes[0]

    def to_neutral(self, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False) -> Any:
        """The neutral number; None where nothing is said, UNSET where "as you like" is, which has no neutral form."""
        value = self.theirs.read(authored, scale, angular=angular)
        if value is UNSET:
            # "no limit" is said by both sides with infinity
            return self.ours.default if self.ours.default == math.inf else UNSET
        if value is None:
            return None
        return self.ours.write(value, scale=scale, angular=angular).get(self.name)

    def to_vendor(
        self,
        authored: AuthoredAttributes,
        scale: Scale = SI,
        *,
        angular: bool = False,
        others: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The engine's attributes for what is said in neutral words; empty where it has no words for it.

        ``others`` are further values of the prim by key, in SI, for attributes that mix several of them.
        """
        value = self.ours.read(authored, scale, angular=angular)
        if value is UNSET:
            value = math.inf
        return {} if value is None else self.theirs.write(value, others, scale, angular=angular)

    def is_exact(
        self,
        authored: AuthoredAttributes,
        scale: Scale = SI,
        *,
        angular: bool = False,
        others: Mapping[str, Any] | None = None,
    ) -> bool:
        """Do the engine's own attributes come back?  An effort range that is not symmetric does not."""
        value = self.theirs.read(authored, scale, angular=angular)
        if value is None or value is UNSET:
            return True
        # Written again and compared: the only test that holds for every transform.
        back = self.theirs.write(value, others, scale, angular=angular)
        return all(
            are_same(number, authored.get(name))
            for name, number in back.items()
            if isinstance(number, float) and authored.get(name) is not None
        )


def are_same(one: Any, other: Any) -> bool:
    """Do two authored values say the same?"""
    if isinstance(one, bool) or not isinstance(one, int | float) or not isinstance(other, int | float):
        return bool(one == other)
    # The first comparison is for infinities.
    return one == other or math.isclose(one, other, rel_tol=TOLERANCE)


def read_known(
    vendor: str, prim: PrimType, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False
) -> dict[str, Any]:
    """What an engine is told about a prim, by key, in SI."""
    found = {
        pair.ours.key: pair.theirs.read(authored, scale, angular=angular) for pair in list_pairs(prim, vendor)
    }
    return {key: value for key, value in found.items() if value is not None and value is not UNSET}


@cache
def list_pairs(prim: PrimType, vendor: str = "") -> tuple[Pair, ...]:
    """The pairs for a kind of prim, of one engine or of all in their order of priority."""
    return tuple(
        Pair(name, row, ours)
        for name in ((vendor,) if vendor else DEFAULT_ORDER)
        for row in find_resolver(name).rows
        if row.prim is prim
        # A neutral key has one row.
        for ours in NEUTRAL.rows_of(prim, row.key)[:1]
        if _measure_same(row, ours)
    )


def _measure_same(row: Row, ours: Row) -> bool:
    """Are both lengths, efforts and so on?  Degrees and radians are converted."""
    return (row.unit.slide, row.unit.turn) == (ours.unit.slide, ours.unit.turn)


@cache
def list_blocking(prim: PrimType) -> dict[str, tuple[Row, ...]]:
    """Engine attributes of a kind of prim that also, or only, say something that has no neutral word."""
    # By identity: rows of several engines may be equal.
    paired = {id(pair.theirs) for pair in list_pairs(prim)}
    found: dict[str, list[Row]] = {}
    for vendor in DEFAULT_ORDER:
        for row in find_resolver(vendor).rows:
            if row.prim is prim and id(row) not in paired:
                for name in row.attributes:
                    found.setdefault(name, []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}


def translate_to_vendor(
    vendor: str, prim: PrimType, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False
) -> dict[str, Any]:
    """All that a prim says in neutral words, in an engine's: attributes by name.

    For engines that read their own schemas only; what they have no attribute for is not in the answer.
    """
    pairs = list_pairs(prim, vendor)
    values = {pair.ours.key: pair.ours.read(authored, scale, angular=angular) for pair in pairs}
    known = {key: value for key, value in values.items() if value is not None and value is not UNSET}
    result: dict[str, Any] = {}
    for pair in pairs:
        # PhysX's contact offset needs the margin, MuJoCo's margin the gap.
        others = {key: value for key, value in known.items() if key != pair.ours.key}
        for name, value in pair.to_vendor(authored, scale, angular=angular, others=others).items():
            result.setdefault(name, value)
    return result


def translate_to_neutral(
    vendor: str, prim: PrimType, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False
) -> dict[str, Any]:
    """All that a prim says in an engine's words and neutral ones exist for: neutral attributes by name."""
    result: dict[str, Any] = {}
    for pair in list_pairs(prim, vendor):
        value = pair.to_neutral(authored, scale, angular=angular)
        if value is not None and value is not UNSET:
            result.setdefault(pair.name, value)
    return result
