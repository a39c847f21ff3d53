# SPDX-License-Identifier: Apache-2.0
"""A floor slab with painted lanes: a static prop, origin at the middle of its bottom."""

from __future__ import annotations

from samples.meshes import Mesh, rounded_box
from samples.palette import LOOKS
from samples.usdasset import (
    base_prop,
    collision_physics,
    collision_scope,
    contact_material,
    entry_layer,
    materials_scope,
    visual_scope,
)
from samples.usdtext import box_collider, geometries_layer, layer, materials_layer, prim

FOLDER = "floor"
README = ("floor slab with painted lanes", "OpenUSD", "`floor.usda`")
"""What it is, its formats, where it starts."""
SIZE = (8.0, 6.0, 0.1)
LANE = 5.6
LEVELS = {"low": 0, "medium": 1, "high": 2}


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    return {
        f"{FOLDER}/floor.usda": entry_layer(
            "floor", "component", "A concrete slab of 8 x 6 m, 0.1 m thick.", ["physics.usda", "base.usda"]
        ),
        f"{FOLDER}/base.usda": base_prop("floor", "The floor's frame."),
        f"{FOLDER}/instances.usda": _instances(),
        f"{FOLDER}/physics.usda": _physics(),
        f"{FOLDER}/materials.usda": materials_layer(
            {name: LOOKS[name] for name in ("concrete", "floor_paint")}, "Looks of the floor."
        ),
        f"{FOLDER}/geometries.usdc": geometries_layer(_meshes(), "Meshes of the floor."),
    }


def _meshes() -> dict[str, Mesh]:
    meshes = {"slab_solid": rounded_box(SIZE, 0.02, 0.0, 0, 1).at(z=SIZE[2] / 2)}
    for level, steps in LEVELS.items():
        meshes[f"slab_{level}"] = rounded_box(SIZE, 0.02, 0.01, steps, max(steps, 1)).at(z=SIZE[2] / 2)
        meshes[f"lane_{level}"] = rounded_box((LANE, 0.08, 0.002), 0.01, 0.0005, min(steps, 1), max(steps, 1))
    return meshes


def _instances() -> bytes:
    lanes = [(f"lane_{n}", "lane", "floor_paint", (0.0, y, SIZE[2])) for n, y in enumerate((-0.7, 0.7), 1)]
    body = [
        *materials_scope(),
        *visual_scope("floor", [("slab", "slab", "concrete", None), *lanes]),
        *collision_scope(box_collider("slab_box", (0, 0, SIZE[2] / 2), SIZE), {"slab_mesh": "slab_solid"}),
    ]
    return layer(
        "floor", "Geometry and looks of the floor, put together.", prim('def Xform "floor"', [], body)
    )


def _physics() -> bytes:
    body = [
        *contact_material("concrete", 0.9, 0.8, 0.0),
        *collision_physics("floor", "concrete", ["slab_box"], [], ["slab_mesh"]),
    ]
    return layer("floor", "Contact of the floor; it never moves.", prim('over "floor"', [], body))
