# SPDX-License-Identifier: Apache-2.0
"""Who touches whom: collision groups and filtered pairs in ``physics.usda``, MJCF's pairs in ``mujoco.usda``.

UsdPhysics lets touch what nothing keeps apart.  Groups say what groups, bits and articulations of the asset say, but
let colliders touch that a pair of MJCF names; MuJoCo's USD reader (4.0.0) has no words for them and gets whole bodies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations_with_replacement, product
from typing import Any

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layer import LayerWriter, write_plain
from simwright.formats.usd.writer.messages import NOT_CARRIED, PAIR_FRICTION, PAIRS_TOUCH
from simwright.formats.usd.writer.plan import WritePlan
from simwright.model.asset import ContactPair, Shape
from simwright.model.filtering import find_filtered_pairs, list_articulated
from simwright.model.joint import WORLD
from simwright.model.kinematics import Edge

Bits = tuple[int, int]
_USUAL = (1, 1)


def write_filters(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Who does not touch whom."""
    _write_groups(plan, layer)
    _write_articulations(plan, layer)
    _write_bits(plan, layer)
    _write_pairs(plan, layer, reporter)


def _write_groups(plan: WritePlan, layer: LayerWriter) -> None:
    groups = plan.asset.collision_groups
    paths = {group.name: plan.names.claim(plan.root, group.name, "_group") for group in groups}
    for group in groups:
        members = [_find(plan, member) for member in group.members]
        path = paths[group.name]
        filtered = [paths[name] for name in group.filtered if name in paths]
        _write_group(layer, path, (member for member in members if member), filtered)
        layer.name(path, group.name)
        if group.inverted:
            layer.set(path, "physics:invertFilteredGroups", "bool", True)
        if group.merge:
            layer.set(path, "physics:mergeGroup", "string", group.merge)


def _find(plan: WritePlan, member: str) -> str:
    return plan.collider_prims.get(member) or plan.bodies.get(member, "")


def _write_group(layer: LayerWriter, path: str, members: Iterable[str], filtered: Iterable[str]) -> None:
    layer.define(path, "PhysicsCollisionGroup")
    layer.relate(path, "collection:colliders:includes", members)
    layer.relate(path, "physics:filteredGroups", filtered)


def _write_articulations(plan: WritePlan, layer: LayerWriter) -> None:
    for articulation in plan.asset.articulations:
        if articulation.self_collide:
            continue
        members = list_articulated(plan.asset, articulation, plan.tree)
        touching = {shape.body for shape in plan.asset.shapes if shape.name in plan.colliders}
        bodies = [plan.bodies[name] for name in members if name in touching]
        if len(bodies) > 1:
            path = plan.names.claim(plan.root, f"{articulation.name}_self_collision")
            _write_group(layer, path, [f"{body}/collision" for body in bodies], [path])


_ColliderClass = tuple[Bits, tuple[str, ...]]
"""Bits of colliders, and the names of those that they touch whatever the bits say (MJCF's pairs)."""


def _write_bits(plan: WritePlan, layer: LayerWriter) -> None:
    classes = _class_colliders(plan)
    filtered = _filter_classes(classes)
    # also where nothing is filtered: the bits are to come back
    special = {found for found in classes if found[0] != _USUAL}
    involved = sorted({*filtered, *(b for others in filtered.values() for b in others), *special})
    paths = {
        found: plan.names.claim(plan.root, "bits_{:x}_{:x}".format(*(word & 0xFFFFFFFF for word in found[0])))
        for found in involved
    }
    for found in involved:
        members = [plan.collider_prims[shape.name] for shape in classes[found]]
        others = [paths[b] for b in filtered.get(found, ())]
        _write_group(layer, paths[found], members, others)
        layer.note(paths[found], bits=[*found[0]], members=len(members), filtered=len(others))


