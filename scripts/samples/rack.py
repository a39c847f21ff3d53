# SPDX-License-Identifier: Apache-2.0
"""A pallet rack: static (colliders, no rigid body), its repeated parts instanced (REP 0158, 3.5)."""

from __future__ import annotations

import numpy as np

from samples.meshes import Mesh, chamfered_cylinder, extrude, merge, rounded_box
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
from samples.usdtext import Block, box_collider, geometries_layer, layer, materials_layer, prim

FOLDER = "rack"
README = ("static pallet rack with instanced parts", "OpenUSD", "`rack.usda`")
"""What it is, its formats, where it starts."""
WIDTH, DEPTH, HEIGHT = 1.8, 0.8, 2.2
POST = (0.08, 0.07)
SHELVES = (0.22, 0.95, 1.68)
"""Heights of the deck's upper face [m]."""
BEAM = (0.04, 0.1)
DECK = 0.02
LEVELS = {"low": 0, "medium": 1, "high": 2}
Pieces = list[tuple[str, str, str, tuple[float, float, float] | None]]


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    looks = {name: LOOKS[name] for name in ("rack_blue", "rack_orange", "galvanised", "steel")}
    return {
        f"{FOLDER}/rack.usda": entry_layer(
            "rack", "component", "A pallet rack with three shelves.", ["physics.usda", "base.usda"]
        ),
        f"{FOLDER}/base.usda": base_prop("rack", "The rack's frame."),
        f"{FOLDER}/instances.usda": _instances(),
        f"{FOLDER}/physics.usda": _physics(),
        f"{FOLDER}/materials.usda": materials_layer(looks, "Looks of the rack."),
        f"{FOLDER}/geometries.usdc": geometries_layer(_meshes(), "Meshes of the rack."),
    }


def post_places() -> list[tuple[float, float]]:
    """Where the four posts stand."""
    x, y = WIDTH / 2 - POST[0] / 2, DEPTH / 2 - POST[1] / 2
    return [(x, y), (-x, y), (-x, -y), (x, -y)]


def _inner() -> float:
    """Clear width between the posts, with a millimetre of play on each side."""
    return WIDTH - 2 * POST[0] - 0.002


def _beam_places() -> list[tuple[float, float, float]]:
    """Middles of the six beams: front and rear of each shelf."""
    y = DEPTH / 2 - BEAM[0] / 2 - 0.015
    return [(0.0, side * y, z - DECK - 0.001 - BEAM[1] / 2) for z in SHELVES for side in (1, -1)]


def _deck_places() -> list[tuple[float, float, float]]:
    return [(0.0, 0.0, z - DECK / 2) for z in SHELVES]


def _meshes() -> dict[str, Mesh]:
    meshes = {"frame_solid": _solid()}
    for level, steps in LEVELS.items():
        corner = max(steps, 1)
        foot = rounded_box((POST[0] + 0.05, POST[1] + 0.05, 0.008), 0.006, 0.002, steps, corner).at(z=0.004)
        meshes[f"post_{level}"] = _post(steps, corner)
        meshes[f"foot_{level}"] = foot
        meshes[f"beam_{level}"] = rounded_box((_inner(), *BEAM), 0.008, 0.004, steps, corner)
        meshes[f"deck_{level}"] = _deck(steps, corner)
        meshes[f"brace_{level}"] = _brace({"low": 6, "medium": 8, "high": 16}[level])
    return meshes


def _post(steps: int, corner: int) -> Mesh:
    """An upright with two ribs on its outer faces."""
    body = rounded_box((POST[0] - 0.012, POST[1], HEIGHT), 0.01, 0.003, steps, corner).at(z=HEIGHT / 2)
    rib = rounded_box((POST[0], POST[1] * 0.45, HEIGHT - 0.02), 0.006, 0.002, steps, corner)
    return merge((body, rib.at(z=HEIGHT / 2)))


def _deck(steps: int, corner: int) -> Mesh:
    """A ribbed steel panel."""
    size = (_inner() - 0.004, DEPTH - 0.04, DECK)
    panel = rounded_box((size[0], size[1], DECK - 0.004), 0.006, 0.002, steps, corner).at(z=-0.002)
    rib = rounded_box((size[0] * 0.98, 0.03, 0.006), 0.004, 0.0015, min(steps, 1), 1)
    return merge((panel, *(rib.at(y=y, z=DECK / 2 - 0.003) for y in np.linspace(-0.3, 0.3, 7))))


