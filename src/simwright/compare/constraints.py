# SPDX-License-Identifier: Apache-2.0
"""Constraints beside the tree: mimics, points and frames held together, tendons.

They are compared as they are told; none is solved.  A joint that closes a loop and an equality constraint that
holds the same two bodies say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from simwright.compare.difference import Item, Section
from simwright.compare.joints import HOLDS, is_hold
from simwright.compare.pairing import Pairing, match_elements
from simwright.compare.side import Side
from simwright.compare.values import Ruler
from simwright.core.math3d import Pose
from simwright.core.names import make_identifier
from simwright.model.joint import EqualityKind, Mimic, Tendon

_HELD = (EqualityKind.CONNECT, EqualityKind.WELD)


@dataclass(slots=True, eq=False)
class Hold:
    """Two frames that are held together."""

    name: str
    kind: EqualityKind
    a: tuple[str, Pose]
    b: tuple[str, Pose]
    enabled: bool


def compare_constraints(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Mimics by follower, holds and tendons by name."""
    _compare_mimics(section, pairing, ruler)
    _compare_holds(section, pairing, ruler)
    _compare_tendons(section, pairing, ruler)
    _compare_equalities(section, pairing, ruler)


def same_name(a: str, b: str) -> bool:
    """The same name, or the same once made legal."""
    return a == b or make_identifier(a).lower() == make_identifier(b).lower()