def _class_colliders(plan: WritePlan) -> dict[_ColliderClass, list[Shape]]:
    partners = _list_partners(plan)
    classes: dict[_ColliderClass, list[Shape]] = {}
    for shape in plan.asset.shapes:
        if shape.name in plan.colliders:
            bits = (_bits(shape.category_bits), _bits(shape.collide_bits))
            classes.setdefault((bits, partners.get(shape.name, ())), []).append(shape)
    return classes


def _filter_classes(classes: dict[_ColliderClass, list[Shape]]) -> dict[_ColliderClass, list[_ColliderClass]]:
    """The classes that each class does not touch, those before it left out."""
    filtered: dict[_ColliderClass, list[_ColliderClass]] = {}
    for one, other in combinations_with_replacement(sorted(classes), 2):
        (a, named), (b, _) = one, other
        # MuJoCo's rule: they touch if either side's category is in the other's mask, or if a pair names them
        if not (a[0] & b[1] or b[0] & a[1] or classes[other][0].name in named):
            filtered.setdefault(one, []).append(other)
    return filtered


def _list_partners(plan: WritePlan) -> dict[str, tuple[str, ...]]:
    """The colliders that each collider touches in any case."""
    found: dict[str, set[str]] = {}
    for pair in plan.asset.contact_pairs:
        for one, other in ((pair.a, pair.b), (pair.b, pair.a)):
            found.setdefault(one, set()).add(other)
    return {name: tuple(sorted(others)) for name, others in found.items()}


def _bits(value: int | None) -> int:
    return 1 if value is None else value


def _find_ends(plan: WritePlan, kind: str, name: str) -> list[str]:
    """The prims that one end of a pair stands for; for the world, its colliders."""
    if kind == "body" and name == WORLD:
        return [
            plan.collider_prims[s.name]
            for s in plan.asset.shapes
            if s.body == WORLD and s.name in plan.collider_prims
        ]
    path = (plan.bodies if kind == "body" else plan.collider_prims).get(name)
    return [path] if path else []