def _brace(segments: int) -> Mesh:
    """A round tie between a front and a rear post."""
    span = DEPTH - 2 * POST[1] - 0.002
    return chamfered_cylinder(0.012, span, 0.0, segments, 0, -span / 2).along("y")


def _solid() -> Mesh:
    """The collision mesh of the advanced variant: shells that touch nowhere, the posts as channels."""
    half, wall = np.array(POST) / 2, 0.004
    outline = np.array(
        (
            (half[0], -half[1]), (half[0], half[1]), (-half[0], half[1]), (-half[0], half[1] - wall),
            (half[0] - wall, half[1] - wall), (half[0] - wall, -half[1] + wall), (-half[0], -half[1] + wall),
            (-half[0], -half[1]),
        )
    )  # fmt: skip
    # start at the end of a flange: the ladder's rungs then cross the wall, not the opening
    ring = np.roll(outline, 1, axis=0)
    posts = []
    for x, y in post_places():
        channel = extrude(ring, HEIGHT, 0.0, 0, ladder=True)
        posts.append((channel if x > 0 else channel.mirrored("x")).at(x, y))
    beams = [rounded_box((_inner(), *BEAM), 0.008, 0.0, 0, 1).at(*p) for p in _beam_places()]
    decks = [
        rounded_box((_inner() - 0.004, DEPTH - 0.04, DECK), 0.006, 0.0, 0, 1).at(*p) for p in _deck_places()
    ]
    return merge((*posts, *beams, *decks))


def _pieces() -> Pieces:
    pieces: Pieces = []
    for number, (x, y) in enumerate(post_places(), 1):
        pieces.append((f"post_{number}", "post", "rack_blue", (x, y, 0.0)))
        pieces.append((f"foot_{number}", "foot", "steel", (x, y, 0.0)))
    for number, place in enumerate(_beam_places(), 1):
        pieces.append((f"beam_{number}", "beam", "rack_orange", place))
    for number, place in enumerate(_deck_places(), 1):
        pieces.append((f"deck_{number}", "deck", "galvanised", place))
    x = WIDTH / 2 - POST[0] / 2
    heights = (0.5, 1.2, 1.95)
    for number, (side, z) in enumerate(((s, z) for s in (1, -1) for z in heights), 1):
        pieces.append((f"brace_{number}", "brace", "rack_blue", (side * x, 0.0, z)))
    return pieces


def rack_boxes() -> list[tuple[tuple[float, float, float], tuple[float, float, float], str]]:
    """The rack as plain boxes: middle, size, look."""
    posts = [((x, y, HEIGHT / 2), (*POST, HEIGHT), "rack_blue") for x, y in post_places()]
    beams = [(place, (_inner(), *BEAM), "rack_orange") for place in _beam_places()]
    decks = [(place, (_inner() - 0.004, DEPTH - 0.04, DECK), "galvanised") for place in _deck_places()]
    return [*posts, *beams, *decks]


def _colliders() -> dict[str, Block]:
    names = (
        [f"post_{n}" for n in range(1, 5)]
        + [f"beam_{n}" for n in range(1, 7)]
        + [f"deck_{n}" for n in range(1, 4)]
    )
    return {
        name: box_collider(name, place, size)
        for name, (place, size, _) in zip(names, rack_boxes(), strict=True)
    }


def _instances() -> bytes:
    baseline: Block = []
    for block in _colliders().values():
        baseline += block
    body = [
        *materials_scope(),
        *visual_scope("rack", _pieces()),
        *collision_scope(baseline, {"frame_mesh": "frame_solid"}),
    ]
    return layer("rack", "Geometry and looks of the rack, put together.", prim('def Xform "rack"', [], body))


def _physics() -> bytes:
    body = [
        *contact_material("painted_steel", 0.5, 0.4, 0.1),
        *collision_physics("rack", "painted_steel", list(_colliders()), [], ["frame_mesh"]),
    ]
    return layer("rack", "Contact of the rack; it never moves.", prim('over "rack"', [], body))
