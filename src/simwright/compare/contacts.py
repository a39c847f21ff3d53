# SPDX-License-Identifier: Apache-2.0
"""Which colliders can touch each other, however it is written: groups, bits, filters, joints, articulations.

Pairs of one rigid piece, and pairs of which neither side moves, touch or not without anybody noticing; they are left
out.  Differences are told by pair of bodies.
"""

from __future__ import annotations

from simwright.compare.difference import Item, Section
from simwright.compare.pairing import Pairing
from simwright.compare.shapes import ShapePair, pair_shapes
from simwright.compare.side import Side
from simwright.compare.values import Ruler
from simwright.model.asset import Asset
from simwright.model.filtering import find_filtered_pairs

Pair = frozenset[str]


def compare_contacts(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Filtered pairs among matched colliders, and pairs with settings of their own."""
    pairs = pair_shapes(pairing, ruler, "collision")[0]
    both = [pair for pair in pairs if pair.a.enabled and pair.b.enabled]
    names = {pair.b.name: pair.a.name for pair in both}
    pieces = {pair.a.name: pairing.a.place(pair.a.body, pair.a.pose)[0] for pair in both}
    first = _list_filtered(pairing.a, pieces, {name: name for name in pieces})
    second = _list_filtered(pairing.b, pieces, names)
    section.compared = _count_pairs(pieces)
    bodies = {pair.a.name: pair.a.body or "the world" for pair in both}
    for filtered, other, told in (
        (first, second, ("never touch", "may touch")),
        (second, first, ("may touch", "never touch")),
    ):
        counts: dict[tuple[str, ...], int] = {}
        for pair in filtered - other:
            key = tuple(sorted(bodies[name] for name in pair))
            counts[key] = counts.get(key, 0) + 1
        for key, count in sorted(counts.items()):
            element = " and ".join(repr(name) for name in key)
            section.items.append(Item(element, f"contact of {count} collider pair(s)", *told))
    _compare_pairs(section, pairing, ruler, both)


def _list_filtered(side: Side, pieces: dict[str, str], names: dict[str, str]) -> set[Pair]:
    """Pairs that never touch, by the names of the first side."""
    result = set()
    for a, b in find_filtered_pairs(side.asset, side.tree):
        first, second = names.get(a), names.get(b)
        if first is None or second is None:
            continue
        if pieces[first] != pieces[second]:
            result.add(frozenset((first, second)))
    return result


def _count_pairs(pieces: dict[str, str]) -> int:
    sizes: dict[str, int] = {}
    for piece in pieces.values():
        sizes[piece] = sizes.get(piece, 0) + 1
    total = len(pieces)
    return total * (total - 1) // 2 - sum(n * (n - 1) // 2 for n in sizes.values())


def _compare_pairs(section: Section, pairing: Pairing, ruler: Ruler, both: list[ShapePair]) -> None:
    """Contact pairs with settings of their own (MJCF)."""
    names = {pair.b.name: pair.a.name for pair in both}
    first = _index_pairs(pairing.a.asset, {})
    second = _index_pairs(pairing.b.asset, names)
    for key in dict.fromkeys((*first, *second)):
        a, b = first.get(key), second.get(key)
        element = f"contact pair {' and '.join(sorted(key))}"
        if a is None or b is None:
            section.items.append(
                Item(element, "pair", None if a is None else "own", None if b is None else "own")
            )
        else:
            ruler.compare(section, element, "settings", a, b)


def _index_pairs(asset: Asset, names: dict[str, str]) -> dict[Pair, dict[str, object]]:
    return {frozenset((names.get(p.a, p.a), names.get(p.b, p.b))): p.settings for p in asset.contact_pairs}