def _write_pairs(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    pairs = list_filter_ends(plan)
    if plan.is_for_mujoco:
        # its reader (4.0.0) knows pairs of bodies only, and refuses a file that names a collider
        bodies = set(plan.bodies.values())
        pairs = {a: [b for b in others if b in bodies] for a, others in pairs.items() if a in bodies}
        for first, implied in _list_implied_pairs(plan, reporter).items():
            pairs.setdefault(first, []).extend(implied)
            layer.note(first, implied_pairs=implied)
    for path, targets in pairs.items():
        if targets:
            layer.apply(path, "PhysicsFilteredPairsAPI")
            layer.relate(path, "physics:filteredPairs", targets)


def list_filter_ends(plan: WritePlan) -> dict[str, list[str]]:
    """The prims that each prim is kept apart from, in pairs that the asset names."""
    pairs: dict[str, list[str]] = {}
    for pair in plan.asset.contact_filters:
        for first, second in product(*(_find_ends(plan, pair.of, name) for name in (pair.a, pair.b))):
            if second not in pairs.setdefault(first, []):
                pairs[first].append(second)
    return pairs


def _list_implied_pairs(plan: WritePlan, reporter: Reporter) -> dict[str, list[str]]:
    """Bodies that groups, bits and articulations keep apart, which MuJoCo's reader (4.0.0) has no words for.

    It has none for a part of the colliders of two bodies, and none for those of the world.
    """
    counts = Counter(shape.body for shape in plan.asset.shapes if shape.name in plan.colliders)
    # what is fixed to the world never touches it
    still = {WORLD} | {edge.child for edge in plan.tree.edges if _is_still(plan, edge)}
    found: dict[str, list[str]] = {}
    lost: list[str] = []
    for (first, second), pairs in _list_unsaid_pairs(plan).items():
        if first != WORLD and len(pairs) == counts[first] * counts[second]:
            found.setdefault(plan.bodies[first], []).append(plan.bodies[second])
        elif not {first, second} <= still:
            lost += pairs
    if lost:
        reporter.report(PAIRS_TOUCH, count=len(lost), first=lost[0])
    return found


def _list_unsaid_pairs(plan: WritePlan) -> dict[tuple[str, str], list[str]]:
    """Colliders that are apart, by their bodies, where neither a joint nor a filter says so of both bodies."""
    asset = plan.asset
    bodies = {shape.name: shape.body for shape in asset.shapes if shape.name in plan.colliders}
    said = {frozenset((joint.parent, joint.child)) for joint in asset.joints if not joint.collide}
    said |= {frozenset((pair.a, pair.b)) for pair in asset.contact_filters if pair.of == "body"}
    partners = _list_partners(plan)
    apart: dict[tuple[str, str], list[str]] = {}
    for a, b in sorted(find_filtered_pairs(asset, plan.tree)):
        if not {a, b} <= bodies.keys() or b in partners.get(a, ()):
            continue
        first, second = sorted((bodies[a], bodies[b]))
        if first == WORLD or {first, second} not in said:
            apart.setdefault((first, second), []).append(f"{a!r} and {b!r}")
    return apart


def _is_still(plan: WritePlan, edge: Edge) -> bool:
    """Whether the body at the end of an edge is fixed to the world, by all joints up to it."""
    above = {one.child: one for one in plan.tree.edges}
    while not edge.joint.dofs:
        if edge.parent == WORLD:
            return True
        if edge.parent not in above:
            return False
        edge = above[edge.parent]
    return False


SPACE = "mjc:pair"
_SAME_FRICTION = 1e-6
FILTERED = "mjc:filteredPairs"
"""``physics:filteredPairs`` that an asset for MuJoCo cannot have."""


def write_pairs(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Every pair whose two colliders are written, and those of colliders that MuJoCo's reader refuses as filters."""
    if plan.is_for_mujoco:
        _keep_filters(plan, layer)
    lost = []
    for pair in plan.asset.contact_pairs:
        sides = [plan.collider_prims.get(name) for name in (pair.a, pair.b)]
        if None in sides:
            lost.append(pair)
            continue
        scope = f"{plan.root}/ContactPairs"
        layer.define(scope, "Scope")
        path = plan.names.claim(scope, pair.name or "pair")
        layer.define(path, "Scope")
        layer.name(path, pair.name)
        for number, side in enumerate(sides, 1):
            layer.relate(path, f"{SPACE}:geom{number}", [side or ""], custom=True)
        for key, value in pair.settings.items():
            write_plain(layer, path, f"{SPACE}:{key}", value)
    other = _list_other_friction(plan)
    if other:
        reporter.report(
            PAIR_FRICTION, other[0].source, count=len(other), first=f"{other[0].a!r} and {other[0].b!r}"
        )
    if lost:
        reporter.report(
            NOT_CARRIED, lost[0].source, count=len(lost), what="contact pairs", first=lost[0].name
        )


def _list_other_friction(plan: WritePlan) -> list[ContactPair]:
    """Pairs that slide otherwise than their colliders would by themselves, which only MuJoCo's pairs can say."""
    materials = {material.name: material for material in plan.asset.physics_materials}
    sliding: dict[str, float] = {}
    for shape in plan.asset.shapes:
        material = materials.get(shape.physics_material)
        sliding[shape.name] = (
            material.dynamic_friction if material and material.dynamic_friction is not None else 1.0
        )
    return [
        pair
        for pair in plan.asset.contact_pairs
        if {pair.a, pair.b} <= sliding.keys()
        # MuJoCo takes the larger one of two colliders
        and abs(_find_sliding(pair.settings) - max(sliding[pair.a], sliding[pair.b])) > _SAME_FRICTION
    ]


def _find_sliding(settings: dict[str, Any]) -> float:
    if settings.get("condim") == 1:
        return 0.0
    return float(next(iter(settings.get("friction", ())), 1.0))


def _keep_filters(plan: WritePlan, layer: LayerWriter) -> None:
    bodies = set(plan.bodies.values())
    for first, targets in list_filter_ends(plan).items():
        if kept := [target for target in targets if first not in bodies or target not in bodies]:
            layer.relate(first, FILTERED, kept, custom=True)
