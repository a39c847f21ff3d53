# SPDX-License-Identifier: Apache-2.0
"""Surfaces of matched shapes: colour and textures of what is seen, friction of what is touched.

A value that only one side says is a note, not a difference: the other leaves it to the simulator.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from simwright.compare.difference import Item, Section
from simwright.compare.pairing import Pairing
from simwright.compare.shapes import pair_shapes
from simwright.compare.values import Ruler
from simwright.core.names import make_identifier
from simwright.model.asset import Asset, Shape
from simwright.model.material import PhysicsMaterial

_CONTACT = (
    "static_friction", "dynamic_friction", "torsional_friction", "rolling_friction", "restitution",
    "stiffness", "damping",
)  # fmt: skip


def compare_materials(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Looks of visuals, contact values of collisions."""
    unsaid: Counter[str] = Counter()
    first, second = Looks(pairing.a.asset), Looks(pairing.b.asset)
    for pair in pair_shapes(pairing, ruler, "visual")[0]:
        section.compared += 1
        _compare_look(section, ruler, first.of(pair.a), second.of(pair.b), unsaid)
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
class Look:
    """How a shape looks: colour and opacity, and what images there are."""

    shape: str
    color: tuple[float, ...] | None
    images: dict[str, str]
    values: dict[str, Any]


class Looks:
    """Looks of an asset."""

    def __init__(self, asset: Asset) -> None:
        self._materials = {material.name: material for material in asset.materials}

    def of(self, shape: Shape) -> Look:
        """One shape's: the material's, else its own colour."""
        material = self._materials.get(shape.material)
        if material is None:
            return Look(shape.name, shape.color, {}, {})
        images = {key: _stem(texture.file) for key, texture in material.textures.items()}
        values = {
            "metallic": material.metallic,
            "roughness": material.roughness,
            "emissive": material.emissive,
        }
        return Look(shape.name, (*material.diffuse, material.opacity), images, values)


def _compare_look(section: Section, ruler: Ruler, a: Look, b: Look, unsaid: Counter[str]) -> None:
    element = f"visual {a.shape!r}"
    if None in (a.color, b.color) and a.images != b.images:
        unsaid["textures"] += 1  # of a mesh that has the looks of its file
    elif a.images != b.images:
        section.items.append(Item(element, "textures", a.images, b.images))
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
