# SPDX-License-Identifier: Apache-2.0
"""Who touches whom: bits of geoms, ``<exclude>`` and ``<pair>``.

MuJoCo itself lets no body touch what it is welded to, nor its parent unless that is welded to the world; geoms meet
where the bits of one are in the mask of the other.  What the model filters beyond that becomes exclusions of bodies.
Where only some colliders of two bodies are filtered, the bodies are excluded and the others are pairs.  A robot
whose many bodies never touch each other gets a bit of its own instead of a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.messages import PAIRS_KEPT_APART
from simwright.model.asset import Articulation, Asset, Shape
from simwright.model.filtering import Pair, find_filtered_pairs, list_articulated
from simwright.model.joint import WORLD

Bits = tuple[int, int]
MANY = 24
"""From so many pairs of bodies on, a robot that does not touch itself is filtered by bits."""
_BITS = 31


@dataclass(slots=True, eq=False)
class Filters:
    """The answer: bits by shape, excluded bodies, and pairs of shapes that touch in spite of all."""

    bits: dict[str, Bits] = field(default_factory=dict)
    excluded: list[Pair] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


def find_filters(draft: Draft) -> Filters:
    """Bring all rules of the model into MuJoCo's terms."""
    asset = draft.asset
    filters = Filters()
    colliders = [s for s in asset.shapes if s.collision and s.enabled]
    for shape in colliders:
        filters.bits[shape.name] = _read_bits(shape)
    _split_articulations(draft, colliders, filters)
    welds = find_welds(draft)
    by_body: dict[str, list[Shape]] = {}
    for shape in colliders:
        by_body.setdefault(shape.body, []).append(shape)
    owner = {shape.name: shape.body for shape in colliders}
    apart = find_filtered_pairs(asset, draft.tree)
    filtered = _group(draft, apart, owner, filters, welds)
    filters.excluded += _list_authored(draft, welds)
    for (a, b), names in filtered.items():
        meeting = [
            (x.name, y.name)
            for x, y in product(by_body[a], by_body[b])
            if meet(filters.bits[x.name], filters.bits[y.name])
        ]
        if (a, b) not in filters.excluded and (b, a) not in filters.excluded:
            filters.excluded.append((a, b))
        filters.pairs += [pair for pair in meeting if pair not in names and pair[::-1] not in names]
    filters.pairs += _find_touching(draft, by_body, welds, filters, apart)
    _report_kept_apart(draft, by_body, welds, filters, apart)
    return filters


def _report_kept_apart(
    draft: Draft, by_body: dict[str, list[Shape]], welds: dict[str, str], filters: Filters, apart: set[Pair]
) -> None:
    """Say which pairs touch in the source and not in MuJoCo: those of links that fixed joints make one body there.

    They are not written as pairs: a tool that is fixed to a link mostly overlaps the link before it.
    """
    told = {frozenset(pair) for pair in filters.pairs}
    lost = [
        (x.name, y.name)
        for a, b in _list_parents(draft, by_body, welds)
        for x, y in product(by_body[a], by_body[b])
        if meet(filters.bits[x.name], filters.bits[y.name])
        and not {(x.name, y.name), (y.name, x.name)} & apart
        and frozenset((x.name, y.name)) not in told
    ]
    if lost:
        draft.reporter.report(PAIRS_KEPT_APART, count=len(lost), first=" and ".join(lost[0]))


def _list_authored(draft: Draft, welds: dict[str, str]) -> list[Pair]:
    """Exclusions that an MJCF file has, needed or not; those of other formats are said where they are needed."""
    if draft.asset.provenance.format != "mjcf":
        return []
    written = (pair for pair in draft.asset.contact_filters if pair.of == "body" and pair.source)
    return [(f.a, f.b) for f in written if f.a in welds and f.b in welds and f.a != f.b]


def _read_bits(shape: Shape) -> Bits:
    return _wrap(shape.category_bits), _wrap(shape.collide_bits)


def _wrap(bits: int | None) -> int:
    """As the signed 32-bit number that MuJoCo keeps; unsaid bits are 1."""
    bits = (1 if bits is None else bits) & 0xFFFFFFFF
    return bits - (1 << 32) if bits >= 1 << 31 else bits


def meet(a: Bits, b: Bits) -> bool:
    """MuJoCo's rule for two geoms."""
    return bool(a[0] & b[1] or b[0] & a[1])


def find_welds(draft: Draft) -> dict[str, str]:
    """The body that carries each body without moving against it; the world for those that stand still."""
    welds = {WORLD: WORLD}
    for name, limb in draft.limbs.items():
        welds[name] = name if limb.freedoms or limb.mocap else welds[limb.parent]
    return welds


