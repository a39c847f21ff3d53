# SPDX-License-Identifier: Apache-2.0
"""Who touches whom: ``<self_collide>`` of models and bitmasks of collisions.

A model that does not touch itself says so; links that a joint holds together do not touch in Gazebo anyway.  What the
model filters beyond that becomes bitmasks: every class of colliders that touch the same others gets a bit of its own,
and a mask of the classes it touches.  Sixteen bits are sixteen classes.
"""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import numpy.typing as npt

from simwright.formats.sdf.writer.context import ModelElement, SdfWriteContext, add
from simwright.formats.sdf.writer.messages import FILTERS_LEFT_OUT
from simwright.model.asset import Asset, CollisionGroup, Shape
from simwright.model.filtering import Pair, find_filtered_pairs, list_articulated

Bits = tuple[int | None, int | None]
"""Category and mask, None where nothing is said."""
_ALL = 0xFFFF
_CLASSES = 16
_TOUCH, _APART, _ANY = 0, 1, -1


def write_self_contact(context: SdfWriteContext) -> list[CollisionGroup]:
    """``<self_collide>`` of outermost models; gives the groups that the file will be read with."""
    asset = context.asset
    apart = find_filtered_pairs(asset, context.tree)
    spoken: dict[str, bool] = {}
    for articulation in asset.articulations:
        for name in list_articulated(asset, articulation, context.tree):
            spoken[name] = spoken.get(name, True) and articulation.self_collide
    result: list[CollisionGroup] = []
    for model in context.models:
        # As the reader has it: an outermost model speaks for all links in it and in the models inside it.
        if model.is_world or (model.parent is not None and not model.parent.is_world):
            continue
        bodies = _list_bodies(context, model)
        said = [spoken[name] for name in bodies if name in spoken]
        # Where no articulation tells, the pairs do; of one link there is nothing to say.
        touches = any(said) if said else _find_touching(asset, bodies, apart)
        if touches:
            add(model.node, "self_collide", True)
        else:
            result.append(CollisionGroup(model.name, bodies, [model.name]))
    return result


def _find_touching(asset: Asset, bodies: list[str], apart: set[Pair]) -> bool:
    """Do two colliders of these bodies touch?"""
    inside = set(bodies)
    shapes = [s for s in asset.shapes if s.collision and s.enabled and s.body in inside]
    return any(
        a.body != b.body and (a.name, b.name) not in apart and (b.name, a.name) not in apart
        for a, b in combinations(shapes, 2)
    )


def _list_bodies(context: SdfWriteContext, model: ModelElement) -> list[str]:
    """Bodies whose link or frame is in a model or in one nested in it; the world is none."""
    links = context.written_links.items()
    return [name for name, written in links if name and model in written.model.path()]


def find_bits(context: SdfWriteContext, quiet: list[CollisionGroup]) -> dict[str, Bits]:
    """Bits of every collider that needs some."""
    asset = context.asset
    colliders = [shape for shape in asset.shapes if shape.collision and shape.enabled]
    own = _list_own_bits(colliders)
    wanted = find_filtered_pairs(asset, context.tree)
    # The same asset as the file will be read: without filters, groups and bits.
    twin = dataclasses.replace(
        asset,
        articulations=[],
        joints=[joint for joint in asset.joints if id(joint) not in context.expanded],
        contact_filters=[],
        collision_groups=quiet,
        shapes=[dataclasses.replace(s, category_bits=None, collide_bits=None) for s in asset.shapes],
    )
    implied = find_filtered_pairs(twin, context.tree)
    # The asset's own bits are kept where they and the flags of the models say all that is wanted.
    if own is not None:
        twin.shapes = asset.shapes
        if not wanted - find_filtered_pairs(twin, context.tree):
            return own
    missing = wanted - implied
    if not missing:
        return {}
    # One function: three answers (own bits, none needed, classes), each only where the one before fails.
    relation = _relate(colliders, missing, implied)
    classes = _classify(relation)
    if classes is None:
        context.reporter.report(FILTERS_LEFT_OUT, count=len(missing), first=" and ".join(min(missing)))
        return own or {}
    masks = _find_masks(relation, classes)
    return {
        colliders[number].name: (1 << place, masks[place])
        for place, members in enumerate(classes)
        for number in members
    }


def _list_own_bits(colliders: list[Shape]) -> dict[str, Bits] | None:
    """The bits that the asset itself gives its colliders; None if some of them have no place in sixteen bits."""
    own = {shape.name: (shape.category_bits, shape.collide_bits) for shape in colliders}
    if any(bits is not None and not 0 <= bits <= _ALL for pair in own.values() for bits in pair):
        return None
    return {name: bits for name, bits in own.items() if bits != (None, None)}


def _relate(colliders: list[Shape], missing: set[Pair], implied: set[Pair]) -> npt.NDArray[np.int8]:
    """What is wanted of each pair: to touch, to be kept apart, or nothing."""
    place = {shape.name: number for number, shape in enumerate(colliders)}
    relation = np.full((len(colliders), len(colliders)), _TOUCH, dtype=np.int8)
    bodies = np.array([shape.body for shape in colliders])
    # Colliders of one body never touch.
    relation[bodies[:, None] == bodies[None, :]] = _ANY
    for pairs, value in ((implied, _ANY), (missing, _APART)):
        for a, b in pairs:
            relation[place[a], place[b]] = relation[place[b], place[a]] = value
    return relation


def _classify(relation: npt.NDArray[np.int8]) -> list[list[int]] | None:
    """Colliders in classes that want the same of each other; None if sixteen are not enough."""
    classes: list[list[int]] = []
    # Greedy: not always the fewest classes, but the same file for the same asset.
    for number in range(len(relation)):
        for members in classes:
            if _agree(relation, [*members, number], classes, members):
                members.append(number)
                break
        else:
            classes.append([number])
            if len(classes) > _CLASSES:
                return None
    return classes


def _agree(
    relation: npt.NDArray[np.int8], grown: list[int], classes: list[list[int]], old: list[int]
) -> bool:
    """Does a class that has grown still want one thing of every collider, and of every class?"""
    rows = relation[grown]
    if np.any(np.any(rows == _APART, axis=0) & np.any(rows == _TOUCH, axis=0)):
        return False
    return all(_want(relation, grown, grown if other is old else other) is not None for other in classes)


def _want(relation: npt.NDArray[np.int8], a: list[int], b: list[int]) -> int | None:
    """What is wanted between two classes; None if they are both to touch and to be kept apart."""
    block = relation[np.ix_(a, b)]
    apart = bool(np.any(block == _APART))
    if apart and np.any(block == _TOUCH):
        return None
    return _APART if apart else _TOUCH


def _find_masks(relation: npt.NDArray[np.int8], classes: list[list[int]]) -> list[int]:
    """The classes that each class touches, as bits."""
    return [
        sum(1 << place for place, other in enumerate(classes) if _want(relation, members, other) == _TOUCH)
        for members in classes
    ]
