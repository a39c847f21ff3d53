# SPDX-License-Identifier: Apache-2.0
"""Who does not touch whom: collision groups and filtered pairs (REP-0158 1.3.3)."""

from __future__ import annotations

from itertools import product

from pxr import Usd

from simwright.core.diag import Level, declare
from simwright.formats.usd.naming import choose_names
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.formats.usd.topology import find_members
from simwright.model.asset import CollisionGroup, ContactFilter

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
)


def read_filters(source: Source, scan: Scan) -> None:
    """Add groups and pairs."""
    _read_groups(source, scan)
    seen: set[tuple[str, frozenset[str]]] = set()
    for found in scan.filtered:
        for target in source.get_targets(found.prim, "physics:filteredPairs"):
            for pair in _read_pair(source, found, target):
                key = (pair.of, frozenset((pair.a, pair.b)))
                if pair.a != pair.b and key not in seen:
                    seen.add(key)
                    source.asset.contact_filters.append(pair)


def _read_groups(source: Source, scan: Scan) -> None:
    names = choose_names(found.path for found in scan.groups)
    colliders = [(shape.path, shape.name) for shape in source.asset.shapes if shape.collision]
    for found in scan.groups:
        query = Usd.CollectionAPI(found.prim, "colliders").ComputeMembershipQuery()
        members = [name for path, name in colliders if query.IsPathIncluded(path)]
        where = source.where(found.prim)
        if not members:
            source.reporter.report(GROUP_EMPTY, where, name=names[found.path])
        filtered = []
        for target in source.get_targets(found.prim, "physics:filteredGroups"):
            if target in names:
                filtered.append(names[target])
            else:
                source.reporter.report(GROUP_UNKNOWN, where, name=names[found.path], target=target)
        source.asset.collision_groups.append(
            CollisionGroup(
                name=names[found.path],
                members=members,
                filtered=filtered,
                inverted=source.get_flag(found.prim, "physics:invertFilteredGroups", False),
                merge=source.get_text(found.prim, "physics:mergeGroup"),
                source=where,
            )
        )


def _read_pair(source: Source, found: Found, target: str) -> list[ContactFilter]:
    """A pair of bodies if both ends are bodies, else of all shapes of both ends."""
    where = source.where(found.prim, "physics:filteredPairs")
    ends = []
    for path in (found.path, target):
        bodies, shapes = _resolve_end(source, path)
        if not (bodies or shapes):
            source.reporter.report(PAIR_UNKNOWN, where, name=found.prim.GetName(), target=target, side=path)
            return []
        ends.append((bodies, shapes))
    (bodies_a, shapes_a), (bodies_b, shapes_b) = ends
    if bodies_a and bodies_b:
        return [ContactFilter(a, b, "body", where) for a, b in product(bodies_a, bodies_b)]
    return [ContactFilter(a, b, "shape", where) for a, b in product(shapes_a, shapes_b)]


def _resolve_end(source: Source, path: str) -> tuple[list[str], list[str]]:
    """Bodies of a path (itself, or an articulation's), and the colliders on them or at the path."""
    if path in source.bodies:
        bodies = [source.bodies[path].name]
    elif any(a.path == path for a in source.asset.articulations):
        bodies = find_members(source, path)
    else:
        bodies = []
    shapes = [s.name for s in source.asset.shapes if s.collision and (s.body in bodies or s.path == path)]
    return bodies, shapes
