# SPDX-License-Identifier: Apache-2.0
"""Who does not touch whom: collision groups and filtered pairs (REP-0158 1.3.3)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import product

from pxr import Usd

from simwright.core.diag import Level, declare
from simwright.formats.usd.bodies import ArticulationMembers, PathIndex
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.notes import numbers
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.asset import CollisionGroup, ContactFilter, Shape
from simwright.usd.questions import relationship_of, targets_of

GROUP_UNKNOWN = declare(
    "usd-group-unknown",
    Level.WARNING,
    "collision group {name!r} filters {target}, which is no collision group",
    hint="point physics:filteredGroups at PhysicsCollisionGroup prims",
    doc="physics:filteredGroups names a prim that is not there or is something else.",
    section="1.3.3",
)
GROUP_EMPTY = declare(
    "usd-group-empty",
    Level.INFO,
    "collision group {name!r} contains no collider",
    hint="add colliders to collection:colliders:includes",
    doc="A collision group that concerns nothing.",
    section="1.3.3",
)
PAIR_UNKNOWN = declare(
    "usd-pair-unknown",
    Level.WARNING,
    "the filtered pair of {name!r} with {target} has no body or collider at {side}; it is left out",
    hint="physics:filteredPairs relates bodies, colliders and articulation roots",
    doc="One end of a filtered pair is no body, no collider and no articulation.",
    section="1.3.3",
    loss=True,
)

_INCLUDES = "collection:colliders:includes"
_RULE, _EXPAND = "collection:colliders:expansionRule", "expandPrims"
_SELECTIVE = frozenset(
    f"collection:colliders:{word}" for word in ("excludes", "includeRoot", "membershipExpression")
)
"""With one of these, or another rule, a collection is not simply all at or below the prims it includes."""


def read_filters(reader: StageReader, scan: StageScan) -> None:
    """Add groups and pairs."""
    _read_groups(reader, scan)
    ends = _FilterEnds(reader)
    seen: set[tuple[str, frozenset[str]]] = set()
    # authored on either side, or on both: a pair is the same both ways
    for found in scan.filtered:
        for target in reader.get_targets(found, "physics:filteredPairs"):
            for pair in _read_pair(reader, ends, found, target):
                key = (pair.of, frozenset((pair.a, pair.b)))
                if pair.a != pair.b and key not in seen:
                    seen.add(key)
                    reader.asset.contact_filters.append(pair)


def _read_groups(reader: StageReader, scan: StageScan) -> None:
    names = name_prims(scan.groups, noted=reader.noted)
    colliders = [shape for shape in reader.asset.shapes if shape.collision]
    index = PathIndex(shape.path for shape in colliders)
    members_of = {
        found.path: [colliders[number].name for number in _find_colliders(reader, found, colliders, index)]
        for found in scan.groups
    }
    bits = _restore_bits(reader, scan, members_of)
    for found in scan.groups:
        if found.path in bits:
            continue
        members = members_of[found.path]
        where = reader.where(found)
        if not members:
            reader.reporter.report(GROUP_EMPTY, where, name=names[found.path])
        filtered = []
        for target in reader.get_targets(found, "physics:filteredGroups"):
            if target in names:
                filtered.append(names[target])
            else:
                reader.reporter.report(GROUP_UNKNOWN, where, name=names[found.path], target=target)
        reader.asset.collision_groups.append(
            CollisionGroup(
                name=names[found.path],
                members=members,
                filtered=filtered,
                inverted=reader.get_flag(found, "physics:invertFilteredGroups", False),
                merge=reader.get_text(found, "physics:mergeGroup"),
                source=where,
            )
        )


def _restore_bits(reader: StageReader, scan: StageScan, members_of: dict[str, list[str]]) -> set[str]:
    """Groups that were made of bits and still are, so that the bits of their members say it all."""
    notes = {found.path: reader.note(found) for found in scan.groups} if reader.noted else {}
    made: dict[str, tuple[int, int]] = {}
    for found in scan.groups:
        note = notes.get(found.path, {})
        bits = numbers(note.get("bits"), finite=True)
        if len(bits) != 2:
            continue
        filtered = reader.get_targets(found, "physics:filteredGroups")
        # somebody edited a group, so groups say what counts and bits do not
        if (len(members_of[found.path]), len(filtered)) != (note.get("members"), note.get("filtered")):
            return set()
        made[found.path] = (int(bits[0]), int(bits[1]))
    values = {name: made[path] for path in made for name in members_of[path]}
    for shape in reader.asset.shapes:
        if shape.name in values:
            shape.category_bits, shape.collide_bits = values[shape.name]
    return set(made)


# one function: fast paths of one question, from the most special to the general
def _find_colliders(
    reader: StageReader, found: FoundPrim, colliders: list[Shape], index: PathIndex
) -> Iterable[int]:
    """The colliders in a group's collection; only those below what it includes are looked at."""
    # a membership query looks at every collider, so the usual collection is answered from the index
    is_simple = found.authored is not None and found.authored.isdisjoint(_SELECTIVE)
    if is_simple and reader.get(found, _RULE, _EXPAND) == _EXPAND:
        paths = targets_of(relationship_of(found.prim, _INCLUDES))
        if all(path.IsPrimPath() for path in paths):
            return sorted({number for path in paths for number in index.find(path.pathString)})
    query = Usd.CollectionAPI(found.prim, "colliders").ComputeMembershipQuery()
    candidates: Iterable[int] = range(len(colliders))
    if query.UsesPathExpansionRuleMap():
        rules = query.GetAsPathExpansionRuleMap()
        included = [path.pathString for path, rule in rules.items() if rule != Usd.Tokens.exclude]
        candidates = sorted({number for path in included for number in index.find(path)})
    return [number for number in candidates if query.IsPathIncluded(colliders[number].path)]