def _compare_mimics(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    names = {b.name: a.name for a, b in pairing.freedoms}
    refs = [{p[number].name: pairing.zeros(*p)[number] for p in pairing.freedoms} for number in (0, 1)]
    first = {mimic.follower: mimic for mimic in pairing.a.asset.mimics}
    second = {names.get(mimic.follower, mimic.follower): mimic for mimic in pairing.b.asset.mimics}
    for follower in dict.fromkeys((*first, *second)):
        a, b = first.get(follower), second.get(follower)
        element = f"mimic of {follower!r}"
        if a is None or b is None:
            leaders = [None if mimic is None else mimic.leader for mimic in (a, b)]
            section.items.append(Item(element, "leader", *leaders))
            continue
        section.compared += 1
        leader = names.get(b.leader, b.leader)
        if a.leader != leader:
            section.items.append(Item(element, "leader", a.leader, leader))
            continue
        ruler.compare(section, element, "law", _law(a, refs[0]), _law(b, refs[1]))
        ruler.compare(section, element, "enabled", a.enabled, b.enabled)


def _law(mimic: Mimic, refs: dict[str, float]) -> list[float]:
    """Coefficients between coordinates counted from ``refs``."""
    law = Polynomial(np.array((mimic.offset, mimic.multiplier, *mimic.polynomial)))
    moved = law(Polynomial((refs.get(mimic.leader, 0.0), 1.0)))
    values = [float(value) for value in moved.coef] + [0.0] * (5 - len(moved.coef))
    values[0] -= refs.get(mimic.follower, 0.0)
    return values


def list_holds(side: Side) -> list[Hold]:
    """Connects and welds of a side, and joints that close loops likewise."""
    holds = [
        Hold(e.name, e.kind, (e.a, e.frame_a), (e.b, e.frame_b), e.enabled)
        for e in side.asset.equalities
        if e.kind in _HELD
    ]
    holds += [
        Hold(j.name, HOLDS[j.kind], (j.parent, j.parent_frame), (j.child, j.child_frame), j.enabled)
        for j in side.asset.joints
        if is_hold(side, j)
    ]
    return holds


def _compare_holds(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    first, second = list_holds(pairing.a), list_holds(pairing.b)
    left = list(second)
    for hold in first:
        best = min(left, key=lambda twin: _distance(pairing, hold, twin), default=None)
        gap = np.inf if best is None else _distance(pairing, hold, best)
        if best is None or not np.isfinite(gap):
            section.items.append(Item(f"equality {hold.name!r}", str(hold.kind), hold.name, None))
            continue
        left.remove(best)
        section.compared += 1
        element = f"equality {hold.name!r}"
        if gap / ruler.length > ruler.rtol:
            section.items.append(
                Item(element, "where it holds", hold.name, best.name, error=gap / ruler.length)
            )
        ruler.compare(section, element, "enabled", hold.enabled, best.enabled)
    section.items += [Item(f"equality {hold.name!r}", str(hold.kind), None, hold.name) for hold in left]


def _distance(pairing: Pairing, a: Hold, b: Hold) -> float:
    """How far the held points are apart [m]; infinite for other bodies or another kind."""
    if a.kind is not b.kind:
        return float("inf")
    gaps = []
    for ends in ((b.a, b.b), (b.b, b.a)):
        met = [pairing.meet(x, y) for x, y in zip((a.a, a.b), ends, strict=True)]
        if None in met:
            continue
        (pa, qa), (pb, qb) = (m for m in met if m is not None)
        if a.kind is EqualityKind.CONNECT:
            gaps.append(max(float(np.linalg.norm(x.p - y.p)) for x, y in ((pa, qa), (pb, qb))))
        else:
            gaps.append(float(np.abs((pa @ ~pb).matrix - (qa @ ~qb).matrix).max()))
    return min(gaps, default=float("inf"))


def _compare_tendons(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    first, second = pairing.a.asset.tendons, pairing.b.asset.tendons
    matches = match_elements(first, second)
    twins = {tendon.name: tendon for tendon in second}
    for tendon in first:
        twin = twins.get(matches.get(tendon.name, ""))
        element = f"tendon {tendon.name!r}"
        if twin is None:
            section.items.append(Item(element, "tendon", tendon.name, None))
            continue
        section.compared += 1
        _compare_path(section, ruler, element, tendon, twin)
        for what in ("lower", "upper", "stiffness", "damping", "friction", "armature", "rest_length"):
            x, y = getattr(tendon, what), getattr(twin, what)
            ruler.compare(section, element, what.replace("_", " "), x, y)
    taken = set(matches.values())
    section.items += [
        Item(f"tendon {t.name!r}", "tendon", None, t.name) for t in second if t.name not in taken
    ]


def _compare_path(section: Section, ruler: Ruler, element: str, a: Tendon, b: Tendon) -> None:
    same = len(a.path) == len(b.path) and all(
        x.kind == y.kind and same_name(x.name, y.name) and same_name(x.side, y.side)
        for x, y in zip(a.path, b.path, strict=True)
    )
    if not same:
        paths = ([f"{point.kind} {point.name}".strip() for point in t.path] for t in (a, b))
        section.items.append(Item(element, "path", *paths))
    else:
        values = ([point.value for point in t.path] for t in (a, b))
        ruler.compare(section, element, "path coefficients", *values)


def _compare_equalities(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Those between tendons, and distances."""
    first, second = ([e for e in s.asset.equalities if e.kind not in _HELD] for s in (pairing.a, pairing.b))
    matches = match_elements(first, second)
    twins = {equality.name: equality for equality in second}
    for equality in first:
        twin = twins.get(matches.get(equality.name, ""))
        element = f"equality {equality.name!r}"
        if twin is None or twin.kind is not equality.kind:
            section.items.append(Item(element, str(equality.kind), equality.name, twin and str(twin.kind)))
            continue
        section.compared += 1
        for end in ("a", "b"):
            if not same_name(getattr(equality, end), getattr(twin, end)):
                section.items.append(Item(element, f"end {end}", getattr(equality, end), getattr(twin, end)))
        ruler.compare(section, element, "law", equality.polynomial, twin.polynomial)
        ruler.compare(section, element, "enabled", equality.enabled, twin.enabled)
    taken = set(matches.values())
    section.items += [
        Item(f"equality {e.name!r}", str(e.kind), None, e.name) for e in second if e.name not in taken
    ]
