# SPDX-License-Identifier: Apache-2.0
"""``<contact>``: pairs with settings of their own, pairs that the filters need, and excluded bodies."""

from __future__ import annotations

from typing import Any

from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.filters import Filters
from simwright.model.joint import WORLD

_SETTINGS = ("condim", "friction", "solref", "solreffriction", "solimp", "margin", "gap", "adhesion")
_DEFAULTS: dict[str, Any] = {"solreffriction": (0.0, 0.0), "adhesion": 0.0}


def write_contacts(draft: Draft, filters: Filters) -> None:
    """Pairs first, then exclusions."""
    lost = []
    for pair in draft.asset.contact_pairs:
        first, second = (draft.name("collider", name) for name in (pair.a, pair.b))
        if first is None or second is None:
            lost.append(pair)
            continue
        values = {name: pair.settings.get(name) for name in _SETTINGS}
        name = draft.claim("pair", pair.name or f"{pair.a}_{pair.b}")
        ends = {"name": name, "geom1": first, "geom2": second}
        draft.add(draft.section("contact"), "pair", {**ends, **values}, _DEFAULTS)
    draft.lose("contact pairs of shapes that are not written", lost)
    for a, b in filters.pairs:
        first, second = draft.name("collider", a), draft.name("collider", b)
        if first and second:
            draft.add(draft.section("contact"), "pair", {"geom1": first, "geom2": second})
    for a, b in filters.excluded:
        names = {"body1": _name_body(draft, a), "body2": _name_body(draft, b)}
        draft.add(draft.section("contact"), "exclude", names)


def _name_body(draft: Draft, name: str) -> str:
    return "world" if name == WORLD else draft.limbs[name].name
