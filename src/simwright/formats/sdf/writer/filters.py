# SPDX-License-Identifier: Apache-2.0
"""Who touches whom: ``<self_collide>`` of models and bitmasks of collisions.

A model that does not touch itself says so; links that a joint holds together do not touch in Gazebo anyway.  What the
model filters beyond that becomes bitmasks: every class of colliders that touch the same others gets a bit of its own,
and a mask of the classes it touches.  Sixteen bits are sixteen classes.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from simwright.formats.sdf.writer.draft import Draft, add
from simwright.formats.sdf.writer.messages import FILTERS_LEFT_OUT
from simwright.model.asset import Articulation, Shape
from simwright.model.filtering import Pair, find_filtered_pairs, list_articulated

Bits = tuple[int | None, int | None]
"""Category and mask, None where nothing is said."""
_ALL = 0xFFFF
_CLASSES = 16
_TOUCH, _APART, _ANY = 0, 1, -1


def write_self_contact(draft: Draft) -> list[Articulation]:
    """``<self_collide>`` of outermost models; gives the articulations that the file will be read with."""
    asset = draft.asset
    quiet: set[str] = set()
    for articulation in asset.articulations:
        if not articulation.self_collide:
            quiet.update(list_articulated(asset, articulation, draft.tree))
    result: list[Articulation] = []
    for room in draft.rooms:
        if room.is_world or (room.parent is not None and not room.parent.is_world):
            continue
        bodies = [name for name, seat in draft.seats.items() if name and room in seat.room.path()]
        touches = bool(set(bodies) - quiet) or not bodies
        if bodies and touches and room.node.find(".//joint") is not None:
            add(room.node, "self_collide", True)
        if bodies and not touches:
            result += [Articulation(f"{room.name}/{name}", name, self_collide=False) for name in bodies]
    return result


def find_bits(draft: Draft, quiet: list[Articulation]) -> dict[str, Bits]:
    """Bits of every collider that needs some."""
    asset = draft.asset
    colliders = [shape for shape in asset.shapes if shape.collision and shape.enabled]
    own = {s.name: (s.category_bits, s.collide_bits) for s in colliders}
    fits = all(_fits(bits) for pair in own.values() for bits in pair)
    wanted = find_filtered_pairs(asset, draft.tree)
    twin = dataclasses.replace(
        asset,
        articulations=quiet,
        joints=[joint for joint in asset.joints if id(joint) not in draft.expanded],
        contact_filters=[],
        collision_groups=[],
        shapes=[dataclasses.replace(s, category_bits=None, collide_bits=None) for s in asset.shapes],
    )
    implied = find_filtered_pairs(twin, draft.tree)
    if fits:
        twin.shapes = asset.shapes
        if not wanted - find_filtered_pairs(twin, draft.tree):
            return {name: bits for name, bits in own.items() if bits != (None, None)}
    missing = wanted - implied
    if not missing:
        return {}
    relation = _relate(colliders, missing, implied)
    classes = _classify(relation)
    masks = _find_masks(relation, classes) if len(set(classes)) <= _CLASSES else None
    if masks is None:
        first = min(missing)
        draft.reporter.report(FILTERS_LEFT_OUT, count=len(missing), first=" and ".join(first))
        return {name: bits for name, bits in own.items() if bits != (None, None)} if fits else {}
    return {s.name: (1 << classes[i], masks[classes[i]]) for i, s in enumerate(colliders)}


def _fits(bits: int | None) -> bool:
    return bits is None or 0 <= bits <= _ALL


def _relate(colliders: list[Shape], missing: set[Pair], implied: set[Pair]) -> npt.NDArray[np.int8]:
    """What is wanted of each pair: to touch, to be kept apart, or nothing."""
    place = {shape.name: number for number, shape in enumerate(colliders)}
    relation = np.full((len(colliders), len(colliders)), _TOUCH, dtype=np.int8)
    bodies = np.array([shape.body for shape in colliders])
    relation[bodies[:, None] == bodies[None, :]] = _ANY
    for pairs, value in ((implied, _ANY), (missing, _APART)):
        for a, b in pairs:
            relation[place[a], place[b]] = relation[place[b], place[a]] = value
    return relation


def _classify(relation: npt.NDArray[np.int8]) -> list[int]:
    """A class for each collider: the first whose members want the same of all others."""
    rows: list[npt.NDArray[np.int8]] = []
    classes: list[int] = []
    for row in relation:
        for number, known in enumerate(rows):
            clash = (known != _ANY) & (row != _ANY) & (known != row)
            if not np.any(clash):
                rows[number] = np.where(known == _ANY, row, known)
                classes.append(number)
                break
        else:
            rows.append(row.copy())
            classes.append(len(rows) - 1)
    return classes


def _find_masks(relation: npt.NDArray[np.int8], classes: list[int]) -> list[int] | None:
    """The mask of each class; None if two classes are to touch and to be kept apart."""
    members = np.array(classes)
    count = max(classes) + 1
    masks = [0] * count
    for a in range(count):
        for b in range(count):
            block = relation[np.ix_(members == a, members == b)]
            if np.any(block == _TOUCH) and np.any(block == _APART):
                return None
            if not np.any(block == _APART):
                masks[a] |= 1 << b
    return masks
