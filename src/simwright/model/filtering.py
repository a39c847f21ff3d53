# SPDX-License-Identifier: Apache-2.0
"""Which colliders never touch, as pairs: what joints, articulations, groups, bits and filters say together.

Rules stay rules in the model; an engine that wants a list of pairs gets it here.  Shapes of one body are not
listed: no engine lets a body touch itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING

from simwright.model.elements import Articulation, CollisionGroup, ContactFilter, Shape
from simwright.model.joint import WORLD, JointKind
from simwright.model.kinematics import Tree, build_tree

if TYPE_CHECKING:
    from simwright.model.asset import Asset

Pair = tuple[str, str]


def find_filtered_pairs(asset: Asset, tree: Tree | None = None) -> set[Pair]:
    """Names of the collider pairs that never touch, each in the order of the asset's shapes."""
    # the one place where all rules meet: every source of pairs is a line below
    colliders = [shape for shape in asset.shapes if shape.collision and shape.enabled]
    place = {shape.name: number for number, shape in enumerate(colliders)}
    by_body: dict[str, list[Shape]] = {}
    for shape in colliders:
        by_body.setdefault(shape.body, []).append(shape)
    return {
        (a.name, b.name) if place[a.name] < place[b.name] else (b.name, a.name)
        for source in (
            _pair_joined(asset, by_body),
            _pair_articulated(asset, by_body, tree),
            _pair_filtered(asset, colliders, by_body),
            _pair_grouped(asset.collision_groups, colliders),
            _pair_masked(colliders),
        )
        for a, b in source
        if a is not b and (a.body != b.body or not a.body)
    }


def _pair_joined(asset: Asset, by_body: dict[str, list[Shape]]) -> Iterator[tuple[Shape, Shape]]:
    """Bodies that a joint holds together, unless it lets them touch; the world is no such body."""
    for joint in asset.joints:
        if joint.enabled and not joint.collide and joint.parent != WORLD:
            yield from product(by_body.get(joint.parent, ()), by_body.get(joint.child, ()))


def _pair_articulated(
    asset: Asset, by_body: dict[str, list[Shape]], tree: Tree | None
) -> Iterator[tuple[Shape, Shape]]:
    """Bodies of an articulation that does not touch itself."""
    for articulation in asset.articulations:
        if not articulation.self_collide:
            # most touch themselves: the tree is made for those that do not
            tree = tree or build_tree(asset)
            # of bodies, then of their shapes: pairs within one body are no pairs
            for a, b in combinations(list_articulated(asset, articulation, tree), 2):
                yield from product(by_body.get(a, ()), by_body.get(b, ()))


def filter_articulated(asset: Asset, articulation: Articulation, tree: Tree) -> list[ContactFilter]:
    """Filters that say of the bodies it has now what an articulation says that does not touch itself."""
    colliding = {shape.body for shape in asset.shapes if shape.collision}
    bodies = [name for name in list_articulated(asset, articulation, tree) if name in colliding]
    return [ContactFilter(a, b, source=articulation.source) for a, b in combinations(bodies, 2)]


def list_articulated(asset: Asset, articulation: Articulation, tree: Tree) -> list[str]:
    """The bodies of an articulation: all trees that have a body on or below its root."""
    component = find_components(tree)
    below = articulation.path.rstrip("/") + "/"
    roots = {
        component[body.name]
        for body in asset.bodies
        if body.name == articulation.root or body.path == articulation.path or body.path.startswith(below)
    }
    # UsdPhysics lets the root be declared at a fixed joint to the world
    roots |= {
        component[j.child] for j in asset.joints if j.path == articulation.path and j.child in component
    }
    return [body.name for body in asset.bodies if component[body.name] in roots]


def find_components(tree: Tree) -> dict[str, str]:
    """The tree each body stands in, named by its first body."""
    component = {root: root for root in tree.roots}
    for edge in tree.edges:
        component[edge.child] = edge.child if edge.parent == WORLD else component[edge.parent]
    return component


def _pair_filtered(
    asset: Asset, colliders: list[Shape], by_body: dict[str, list[Shape]]
) -> Iterator[tuple[Shape, Shape]]:
    """Pairs that are named one by one."""
    by_name = {shape.name: [shape] for shape in colliders}
    for pair in asset.contact_filters:
        ends = by_body if pair.of == "body" else by_name
        yield from product(ends.get(pair.a, ()), ends.get(pair.b, ()))


