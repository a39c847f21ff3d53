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
from typing import Any

from simwright.formats.mjcf.writer.document import MjcfDocument
from simwright.formats.mjcf.writer.messages import PAIRS_KEPT_APART
from simwright.model.asset import Asset, Shape
from simwright.model.filtering import Pair, find_filtered_pairs, list_articulated
from simwright.model.joint import WORLD

Bits = tuple[int, int]
MAX_EXCLUSIONS = 24
"""From so many pairs of bodies on, a robot that does not touch itself is filtered by bits."""
_MAX_BITS = 31


@dataclass(slots=True, eq=False)
class MjcfFilters:
    """The answer: bits by shape, excluded bodies, and pairs of shapes that touch in spite of all."""

    bits: dict[str, Bits] = field(default_factory=dict)
    excluded: list[Pair] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


def find_filters(document: MjcfDocument) -> MjcfFilters:
    """Bring all rules of the model into MuJoCo's terms."""
    filters = MjcfFilters()
    colliders = [s for s in document.asset.shapes if s.collision and s.enabled]
    by_body: dict[str, list[Shape]] = {}
    for shape in colliders:
        filters.bits[shape.name] = _read_bits(shape)
        by_body.setdefault(shape.body, []).append(shape)
    _split_articulations(document, colliders, filters)
    welds = _find_welds(document)
    owner = {shape.name: shape.body for shape in colliders}
    apart = find_filtered_pairs(document.asset, document.tree)
    filtered = _group_by_bodies(document, apart, owner, filters, welds)
    filters.excluded += _list_authored(document, welds)
    for (a, b), names in filtered.items():
        if (a, b) not in filters.excluded and (b, a) not in filters.excluded:
            filters.excluded.append((a, b))
        # an exclusion is of whole bodies: colliders of them that may touch are said one by one
        meeting = _list_meeting(filters, by_body[a], by_body[b])
        filters.pairs += [pair for pair in meeting if pair not in names and pair[::-1] not in names]
    filters.pairs += _find_touching(document, by_body, welds, filters, apart)
    _report_lost_contacts(document, by_body, welds, filters, apart)
    return filters


def _report_lost_contacts(
    document: MjcfDocument,
    by_body: dict[str, list[Shape]],
    welds: dict[str, str],
    filters: MjcfFilters,
    apart: set[Pair],
) -> None:
    """Say which pairs touch in the source and not in MuJoCo: those of links that fixed joints make one body there.

    They are not written as pairs: a tool that is fixed to a link mostly overlaps the link before it.
    """
    if document.asset.provenance.format == "mjcf":
        return  # the source is filtered by MuJoCo's own rules: these pairs do not touch there either
    written = {frozenset(pair) for pair in filters.pairs}
    lost = [
        (x.name, y.name)
        for a, b in _list_parents(document, by_body, welds)
        for x, y in product(by_body[a], by_body[b])
        if _can_touch(filters.bits[x.name], filters.bits[y.name])
        and not {(x.name, y.name), (y.name, x.name)} & apart
        and frozenset((x.name, y.name)) not in written
    ]
    if lost:
        document.reporter.report(PAIRS_KEPT_APART, count=len(lost), first=" and ".join(lost[0]))


def _list_meeting(filters: MjcfFilters, first: list[Shape], second: list[Shape]) -> list[Pair]:
    """Pairs of colliders whose bits let them touch."""
    pairs = ((x.name, y.name) for x, y in product(first, second))
    return [pair for pair in pairs if _can_touch(filters.bits[pair[0]], filters.bits[pair[1]])]


def _list_authored(document: MjcfDocument, welds: dict[str, str]) -> list[Pair]:
    """Exclusions that an MJCF file has, needed or not; those of other formats are said where they are needed."""
    # needless exclusions stay, because a file that comes back should be the one that was read
    if document.asset.provenance.format != "mjcf":
        return []
    written = (pair for pair in document.asset.contact_filters if pair.of == "body" and pair.source)
    return [(f.a, f.b) for f in written if f.a in welds and f.b in welds and f.a != f.b]


def _read_bits(shape: Shape) -> Bits:
    return _make_signed(shape.category_bits), _make_signed(shape.collide_bits)


def _make_signed(bits: int | None) -> int:
    """As the signed 32-bit number that MuJoCo keeps; unsaid bits are 1."""
    # other formats count bits as unsigned
    bits = (1 if bits is None else bits) & 0xFFFFFFFF
    return bits - (1 << 32) if bits >= 1 << 31 else bits


def _can_touch(a: Bits, b: Bits) -> bool:
    """MuJoCo's rule for two geoms."""
    return bool(a[0] & b[1] or b[0] & a[1])


def _find_welds(document: MjcfDocument) -> dict[str, str]:
    """The body that carries each body without moving against it; the world for those that stand still."""
    welds = {WORLD: WORLD}
    for name, mjcf_body in document.bodies.items():
        welds[name] = name if mjcf_body.joints or mjcf_body.mocap else welds[mjcf_body.parent]
    return welds


def _filters_itself(document: MjcfDocument, a: str, b: str, welds: dict[str, str]) -> bool:
    """Does MuJoCo keep two bodies apart without being told?"""
    first, second = welds[a], welds[b]
    if first == second:
        return True
    if _lets_parents_touch(document.asset):
        return False
    parents = [welds[document.bodies[w].parent] if w != WORLD else None for w in (first, second)]
    return bool((first == parents[1] and first != WORLD) or (second == parents[0] and second != WORLD))


def _lets_parents_touch(asset: Asset) -> bool:
    return "filterparent" in asset.environment.settings.get("disable", ())


