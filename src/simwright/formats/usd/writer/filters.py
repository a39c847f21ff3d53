# SPDX-License-Identifier: Apache-2.0
"""Collision groups and filtered pairs in ``physics.usda`` (REP-0158 1.3.3).

Bits that colliders carry (MJCF, SDFormat) become groups, one per combination; so does an articulation that does not
touch itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement, product

from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Shape
from simwright.model.filtering import list_articulated
from simwright.model.joint import WORLD

Bits = tuple[int, int]
_USUAL = (1, 1)


def write_filters(layout: Layout, sheet: Sheet) -> None:
    """Who does not touch whom."""
    _write_groups(layout, sheet)
    _write_articulations(layout, sheet)
    _write_bits(layout, sheet)
    _write_pairs(layout, sheet)


def _write_groups(layout: Layout, sheet: Sheet) -> None:
    groups = layout.asset.collision_groups
    paths = {group.name: layout.names.claim(layout.root, group.name, "_group") for group in groups}
    for group in groups:
        members = [_find(layout, member) for member in group.members]
        path = paths[group.name]
        filtered = [paths[name] for name in group.filtered if name in paths]
        _write_group(sheet, path, (member for member in members if member), filtered)
        sheet.name(path, group.name)
        if group.inverted:
            sheet.set(path, "physics:invertFilteredGroups", "bool", True)
        if group.merge:
            sheet.set(path, "physics:mergeGroup", "string", group.merge)


def _find(layout: Layout, member: str) -> str:
    return layout.touched.get(member) or layout.bodies.get(member, "")


def _write_group(sheet: Sheet, path: str, members: Iterable[str], filtered: Iterable[str]) -> None:
    sheet.define(path, "PhysicsCollisionGroup")
    sheet.relate(path, "collection:colliders:includes", members)
    sheet.relate(path, "physics:filteredGroups", filtered)


def _write_articulations(layout: Layout, sheet: Sheet) -> None:
    for articulation in layout.asset.articulations:
        if articulation.self_collide:
            continue
        members = list_articulated(layout.asset, articulation, layout.tree)
        touching = {shape.body for shape in layout.asset.shapes if shape.name in layout.colliders}
        bodies = [layout.bodies[name] for name in members if name in touching]
        if len(bodies) > 1:
            path = layout.names.claim(layout.root, f"{articulation.name}_self_collision")
            _write_group(sheet, path, [f"{body}/collision" for body in bodies], [path])


def _write_bits(layout: Layout, sheet: Sheet) -> None:
    classes: dict[Bits, list[Shape]] = {}
    for shape in layout.asset.shapes:
        if shape.name in layout.colliders:
            bits = (_bits(shape.category_bits), _bits(shape.collide_bits))
            classes.setdefault(bits, []).append(shape)
    filtered: dict[Bits, list[Bits]] = {}
    for a, b in combinations_with_replacement(sorted(classes), 2):
        if not (a[0] & b[1] or b[0] & a[1]):
            filtered.setdefault(a, []).append(b)
    special = {bits for bits in classes if bits != _USUAL}
    involved = sorted({*filtered, *(b for others in filtered.values() for b in others), *special})
    paths = {
        bits: layout.names.claim(layout.root, f"bits_{bits[0] & 0xFFFFFFFF:x}_{bits[1] & 0xFFFFFFFF:x}")
        for bits in involved
    }
    for bits in involved:
        members = [layout.touched[shape.name] for shape in classes[bits]]
        others = [paths[b] for b in filtered.get(bits, ())]
        _write_group(sheet, paths[bits], members, others)
        sheet.note(paths[bits], bits=[*bits], members=len(members), filtered=len(others))


def _bits(value: int | None) -> int:
    return 1 if value is None else value


def _find_ends(layout: Layout, kind: str, name: str) -> list[str]:
    """The prims that one end of a pair stands for; for the world, its colliders."""
    if kind == "body" and name == WORLD:
        return [
            layout.touched[s.name]
            for s in layout.asset.shapes
            if s.body == WORLD and s.name in layout.touched
        ]
    path = (layout.bodies if kind == "body" else layout.touched).get(name)
    return [path] if path else []


def _write_pairs(layout: Layout, sheet: Sheet) -> None:
    pairs: dict[str, list[str]] = {}
    for pair in layout.asset.contact_filters:
        for first, second in product(*(_find_ends(layout, pair.of, name) for name in (pair.a, pair.b))):
            if second not in pairs.setdefault(first, []):
                pairs[first].append(second)
    for path, targets in pairs.items():
        if targets:
            sheet.apply(path, "PhysicsFilteredPairsAPI")
            sheet.relate(path, "physics:filteredPairs", targets)