def _pair_grouped(groups: list[CollisionGroup], colliders: list[Shape]) -> Iterator[tuple[Shape, Shape]]:
    """Members of groups that filter each other; a shape in no group is filtered by inverted groups alone.

    Groups that merge act as one.  Only what is filtered is looked at, so a thousand groups cost no more than
    the pairs they make.
    """
    # grouped twice, by merge group and by member, in one pass over the groups
    key = {group.name: f"merge {group.merge}" if group.merge else group.name for group in groups}
    filtered = _find_filtered(groups, key)
    inverted = {key[group.name] for group in groups if group.inverted}
    memberships = _find_memberships(groups, key, colliders)
    members: dict[str, list[Shape]] = {}
    for shape, belongs in memberships:
        for own in belongs:
            members.setdefault(own, []).append(shape)
    for own, shapes in members.items():
        others: Iterable[Shape]
        if own in inverted:
            others = [s for s, belongs in memberships if not belongs or belongs - filtered[own]]
        else:
            others = chain.from_iterable(members.get(other, ()) for other in filtered[own])
        yield from product(shapes, others)


def _find_filtered(groups: list[CollisionGroup], key: dict[str, str]) -> dict[str, set[str]]:
    """The keys that each group filters; groups that merge filter what any of them does."""
    filtered: dict[str, set[str]] = {}
    for group in groups:
        filtered.setdefault(key[group.name], set()).update(key[n] for n in group.filtered if n in key)
    return filtered


def _find_memberships(
    groups: list[CollisionGroup], key: dict[str, str], colliders: list[Shape]
) -> list[tuple[Shape, set[str]]]:
    """Keys of the groups that each collider is in, by its own name or by that of its body."""
    named: dict[str, set[str]] = {}
    for group in groups:
        for member in group.members:
            named.setdefault(member, set()).add(key[group.name])
    return [(shape, named.get(shape.name, set()) | named.get(shape.body, set())) for shape in colliders]


def _pair_masked(colliders: list[Shape]) -> Iterator[tuple[Shape, Shape]]:
    """Shapes whose bits never meet (MJCF contype and conaffinity, SDF bitmasks); unsaid bits are 1."""
    classes: dict[tuple[int, int], list[Shape]] = {}
    for shape in colliders:
        category = 1 if shape.category_bits is None else shape.category_bits
        collide = 1 if shape.collide_bits is None else shape.collide_bits
        classes.setdefault((category, collide), []).append(shape)
    for (bits_a, shapes_a), (bits_b, shapes_b) in combinations_with_replacement(classes.items(), 2):
        if not (bits_a[0] & bits_b[1] or bits_b[0] & bits_a[1]):
            yield from product(shapes_a, shapes_b)


@dataclass(slots=True)
class ArticulationBase:
    """The first body of a tree, and the joint that holds it to the world; without one (empty), it floats."""

    body: str
    joint: str = ""
    kind: JointKind = JointKind.FLOATING


@dataclass(slots=True)
class ArticulationContents:
    """Names of all that belongs to an articulation, in the order of the asset.

    ``joints`` carry the bodies, ``loop_joints`` close loops between them; ``bases`` has one entry per tree, which is
    one for an articulation that hangs together.
    """

    bodies: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    loop_joints: list[str] = field(default_factory=list)
    bases: list[ArticulationBase] = field(default_factory=list)


def find_members(asset: Asset, articulation: Articulation, tree: Tree) -> ArticulationContents:
    """The members of an articulation; the tree is that of the asset."""
    # four lists of names over one set of bodies: comprehensions count as branches
    bodies = list_articulated(asset, articulation, tree)
    inside = {*bodies, WORLD}
    carriers = {edge.joint.name for edge in tree.edges if edge.child in inside}
    closing = {j.name for j in tree.loops if {j.parent, j.child} <= inside}
    held = {edge.child: edge.joint for edge in tree.edges if edge.parent == WORLD}
    floating = set(tree.roots)
    return ArticulationContents(
        bodies,
        [joint.name for joint in asset.joints if joint.name in carriers],
        [joint.name for joint in asset.joints if joint.name in closing],
        [
            ArticulationBase(name, held[name].name, held[name].kind)
            if name in held
            else ArticulationBase(name)
            for name in bodies
            if name in held or name in floating
        ],
    )
