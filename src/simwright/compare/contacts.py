# SPDX-License-Identifier: Apache-2.0
"""Surfaces of matched shapes, and which colliders can touch each other.

Surfaces: colour and textures of visuals, friction of collisions.  A value that only one asset gives is a note, not a
difference: the other leaves it to the simulator.

Contacts, however the file filters them: groups, bits, filters, joints, articulations.  Pairs of one rigid group, and
pairs of which neither body moves, have no effect; they are left out.  Differences are listed by pair of bodies.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from simwright.compare.difference import DifferenceItem, DifferenceSection, ValueComparer
from simwright.compare.pairing import ComparedAsset, Pairing
from simwright.compare.shapes import ShapePair, pair_shapes
from simwright.core.names import make_identifier
from simwright.model.asset import Asset, Shape
from simwright.model.filtering import find_filtered_pairs
from simwright.model.material import PhysicsMaterial, RenderMaterial

Pair = frozenset[str]


# one function: both lists of filtered pairs, then the difference in each direction
def compare_contacts(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Filtered pairs among matched colliders, and pairs with settings of their own."""
    pairs = pair_shapes(pairing, ruler, "collision")[0]
    # a collider that is switched off touches nothing: reported in the section collisions
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
            section.items.append(DifferenceItem(element, f"contact of {count} collider pair(s)", *told))
    _compare_pairs(section, pairing, ruler, both)


def _list_filtered(side: ComparedAsset, pieces: dict[str, str], names: dict[str, str]) -> set[Pair]:
    """Pairs that never touch, by the names of the first side."""
    result = set()
    for a, b in find_filtered_pairs(side.asset, side.tree):
        first, second = names.get(a), names.get(b)
        if first is None or second is None:
            continue
        # colliders of one rigid group never move against each other
        if pieces[first] != pieces[second]:
            result.add(frozenset((first, second)))
    return result


def _count_pairs(pieces: dict[str, str]) -> int:
    sizes: dict[str, int] = {}
    for piece in pieces.values():
        sizes[piece] = sizes.get(piece, 0) + 1
    total = len(pieces)
    return total * (total - 1) // 2 - sum(n * (n - 1) // 2 for n in sizes.values())


def _compare_pairs(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, both: list[ShapePair]
) -> None:
    """Contact pairs with settings of their own (MJCF)."""
    names = {pair.b.name: pair.a.name for pair in both}
    first = _index_pairs(pairing.a.asset, {})
    second = _index_pairs(pairing.b.asset, names)
    for key in dict.fromkeys((*first, *second)):
        a, b = first.get(key), second.get(key)
        element = f"contact pair {' and '.join(sorted(key))}"
        if a is None or b is None:
            section.items.append(
                DifferenceItem(element, "pair", None if a is None else "own", None if b is None else "own")
            )
        else:
            ruler.compare(section, element, "settings", a, b)


def _index_pairs(asset: Asset, names: dict[str, str]) -> dict[Pair, dict[str, object]]:
    return {frozenset((names.get(p.a, p.a), names.get(p.b, p.b))): p.settings for p in asset.contact_pairs}


_CONTACT = (
    "static_friction", "dynamic_friction", "torsional_friction", "rolling_friction", "restitution",
    "stiffness", "damping",
)  # fmt: skip


def compare_materials(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Looks of visuals, contact values of collisions."""
    unsaid: Counter[str] = Counter()
    first, second = (
        {material.name: material for material in side.asset.materials} for side in (pairing.a, pairing.b)
    )
    for pair in pair_shapes(pairing, ruler, "visual")[0]:
        section.compared += 1
        looks = _read_appearance(pair.a, first), _read_appearance(pair.b, second)
        _compare_appearance(section, ruler, *looks, unsaid)
    contacts = [_index_contacts(side.asset) for side in (pairing.a, pairing.b)]
    for pair in pair_shapes(pairing, ruler, "collision")[0]:
        section.compared += 1
        element = f"collision {pair.a.name!r}"
        a, b = contacts[0].get(pair.a.physics_material), contacts[1].get(pair.b.physics_material)
        for what in _CONTACT:
            word = what.replace("_", " ")
            x, y = (None if material is None else getattr(material, what) for material in (a, b))
            if x is not None and y is not None:
                ruler.compare(section, element, word, x, y)
            elif x is not None or y is not None:
                unsaid[word] += 1
    for what, count in unsaid.items():
        section.notes.append(f"{what} is said by one side only: {count} shape(s)")


def _index_contacts(asset: Asset) -> dict[str, PhysicsMaterial]:
    return {material.name: material for material in asset.physics_materials}


@dataclass(slots=True, eq=False)
class ShapeAppearance:
    """How a shape looks: colour and opacity, and what images there are."""

    shape: str
    color: tuple[float, ...] | None
    images: dict[str, str]
    values: dict[str, Any]


def _read_appearance(shape: Shape, materials: dict[str, RenderMaterial]) -> ShapeAppearance:
    """How a shape looks: by its material, else by its own colour."""
    material = materials.get(shape.material)
    if material is None:
        return ShapeAppearance(shape.name, shape.color, {}, {})
    images = {key: _stem(texture.file) for key, texture in material.textures.items()}
    values = {
        "metallic": material.metallic,
        "roughness": material.roughness,
        "emissive": material.emissive,
    }
    return ShapeAppearance(shape.name, (*material.diffuse, material.opacity), images, values)


def _compare_appearance(
    section: DifferenceSection,
    ruler: ValueComparer,
    a: ShapeAppearance,
    b: ShapeAppearance,
    unsaid: Counter[str],
) -> None:
    element = f"visual {a.shape!r}"
    # a mesh without a material has the colours of its file, which is not read here
    if None in (a.color, b.color) and a.images != b.images:
        unsaid["textures"] += 1
    elif a.images != b.images:
        section.items.append(DifferenceItem(element, "textures", a.images, b.images))
    # an image replaces the colour
    if "diffuse" not in a.images or "diffuse" not in b.images:
        if a.color is not None and b.color is not None:
            ruler.compare(section, element, "colour", a.color, b.color, scale=1.0)
        elif a.color != b.color:
            unsaid["colour"] += 1
    for what in a.values.keys() & b.values.keys():
        if what not in a.images:
            ruler.compare(section, element, what, a.values[what], b.values[what], scale=1.0)


def _stem(file: str) -> str:
    return make_identifier(PurePosixPath(file.replace("\\", "/")).stem).lower()
