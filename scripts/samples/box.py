# SPDX-License-Identifier: Apache-2.0
"""A cardboard box: a dynamic prop as a layered OpenUSD asset, origin at the middle of its bottom."""

from __future__ import annotations

from samples.meshes import Mesh, merge, rounded_box
from samples.palette import LOOKS
from samples.solids import Solid, inertial_of_solids
from samples.usdasset import (
    base_prop,
    collision_physics,
    collision_scope,
    contact_material,
    entry_layer,
    mass_lines,
    materials_scope,
    visual_scope,
)
from samples.usdtext import apis, box_collider, geometries_layer, layer, materials_layer, prim
from simwright.core.math3d import Pose
from simwright.model.geometry import Box

FOLDER = "box"
README = ("cardboard box, 2.4 kg", "OpenUSD", "`box.usda`")
"""What it is, its formats, where it starts."""
SIZE = (0.4, 0.3, 0.25)
MASS = 2.4
LEVELS = {"low": (0, 1), "medium": (1, 2), "high": (3, 4)}
"""Level of detail: steps of the rims, steps of the corners."""


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    return {
        f"{FOLDER}/box.usda": entry_layer(
            "box", "component", "A sealed cardboard box of 400 x 300 x 250 mm.", ["physics.usda", "base.usda"]
        ),
        f"{FOLDER}/base.usda": base_prop("box", "The box's frame."),
        f"{FOLDER}/instances.usda": _instances(),
        f"{FOLDER}/physics.usda": _physics(),
        f"{FOLDER}/materials.usda": materials_layer(
            {name: LOOKS[name] for name in ("cardboard", "tape", "label")}, "Looks of the box."
        ),
        f"{FOLDER}/geometries.usdc": geometries_layer(_meshes(), "Meshes of the box."),
    }


def _meshes() -> dict[str, Mesh]:
    meshes = {"carton_solid": rounded_box(SIZE, 0.006, 0.0, 0, 2).at(z=SIZE[2] / 2)}
    for level, (rim, corner) in LEVELS.items():
        meshes[f"carton_{level}"] = rounded_box(SIZE, 0.006, 0.004, rim, corner).at(z=SIZE[2] / 2)
        top = rounded_box((SIZE[0] * 0.999, 0.05, 0.0012), 0.0005, 0.0003, min(rim, 1), 1).at(
            z=SIZE[2] - 0.0005
        )
        end = rounded_box((0.0012, 0.05, 0.06), 0.0005, 0.0003, min(rim, 1), 1)
        ends = [end.at(x=side * (SIZE[0] / 2 - 0.0001), z=SIZE[2] - 0.034) for side in (-1, 1)]
        meshes[f"tape_{level}"] = merge((top, *ends))
        meshes[f"label_{level}"] = rounded_box((0.1, 0.0012, 0.07), 0.0005, 0.0003, min(rim, 1), 1).at(
            x=0.1, y=-SIZE[1] / 2 + 0.0001, z=0.13
        )
    return meshes


def _instances() -> bytes:
    pieces = [
        ("carton", "carton", "cardboard", None),
        ("tape", "tape", "tape", None),
        ("label", "label", "label", None),
    ]
    body = [
        *materials_scope(),
        *visual_scope("box", pieces),
        *collision_scope(
            box_collider("carton_box", (0, 0, SIZE[2] / 2), SIZE), {"carton_mesh": "carton_solid"}
        ),
    ]
    return layer("box", "Geometry and looks of the box, put together.", prim('def Xform "box"', [], body))


def _physics() -> bytes:
    inertial = inertial_of_solids([Solid(Box.of(*SIZE), Pose.of((0.0, 0.0, SIZE[2] / 2)))], MASS)
    body = [
        *mass_lines(inertial),
        "",
        *contact_material("cardboard", 0.6, 0.5, 0.05),
        *collision_physics("box", "cardboard", ["carton_box"], [], ["carton_mesh"]),
    ]
    root = prim('over "box"', [apis("PhysicsRigidBodyAPI", "PhysicsMassAPI")], body)
    return layer("box", "Mass and contact of the box.", root)