def _group_by_bodies(
    document: MjcfDocument,
    pairs: set[Pair],
    owner: dict[str, str],
    filters: MjcfFilters,
    welds: dict[str, str],
) -> dict[Pair, set[Pair]]:
    """Filtered colliders by pair of bodies, without those that MuJoCo or their bits keep apart."""
    # sorted by the order of bodies, so that the file does not depend on the order of a set
    place = {body.name: number for number, body in enumerate(document.asset.bodies)}
    place[WORLD] = -1
    grouped: dict[Pair, set[Pair]] = {}
    for x, y in pairs:
        a, b = sorted((owner[x], owner[y]), key=place.__getitem__)
        if not _filters_itself(document, a, b, welds):
            grouped.setdefault((a, b), set()).add((x, y))
    told = {
        key: names
        for key, names in grouped.items()
        if any(_can_touch(filters.bits[x], filters.bits[y]) for x, y in names)
    }
    return dict(sorted(told.items(), key=lambda item: (place[item[0][0]], place[item[0][1]])))


def _split_articulations(document: MjcfDocument, colliders: list[Shape], filters: MjcfFilters) -> None:
    """A bit for each large articulation that does not touch itself, if nobody else uses bits."""
    # bits that somebody chose have a meaning that must not be mixed with ours
    if any(filters.bits[s.name] != (1, 1) for s in colliders):
        return
    # contype and conaffinity are signed 32-bit numbers; bit 0 is for everything else
    large = [found for found in _list_large(document, colliders) if len(found) > 1][: _MAX_BITS - 1]
    everything = (1 << (len(large) + 1)) - 1
    for number, members in enumerate(large, start=1):
        for shape in members:
            filters.bits[shape.name] = (1 << number, everything & ~(1 << number))
    if large:
        inside = {shape.name for members in large for shape in members}
        for shape in colliders:
            if shape.name not in inside:
                filters.bits[shape.name] = (1, everything)


def _list_large(document: MjcfDocument, colliders: list[Shape]) -> Iterator[list[Shape]]:
    seen: set[str] = set()
    for articulation in document.asset.articulations:
        if articulation.self_collide:
            continue
        bodies = set(list_articulated(document.asset, articulation, document.tree))
        members = [s for s in colliders if s.body in bodies and s.name not in seen]
        count = len({s.body for s in members})
        # a list of pairs grows with the square of the bodies
        if count * (count - 1) // 2 > MAX_EXCLUSIONS:
            seen.update(s.name for s in members)
            yield members


def _find_touching(
    document: MjcfDocument,
    by_body: dict[str, list[Shape]],
    welds: dict[str, str],
    filters: MjcfFilters,
    apart: set[Pair],
) -> list[Pair]:
    """Colliders that are to touch although MuJoCo keeps their bodies apart: those of a body and its parent."""
    return [
        pair
        for a, b in _list_neighbours(document, by_body, welds)
        for pair in _list_meeting(filters, by_body[a], by_body[b])
        if not {pair, pair[::-1]} & apart
    ]


def _list_neighbours(
    document: MjcfDocument, by_body: dict[str, list[Shape]], welds: dict[str, str]
) -> Iterator[Pair]:
    """Bodies that MuJoCo keeps apart as parent and child, but the model does not.

    Where fixed links are one body, as in MJCF, URDF and SDFormat, only the two ends of the joint are asked; an
    OpenUSD stage means every body of either side.
    """
    joined = {(j.parent, j.child): j.collide for j in document.asset.joints if j.enabled}
    # UsdPhysics filters only the two bodies of a joint
    loose = document.asset.provenance.format == "usd"
    for a, b in _list_parents(document, by_body, welds):
        if joined.get((a, b), joined.get((b, a), loose)):
            yield a, b


def _list_parents(
    document: MjcfDocument, by_body: dict[str, list[Shape]], welds: dict[str, str]
) -> Iterator[Pair]:
    """Bodies that MuJoCo keeps apart as parent and child, with everything that is welded to either."""
    if _lets_parents_touch(document.asset):
        return
    members: dict[str, list[str]] = {}
    for name in by_body:
        if name != WORLD:
            members.setdefault(welds[name], []).append(name)
    for weld, inside in members.items():
        outer = welds[document.bodies[weld].parent] if weld != WORLD else WORLD
        if outer == WORLD:
            continue
        yield from product(members.get(outer, ()), inside)


_PAIR_SETTINGS = ("condim", "friction", "solref", "solreffriction", "solimp", "margin", "gap", "adhesion")
# values by which MuJoCo says that a pair has none of its own
_PAIR_DEFAULTS: dict[str, Any] = {"solreffriction": (0.0, 0.0), "adhesion": 0.0}


def write_contacts(document: MjcfDocument, filters: MjcfFilters) -> None:
    """Pairs first, then exclusions."""
    lost = []
    for pair in document.asset.contact_pairs:
        first, second = (document.find_name("collider", name) for name in (pair.a, pair.b))
        if first is None or second is None:
            lost.append(pair)
            continue
        values = {name: pair.settings.get(name) for name in _PAIR_SETTINGS}
        name = document.claim("pair", pair.name or f"{pair.a}_{pair.b}")
        ends = {"name": name, "geom1": first, "geom2": second}
        document.add(document.section("contact"), "pair", {**ends, **values}, _PAIR_DEFAULTS)
    document.report_lost("contact pairs of shapes that are not written", lost)
    for a, b in filters.pairs:
        first, second = document.find_name("collider", a), document.find_name("collider", b)
        if first and second:
            document.add(document.section("contact"), "pair", {"geom1": first, "geom2": second})
    for a, b in filters.excluded:
        names = {"body1": _name_body(document, a), "body2": _name_body(document, b)}
        document.add(document.section("contact"), "exclude", names)


def _name_body(document: MjcfDocument, name: str) -> str:
    return "world" if name == WORLD else document.bodies[name].name