def _filters_itself(draft: Draft, a: str, b: str, welds: dict[str, str]) -> bool:
    """Does MuJoCo keep two bodies apart without being told?"""
    first, second = welds[a], welds[b]
    if first == second:
        return True
    if _lets_parents_touch(draft.asset):
        return False
    parents = [welds[draft.limbs[w].parent] if w != WORLD else None for w in (first, second)]
    return bool((first == parents[1] and first != WORLD) or (second == parents[0] and second != WORLD))


def _lets_parents_touch(asset: Asset) -> bool:
    return "filterparent" in asset.environment.settings.get("disable", ())


def _group(
    draft: Draft,
    pairs: set[Pair],
    owner: dict[str, str],
    filters: Filters,
    welds: dict[str, str],
) -> dict[Pair, set[Pair]]:
    """Filtered colliders by pair of bodies, without those that MuJoCo or their bits keep apart."""
    place = {body.name: number for number, body in enumerate(draft.asset.bodies)}
    place[WORLD] = -1
    grouped: dict[Pair, set[Pair]] = {}
    for x, y in pairs:
        a, b = sorted((owner[x], owner[y]), key=place.__getitem__)
        if not _filters_itself(draft, a, b, welds):
            grouped.setdefault((a, b), set()).add((x, y))
    told = {
        key: names
        for key, names in grouped.items()
        if any(meet(filters.bits[x], filters.bits[y]) for x, y in names)
    }
    return dict(sorted(told.items(), key=lambda item: (place[item[0][0]], place[item[0][1]])))


def _split_articulations(draft: Draft, colliders: list[Shape], filters: Filters) -> None:
    """A bit for each large articulation that does not touch itself, if nobody else uses bits."""
    if any(filters.bits[s.name] != (1, 1) for s in colliders):
        return
    large = [found for found in _list_large(draft, colliders) if len(found) > 1][: _BITS - 1]
    everything = (1 << (len(large) + 1)) - 1
    for number, members in enumerate(large, start=1):
        for shape in members:
            filters.bits[shape.name] = (1 << number, everything & ~(1 << number))
    if large:
        inside = {shape.name for members in large for shape in members}
        for shape in colliders:
            if shape.name not in inside:
                filters.bits[shape.name] = (1, everything)


def _list_large(draft: Draft, colliders: list[Shape]) -> Iterator[list[Shape]]:
    seen: set[str] = set()
    for articulation in draft.asset.articulations:
        if articulation.self_collide:
            continue
        bodies = _list_members(draft, articulation)
        members = [s for s in colliders if s.body in bodies and s.name not in seen]
        count = len({s.body for s in members})
        if count * (count - 1) // 2 > MANY:
            seen.update(s.name for s in members)
            yield members


def _list_members(draft: Draft, articulation: Articulation) -> set[str]:
    return set(list_articulated(draft.asset, articulation, draft.tree))


def _find_touching(
    draft: Draft, by_body: dict[str, list[Shape]], welds: dict[str, str], filters: Filters, apart: set[Pair]
) -> list[Pair]:
    """Colliders that are to touch although MuJoCo keeps their bodies apart: those of a body and its parent."""
    result = []
    for a, b in _list_neighbours(draft, by_body, welds):
        for x, y in product(by_body[a], by_body[b]):
            pair = (x.name, y.name)
            if meet(filters.bits[x.name], filters.bits[y.name]) and not {pair, pair[::-1]} & apart:
                result.append(pair)
    return result


def _list_neighbours(draft: Draft, by_body: dict[str, list[Shape]], welds: dict[str, str]) -> Iterator[Pair]:
    """Bodies that MuJoCo keeps apart as parent and child, but the model does not.

    Where fixed links are one body, as in MJCF, URDF and SDFormat, only the two ends of the joint are asked; an
    OpenUSD stage means every body of either side.
    """
    joined = {(j.parent, j.child): j.collide for j in draft.asset.joints if j.enabled}
    loose = draft.asset.provenance.format == "usd"
    for a, b in _list_parents(draft, by_body, welds):
        if joined.get((a, b), joined.get((b, a), loose)):
            yield a, b


def _list_parents(draft: Draft, by_body: dict[str, list[Shape]], welds: dict[str, str]) -> Iterator[Pair]:
    """Bodies that MuJoCo keeps apart as parent and child, with everything that is welded to either."""
    if _lets_parents_touch(draft.asset):
        return
    members: dict[str, list[str]] = {}
    for name in by_body:
        if name != WORLD:
            members.setdefault(welds[name], []).append(name)
    for weld, inside in members.items():
        outer = welds[draft.limbs[weld].parent] if weld != WORLD else WORLD
        if outer == WORLD:
            continue
        yield from product(members.get(outer, ()), inside)