def _read_pair(reader: StageReader, ends: _FilterEnds, found: FoundPrim, target: str) -> list[ContactFilter]:
    """A pair of bodies if both ends are bodies, else of all shapes of both ends."""
    where = reader.where(found, "physics:filteredPairs")
    sides = []
    for path in (found.path, target):
        bodies, shapes = ends.resolve(path)
        if not (bodies or shapes):
            reader.reporter.report(PAIR_UNKNOWN, where, name=found.name, target=target, side=path)
            return []
        sides.append((bodies, shapes))
    (bodies_a, shapes_a), (bodies_b, shapes_b) = sides
    # two bodies are kept as such, so that colliders added later are filtered too
    if bodies_a and bodies_b:
        return [ContactFilter(a, b, "body", where) for a, b in product(bodies_a, bodies_b)]
    return [ContactFilter(a, b, "shape", where) for a, b in product(shapes_a, shapes_b)]


class _FilterEnds:
    """What the ends of filtered pairs stand for."""

    def __init__(self, reader: StageReader) -> None:
        self._reader = reader
        self._articulations = {a.path for a in reader.asset.articulations}
        self._on_body: dict[str, list[int]] = {}
        self._at_path: dict[str, list[int]] = {}
        for number, shape in enumerate(reader.asset.shapes):
            if shape.collision:
                self._on_body.setdefault(shape.body, []).append(number)
                self._at_path.setdefault(shape.path, []).append(number)

    @cached_property
    def _members(self) -> ArticulationMembers:
        return ArticulationMembers(self._reader)

    def resolve(self, path: str) -> tuple[list[str], list[str]]:
        """Bodies of a path (itself, or an articulation's), and the colliders on them or at the path."""
        bodies: list[str] = []
        if path in self._reader.bodies:
            bodies = [self._reader.bodies[path].name]
        elif path in self._articulations:
            bodies = self._members.find(path)
        numbers = {number for body in bodies for number in self._on_body.get(body, ())}
        numbers.update(self._at_path.get(path, ()))
        return bodies, [self._reader.asset.shapes[number].name for number in sorted(numbers)]
